// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "campaign/results.hpp"
#include "campaign/store.hpp"

namespace mapsim {

Answer run(const ResultsArguments& arguments) {
  ResultsOptions options{arguments.database, arguments.campaign, arguments.networks,
                         ResultsFormat::kText};
  options.format = arguments.csv           ? ResultsFormat::kCsv
                   : arguments.output.json ? ResultsFormat::kJson
                                           : ResultsFormat::kText;
  return {kDone, results_table({"results", {}}, options)};
}

Answer run(const MergeArguments& arguments) {
  for (const std::string& input : arguments.inputs) {
    Store{input, Store::Open::kExisting};  // before anything is made
  }
  Store store{arguments.database, Store::Open::kOrNew};
  for (const std::string& input : arguments.inputs) {
    store.merge(input);
  }
  return {kDone,
          fmt::format("{}: merged {} databases\n", arguments.database, arguments.inputs.size())};
}

}  // namespace mapsim
