// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/units.hpp"

namespace mapsim {

// A quantity, or what is wrong with its text.
template <class T>
using Parsed = std::variant<T, std::string>;

// Quantities as people write them: a number and a unit, `64 KiB`. The unit is never guessed. Bits
// are b, bytes B; k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti powers of 1024.
Parsed<Bits> parse_size(std::string_view text);          // 64 KiB, 16 b; whole bits, 1 to 2^53
Parsed<Picojoules> parse_energy(std::string_view text);  // 1.2 pJ; also fJ, nJ, uJ, mJ
Parsed<Milliwatts> parse_power(std::string_view text);   // 1 mW; also nW, uW, W
Parsed<Hertz> parse_frequency(std::string_view text);    // 200 MHz; above zero
// 0.1 mm2, also um2; or 0.2 um2/b of a memory of this capacity, also um2/B. Without a capacity the
// latter is an error.
Parsed<SquareMillimetres> parse_area(std::string_view text, std::optional<Bits> capacity);

Parsed<Seconds> parse_seconds(std::string_view text);  // 10 s, 6 ms, 2 min; above zero

// 0.1%, 0.001: a part of a whole, at least 0 and below 1.
Parsed<double> parse_share(std::string_view text);

// 1.2 pJ/word, pJ/B or pJ/b. `word` is what a word means; without it a word is an error.
Parsed<PicojoulesPerBit> parse_access_energy(std::string_view text, std::optional<Bits> word);

// 4 word/cycle, 16 B/cycle, 128 b/cycle, or 25.6 GB/s, which the clock turns into bits per cycle.
Parsed<BitsPerCycle> parse_bandwidth(std::string_view text, std::optional<Bits> word, Hertz clock);

}  // namespace mapsim
