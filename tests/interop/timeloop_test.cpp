// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "arch/physical.hpp"
#include "arch/print.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/timeloop_import.hpp"
#include "tests/interop/golden.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim::timeloop_test {
namespace {

// A design as it reaches eval: through files of ours.
struct Imported {
  TimeloopDesign design;
  Problem problem;
  Mapping mapping;
};

Imported import_of(const Golden& golden) {
  TimeloopDesign design = read_timeloop({golden.input.string()}).design;
  const Arch arch = parse_arch(print_arch(to_arch(design.machine)), "arch.yaml");
  const Workload workload = parse_workload(print_workload(design.workload), "workload.yaml");
  EXPECT_EQ(arch, to_arch(design.machine)) << golden.id;
  EXPECT_EQ(workload, design.workload) << golden.id;
  Mapping mapping = parse_mapping(print_mapping(arch, workload, to_mapping(design)), "mapping.yaml",
                                  arch, workload);
  return {std::move(design), Problem{arch, workload}, std::move(mapping)};
}

bool is_windowed(const Workload& workload) {
  for (const Tensor& tensor : workload.tensors) {
    for (const Rank& rank : tensor.ranks) {
      int wide = 0;
      bool strided = false;
      for (const Term& term : rank.terms) {
        wide += workload.dims[term.dim].bound > 1 ? 1 : 0;
        strided = strided || term.coefficient > 1;
      }
      if (wide > 1 || (wide == 1 && strided && rank.terms.size() > 1)) {
        return true;
      }
    }
  }
  return false;
}

bool is_partial(const TimeloopDesign& design) {
  for (const TimeloopBlock& block : design.blocks) {
    for (const auto* loops : {&block.temporal, &block.spatial}) {
      for (const TimeloopLoop& loop : *loops) {
        if (loop.residual != loop.bound) {
          return true;
        }
      }
    }
  }
  return false;
}

// Classes of designs, from those that both tools should count alike to those that they should not.
constexpr std::array kClasses{"plain", "windows", "partial"};
std::size_t class_of(const TimeloopDesign& design) {
  return is_partial(design) ? 2 : (is_windowed(design.workload) ? 1 : 0);
}

struct SampleStatistics {
  int rows = 0;
  int equal = 0;
  std::map<std::string, int> explained;  // by the names of the rules
};

class Table {
 public:
  void add(std::size_t klass, const ComparedFigure& row) {
    SampleStatistics& statistics = statistics_[{klass, row.figure}];
    ++statistics.rows;
    statistics.equal += row.verdict == Verdict::kEqual ? 1 : 0;
    if (row.verdict == Verdict::kExplained) {
      for (const TimeloopRule rule : IdRange<TimeloopRule>{kTimeloopRules}) {
        statistics.explained[to_string(rule)] += row.rules.contains(rule) ? 1 : 0;
      }
    }
  }

  // In the form of docs/validation.md.
  std::string text() const {
    std::string text =
        "| designs | figure | figures | equal | derived | rules, with the number of figures that "
        "need them |\n";
    text += "|---|---|---:|---:|---:|---|\n";
    for (const auto& [key, statistics] : statistics_) {
      std::vector<std::string> rules;
      for (const auto& [name, count] : statistics.explained) {
        if (count > 0) {
          rules.push_back(fmt::format("{} {}", name, count));
        }
      }
      text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", kClasses[key.first],
                          to_string(key.second), statistics.rows, statistics.equal,
                          statistics.rows - statistics.equal, fmt::join(rules, "; "));
    }
    return text;
  }

 private:
  std::map<std::pair<std::size_t, TimeloopFigure>, SampleStatistics> statistics_;
};

// What may set apart the counts of a design without windows and partial loops.
constexpr TimeloopRules kPlainRules{TimeloopRule::kExtrapolation,  TimeloopRule::kWholeDelta,
                                    TimeloopRule::kNeighbourLinks, TimeloopRule::kRoundedAverages,
                                    TimeloopRule::kAverageShare,   TimeloopRule::kVectorAccess,
                                    TimeloopRule::kFloatCycles};
// ... of networks, besides.
constexpr TimeloopRules kNetworkRules{TimeloopRule::kMasking, TimeloopRule::kUnscaledHops,
                                      TimeloopRule::kOneWay, TimeloopRule::kPackedPlaces};

void compare_one(const Golden& golden, Table& table) {
  const Imported imported = import_of(golden);
  const Counts counts = count(imported.problem, imported.mapping);
  EXPECT_FALSE(check_feasible(imported.problem, counts)) << golden.id;
  const std::size_t klass = class_of(imported.design);
  for (const ComparedFigure& row :
       compare(imported.design, imported.problem, counts, *read_result(golden, imported.design))) {
    table.add(klass, row);
    EXPECT_NE(row.verdict, Verdict::kUnexplained) << fmt::format(
        "{}: {} of {}: Timeloop {}, derived {}, ours {}", golden.id, to_string(row.figure),
        row.where, row.timeloop, row.derived, row.ours.value_or(-1));
    const bool network = row.figure == TimeloopFigure::kNetworkWords ||
                         row.figure == TimeloopFigure::kNetworkEnergy ||
                         row.figure == TimeloopFigure::kWholeEnergy;
    const TimeloopRules plain = network ? kPlainRules | kNetworkRules : kPlainRules;
    EXPECT_TRUE(row.verdict != Verdict::kExplained || !row.rules.empty() || !row.ours)
        << fmt::format("{}: {} of {}: Timeloop {}, ours {}, and no rule", golden.id,
                       to_string(row.figure), row.where, row.timeloop, *row.ours);
    EXPECT_TRUE(klass != 0 || !row.ours || (row.rules | plain) == plain)
        << fmt::format("{}: {} of {}", golden.id, to_string(row.figure), row.where);
  }
}

TEST(TimeloopResults, KeptOnesAreEqualOrDerived) {
  Table table;
  const std::vector<Golden> goldens = kept_goldens();
  ASSERT_GE(goldens.size(), 12U);
  for (const Golden& golden : goldens) {
    compare_one(golden, table);
  }
}

TEST(TimeloopResults, CollectedOnesAreEqualOrDerived) {
  const std::vector<Golden> goldens = collected_goldens();
  if (goldens.empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with timeloop/triples; "
                 << kept_goldens().size() << " kept ones are compared elsewhere";
  }
  Table table;
  for (const Golden& golden : goldens) {
    compare_one(golden, table);
  }
  const std::string text = table.text();
  std::cout << goldens.size() << " designs\n" << text;
  std::ifstream file{source_path("docs/validation.md")};
  const std::string kept{std::istreambuf_iterator<char>{file}, {}};
  if (kept.find(fmt::format("of {} designs", goldens.size())) != std::string::npos) {
    EXPECT_NE(kept.find(text), std::string::npos) << "docs/validation.md keeps another table";
  }
}

// With no rule at all, the walk over Timeloop's blocks counts what our closed form counts.
TEST(TimeloopCounter, WithoutRulesCountsAsWeDo) {
  std::vector<Golden> goldens = collected_goldens();
  if (goldens.empty()) {
    goldens = kept_goldens();
  }
  for (const Golden& golden : goldens) {
    const Imported imported = import_of(golden);
    const Counts counts = count(imported.problem, imported.mapping);
    TimeloopCounter counter{imported.design};
    EXPECT_EQ(counter.compute_cycles({}), counts.steps) << golden.id;
    for (std::size_t l = 0; l < imported.design.blocks.size(); ++l) {
      for (const TensorId t : imported.problem.workload().tensors.ids()) {
        const TensorCounts& ours = counts.levels[static_cast<LevelId>(l)][t];
        const TimeloopAccesses theirs = counter.accesses(t, l, {});
        ASSERT_EQ(theirs.kept, ours.kept);
        const AccessCounts& first = ours.busiest;
        const TimeloopAccesses expected{
            ours.kept, ours.footprint, static_cast<double>(first.reads + first.readbacks),
            static_cast<double>(first.fills), static_cast<double>(first.updates)};
        EXPECT_EQ(theirs, expected) << golden.id << " level " << l << " tensor " << index_of(t);
      }
    }
  }
}

// A rule switched off, in Timeloop by an environment variable, here by leaving it out.
TEST(TimeloopCounter, WithoutNeighbourLinksCountsAsTimeloopWithoutThem) {
  int runs = 0;
  TimeloopRules rules = kAllTimeloopRules;
  rules.erase(TimeloopRule::kNeighbourLinks);
  for (const Golden& golden : collected_goldens()) {
    const Imported imported = import_of(golden);
    const auto result = read_result(golden, imported.design, "expected_no_link_transfers");
    if (!result) {
      continue;
    }
    ++runs;
    TimeloopCounter counter{imported.design};
    for (std::size_t l = 0; l < result->levels.size(); ++l) {
      for (const TensorId t : imported.problem.workload().tensors.ids()) {
        const auto& printed = result->levels[l].tensors[index_of(t)];
        if (!printed) {
          continue;
        }
        const TimeloopAccesses expected{true, printed->tile, static_cast<double>(printed->reads),
                                        static_cast<double>(printed->fills),
                                        static_cast<double>(printed->updates)};
        EXPECT_EQ(counter.accesses(t, l, rules), expected) << golden.id << " level " << l;
      }
    }
    EXPECT_EQ(counter.cycles(rules), result->cycles) << golden.id;
  }
  if (runs == 0) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with such runs";
  }
}

// Seconds and watts follow the design's own cycle; without one, a cycle is 1 ns.
TEST(TimeloopImport, TakesTheClock) {
  const auto clock_of = [](const std::string& seconds, const std::string& variables = "") {
    const std::string text = fmt::format(R"({}architecture:
  subtree:
  - name: chip
    attributes: {{technology: 45nm{}}}
    local:
    - {{name: DRAM, class: DRAM, attributes: {{vector_access_energy: 8, datawidth: 8}}}}
    - {{name: mac, class: intmac}}
ERT: {{tables: [{{name: chip.mac, actions: [{{name: compute, energy: 2}}, {{name: leak, energy: 0.5}}]}},
                {{name: chip.DRAM, actions: [{{name: read, energy: 8}}]}}]}}
)",
                                         variables, seconds);
    const Arch arch = to_arch(parse_timeloop(text, "design.yaml").design.machine);
    EXPECT_EQ(parse_arch(print_arch(arch), "arch.yaml").clock, arch.clock);
    // What leaks in a cycle is in the table, whatever a cycle is.
    EXPECT_DOUBLE_EQ(leakage_per_cycle(arch).count(), 0.5);
    return arch.clock;
  };
  EXPECT_EQ(clock_of(""), Hertz{1e9});
  EXPECT_EQ(clock_of(", global_cycle_seconds: 1e-9"), Hertz{1e9});
  EXPECT_EQ(clock_of(", global_cycle_seconds: 4e-9"), Hertz{2.5e8});
  EXPECT_DOUBLE_EQ(clock_of(", global_cycle_seconds: 3e-9").count(), 1 / 3e-9);
  // An expression over the variables, the variables alone, and a text that has no value.
  const std::string variables = "variables: {version: 0.4, global_cycle_seconds: 2e-9}\n";
  EXPECT_EQ(clock_of(", global_cycle_seconds: global_cycle_seconds * 2", variables), Hertz{2.5e8});
  EXPECT_EQ(clock_of("", variables), Hertz{5e8});
  EXPECT_EQ(clock_of(", global_cycle_seconds: must_specify"), Hertz{1e9});
}

TEST(TimeloopExport, WritesBackWhatWasRead) {
  for (const Golden& golden : kept_goldens()) {
    const Imported imported = import_of(golden);
    EXPECT_EQ(
        to_timeloop_blocks(imported.problem.arch(), imported.problem.workload(), imported.mapping),
        imported.design.blocks)
        << golden.id;
  }
}

}  // namespace
}  // namespace mapsim::timeloop_test
