// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "report/chart.hpp"

namespace mapsim {

namespace {

struct Prefix {
  double factor;
  const char* name;
};
constexpr std::array kPrefixes{
    Prefix{1e15, "P"}, Prefix{1e12, "T"}, Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"},
    Prefix{1, ""},     Prefix{1e-3, "m"}, Prefix{1e-6, "u"}, Prefix{1e-9, "n"}, Prefix{1e-12, "p"}};

constexpr double kMostDigits = 1e7;  // of figures without an exponent

// Four significant digits, without an exponent where there need be none.
std::string four_digits(double value) {
  const double size = std::abs(value);
  if (size >= kMostDigits) {
    return fmt::format("{:.3e}", value);
  }
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t end = text.size(); end > first + 3; end -= 3) {
    text.insert(end - 3, 1, ',');
  }
  return text;
}

std::string count_text(double value) {
  constexpr double kMostWhole = 9e17;  // of tenths
  if (!(std::abs(value) < kMostWhole)) {
    return fmt::format("{:.3e}", value);
  }
  const double tenths = std::round(value * 10);
  const auto whole = static_cast<std::int64_t>(tenths / 10);
  const double rest = tenths - static_cast<double>(whole) * 10;
  return grouped(whole) + (rest == 0 ? "" : fmt::format(".{:.0f}", rest));
}

std::string scaled(double value, const std::string& unit) {
  if (!std::isfinite(value)) {
    return "unlimited";
  }
  for (const Prefix& prefix : kPrefixes) {
    // A hair below, so that 999.99 n and 1 u print alike.
    if (std::abs(value) >= 0.99995 * prefix.factor) {
      return four_digits(value / prefix.factor) + " " + prefix.name + unit;
    }
  }
  return value == 0 ? "0 " + unit : fmt::format("{:.3e} {}", value, unit);
}

std::string energy_text(Picojoules energy) { return scaled(energy.count() * kPicojoule, "J"); }

std::string bytes_text(Bits bits) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bits.count() % 8 != 0 && bits.count() < 8 * 1024) {
    return grouped(bits.count()) + " b";
  }
  double value = static_cast<double>(bits.count()) / 8;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1024;
  }
  const bool whole = value == std::floor(value);
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, kUnits[unit]);
}

double part(double value, double whole) { return whole > 0 ? value / whole : 0; }

std::string percent(double share) {
  const double value = 100 * share;
  return std::abs(value) < kMostDigits ? fmt::format("{:.1f} %", value)
                                       : fmt::format("{:.3e} %", value);
}

std::string percent_to_hundredths(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string ratio(double value) {
  const double size = std::abs(value);
  return size != 0 && size < 0.001 ? fmt::format("{:.3e}", value) : four_digits(value);
}

std::string short_decimal(const std::string& digits) {
  constexpr std::size_t kReadable = 12;
  if (digits.size() <= kReadable) {
    return grouped(std::stoll(digits));
  }
  return fmt::format("{}.{}e+{}", digits[0], digits.substr(1, 2), digits.size() - 1);
}

}  // namespace mapsim
