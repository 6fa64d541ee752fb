// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/command.hpp"
#include "app/watch.hpp"
#include "campaign/results.hpp"
#include "campaign/store.hpp"
#include "report/json.hpp"

namespace mapsim {

Answer run(const ResultsArguments& arguments) {
  ResultsOptions options{arguments.database, arguments.campaign, arguments.networks,
                         ResultsFormat::kText};
  options.format = arguments.csv           ? ResultsFormat::kCsv
                   : arguments.output.json ? ResultsFormat::kJson
                                           : ResultsFormat::kText;
  return {kDone, results_table({"results", {}}, options), unlisted_designs(options)};
}

namespace {

// A database that was not there before and is not done goes, with what SQLite keeps beside it.
class Made {
 public:
  explicit Made(std::string path)
      : path_{std::move(path)}, was_there_{std::filesystem::exists(path_)} {}
  ~Made() {
    for (const char* part : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      if (!was_there_ && !done_) {
        std::filesystem::remove(path_ + part, ignored);
      }
    }
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  void keep() { done_ = true; }

 private:
  std::string path_;
  bool was_there_;
  bool done_ = false;
};

void merge_all(const MergeArguments& arguments, const std::atomic<bool>& stop) {
  for (const std::string& input : arguments.inputs) {
    Store{input, Store::Open::kExisting}.check(&stop);  // before anything is made
  }
  Made made{arguments.database};
  Store store{arguments.database, Store::Open::kOrNew, {say_waiting, &stop}};
  for (const std::string& input : arguments.inputs) {
    store.merge(input, &stop);
  }
  made.keep();
}

}  // namespace

Answer run(const MergeArguments& arguments) {
  const Watch watch{{"merging", "stop; the same command goes on from here"}};
  try {
    merge_all(arguments, watch.stop());
  } catch (const DatabaseInterrupted&) {
    return {kInterrupted, "", "interrupted: not everything was merged"};
  }
  return {kDone, arguments.output.json ? merge_json(arguments.database, arguments.inputs)
                                       : fmt::format("{}: merged {} databases\n",
                                                     arguments.database, arguments.inputs.size())};
}

}  // namespace mapsim
