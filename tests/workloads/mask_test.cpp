// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "workloads/load.hpp"
#include "workloads/pattern.hpp"

namespace mapsim::mask_test {
namespace {

using Box = std::vector<std::int64_t>;
const Box kBox{2, 3};
const std::vector<char> kMask{1, 0, 0, 0, 1, 1};  // of kBox

std::string npy(const std::string& header, const std::string& elements, char version = 1) {
  std::string content = "\x93NUMPY";
  content += version;
  content += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    content += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  }
  return content + header + elements;
}

std::string dict(const std::string& type, const std::string& order, const std::string& shape) {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}\n", type, order, shape);
}

std::string bytes(const std::vector<char>& values) { return {values.begin(), values.end()}; }

// One element of `width` bytes per element of the mask; `last`: the most significant byte of ones.
std::string wide(std::size_t width, char last) {
  std::string elements;
  for (const char one : kMask) {
    elements += std::string(width - 1, '\0') + (one != 0 ? last : '\0');
  }
  return elements;
}

TEST(Mask, ReadsNumberTypesOfNumpy) {
  const std::pair<const char*, std::size_t> types[] = {
      {"|b1", 1}, {"|u1", 1}, {"|i1", 1}, {"<i2", 2}, {"<u2", 2}, {"<f2", 2},
      {"<i4", 4}, {"<u4", 4}, {"<f4", 4}, {"<i8", 8}, {"<u8", 8}, {"<f8", 8}};
  for (const auto& [type, width] : types) {
    const std::string header = dict(fmt::format("'{}'", type), "False", "(2, 3)");
    for (const char version : {'\1', '\2', '\3'}) {
      EXPECT_EQ(parse_mask(npy(header, wide(width, 1), version), "m.npy", kBox), kMask) << type;
    }
  }
  // -0.0 is zero, and the smallest float is not.
  const std::string header = dict("'<f4'", "False", "(3,)");
  EXPECT_EQ(parse_mask(npy(header, {"\0\0\0\x80\1\0\0\0\0\0\x80\x3f", 12}), "m.npy", {3}),
            (std::vector<char>{0, 1, 1}));
  EXPECT_EQ(parse_mask(npy(dict("'|u1'", "False", "()"), "\1"), "m.npy", {}),
            (std::vector<char>{1}));
}

TEST(Mask, ReadsMatrixMarket) {
  const std::string head = "%%MatrixMarket matrix coordinate ";
  EXPECT_EQ(parse_mask(head + "real general\n% by hand\n\n2 3 4\n1 1 0.5\n2 2 -1e-9\n2 3 7\n"
                              "1 2 0\n",
                       "m.mtx", kBox),
            kMask);
  EXPECT_EQ(
      parse_mask(head + "pattern general\r\n2 3 3\r\n1 1\r\n2 3\r\n\r\n2 2\r\n", "m.mtx", kBox),
      kMask);
  EXPECT_EQ(parse_mask("%%matrixmarket MATRIX array Integer general\n2 3\n1\n0\n0\n5\n0\n-1\n",
                       "m.mtx", kBox),
            kMask);
  EXPECT_EQ(parse_mask(head + "integer symmetric\n2 2 2\n1 1 1\n2 1 1\n", "m.mtx", {2, 2}),
            (std::vector<char>{1, 1, 1, 0}));
  // The last rank as columns, all others as rows; an entry stated twice is not cleared by a zero.
  EXPECT_EQ(parse_mask(head + "real general\n2 3 2\n2 3 1\n2 3 0\n", "m.mtx", {1, 2, 3}),
            (std::vector<char>{0, 0, 0, 0, 0, 1}));
}

TEST(Mask, ReadsDigits) {
  EXPECT_EQ(parse_mask("1 0 0\n0,1,1\n", "m.txt", kBox), kMask);
  EXPECT_EQ(parse_mask("100\r\n011", "m", kBox), kMask);
  EXPECT_EQ(parse_mask("1", "m", {}), (std::vector<char>{1}));
  EXPECT_EQ(parse_mask("1\n0\n\n1\n", "m", {1, 3, 1}), (std::vector<char>{1, 0, 1}));
  EXPECT_EQ(parse_mask("10\n01\n", "m", {2, 2, 1}), (std::vector<char>{1, 0, 0, 1}));
}

struct BadMask {
  std::string path, content, message;
};

std::vector<BadMask> bad_npy() {
  const std::string six = bytes(kMask);
  const auto typed = [&](const std::string& type) {
    return npy(dict(type, "False", "(2, 3)"), six);
  };
  const auto shaped = [&](const std::string& shape) {
    return npy(dict("'|u1'", "False", shape), six);
  };
  const std::string type = "little-endian numbers of up to 8 bytes are";
  const std::string header = "the file ends within its header";
  const std::string good = shaped("(2, 3)");
  return {
      {"m.npy", "", "not a NumPy file"},
      {"m.npy", "100\n011\n", "not a NumPy file"},
      {"m.npy", "\x93NUMPY", "not a NumPy file"},
      {"m.npy", npy("{}", "", 9), "version 9 of NumPy's format"},
      {"m.npy", good.substr(0, 9), header},
      {"m.npy", good.substr(0, 40), header},
      {"m.npy", std::string{"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12} + "{}", header},
      {"m.npy", npy("", six), "names no type"},
      {"m.npy", npy(std::string(60, '\0'), six), "names no type"},
      {"m.npy", npy("{'descr': ", six), "names no type"},
      {"m.npy", npy("{'descr':", six), "names no type"},
      {"m.npy", npy("{'descr': '|u1', }", six), "states no order"},
      {"m.npy", npy("{'descr': '|u1', 'fortran_order': False, }", six), "states no shape"},
      {"m.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3", six), "no shape"},
      {"m.npy", npy(dict("'|u1'", "True", "(2, 3)"), six), "in Fortran order"},
      {"m.npy", npy(dict("'|u1'", "1", "(2, 3)"), six), "states no order"},
      {"m.npy", typed("'>f4'"), type},
      {"m.npy", typed("'<c8'"), type},
      {"m.npy", typed("'<f16'"), type},
      {"m.npy", typed("'|O'"), type},
      {"m.npy", typed("'|S6'"), type},
      {"m.npy", typed("'<U6'"), type},
      {"m.npy", typed("[('a', '<f4')]"), type},
      {"m.npy", shaped("(3, 2)"), "an array of 3 x 2, but the tensor is 2 x 3"},
      {"m.npy", shaped("(6,)"), "an array of 6, but the tensor is 2 x 3"},
      {"m.npy", shaped("(0, 2, 3)"), "an array of 0 x 2 x 3"},
      {"m.npy", shaped("()"), "an array of no ranks"},
      {"m.npy", shaped("(2, -3)"), "states no shape"},
      {"m.npy", shaped("(2, 99999999999999999999)"), "states no shape"},
      {"m.npy", shaped("(2 3)"), "states no shape"},
      {"m.npy", shaped("6"), "states no shape"},
      {"m.npy", good.substr(0, good.size() - 1), "5 bytes of elements; 6 of 1 bytes are 6"},
      {"m.npy", good + "1", "7 bytes of elements"},
  };
}

std::vector<BadMask> bad_text() {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const std::string first = "a Matrix Market file starts with";
  return {
      {"m.mtx", "", first},
      {"m.mtx", "2 3 1\n1 1 1\n", first},
      {"m.mtx", "%%MatrixMarket vector coordinate real general\n", first},
      {"m.mtx", "%%MatrixMarket matrix sparse real general\n", first},
      {"m.mtx", "%%MatrixMarket matrix coordinate complex general\n", "the field 'complex'"},
      {"m.mtx", "%%MatrixMarket matrix array pattern general\n", "the field 'pattern'"},
      {"m.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", "the symmetry 'hermitian'"},
      {"m.mtx", "%%MatrixMarket matrix array real symmetric\n", "the symmetry 'symmetric'"},
      {"m.mtx", "%%MatrixMarket matrix coordinate real\n", "the symmetry ''"},
      {"m.mtx", head, "m.mtx:1:1: the file ends before the line of sizes"},
      {"m.mtx", head + "2 3\n", "m.mtx:2:1: expected three numbers"},
      {"m.mtx", head + "2 3 1 1\n", "m.mtx:2:1: expected three numbers"},
      {"m.mtx", head + "3 2 1\n", "m.mtx:2:1: 3 x 2, but the tensor is 2 x 3"},
      {"m.mtx", head + "2 3 -1\n", "m.mtx:2:1: -1 entries"},
      {"m.mtx", head + "2 3 7\n", "m.mtx:2:1: 7 entries"},
      {"m.mtx", head + "2 3 99999999999999999999\n", "m.mtx:2:1: expected three numbers"},
      {"m.mtx", head + "2 3 2\n1 1 1\n", "m.mtx:3:1: the file ends before entry 2 of 2"},
      {"m.mtx", head + "2 3 1\n1 1 1\n1 2 1\n", "m.mtx:4:1: more entries"},
      {"m.mtx", head + "2 3 1\n0 1 1\n", "m.mtx:3:1: row 0, column 1 is outside"},
      {"m.mtx", head + "2 3 1\n2 4 1\n", "m.mtx:3:1: row 2, column 4 is outside"},
      {"m.mtx", head + "2 3 1\n1 1\n", "m.mtx:3:1: expected a row, a column and a value"},
      {"m.mtx", head + "2 3 1\n1 x 1\n", "m.mtx:3:1: expected a row, a column and a value"},
      {"m.mtx", head + "2 3 1\n1 1 1 1\n", "m.mtx:3:1: expected a row, a column and a value"},
      {"m.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 3 1\n1 1\n",
       "m.mtx:2:1: a matrix of 2 x 3 is not symmetric"},
      {"m.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n", "before value 2 of 6"},
      {"m.mtx", "%%MatrixMarket matrix array real general\n2 3\n1 0\n", "expected one value"},
      {"m.txt", "", "0 digits, but the tensor has 2 x 3 = 6 elements"},
      {"m.txt", "100\n", "3 digits"},
      {"m.txt", "100\n011\n000\n", "9 digits"},
      {"m.txt", "100\n01\n", "m.txt:2:1: a line of 2 digits; the tensor is 2 x 3, so a row has 3"},
      {"m.txt", "10\n00\n11\n", "m.txt:1:1: a line of 2 digits"},
      {"m.txt", "100\n021\n", "m.txt:2:1: a mask as text has the digits 0 and 1 only"},
      {"m.txt",
       std::string{"100\n01\0"
                   "1",
                   8},
       "m.txt:2:1: a mask as text"},
      {"m.txt", bad_npy().front().content + "\x93NUMPY", "m.txt:1:1: a mask as text"},
  };
}

TEST(Mask, NamesWhatIsWrongOnce) {
  std::vector<BadMask> all = bad_npy();
  const std::vector<BadMask> text = bad_text();
  all.insert(all.end(), text.begin(), text.end());
  for (const BadMask& bad : all) {
    try {
      parse_mask(bad.content, bad.path, kBox);
      ADD_FAILURE() << "read: " << bad.message;
    } catch (const ConfigError& error) {
      ASSERT_EQ(error.diagnostics().size(), 1);
      const std::string text_of = to_string(error.diagnostics().front());
      EXPECT_EQ(text_of.rfind(bad.path, 0), 0) << text_of;
      EXPECT_NE(text_of.find(bad.message), std::string::npos) << text_of << "\n" << bad.message;
    }
  }
}

// Whatever a byte is changed to, or wherever the file ends: a mask, or one error.
TEST(Mask, DamagedFilesAreReadOrRefused) {
  const std::string files[] = {
      npy(dict("'<f4'", "False", "(2, 3)"), wide(4, 1)),
      "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 1\n", "100\n011\n"};
  const char* const paths[] = {"m.npy", "m.mtx", "m.txt"};
  Rng rng{1};
  int refused = 0;
  for (std::size_t f = 0; f < std::size(files); ++f) {
    for (int i = 0; i < 3000; ++i) {
      std::string content = files[f].substr(0, files[f].size() - rng.below(2) * rng.below(80));
      for (std::uint64_t n = rng.below(3); n > 0 && !content.empty(); --n) {
        content[rng.below(content.size())] = static_cast<char>(rng.below(256));
      }
      try {
        EXPECT_EQ(parse_mask(content, paths[f], kBox).size(), 6);
      } catch (const ConfigError& error) {
        EXPECT_EQ(error.diagnostics().size(), 1);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

// What is not a file, or far too large, is refused before it is read.
TEST(Mask, RefusesFoldersAndWhatNoMaskCanBe) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / "mapsim_mask_test";
  std::filesystem::create_directories(folder);
  const auto message = [&](const std::string& path) -> std::string {
    try {
      read_mask(path, kBox);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_NE(message(folder.string()).find("not a file"), std::string::npos);
  EXPECT_NE(message("/dev/zero").find("not a file"), std::string::npos);
  EXPECT_NE(message((folder / "none.npy").string()).find("No such file"), std::string::npos);
  const std::string large = (folder / "large.txt").string();
  std::ofstream{large};
  std::filesystem::resize_file(large, std::uintmax_t{1} << 40);
  EXPECT_NE(message(large).find("bytes are more than a mask of 6 elements"), std::string::npos);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(parse_mask("1", "m.txt", {1 << 20, 1 << 20}), ConfigError);
}

// A kernel of one place slides over nothing; a stride leaves out places that the mask has.
TEST(Mask, IsTakenForTheInputOfAConvolutionWithoutAWindow) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / "mapsim_mask_conv_test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "act.txt"} << "1 0 0 1\n0 0 1 0\n";
  const auto load = [&](const std::string& kernel, const std::string& density) {
    try {
      return parse_workload(
                 "name: w\nconv2d: {in_channels: 2, out_channels: 2, input: 2, kernel: " + kernel +
                     "}\ndensity: {" + density + "}\n",
                 (folder / "w.yaml").string())
          .name;
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  EXPECT_EQ(load("1", "input: data act.txt"), "w");
  EXPECT_NE(load("2, padding: 1", "input: data act.txt").find("sliding window"), std::string::npos);
  const std::string nowhere = load("1", "input: data none.txt");
  EXPECT_NE(nowhere.find("w.yaml:3:18: density.input: "), std::string::npos) << nowhere;
  EXPECT_NE(nowhere.find("none.txt: No such file"), std::string::npos) << nowhere;
  EXPECT_NE(load("1", "input: data").find("expected 'data FILE'"), std::string::npos);
  EXPECT_NE(load("1", "input: uniform").find("expected 'uniform SHARE'"), std::string::npos);
  EXPECT_NE(load("1", "weight: 0.4, W: 0.3").find("no tensor is left for it: W"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mapsim::mask_test
