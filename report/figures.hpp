// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "core/units.hpp"

namespace mapsim {

// Numbers as text for people; the comment of each function shows an example.
std::string grouped(std::int64_t value);                    // 115,605,504
std::string count_text(double value);                       // the same; 12.5 if it is not whole
std::string scaled(double value, const std::string& unit);  // 1.23 ms: four digits, SI prefix
std::string energy_text(Picojoules energy);                 // 1.234 mJ
std::string bytes_text(Bits bits);                          // 54.9 KiB; 12 b below a byte
double part(double value, double whole);                    // 0 where the whole is not positive
std::string percent(double share);                          // 92.3 %
std::string percent_to_hundredths(double share);            // 92.31 %
std::string ratio(double value);  // 10.72; three or four digits, no prefix
// A whole number in decimal digits of any length: unchanged up to twelve digits, else 1.23e+17.
std::string short_decimal(const std::string& digits);

}  // namespace mapsim
