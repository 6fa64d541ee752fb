// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "app/command.hpp"
#include "campaign/results.hpp"
#include "campaign/store.hpp"
#include "core/diagnostic.hpp"

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

void merge_all(const MergeArguments& arguments) {
  Store store{arguments.database, Store::Open::kOrNew};
  for (const std::string& input : arguments.inputs) {
    store.merge(input);
  }
}

}  // namespace

Answer run(const MergeArguments& arguments) {
  for (const std::string& input : arguments.inputs) {
    Store{input, Store::Open::kExisting}.check();  // before anything is made
  }
  const bool is_new = !std::filesystem::exists(arguments.database);
  try {
    merge_all(arguments);
  } catch (const ConfigError&) {
    for (const char* part : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      if (is_new) {
        std::filesystem::remove(arguments.database + part, ignored);
      }
    }
    throw;
  }
  return {kDone,
          fmt::format("{}: merged {} databases\n", arguments.database, arguments.inputs.size())};
}

}  // namespace mapsim
