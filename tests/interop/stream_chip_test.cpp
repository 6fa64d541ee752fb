// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"

namespace mapsim::stream_chip_test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

std::string stream_core(const char* name, const char* type, int size) {
  return fmt::format(
      "name: {0}\ntype: {1}\nmemories:\n  m_{0}:\n    size: 1024\n    r_cost: 8\n    w_cost: 16\n"
      "    operands: [I1, I2, O]\n    ports: [{{name: p, type: read_write, bandwidth_max: 8}}]\n"
      "    served_dimensions: [D1]\n"
      "operational_array: {{unit_energy: 1, dimensions: [D1], sizes: [{2}]}}\n",
      name, type, size);
}

// The core that a chip of these tests names so.
Document tpu_or_dram(const std::string& path) {
  const bool dram = path == "cores/dram.yaml";
  return parse_yaml(stream_core(dram ? "dram" : "tpu", dram ? "offchip" : "compute", 4), path);
}

TEST(StreamChip, MakesEachCoreAnArchitectureBeforeTheMemoryOffTheChip) {
  const Document chip = parse_yaml(
      "name: chip\ncores: {0: a/tpu.yaml, 1: a/tpu.yaml, 2: vector.yaml, 3: a/dram.yaml}\n"
      "offchip_core_id: 3\ncore_connectivity: [{type: bus, cores: [0, 1, 2, 3], bandwidth: 64}]\n",
      "f/chip.yaml");
  const auto read = [](const std::string& path) {
    const bool dram = path == "f/a/dram.yaml", tpu = path == "f/a/tpu.yaml";
    EXPECT_TRUE(dram || tpu || path == "f/cores/vector.yaml") << path;
    return parse_yaml(dram  ? stream_core("dram", "offchip", 0)
                      : tpu ? stream_core("tpu", "compute", 4)
                            : stream_core("vector", "zigzag.compute", 2),
                      path);
  };
  std::vector<std::string> notes;
  const ZigzagChip found = read_stream_chip(chip, read, notes);
  const std::vector<ZigzagCore>& cores = found.cores;
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].name, "tpu");
  const Arch& tpu = cores[0].arch;
  ASSERT_EQ(tpu.levels.size(), 2U);
  EXPECT_EQ(tpu.levels[LevelId{0}].name, "m_dram");
  EXPECT_TRUE(tpu.levels[LevelId{0}].capacity.unlimited());
  EXPECT_EQ(tpu.levels[LevelId{1}].capacity.shared, Bits{1024});
  EXPECT_EQ(tpu.mac_units(), 4);
  EXPECT_EQ(cores[1].arch.mac_units(), 2);
  EXPECT_THAT(notes, Contains("tpu: 0, 1 of the chip"));
  EXPECT_THAT(notes,
              Contains(HasSubstr(
                  "left out: links between cores (line 4; here, tensors pass through the chip's "
                  "memory instead); dram (3), which computes nothing")));
  // 8 b a cycle at 1 GHz; an access of 8 b takes 8 pJ and 16 pJ.
  EXPECT_EQ(
      found.soc,
      "name: chip\nsoc:\n"
      "  memory: {bandwidth: 1 GB/s, capacity: 1024 b, energy: {read: 1 pJ/b, write: 2 pJ/b}}\n"
      "  engines:\n"
      "    - {name: tpu, arch: tpu.arch.yaml, count: 2, port: 8 GB/s}\n"
      "    - {name: vector, arch: vector.arch.yaml, port: 8 GB/s}\n"
      "  transitions:\n    - {from: tpu, to: vector}\n    - {from: vector, to: tpu}\n");
}

// By a bare name also beside the chip, by a path from a folder around it.
TEST(StreamChip, LooksForCoresWhereStreamDoes) {
  const fs::path root = fs::path{testing::TempDir()} / "mapsim_stream_chip";
  fs::create_directories(root / "chips/cores");
  for (const char* core : {"chips/cores/tpu.yaml", "chips/vector.yaml", "chips/dram.yaml"}) {
    std::ofstream{root / core} << "\n";
  }
  const Document chip = parse_yaml(
      "name: chip\ncores: {0: chips/cores/tpu.yaml, 1: vector.yaml, 2: ./dram.yaml}\n"
      "offchip_core_id: 2\nmemory_aliases: [[0.m_tpu, 1.m_vector]]\n",
      (root / "chips/chip.yaml").string());
  std::vector<std::string> read, notes;
  const ZigzagChip chip_of_cores = read_stream_chip(
      chip,
      [&](const std::string& path) {
        read.push_back(path);
        const std::string name = fs::path{path}.stem().string();
        std::string text = stream_core(name.c_str(), name == "dram" ? "offchip" : "compute", 4);
        text.replace(text.find("1024"), 4, name == "dram" ? "10_000_000_000_000_000" : "1_024");
        return parse_yaml(text, path);
      },
      notes);
  EXPECT_EQ(chip_of_cores.cores.at(0).arch.levels[LevelId{1}].capacity.shared, Bits{1024});
  EXPECT_EQ(read, (std::vector{(root / "chips/cores/tpu.yaml").string(),
                               (root / "chips/vector.yaml").string(),
                               (root / "chips/dram.yaml").string()}));
  EXPECT_THAT(notes, Contains(HasSubstr("left out: memory_aliases (line 4); ")));
  EXPECT_THAT(notes, Contains(HasSubstr("written as 9007199254740992 b")));
  fs::remove_all(root);
}

// Nor is a file read that lies in another folder around it.
TEST(StreamChip, LooksForCoresOnlyInItsOwnFolders) {
  const fs::path around = fs::path{testing::TempDir()} / "mapsim_stream_chip_alone";
  fs::create_directories(around / "cores");
  fs::create_directories(around / "chips");
  std::ofstream{around / "cores/dram.yaml"} << "\n";
  const Document chip = parse_yaml("name: chip\ncores: {0: cores/dram.yaml}\noffchip_core_id: 0\n",
                                   (around / "chips/chip.yaml").string());
  std::vector<std::string> read, notes;
  const auto core = [&](const std::string& path) {
    read.push_back(path);
    return parse_yaml(stream_core("dram", "offchip", 4), path);
  };
  read_stream_chip(chip, core, notes);
  EXPECT_EQ(read, std::vector{(around / "chips/cores/dram.yaml").string()});
  fs::remove_all(around);
}

// A name in quotes keeps its underscores.
TEST(StreamChip, JoinsDigitsOfNumbersAlone) {
  Document names = parse_yaml("[16_777_216, '1_2', \"3_4\", x_1, {5_6: 7_8}]", "numbers.yaml");
  join_digits(names.root);
  const std::vector<Node>& items = names.root.items;
  EXPECT_EQ(items[0].text, "16777216");
  EXPECT_EQ(items[1].text, "1_2");
  EXPECT_EQ(items[2].text, "3_4");
  EXPECT_EQ(items[3].text, "x_1");
  EXPECT_EQ(items[4].entries[0].key.text, "5_6");
  EXPECT_EQ(items[4].entries[0].value.text, "78");
}

TEST(StreamChip, SaysWhichCoresHaveNoLinkToTheMemory) {
  const Document chip = parse_yaml(
      "name: chip\ncores: {0: tpu.yaml, 1: tpu.yaml, 2: dram.yaml}\noffchip_core_id: 2\n"
      "core_connectivity: [{type: link, cores: [0, 1], bandwidth: 32}, "
      "{type: link, cores: [1, 2], bandwidth: 64}]\n",
      "chip.yaml");
  std::vector<std::string> notes;
  const ZigzagChip found = read_stream_chip(chip, tpu_or_dram, notes);
  EXPECT_EQ(found.cores.at(0).port, 64);
  EXPECT_THAT(notes,
              Contains(HasSubstr("tpu: 1 of 2 cores have a link to the memory off the chip")));
}

// Memory, links and buses limit each other: a memory of 8 b a cycle in each direction.
TEST(StreamChip, TakesTheNarrowestWayToTheMemory) {
  std::vector<std::string> notes;
  const auto read = [&](const std::string& links) {
    const Document chip = parse_yaml(
        "name: chip\ncores: {0: tpu.yaml, 1: tpu.yaml, 2: dram.yaml}\noffchip_core_id: 2\n"
        "core_connectivity: [" +
            links + "]\n",
        "chip.yaml");
    notes.clear();
    return read_stream_chip(chip, tpu_or_dram, notes);
  };
  const auto shared = [](const ZigzagChip& chip) {
    return chip.cores.at(0).arch.levels[LevelId{0}].bandwidth.shared;
  };
  const ZigzagChip bus = read("{type: bus, cores: [0, 1, 2], bandwidth: 4}");
  EXPECT_EQ(shared(bus), BitsPerCycle{4});
  EXPECT_THAT(bus.soc, HasSubstr("memory: {bandwidth: 0.5 GB/s,"));
  const ZigzagChip links =
      read("{cores: [0, 2], bandwidth: 4}, {cores: [2, 1], bandwidth: 2, unit_energy_cost: 0.5}");
  EXPECT_EQ(shared(links), BitsPerCycle{2});
  EXPECT_THAT(links.soc, HasSubstr("memory: {bandwidth: 1 GB/s,"));
  EXPECT_THAT(links.soc, HasSubstr("port: 0.25 GB/s"));
  EXPECT_THAT(
      notes,
      Contains(HasSubstr("tpu: the links to the memory off the chip carry 2 to 4 b per cycle")));
  EXPECT_THAT(notes,
              Contains(HasSubstr("chip.yaml:4: unit_energy_cost (0.5) between 2, 1 is left out")));
  read("{type: bus, cores: [0, 2], bandwidth: 4}, {cores: [1, 2], bandwidth: 4}");
  EXPECT_THAT(notes, Contains(HasSubstr("with a bus among them")));
  read("{cores: [0, 1], bandwidth: 4}");
  EXPECT_THAT(notes, Contains(HasSubstr("tpu: the core has no link to the memory off the chip")));
  EXPECT_THROW(read("{cores: [0, 2], bandwith: 4}"), ConfigError);
}

// One register of inputs for the units along D1, one of sums for those along D2: the former becomes
// a copy for each unit of D1, all of which hold the same, since no dim that indexes the input may
// be unrolled there.
TEST(StreamChip, UnrollsNothingThatCopiesOfASharedMemoryWouldHoldApart) {
  const auto memory = [](const char* name, const char* operands, const char* served) {
    return fmt::format(
        "  {}:\n    size: 64\n    r_cost: 8\n    w_cost: 8\n    operands: [{}]\n"
        "    ports: [{{name: p, type: read_write, bandwidth_max: 8}}]\n"
        "    served_dimensions: [{}]\n",
        name, operands, served);
  };
  const auto dims_of = [&](const char* operands) {
    const std::string core =
        "name: tpu\ntype: compute\nmemories:\n" + memory("shared", operands, "D1") +
        memory("sums", "O", "D2") + memory("all", "I1, I2, O", "D1, D2") +
        "operational_array: {unit_energy: 1, dimensions: [D1, D2], sizes: [4, 2]}\n";
    const Document chip = parse_yaml(
        "name: chip\ncores: {0: tpu.yaml, 1: dram.yaml}\noffchip_core_id: 1\n", "chip.yaml");
    std::vector<std::string> notes;
    const ZigzagChip found = read_stream_chip(
        chip,
        [&](const std::string& path) {
          return path == "cores/dram.yaml" ? tpu_or_dram(path) : parse_yaml(core, path);
        },
        notes);
    EXPECT_THAT(notes, Contains(HasSubstr("tpu: shared: shared along dims of the array that do not "
                                          "nest with those of other memories")));
    EXPECT_THAT(notes, Contains(HasSubstr("so along D1 only dims are unrolled that do not index")));
    const auto& fanouts = found.cores.at(0).arch.fanouts;
    const auto limited = std::find_if(fanouts.begin(), fanouts.end(),
                                      [](const Fanout& each) { return each.name == "D1"; });
    for (const Fanout& fanout : fanouts) {
      EXPECT_TRUE(fanout.name == "D1" || fanout.x_dims.unconstrained()) << fanout.name;
    }
    return limited->x_dims;
  };
  EXPECT_EQ(dims_of("I1"), (AxisConstraint{{GemmAxis::kN}, {}}));
  EXPECT_EQ(dims_of("I2"), (AxisConstraint{{GemmAxis::kM}, {}}));
  EXPECT_EQ(dims_of("I1, I2"), (AxisConstraint{{}, {"no_dim"}}));
}

TEST(StreamChip, IsRefusedWithoutACoreThatComputes) {
  const fs::path root = fs::path{testing::TempDir()} / "mapsim_stream_chip_without_cores";
  fs::create_directories(root);
  std::ofstream{root / "dram.yaml"} << stream_core("dram", "offchip", 4);
  try {
    import_zigzag(
        {parse_yaml("name: chip\ncores: {0: dram.yaml}\n", (root / "chip.yaml").string())});
    ADD_FAILURE() << "it was read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("chip.yaml:2:8: cores: no core has a counterpart here; "));
    EXPECT_THAT(error.what(), HasSubstr("left out: dram (0), which computes nothing"));
  }
  fs::remove_all(root);
}

TEST(StreamChip, NamesItsOwnCores) {
  const auto complaint = [](const std::string& more) -> std::string {
    const Document chip =
        parse_yaml("name: chip\ncores: {0: tpu.yaml, 1: dram.yaml}\n" + more + "\n", "chip.yaml");
    std::vector<std::string> notes;
    try {
      read_stream_chip(chip, tpu_or_dram, notes);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("offchip_core_id: 1\ncore_connectivity: [{cores: [0, 1], bandwidth: 4}]"),
            "");
  EXPECT_THAT(complaint("offchip_core_id: 2"),
              HasSubstr("chip.yaml:3:18: offchip_core_id: the chip has no core '2'"));
  EXPECT_THAT(complaint("core_connectivity: [{cores: [0, 3], bandwidth: 4}]"),
              HasSubstr("chip.yaml:3:33: core_connectivity[0].cores[1]: the chip has no core '3'"));
  EXPECT_THAT(complaint("core_connectivity: [{cores: 0, bandwidth: 4}]"),
              HasSubstr("expected a list of cores, not '0'"));
}

// A core without a type computes. Without a known operator it would be taken to run all.
TEST(StreamChip, TakesCoresByTheirTypeAndOperators) {
  const auto read = [](const std::string& from, const std::string& to,
                       std::vector<std::string>& notes) {
    return read_stream_chip(
        parse_yaml("name: chip\ncores: {0: tpu.yaml, 1: dram.yaml}\noffchip_core_id: 1\n",
                   "chip.yaml"),
        [&](const std::string& path) {
          std::string text = stream_core("tpu", "compute", 4);
          text.replace(text.find(from), from.size(), to);
          return path == "cores/dram.yaml" ? tpu_or_dram(path) : parse_yaml(text, path);
        },
        notes);
  };
  std::vector<std::string> with, without;
  EXPECT_EQ(read("type: compute\n", "", without).cores.at(0).arch,
            read("name: tpu", "name: tpu", with).cores.at(0).arch);
  EXPECT_EQ(without, with);
  std::vector<std::string> notes;
  EXPECT_EQ(read("type", "operator_types: [Conv, Foo]\ntype", notes).cores.at(0).operators,
            Words{"Conv"});
  EXPECT_TRUE(read("type", "operator_types: [Foo]\ntype", notes).cores.empty());
  EXPECT_THAT(notes, Contains(HasSubstr("tpu (0), which runs no operator that is known here")));
  EXPECT_THROW(read("type", "operator_types: Conv\ntype", notes), ConfigError);
}

TEST(StreamChip, IsImportedAlone) {
  try {
    import_zigzag({parse_yaml("name: chip\ncores: {0: tpu.yaml}\n", "chip.yaml"),
                   parse_yaml("- {name: default}\n", "mapping.yaml")});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("chip.yaml:2:8: cores: a chip of Stream is imported "
                                        "alone, without a workload or a mapping"));
  }
}

TEST(StreamChip, LeavesTheMemoryOfACoreAloneItsEnd) {
  std::vector<Document> core;
  core.push_back(parse_yaml(stream_core("tpu", "compute", 4), "tpu.yaml"));
  const ZigzagImport import = import_zigzag(std::move(core));
  EXPECT_EQ(import.arch.levels[LevelId{0}].capacity.shared, Bits{1024});
  EXPECT_THAT(import.notes, Contains(HasSubstr("tpu is a core")));
  std::vector<Document> dram;
  dram.push_back(parse_yaml(stream_core("dram", "offchip", 0), "dram.yaml"));
  EXPECT_THROW(import_zigzag(std::move(dram)), ConfigError);
}
}  // namespace
}  // namespace mapsim::stream_chip_test
