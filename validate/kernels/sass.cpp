// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/sass.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace mapsim {
namespace {

constexpr std::size_t kInstruction = 16;
constexpr std::uint64_t kWide = 6;  // 128 bits

struct Section {
  std::string name;
  std::string_view bytes;
};

template <class T>
T number(const std::string& file, std::uint64_t at) {
  T value{};
  if (at > file.size() || file.size() - at < sizeof value) {
    throw std::invalid_argument("a cubin ends too early");
  }
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

// A table of sections of ELF64: 64 B each, the header says where.
std::string_view code_of(const std::string& file, const std::string& entry) {
  if (!file.starts_with("\x7f"
                        "ELF")) {
    throw std::invalid_argument("no ELF file");
  }
  const auto table = number<std::uint64_t>(file, 0x28);
  const auto size = number<std::uint16_t>(file, 0x3A);
  const auto count = number<std::uint16_t>(file, 0x3C);
  const auto names = number<std::uint64_t>(
      file, table + std::uint64_t{number<std::uint16_t>(file, 0x3E)} * size + 0x18);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t header = table + i * size;
    const std::uint64_t name = names + number<std::uint32_t>(file, header);
    const std::string wanted = ".text." + entry;
    if (name < file.size() &&
        file.compare(name, wanted.size() + 1, wanted.c_str(), wanted.size() + 1) == 0) {
      const auto from = number<std::uint64_t>(file, header + 0x18);
      const auto bytes = number<std::uint64_t>(file, header + 0x20);
      if (from > file.size() || bytes > file.size() - from) {
        throw std::invalid_argument("a cubin ends too early");
      }
      return std::string_view{file}.substr(from, bytes);
    }
  }
  throw std::invalid_argument("no function " + entry);
}

// Where an instruction counts; operands in uniform registers have opcodes of their own.
struct Opcode {
  std::uint64_t code;
  std::int64_t SassCounts::* counter;
};
constexpr std::array kOpcodes{
    Opcode{0x23c, &SassCounts::mma},     Opcode{0x237, &SassCounts::mma},
    Opcode{0x23f, &SassCounts::mma},     Opcode{0x9f0, &SassCounts::wgmma},
    Opcode{0x9f1, &SassCounts::wgmma},   Opcode{0x5b4, &SassCounts::tma},
    Opcode{0x3b4, &SassCounts::tma},     Opcode{0x83b, &SassCounts::ldsm},
    Opcode{0xfae, &SassCounts::ldgsts},  Opcode{0x984, &SassCounts::lds},
    Opcode{0x980, &SassCounts::generic}, Opcode{0x983, &SassCounts::local},
    Opcode{0x387, &SassCounts::local},   Opcode{0x987, &SassCounts::local}};
constexpr std::array kStores{0x386ul, 0x986ul};  // to global memory

}  // namespace

SassCounts count_instructions(const std::string& cubin, const std::string& entry) {
  const std::string_view code = code_of(cubin, entry);
  SassCounts counts;
  for (std::size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), code.data() + at, kInstruction);
    const std::uint64_t opcode = words[0] & 0xfff;
    ++counts.all;
    for (const Opcode& known : kOpcodes) {
      counts.*known.counter += known.code == opcode ? 1 : 0;
    }
    if (std::find(kStores.begin(), kStores.end(), opcode) != kStores.end()) {
      ++((words[1] >> 9 & 7) == kWide ? counts.stg_128 : counts.stg_narrow);
    }
  }
  return counts;
}

}  // namespace mapsim
