// SPDX-License-Identifier: Apache-2.0
#include "core/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/ascii.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {
namespace {

// value in base units = number * times / over. Two factors, because 1/1000 is no binary number.
struct Unit {
  std::string_view name;
  double times = 1;
  double over = 1;
};

constexpr double kKi = 1024;
constexpr std::array kSizes{// base unit: bits
                            Unit{"b", 1},
                            Unit{"B", 8},
                            Unit{"kb", 1e3},
                            Unit{"kB", 8e3},
                            Unit{"Mb", 1e6},
                            Unit{"MB", 8e6},
                            Unit{"Gb", 1e9},
                            Unit{"GB", 8e9},
                            Unit{"Tb", 1e12},
                            Unit{"TB", 8e12},
                            Unit{"Kib", kKi},
                            Unit{"KiB", 8 * kKi},
                            Unit{"Mib", kKi* kKi},
                            Unit{"MiB", 8 * kKi* kKi},
                            Unit{"Gib", kKi* kKi* kKi},
                            Unit{"GiB", 8 * kKi* kKi* kKi},
                            Unit{"Tib", kKi* kKi* kKi* kKi},
                            Unit{"TiB", 8 * kKi* kKi* kKi* kKi}};
constexpr std::array kEnergies{Unit{"pJ"},      Unit{"fJ", 1, 1e3}, Unit{"nJ", 1e3},
                               Unit{"uJ", 1e6}, Unit{"mJ", 1e9},    Unit{"J", 1e12}};
constexpr std::array kPowers{Unit{"mW"}, Unit{"uW", 1, 1e3}, Unit{"nW", 1, 1e6}, Unit{"W", 1e3}};
constexpr std::array kAreas{Unit{"mm2"}, Unit{"um2", 1, 1e6}};
constexpr std::array kFrequencies{Unit{"Hz"}, Unit{"kHz", 1e3}, Unit{"MHz", 1e6}, Unit{"GHz", 1e9}};
constexpr std::array kTimes{Unit{"s"},          Unit{"ms", 1, 1e3}, Unit{"us", 1, 1e6},
                            Unit{"ns", 1, 1e9}, Unit{"min", 60},    Unit{"h", 3600}};
constexpr std::array kAccesses{Unit{"b", 1}, Unit{"B", 8}};

constexpr double kMaxNumber = 1e30;  // of any unit; keeps what is made of it finite
constexpr double kMaxBits = 0x1p53;  // every whole number up to here is a double

// What a kind of quantity looks like, for messages.
struct Form {
  std::string_view units;
  std::string_view example;
};
constexpr Form kSizeForm{"b or B, after k, M, G, T (1000s) or Ki, Mi, Gi, Ti (1024s)", "64 KiB"};
constexpr Form kEnergyForm{"pJ, fJ, nJ, uJ, mJ, J", "1.2 pJ"};
constexpr Form kPowerForm{"mW, uW, nW, W", "1 mW"};
constexpr Form kAreaForm{"mm2, um2; of a memory also per b or B", "0.1 mm2"};
constexpr Form kFrequencyForm{"Hz, kHz, MHz, GHz", "200 MHz"};
constexpr Form kTimeForm{"s, ms, us, ns, min, h", "10 s"};
constexpr Form kAccessForm{"pJ, fJ or nJ per word, B or b", "1.2 pJ/word"};
constexpr Form kBandwidthForm{"word, B, b, kB, KiB, ... per cycle or s", "4 word/cycle"};

struct Amount {
  double number = 0;
  std::string_view unit;
};

std::string whole(std::string_view text) { return quoted(std::string{text}); }

std::string unknown_unit(std::string_view text, std::string_view unit, const Form& form) {
  return fmt::format("unknown unit {} in {}; units here: {}", whole(unit), whole(text), form.units);
}

Parsed<Amount> parse_amount(std::string_view text, const Form& form) {
  if (text.size() > 1 && text[0] == '-' && is_digit(text[1])) {
    return fmt::format("{} is negative", whole(text));
  }
  if (text.empty() || !is_digit(text[0])) {
    return fmt::format("{} is not a number with a unit; write it like '{}'", whole(text),
                       form.example);
  }
  if (text.size() > 1 && text[0] == '0' && is_digit(text[1])) {
    return fmt::format("{} begins with a zero; write decimal numbers without", whole(text));
  }
  Amount amount;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, amount.number);
  if (error != std::errc{} || amount.number > kMaxNumber) {
    return fmt::format("{} is out of range", whole(text));
  }
  amount.unit = std::string_view{stop, static_cast<std::size_t>(end - stop)};
  amount.unit.remove_prefix(std::min(amount.unit.find_first_not_of(' '), amount.unit.size()));
  if (amount.unit.empty()) {
    return fmt::format("{} has no unit; units here: {}", whole(text), form.units);
  }
  return amount;
}

const Unit* find(std::span<const Unit> units, std::string_view name) {
  const auto unit = std::find_if(units.begin(), units.end(),
                                 [name](const Unit& candidate) { return candidate.name == name; });
  return unit == units.end() ? nullptr : &*unit;
}

double in_base_units(double number, const Unit& unit) { return number * unit.times / unit.over; }

template <class Quantity>
Parsed<Quantity> parse_simple(std::string_view text, std::span<const Unit> units,
                              const Form& form) {
  const Parsed<Amount> parsed = parse_amount(text, form);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const Amount amount = std::get<Amount>(parsed);
  const Unit* unit = find(units, amount.unit);
  if (unit == nullptr) {
    return unknown_unit(text, amount.unit, form);
  }
  return Quantity{in_base_units(amount.number, *unit)};
}

// number NUMERATOR/DENOMINATOR.
struct Rate {
  double number = 0;
  std::string_view unit;
  std::string_view numerator;
  std::string_view denominator;
};

Parsed<Rate> parse_rate(std::string_view text, const Form& form) {
  const Parsed<Amount> parsed = parse_amount(text, form);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const Amount amount = std::get<Amount>(parsed);
  const std::size_t slash = amount.unit.find('/');
  if (slash == std::string_view::npos && amount.unit.ends_with("Bps")) {
    const std::string_view bytes = amount.unit.substr(0, amount.unit.size() - 2);  // "G" and "B"
    return fmt::format("{} is not a rate; write it like '{:g} {}/s'", whole(text), amount.number,
                       bytes);
  }
  if (slash == std::string_view::npos) {
    return fmt::format("{} does not say per what; write it like '{}'", whole(text), form.example);
  }
  return Rate{amount.number, amount.unit, amount.unit.substr(0, slash),
              amount.unit.substr(slash + 1)};
}

std::string no_word(std::string_view text) {
  return fmt::format("{} needs the width of a word; add a key like 'word: 16 b'", whole(text));
}

}  // namespace

Parsed<Bits> parse_size(std::string_view text) {
  using Real = Quantity<BitsUnit, double>;
  const Parsed<Real> parsed = parse_simple<Real>(text, kSizes, kSizeForm);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const double bits = std::get<Real>(parsed).count();
  if (bits > kMaxBits) {
    return fmt::format("{} is too large; at most 1 PiB", whole(text));
  }
  if (bits == 0) {
    return fmt::format("{} is not above zero", whole(text));
  }
  if (bits != std::floor(bits)) {
    return fmt::format("{} is not a whole number of bits", whole(text));
  }
  return Bits{static_cast<std::int64_t>(bits)};
}

Parsed<Picojoules> parse_energy(std::string_view text) {
  return parse_simple<Picojoules>(text, kEnergies, kEnergyForm);
}

Parsed<Milliwatts> parse_power(std::string_view text) {
  return parse_simple<Milliwatts>(text, kPowers, kPowerForm);
}

Parsed<SquareMillimetres> parse_area(std::string_view text, std::optional<Bits> capacity) {
  if (text.find('/') == std::string_view::npos) {
    return parse_simple<SquareMillimetres>(text, kAreas, kAreaForm);
  }
  const Parsed<Rate> parsed = parse_rate(text, kAreaForm);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const Rate rate = std::get<Rate>(parsed);
  const Unit* area = find(kAreas, rate.numerator);
  const Unit* stored = find(kAccesses, rate.denominator);
  if (area == nullptr || stored == nullptr) {
    return unknown_unit(text, rate.unit, kAreaForm);
  }
  if (!capacity) {
    return fmt::format("{} needs a capacity to be the area of; give the whole, like '{}'",
                       whole(text), kAreaForm.example);
  }
  return SquareMillimetres{in_base_units(rate.number, *area) *
                           static_cast<double>(capacity->count()) / stored->times};
}

Parsed<Hertz> parse_frequency(std::string_view text) {
  const Parsed<Hertz> parsed = parse_simple<Hertz>(text, kFrequencies, kFrequencyForm);
  if (const auto* hertz = std::get_if<Hertz>(&parsed); hertz != nullptr && hertz->count() == 0) {
    return fmt::format("{} is not above zero", whole(text));
  }
  return parsed;
}

Parsed<Seconds> parse_seconds(std::string_view text) {
  const Parsed<Seconds> parsed = parse_simple<Seconds>(text, kTimes, kTimeForm);
  if (const auto* time = std::get_if<Seconds>(&parsed); time != nullptr && time->count() == 0) {
    return fmt::format("{} is not above zero", whole(text));
  }
  return parsed;
}

Parsed<double> parse_share(std::string_view text) {
  double share = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, share);
  const std::string_view unit{stop, static_cast<std::size_t>(end - stop)};
  if (error != std::errc{} || (!unit.empty() && unit != "%" && unit != " %")) {
    return fmt::format("{} is not a share such as 0.1% or 0.001", whole(text));
  }
  share /= unit.empty() ? 1 : 100;
  if (!(share >= 0 && share < 1)) {
    return fmt::format("{} is not at least 0 and below 1, which is 100%", whole(text));
  }
  return share;
}

Parsed<PicojoulesPerBit> parse_access_energy(std::string_view text, std::optional<Bits> word) {
  const Parsed<Rate> parsed = parse_rate(text, kAccessForm);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const Rate rate = std::get<Rate>(parsed);
  const Unit* energy = find(kEnergies, rate.numerator);
  const Unit* access = find(kAccesses, rate.denominator);
  const bool per_word = rate.denominator == "word";
  if (energy == nullptr || (access == nullptr && !per_word)) {
    return unknown_unit(text, rate.unit, kAccessForm);
  }
  if (per_word && !word) {
    return no_word(text);
  }
  const double bits = per_word ? static_cast<double>(word->count()) : access->times;
  return PicojoulesPerBit{in_base_units(rate.number, *energy) / bits};
}

Parsed<BitsPerCycle> parse_bandwidth(std::string_view text, std::optional<Bits> word, Hertz clock) {
  const Parsed<Rate> parsed = parse_rate(text, kBandwidthForm);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  const Rate rate = std::get<Rate>(parsed);
  const Unit* size = find(kSizes, rate.numerator);
  const bool in_words = rate.numerator == "word";
  const bool per_second = rate.denominator == "s";
  if ((size == nullptr && !in_words) || (!per_second && rate.denominator != "cycle")) {
    return unknown_unit(text, rate.unit, kBandwidthForm);
  }
  if (in_words && !word) {
    return no_word(text);
  }
  const double bits = rate.number * (in_words ? static_cast<double>(word->count()) : size->times);
  const double per_cycle = per_second ? bits / clock.count() : bits;
  if (per_cycle == 0 || !std::isfinite(per_cycle)) {
    return fmt::format("{} is {}", whole(text), per_cycle == 0 ? "not above zero" : "out of range");
  }
  return BitsPerCycle{per_cycle};
}

}  // namespace mapsim
