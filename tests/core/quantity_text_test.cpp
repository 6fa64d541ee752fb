// SPDX-License-Identifier: Apache-2.0
#include "core/quantity_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/rng.hpp"

namespace mapsim::quantity_text_test {
namespace {

// The value; a failure and -1, which no quantity is, if there is none.
template <class Quantity>
auto value(const Parsed<Quantity>& parsed) {
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    ADD_FAILURE() << *problem;
    return static_cast<typename Quantity::rep>(-1);
  }
  return std::get<Quantity>(parsed).count();
}

template <class Quantity>
std::string problem(const Parsed<Quantity>& parsed) {
  const auto* text = std::get_if<std::string>(&parsed);
  return text == nullptr ? "" : *text;
}

TEST(ParseSize, KnowsBitsBytesAndBothKindsOfPrefix) {
  EXPECT_EQ(value(parse_size("16 b")), 16);
  EXPECT_EQ(value(parse_size("16 B")), 128);
  EXPECT_EQ(value(parse_size("16B")), 128);
  EXPECT_EQ(value(parse_size("0.5 KiB")), 4096);
  EXPECT_EQ(value(parse_size("0.3 kb")), 300);
  EXPECT_EQ(value(parse_size("1024 TiB")), std::int64_t{1} << 53);
}

TEST(ParseSize, PrefixesArePowers) {
  std::int64_t decimal = 1;
  std::int64_t binary = 1;
  for (const char* prefix : {"k", "M", "G", "T"}) {
    decimal *= 1000;
    binary *= 1024;
    const bool kilo = *prefix == 'k';
    EXPECT_EQ(value(parse_size(fmt::format("3 {}b", prefix))), 3 * decimal);
    EXPECT_EQ(value(parse_size(fmt::format("3 {}B", prefix))), 24 * decimal);
    EXPECT_EQ(value(parse_size(fmt::format("3 {}ib", kilo ? "K" : prefix))), 3 * binary);
    EXPECT_EQ(value(parse_size(fmt::format("3 {}iB", kilo ? "K" : prefix))), 24 * binary);
  }
}

TEST(ParseSize, ReadsBackWhatIsWritten) {
  Rng rng{7};
  for (int i = 0; i < 2000; ++i) {
    const auto bits = static_cast<std::int64_t>(1 + rng.below(std::uint64_t{1} << 53));
    EXPECT_EQ(value(parse_size(fmt::format("{} b", bits))), bits);
    EXPECT_EQ(value(parse_size(fmt::format("{} KiB", 1 + bits % 1000))), (1 + bits % 1000) * 8192);
  }
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  EXPECT_EQ(problem(parse_size("")), "'' is not a number with a unit; write it like '64 KiB'");
  EXPECT_EQ(problem(parse_size("0.1 KiB")), "'0.1 KiB' is not a whole number of bits");
  EXPECT_EQ(problem(parse_size("064 KiB")),
            "'064 KiB' begins with a zero; write decimal numbers without");
  EXPECT_EQ(problem(parse_size("0x40 KiB")),
            "unknown unit 'x40 KiB' in '0x40 KiB'; units here: b or B, after k, M, G, T (1000s) or "
            "Ki, Mi, Gi, Ti (1024s)");
  for (const char* text : {"KiB", ".5 KiB", "+1 KiB", "inf B", "nan B", "1 KiB 2", "1 kib", "1_0 B",
                           "1e40 B", "9007199254740993 B"}) {
    EXPECT_NE(problem(parse_size(text)), "") << text;
  }
}

TEST(ParseEnergy, TurnsEveryUnitIntoPicojoules) {
  EXPECT_EQ(value(parse_energy("1.2 pJ")), 1.2);
  EXPECT_EQ(value(parse_energy("3 fJ")), 0.003);
  EXPECT_EQ(value(parse_energy("2.5 nJ")), 2500);
  EXPECT_EQ(value(parse_energy("0 pJ")), 0);
  EXPECT_EQ(value(parse_energy("1.5e-3 pJ")), 0.0015);
}

TEST(ParseFrequency, TurnsEveryUnitIntoHertz) {
  EXPECT_EQ(value(parse_frequency("200 MHz")), 200e6);
  EXPECT_EQ(value(parse_frequency("1.5 GHz")), 1.5e9);
  EXPECT_EQ(value(parse_frequency("32.768 kHz")), 32768);
  EXPECT_EQ(problem(parse_frequency("0 Hz")), "'0 Hz' is not above zero");
}

TEST(ParseAccessEnergy, SpreadsTheEnergyOverTheBits) {
  EXPECT_EQ(value(parse_access_energy("200 pJ/word", Bits{16})), 12.5);
  EXPECT_EQ(value(parse_access_energy("1 pJ/B", std::nullopt)), 0.125);
  EXPECT_EQ(value(parse_access_energy("250 fJ/b", std::nullopt)), 0.25);
  EXPECT_EQ(problem(parse_access_energy("1 pJ/word", std::nullopt)),
            "'1 pJ/word' needs the width of a word; add a key like 'word: 16 b'");
  EXPECT_EQ(problem(parse_access_energy("1 pJ/KiB", std::nullopt)),
            "unknown unit 'pJ/KiB' in '1 pJ/KiB'; units here: pJ, fJ or nJ per word, B or b");
}

TEST(ParseBandwidth, GivesBitsPerCycleWhateverTheUnit) {
  const Hertz clock{500e6};
  EXPECT_EQ(value(parse_bandwidth("4 word/cycle", Bits{16}, clock)), 64);
  EXPECT_EQ(value(parse_bandwidth("16 B/cycle", std::nullopt, clock)), 128);
  EXPECT_EQ(value(parse_bandwidth("0.5 b/cycle", std::nullopt, clock)), 0.5);
  EXPECT_EQ(value(parse_bandwidth("25.6 GB/s", std::nullopt, clock)), 409.6);
  EXPECT_EQ(value(parse_bandwidth("1e9 word/s", Bits{16}, clock)), 32);
  EXPECT_EQ(problem(parse_bandwidth("1 TB/s", std::nullopt, Hertz{1e-310})),
            "'1 TB/s' is out of range");
  EXPECT_EQ(problem(parse_bandwidth("16 GBps", std::nullopt, clock)),
            "'16 GBps' is not a rate; write it like '16 GB/s'");
}

}  // namespace
}  // namespace mapsim::quantity_text_test
