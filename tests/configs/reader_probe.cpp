// SPDX-License-Identifier: Apache-2.0
// What the readers say of YAML documents, for schema_reader_check.py. Each line of standard input
// is KIND, the name that the document goes by, the file with its text, and for mappings and
// constraints an architecture and a workload, with tabs between them. Each line of standard output
// is "accepted", or what is wrong.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "campaign/campaign.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "plan/soc.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/chain.hpp"
#include "workloads/load.hpp"
#include "workloads/network.hpp"

namespace mapsim {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const Problem& problem_of(const std::string& arch, const std::string& workload) {
  static std::map<std::string, std::unique_ptr<Problem>> known;
  std::unique_ptr<Problem>& problem = known[arch + '\t' + workload];
  if (!problem) {
    problem = std::make_unique<Problem>(load_arch(arch), load_workload(workload));
  }
  return *problem;
}

void read(const std::vector<std::string>& fields) {
  const std::string& kind = fields.at(0);
  const std::string& name = fields.at(1);
  const std::string text = contents(fields.at(2));
  if (kind == "gpu") {
    parse_gpu(text, name);
  } else if (kind == "arch") {
    parse_arch(text, name);
  } else if (kind == "workload") {
    parse_workload(text, name);
  } else if (kind == "network") {
    parse_network(text, name);
  } else if (kind == "chain") {
    parse_chain(text, name);
  } else if (kind == "soc") {
    read_soc(parse_yaml(text, name), {source_path("configs")});
  } else if (kind == "campaign") {
    parse_campaign(text, name);
  } else {
    const Problem& problem = problem_of(fields.at(3), fields.at(4));
    if (kind == "constraints") {
      parse_constraints(text, name, problem);
    } else {
      parse_mapping(text, name, problem.arch(), problem.workload());
    }
  }
}

std::string verdict(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream parts{line};
  for (std::string field; std::getline(parts, field, '\t');) {
    fields.push_back(field);
  }
  try {
    read(fields);
    return "accepted";
  } catch (const ConfigError& error) {
    std::string messages;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      messages += (messages.empty() ? "" : "; ") + diagnostic.path + ": " + diagnostic.message;
    }
    return messages.substr(0, messages.find('\n'));
  } catch (const std::exception& error) {
    return fmt::format("not read: {}", std::string{error.what()}.substr(0, 200));
  }
}

}  // namespace
}  // namespace mapsim

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << mapsim::verdict(line) << '\n';
  }
  return 0;
}
