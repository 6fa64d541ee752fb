// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/print.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/sparse/occupancy.hpp"
#include "golden.hpp"
#include "interop/timeloop_import.hpp"
#include "workloads/print.hpp"

namespace mapsim::timeloop_sparse_test {

namespace {

// A matrix product on two levels, with what stands beside their names in sparse_optimizations.
std::string design(const std::string& densities, const std::string& outer,
                   const std::string& inner) {
  return fmt::format(R"(architecture:
  version: 0.3
  subtree:
    - name: chip
      local:
        - {{name: Mem, class: DRAM, attributes: {{width: 64, word-bits: 8, metadata_datawidth: 8}}}}
      subtree:
        - name: PE
          local:
            - {{name: Buf, class: storage, attributes: {{depth: 8192, width: 8, word-bits: 8, metadata_storage_width: 8, metadata_storage_depth: 64, metadata_datawidth: 4}}}}
            - {{name: MAC, class: compute, attributes: {{datawidth: 8}}}}
problem:
  shape:
    name: product
    dimensions: [M, N, K]
    data-spaces:
      - {{name: A, projection: [[[M]], [[K]]]}}
      - {{name: B, projection: [[[K]], [[N]]]}}
      - {{name: Z, projection: [[[M]], [[N]]], read-write: true}}
  instance: {{M: 16, N: 8, K: 32, densities: {}}}
mapping:
  - {{target: Mem, type: temporal, factors: M=4 N=1 K=2, permutation: KMN}}
  - {{target: Buf, type: temporal, factors: M=4 N=0 K=16, permutation: NKM}}
sparse_optimizations:
  targets:
    - {{name: Mem{}}}
    - {{name: Buf{}}}
)",
                     densities, outer, inner);
}

std::string formats(const std::string& spaces) {
  return ", representation-format: {data-spaces: [" + spaces + "]}";
}

std::string actions(const std::string& list) { return ", action-optimization: [" + list + "]"; }

std::string error_of(const std::string& text) {
  try {
    parse_timeloop(text, "d.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool has_line(const std::string& text, const std::string& line) {
  return text.find(line) != std::string::npos;
}

TEST(TimeloopSparse, FormatsAreThoseOfTheTilesThatMove) {
  const std::string all =
      "{name: A, ranks: [{format: UOP}, {format: UOP}, {format: UOP}, {format: CP}]}, "
      "{name: B, ranks: [{format: UOP}, {format: UOP}, {format: RLE, metadata-word-bits: 5}]}";
  const std::string inner =
      "{name: A, ranks: [{format: UOP}, {format: CP}]}, "
      "{name: B, ranks: [{format: UOP}, {format: RLE}]}";
  const TimeloopImport import = parse_timeloop(
      design("{A: {distribution: hypergeometric, density: 0.25}}", formats(all), formats(inner)),
      "d.yaml");
  const std::string arch = print_arch(to_arch(import.design.machine));
  // Loops N K M, the innermost first: rows of A; columns of B would be K, N.
  EXPECT_TRUE(
      has_line(arch, "{input: [offsets 8 b, coordinates 8 b], weight: [offsets 8 b, runs 5 b]}"))
      << arch;
  EXPECT_TRUE(has_line(arch, "{input: [dense, coordinates 4 b], weight: [dense, runs 4 b]}"))
      << arch;
  EXPECT_TRUE(has_line(arch, "capacity: 8256 B")) << arch;  // 64 B for words of formats
  EXPECT_TRUE(has_line(print_workload(import.design.workload), "density: {A: 0.25}"));
}

TEST(TimeloopSparse, FlattenedRanksAreOne) {
  const std::string flat =
      "{name: A, ranks: [{format: UOP, payload-word-bits: 0}, {format: B, "
      "metadata-word-bits: 1, flattened_rankIDs: [[M, K]]}]";
  const TimeloopImport import = parse_timeloop(
      design("{A: 0.5}", "", formats(flat + ", rank-application-order: inner-to-outer}")),
      "d.yaml");
  EXPECT_TRUE(has_line(print_arch(to_arch(import.design.machine)), "format: {input: bitmask}"));
  // A number alone is a share of every tile.
  EXPECT_TRUE(has_line(print_workload(import.design.workload), "A: structured 1:2 along K"));
}

// A bitmask has places of one bit unless its rank says otherwise; words fill rows of the storage.
TEST(TimeloopSparse, WordsAreAsWideAsTimeloopMakesThem) {
  const auto read = [](const std::string& ranks) {
    const TimeloopImport import =
        parse_timeloop(design("{A: {distribution: hypergeometric, density: 0.25}}", "",
                              formats("{name: A, ranks: [" + ranks + "]}")),
                       "d.yaml");
    std::string text = print_arch(to_arch(import.design.machine));
    for (const std::string& note : import.notes) {
      text += note + "\n";
    }
    return text;
  };
  EXPECT_TRUE(has_line(read("{format: UOP, payload-word-bits: 0}, {format: B}"),
                       "format: {input: [dense, bitmask]}"));
  const std::string five =
      read("{format: UOP, payload-word-bits: 0}, {format: CP, metadata-word-bits: 5}");
  EXPECT_TRUE(has_line(five, "format: {input: [dense, coordinates 8 b]}")) << five;
  EXPECT_TRUE(has_line(five, "Buf: words of formats of 5 b take 8 b, as in Timeloop")) << five;
  const std::string four =
      read("{format: UOP, payload-word-bits: 0}, {format: CP, metadata-word-bits: 4}");
  EXPECT_TRUE(has_line(four, "format: {input: [dense, coordinates 4 b]}")) << four;
  EXPECT_FALSE(has_line(four, "as in Timeloop, so that its rows")) << four;
}

TEST(TimeloopSparse, NamesWhatFormatsDoNotSay) {
  std::string text = design("{A: {distribution: hypergeometric, density: 0.25}}", "",
                            formats("{name: A, ranks: [{format: UOP}, {format: B, "
                                    "flattened_rankIDs: [[M, K]]}]}"));
  text.erase(text.find("mapping:"), text.find("sparse_optimizations:") - text.find("mapping:"));
  text.replace(text.find("metadata_storage_depth: 64"), 0, "metadata_counter_width: 9, ");
  const TimeloopImport import = parse_timeloop(text, "d.yaml");
  const auto has_note = [&](const std::string& part) {
    return std::any_of(import.notes.begin(), import.notes.end(),
                       [&](const std::string& note) { return has_line(note, part); });
  };
  EXPECT_TRUE(has_note("Buf, format of A: a tile is one rank, by the code of the innermost"));
  EXPECT_TRUE(
      has_note("not read, attributes of formats of sparse tensors: "
               "metadata_counter_width (Buf)"));
  EXPECT_FALSE(has_note("metadata_storage_depth"));
}

// A fixed share of every tile, for which there is no n:m: the mean tile is the largest one.
TEST(TimeloopSparse, TilesOfAFixedShareFitIfTheirMeansDo) {
  const auto arch = [](const std::string& of_a, const std::string& of_b) {
    return print_arch(
        to_arch(parse_timeloop(
                    design("{A: {distribution: " + of_a + "}, B: {distribution: " + of_b + "}}", "",
                           formats("{name: A, ranks: [{format: UOP}, {format: CP}]}, "
                                   "{name: B, ranks: [{format: UOP}, {format: CP}]}")),
                    "d.yaml")
                    .design.machine));
  };
  const std::string fixed = "fixed-structured, density: 0.3";
  EXPECT_TRUE(has_line(arch(fixed, fixed), "fits: expected"));
  EXPECT_FALSE(has_line(arch(fixed, "hypergeometric, density: 0.3"), "fits"));
}

TEST(TimeloopSparse, DensitiesSayWhereNonzerosAre) {
  const auto density = [](const std::string& of_a, const std::string& format) {
    return print_workload(
        parse_timeloop(
            design("{A: " + of_a + "}", "",
                   formats("{name: A, ranks: [{format: UOP}, {format: " + format + "}]}")),
            "d.yaml")
            .design.workload);
  };
  EXPECT_TRUE(has_line(density("{distribution: fixed-structured, density: 0.375}", "CP"),
                       "A: structured 3:8 along K"));
  EXPECT_TRUE(has_line(density("{distribution: fixed_structured, density: 0.3}", "CP"), "A: 0.3"));
  EXPECT_TRUE(has_line(density("{distribution: fixed_structured, density: 0.375}", "RLE"),
                       "A: structured 3:8 along K"));
  EXPECT_TRUE(has_line(
      density("{distribution: fixed_structured, density: 0.375}", "RLE, metadata-word-bits: 2"),
      "A: 0.375"));  // runs that are shorter than the zeros of two blocks
  EXPECT_TRUE(has_line(density("{distribution: banded, band_width: 2}", "CP"), "A: banded 2"));
  EXPECT_FALSE(has_line(density("{distribution: hypergeometric, density: 1.0}", "CP"), "density"));
}

TEST(TimeloopSparse, ConditionsAndUnits) {
  const std::string text =
      design("{A: {distribution: hypergeometric, density: 0.25}}", "",
             formats("{name: A, ranks: [{format: UOP}, {format: CP}]}") +
                 actions("{type: skipping, target: B, condition-on: [A]}, "
                         "{type: gating, options: [{target: Z, condition-on: [A, B]}]}"));
  const TimeloopImport import = parse_timeloop(
      text + "    - {name: MAC, compute-optimization: [{type: gating}]}\n", "d.yaml");
  const Arch arch = to_arch(import.design.machine);
  const std::string printed = print_arch(arch);
  EXPECT_TRUE(has_line(printed, "- {skip: weight, on: [input]}")) << printed;
  EXPECT_TRUE(has_line(printed, "- {gate: output, on: [input, weight]}")) << printed;
  EXPECT_TRUE(has_line(printed, "when_zero: gate")) << printed;
  const Evaluation result =
      evaluate(Problem{arch, import.design.workload}, to_mapping(import.design));
  ASSERT_TRUE(std::holds_alternative<Cost>(result));
  EXPECT_DOUBLE_EQ(std::get<Cost>(result).sparse->operations, 1024);  // of 4,096
  EXPECT_DOUBLE_EQ(std::get<Cost>(result).sparse->steps, 1024);
}

TEST(TimeloopSparse, WhatHasNoCounterpartIsRefusedByName) {
  const std::string a = "{name: A, ranks: [{format: UOP}, {format: CP}]}";
  const auto refused = [&](const std::string& inner) {
    return error_of(design("{A: 0.5}", "", inner));
  };
  EXPECT_TRUE(has_line(refused(formats("{name: A, ranks: [{format: UB}]}")), "not 'UB'"));
  EXPECT_TRUE(has_line(refused(formats("{name: A, ranks: [{format: UOP}]}")), "stores zeros"));
  EXPECT_TRUE(
      has_line(refused(formats("{name: A, ranks: [{format: CP}]}")), "Timeloop refuses it"));
  EXPECT_TRUE(
      has_line(refused(formats("{name: C, ranks: [{format: CP}]}")), "'C' is no data space"));
  EXPECT_TRUE(has_line(refused(actions("{type: overbooking, target: B}")), "not 'overbooking'"));
  EXPECT_TRUE(has_line(refused(actions("{type: skipping-spatial, target: B}")),
                       "expected a target and condition_on"));
  EXPECT_TRUE(has_line(refused(actions("{type: position-skipping, target: B, condition-on: [A]}")),
                       "expected no condition"));
  EXPECT_TRUE(has_line(refused(actions("{type: position-skipping, target: Z, condition-on: []}")),
                       "the nonzeros of an operand"));
  // Here, and not in the machine file that a message would name otherwise.
  std::string three = design("{A: 0.5}", "", actions("{type: position-skipping, target: A}"));
  const std::string b = "      - {name: B, projection: [[[K]], [[N]]]}\n";
  three.insert(three.find(b), "      - {name: C, projection: [[[K]]]}\n");
  EXPECT_TRUE(has_line(error_of(three), "d.yaml:28:")) << error_of(three);
  EXPECT_TRUE(has_line(error_of(three), "three and more operands have no counterpart"));
  EXPECT_TRUE(has_line(refused(actions("{type: skipping, options: [{target: B, condition-on: [A]}, "
                                       "{target: A, condition-on: [B]}]}")),
                       "several options"));
  EXPECT_TRUE(has_line(refused(actions("{type: skipping, target: B, condition-on: [Z]}")),
                       "a leader is an operand"));
  EXPECT_TRUE(has_line(
      error_of(design("{A: {distribution: real-data, data_file_path: a.txt}}", "", formats(a))),
      "'real_data' is not known"));
}

// Four lanes over K of a design whose mapping spreads 16 of K over them, where a fourth of A is not
// zero: one batch, whose sums are one update.
TEST(TimeloopSparse, LanesTakeTheNextNonzeros) {
  std::string text =
      design("{A: 0.25}",
             formats("{name: A, ranks: [{format: UOP, payload-word-bits: 0}, {format: UOP, "
                     "payload-word-bits: 0}, {format: UOP, payload-word-bits: 0}, {format: CP, "
                     "metadata-word-bits: 4}]}"),
             formats("{name: A, ranks: [{format: UOP, payload-word-bits: 0}, {format: CP, "
                     "metadata-word-bits: 4}]}") +
                 actions("{type: skipping-spatial, target: Z, condition-on: [A]}"));
  const auto put = [&](const std::string& old, const std::string& now) {
    ASSERT_NE(text.find(old), std::string::npos) << old;
    text.replace(text.find(old), old.size(), now);
  };
  put("name: MAC, class: compute, attributes: {datawidth: 8}",
      "name: 'MAC[0..3]', class: compute, attributes: {datawidth: 8, meshX: 4}");
  const std::string loops = "  - {target: Buf, type: temporal, factors: M=4 N=0 K=16";
  put(loops,
      "  - {target: Buf, type: spatial, factors: M=1 N=1 K=16, permutation: KMN, split: 1}\n"
      "  - {target: Buf, type: temporal, factors: M=4 N=0 K=1");
  const TimeloopImport import = parse_timeloop(text, "d.yaml");
  const Arch arch = to_arch(import.design.machine);
  const std::string written = print_arch(arch);
  EXPECT_TRUE(has_line(written, "balance: packed")) << written;
  EXPECT_TRUE(has_line(written, "when_zero: {skip: [input]}")) << written;
  const Problem problem{arch, import.design.workload};
  const Cost cost = std::get<Cost>(evaluate(problem, to_mapping(import.design)));
  const auto& sums = cost.sparse->levels[LevelId{1}][TensorId{2}].total;
  EXPECT_EQ(sums[static_cast<std::size_t>(Access::kUpdate)].actual, 16 * 8 * 2);
  EXPECT_EQ(cost.sparse->steps, 16 * 8 * 2);
  // Compute units that gate get no zeros of A either.
  const TimeloopImport gating = parse_timeloop(
      text + "    - {name: MAC, compute-optimization: [{type: gating}]}\n", "d.yaml");
  EXPECT_EQ(print_arch(to_arch(gating.design.machine)), written);
  EXPECT_TRUE(std::any_of(gating.notes.begin(), gating.notes.end(), [](const std::string& note) {
    return has_line(note, "and do not gate those of other operands");
  }));
  // Nor do lanes that take places of K leave out zeros of B, which are along K, too.
  put("densities: {A: 0.25}",
      "densities: {A: 0.25, B: {distribution: hypergeometric, density: 0.5}}");
  const TimeloopImport skipping = parse_timeloop(
      text + "    - {name: MAC, compute-optimization: [{type: skipping}]}\n", "d.yaml");
  const Arch packed = to_arch(skipping.design.machine);
  EXPECT_TRUE(has_line(print_arch(packed), "when_zero: {skip: [input]}")) << print_arch(packed);
  EXPECT_TRUE(
      std::any_of(skipping.notes.begin(), skipping.notes.end(), [](const std::string& note) {
        return has_line(note, "a zero in one saves none; in Timeloop it does");
      }));
  const Cost both = std::get<Cost>(
      evaluate(Problem{packed, skipping.design.workload}, to_mapping(skipping.design)));
  EXPECT_EQ(both.sparse->steps, 16 * 8 * 2);
  put(", B: {distribution: hypergeometric, density: 0.5}", "");
  // Five lanes do not share 16 indices out.
  put("'MAC[0..3]'", "'MAC[0..4]'");
  put("meshX: 4", "meshX: 5");
  EXPECT_TRUE(has_line(error_of(text), "K=16 along X below Buf, which has 5 instances"));
}

// Rows of A and columns of B in lanes of their own: operands are read once per batch of the other.
TEST(TimeloopSparse, LanesTakeTheirOwnPositions) {
  std::string text = design(
      "{A: {distribution: hypergeometric, density: 0.5}, B: {distribution: hypergeometric, "
      "density: 0.25}}",
      "",
      formats("{name: A, ranks: [{format: UOP, payload-word-bits: 0}, {format: UOP, "
              "payload-word-bits: 0}, {format: B}]}, {name: B, ranks: [{format: UOP, "
              "payload-word-bits: 0}, {format: UOP, payload-word-bits: 0}, {format: B}]}") +
          actions("{type: position-skipping, target: A, condition-on: []}, "
                  "{type: position-skipping, target: B, condition-on: []}"));
  const std::string before = "  - {target: Buf, type: temporal, factors: M=4 N=0 K=16";
  text.replace(text.find(before), before.size(),
               "  - {target: Buf, type: spatial, factors: M=2 N=2 K=1, permutation: NMK, split: 1}"
               "\n  - {target: Buf, type: temporal, factors: M=2 N=4 K=16");
  const std::string unit = "name: MAC, class: compute, attributes: {datawidth: 8}";
  text.replace(text.find(unit), unit.size(),
               "name: 'MAC[0..3]', class: compute, attributes: {datawidth: 8, meshX: 2}");
  const TimeloopImport import = parse_timeloop(text, "d.yaml");
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  const Cost cost = std::get<Cost>(evaluate(problem, to_mapping(import.design)));
  const auto reads = [&](std::size_t t) {
    return cost.sparse->levels[LevelId{1}][static_cast<TensorId>(t)]
        .total[static_cast<std::size_t>(Access::kRead)]
        .actual;
  };
  // Tiles of 4 of M and 8 of N, from which 2 and 2 lanes take.
  EXPECT_NEAR(reads(0), 0.5 * 16 * 32 * expected_groups(hypergeometric(256, 64, 8), 2), 1e-9);
  EXPECT_NEAR(reads(1), 0.25 * 4 * 8 * 32 * expected_groups(hypergeometric(512, 256, 4), 2), 1e-9);
}

// Statistics of Timeloop for designs of the collection. Where it is known to be wrong, or counts
// otherwise, ours are held to what they should be.
class Collected {
 public:
  Collected(const std::filesystem::path& input, const nlohmann::json& theirs)
      : import_{read_timeloop({input.string()})}, theirs_(theirs["levels"]), all_(theirs) {
    for (Tensor& tensor : import_.design.workload.tensors) {
      if (!tensor.pattern && tensor.density < 1 && tensor.name != "Z") {
        double size = 1;
        for (const Rank& rank : tensor.ranks) {
          std::int64_t extent = 1;
          for (const Term& term : rank.terms) {
            extent += term.coefficient * (import_.design.workload.dims[term.dim].bound - 1);
          }
          size *= static_cast<double>(extent);
        }
        tensor.density = std::ceil(tensor.density * size) / size;  // as there, rounded up
      }
    }
  }

  void check(const std::string& name) const {
    const Arch arch = to_arch(import_.design.machine);
    const Problem problem{arch, import_.design.workload};
    const Evaluation result = evaluate(problem, to_mapping(import_.design));
    ASSERT_TRUE(std::holds_alternative<Cost>(result)) << name;
    const SparseCounts& counts = *std::get<Cost>(result).sparse;
    const bool gates = std::any_of(
        arch.sparsity->levels.begin(), arch.sparsity->levels.end(), [](const auto& level) {
          return std::any_of(level.when_empty.begin(), level.when_empty.end(),
                             [](const Condition& each) { return each.act == ZeroAct::kGate; });
        });
    // There, operations of two absent operands are left out without being asked for; and of lanes
    // that get nonzeros alone, all are counted.
    const bool packs = name == "g3k_spatialskip";
    const double computes = name == "g1_small_buf_fit" || packs
                                ? 4096
                                : number(theirs_["MAC"]["Actual Computes (total)"]);
    near(name + " MACs", counts.operations, computes);
    if (gates) {  // as long as dense there is right; there it is as fast as skipping
      EXPECT_GE(counts.steps, number(all_["Cycles"])) << name;
    } else if (name != "g3_bw1_skip" && name != "g1_small_buf_fit" && !packs) {
      near(name + " cycles", static_cast<double>(std::get<Cost>(result).latency.steady.count()),
           number(all_["Cycles"]));
    }
    for (const LevelId l : arch.levels.ids()) {
      for (const TensorId t : problem.workload().tensors.ids()) {
        const std::string& tensor = problem.workload().tensors[t].name;
        const auto& level = theirs_[arch.levels[l].name];
        if (t != problem.workload().output() && level.contains(tensor) &&
            name != "g1_small_buf_fit") {
          check_reads(name, counts.levels[l][t].total, level[tensor]);
        }
      }
    }
  }

 private:
  static double number(const nlohmann::json& value) { return value.get<double>(); }

  // There: whole numbers of an average instance, whose number has two digits.
  void near(const std::string& what, double ours, double theirs, double instances = 1) const {
    EXPECT_NEAR(ours, theirs, 2 * instances + 0.025 * theirs) << what;
  }

  void check_reads(const std::string& name, const SparseTensor::Accesses& ours,
                   const nlohmann::json& theirs) const {
    const double instances = number(theirs["Utilized instances (average)"]);
    near(name + " reads", ours[static_cast<std::size_t>(Access::kRead)].actual,
         instances * number(theirs["Actual scalar reads (per-instance)"]), instances);
  }

  TimeloopImport import_;
  nlohmann::json theirs_, all_;
};

TEST(TimeloopSparse, CountsAreThoseOfTimeloop) {
  const std::filesystem::path folder = collected_folder() / "sparse";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "MAPSIM_GOLDENS has no folder 'sparse'";
  }
  std::set<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".yaml") && !name.ends_with(".dense.yaml")) {
      inputs.insert(entry.path());
    }
  }
  std::size_t compared = 0;
  std::string refused;
  for (const std::filesystem::path& input : inputs) {
    std::ifstream file{std::filesystem::path{input}.replace_extension(".json")};
    const nlohmann::json theirs = nlohmann::json::parse(file);
    try {
      const Collected each{input, theirs["sparse"]};
      each.check(input.stem().string());
      ++compared;
    } catch (const ConfigError& error) {
      refused += input.stem().string() + " ";
    }
  }
  EXPECT_EQ(refused, "g1_fmt_ub_d25 ");
  EXPECT_GE(compared, 30U);
  fmt::print("{} designs compared, refused: {}\n", compared, refused);
}

}  // namespace

}  // namespace mapsim::timeloop_sparse_test
