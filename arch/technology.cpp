// SPDX-License-Identifier: Apache-2.0
#include "arch/technology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace mapsim {
namespace {

constexpr double kSramWord = 64;  // bits of the accesses that the tables are about
constexpr double kKibibyte = 8192;

struct EnergyEntry {
  double picojoules;
  Status status;
};

// One process. Sources: [H] Horowitz, "Computing's energy problem", ISSCC 2014, figure 1.1.9,
// 45 nm, 0.9 V. [J] Jouppi et al., "Ten lessons from three generations shaped Google's TPUv4i",
// ISCA 2021, table 2, 7 nm. Checked 2026-11.
struct Process {
  double nanometres;
  std::string_view source;
  std::array<EnergyEntry, 3> sram;  // 64 b of 8 KiB, 32 KiB, 1 MiB
  EnergyEntry add_int8, add_int32, add_fp16, add_bf16, add_fp32;
  EnergyEntry mul_int8, mul_int32, mul_fp16, mul_bf16, mul_fp32;
};

constexpr auto kC = Status::kConfirmed;
constexpr auto kS = Status::kSecondHand;
constexpr auto kE = Status::kEstimate;

// bf16 at 45 nm: fp16 there, times bf16 / fp16 of [J].
constexpr Process k45{45,
                      "Horowitz ISSCC 2014",
                      {{{10, kC}, {20, kC}, {100, kC}}},
                      {0.03, kC},
                      {0.1, kC},
                      {0.4, kC},
                      {0.4 * 0.11 / 0.16, kE},
                      {0.9, kC},
                      {0.2, kC},
                      {3.1, kC},
                      {1.1, kC},
                      {1.1 * 0.21 / 0.34, kE},
                      {3.7, kC}};
constexpr Process k7{7,           "Jouppi ISCA 2021", {{{7.5, kS}, {8.5, kS}, {14, kS}}},
                     {0.007, kC}, {0.03, kC},         {0.16, kS},
                     {0.11, kS},  {0.38, kC},         {0.07, kC},
                     {1.48, kC},  {0.34, kC},         {0.21, kS},
                     {1.31, kC}};

// A power of the size of the process between the two: no table of 16 nm has been published that
// covers all of this.
EnergyEntry between(EnergyEntry at45, EnergyEntry at7) {
  const double weight = std::log(k45.nanometres / 16) / std::log(k45.nanometres / k7.nanometres);
  return {at45.picojoules * std::pow(at7.picojoules / at45.picojoules, weight), kE};
}

Process process_16nm() {
  Process p{16, "between Horowitz ISSCC 2014 and Jouppi ISCA 2021",
            {}, {},
            {}, {},
            {}, {},
            {}, {},
            {}, {},
            {}};
  for (std::size_t i = 0; i < p.sram.size(); ++i) {
    p.sram[i] = between(k45.sram[i], k7.sram[i]);
  }
  for (EnergyEntry Process::* entry :
       {&Process::add_int8, &Process::add_int32, &Process::add_fp16, &Process::add_bf16,
        &Process::add_fp32, &Process::mul_int8, &Process::mul_int32, &Process::mul_fp16,
        &Process::mul_bf16, &Process::mul_fp32}) {
    p.*entry = between(k45.*entry, k7.*entry);
  }
  return p;
}

Process process(Technology technology) {
  switch (technology) {
    case Technology::k45nm:
      return k45;
    case Technology::k16nm:
      return process_16nm();
    case Technology::k7nm:
      return k7;
  }
  return k45;
}

// Off-chip memories, pJ per bit, device and interface, whatever the process of the chip.
struct Memory {
  StorageKind kind;
  double per_bit;
  Status status;
  std::string_view source;
};
constexpr std::array kMemories{
    Memory{StorageKind::kDram, 1300.0 / 64, kC,
           "Horowitz ISSCC 2014, lower end of 1.3 to 2.6 nJ per 64 b"},
    Memory{StorageKind::kLpddr5, 4.5, kE, "middle of 4 to 5 pJ/b, no source found"},
    Memory{StorageKind::kGddr5, 14, kC, "O'Connor MICRO 2017 and Micron"},
    Memory{StorageKind::kGddr6, 7.5, kC, "Micron"},
    Memory{StorageKind::kHbm2, 3.92, kC, "O'Connor MICRO 2017"},
    Memory{StorageKind::kHbm2e, 4.3, kS, "SK hynix IEDM 2023"},
    Memory{StorageKind::kHbm3, 3.92, kE, "derived for one row miss in 16 accesses"},
    Memory{StorageKind::kHbm3e, 3.44, kS, "SK hynix IEDM 2023, 20 % below HBM2E"},
};

std::string note(const Process& p, std::string_view what, Status status) {
  return fmt::format("{:.0f} nm table: {}; {} ({})", p.nanometres, p.source, what,
                     to_string(status));
}

// y at x on the line through two points, in the logarithms of both.
double power_law(double x, double x0, double y0, double x1, double y1) {
  return y0 * std::pow(x / x0, std::log(y1 / y0) / std::log(x1 / x0));
}

// Energy of 64 b. Between the sizes of the table: a power of the size. Above: the last power goes
// on. Below 8 KiB, where bit lines are most of it: the square root of the size.
Figure on_chip_energy(const Process& p, Bits capacity) {
  constexpr std::array<double, 3> kSizes{8 * kKibibyte, 32 * kKibibyte, 1024 * kKibibyte};
  const auto size = static_cast<double>(capacity.count());
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    if (size == kSizes[i]) {
      const EnergyEntry at = p.sram[i];
      return {at.picojoules / kSramWord, at.status, note(p, "64 b of this size", at.status)};
    }
  }
  if (size < kSizes[0]) {
    return {p.sram[0].picojoules * std::sqrt(size / kSizes[0]) / kSramWord, kE,
            note(p, "64 b of 8 KiB times the root of the size", kE)};
  }
  const std::size_t i = size < kSizes[1] ? 0 : 1;
  const double energy =
      power_law(size, kSizes[i], p.sram[i].picojoules, kSizes[i + 1], p.sram[i + 1].picojoules);
  return {
      energy / kSramWord, kE,
      note(p, i == 0 ? "64 b between 8 and 32 KiB" : "64 b on the line from 32 KiB to 1 MiB", kE)};
}

struct Operation {
  EnergyEntry narrow, wide;
  double narrow_bits, wide_bits;
};

// At the two widths of the table what it says; elsewhere a power of the width.
Figure operation_energy(const Process& p, std::string_view name, const Operation& op,
                        double width) {
  if (width == op.narrow_bits || width == op.wide_bits) {
    const EnergyEntry at = width == op.narrow_bits ? op.narrow : op.wide;
    return {at.picojoules, at.status, note(p, name, at.status)};
  }
  return {power_law(width, op.narrow_bits, op.narrow.picojoules, op.wide_bits, op.wide.picojoules),
          kE, note(p, fmt::format("{}, a power of the width", name), kE)};
}

std::string_view operation_name(NumberFormat format, bool multiplies) {
  switch (format) {
    case NumberFormat::kInteger:
      return multiplies ? "integer multiply" : "integer add";
    case NumberFormat::kFloat:
      return multiplies ? "float multiply" : "float add";
    case NumberFormat::kBfloat:
      return multiplies ? "bfloat multiply" : "bfloat add";
  }
  return "";
}

}  // namespace

Figure storage_energy(Technology technology, StorageKind kind, Bits capacity) {
  for (const Memory& memory : kMemories) {
    if (memory.kind == kind) {
      return {memory.per_bit, memory.status,
              fmt::format("{}: {} ({})", to_string(kind), memory.source, to_string(memory.status))};
    }
  }
  return on_chip_energy(process(technology), capacity);
}

// An integer multiplier is an array of a x b cells: its width is the root of their number.
Figure multiply_energy(Technology technology, NumberFormat format, Bits a, Bits b) {
  const Process p = process(technology);
  const double width = std::sqrt(static_cast<double>(a.count()) * static_cast<double>(b.count()));
  const std::string_view name = operation_name(format, true);
  switch (format) {
    case NumberFormat::kInteger:
      return operation_energy(p, name, {p.mul_int8, p.mul_int32, 8, 32}, width);
    case NumberFormat::kFloat:
      return operation_energy(p, name, {p.mul_fp16, p.mul_fp32, 16, 32}, width);
    case NumberFormat::kBfloat:
      return operation_energy(p, name, {p.mul_bf16, p.mul_fp32, 16, 32}, width);
  }
  return {};
}

Figure add_energy(Technology technology, NumberFormat format, Bits bits) {
  const Process p = process(technology);
  const auto width = static_cast<double>(bits.count());
  const std::string_view name = operation_name(format, false);
  switch (format) {
    case NumberFormat::kInteger:
      return operation_energy(p, name, {p.add_int8, p.add_int32, 8, 32}, width);
    case NumberFormat::kFloat:
      return operation_energy(p, name, {p.add_fp16, p.add_fp32, 16, 32}, width);
    case NumberFormat::kBfloat:
      return operation_energy(p, name, {p.add_bf16, p.add_fp32, 16, 32}, width);
  }
  return {};
}

// Wires: Keckler et al., "GPUs and the future of parallel computing", IEEE Micro 31(5), 2011,
// table 1, recalled: 256 b over 10 mm take 310 pJ at 40 nm and 200 pJ at 10 nm. They stand for 45
// and 7 nm here: wires hardly get better. A hop is the pitch of Eyeriss' elements (168 in most of
// 12.25 mm2, ISSCC 2016): 0.23 mm, rounded.
Figure hop_energy(Technology technology) {
  constexpr double kHop = 0.25;             // mm
  constexpr double kBitMillimetres = 2560;  // of the source
  constexpr EnergyEntry kAt45{310 / kBitMillimetres * kHop, kE};
  constexpr EnergyEntry kAt7{200 / kBitMillimetres * kHop, kE};
  const auto figure = [](EnergyEntry at) {
    return Figure{at.picojoules, at.status, "0.25 mm of wire: Keckler IEEE Micro 2011 (estimate)"};
  };
  switch (technology) {
    case Technology::k45nm:
      return figure(kAt45);
    case Technology::k16nm:
      return figure(between(kAt45, kAt7));
    case Technology::k7nm:
      return figure(kAt7);
  }
  return figure(kAt45);
}

namespace {

// Estimates of what nobody publishes as one table. Cells: SRAM of Intel (IEDM 2007) and TSMC (16FF,
// IEDM 2013; N7, IEDM 2016), recalled; half of a memory is cells. Leakage: orders of magnitude.
struct Silicon {
  double cell;        // um2 per bit
  double bit_leak;    // pW per bit
  double logic_leak;  // mW per mm2
};
constexpr std::array kSilicon{Silicon{0.346, 100, 10}, Silicon{0.07, 30, 20},
                              Silicon{0.027, 20, 30}};  // in the order of Technology
constexpr double kCellShare = 0.5;
constexpr double kRegfileCells = 4;  // a cell of several ports in cells of one

const Silicon& silicon(Technology technology) {
  return kSilicon[static_cast<std::size_t>(technology)];
}

double cells(StorageKind kind, Bits capacity) {
  return static_cast<double>(capacity.count()) *
         (kind == StorageKind::kRegfile ? kRegfileCells : 1.0);
}

Figure estimate(double value, Technology technology, std::string_view what) {
  return {value, kE, fmt::format("{} table: {} (estimate)", to_string(technology), what)};
}

}  // namespace

Figure storage_leakage(Technology technology, StorageKind kind, Bits capacity) {
  constexpr double kMilliwattsPerPicowatt = 1e-9;
  return estimate(cells(kind, capacity) * silicon(technology).bit_leak * kMilliwattsPerPicowatt,
                  technology, "leakage of a bit");
}

Figure storage_area(Technology technology, StorageKind kind, Bits capacity) {
  return estimate(cells(kind, capacity) * silicon(technology).cell / kCellShare * 1e-6, technology,
                  "cells, half of the area");
}

// um2 per pJ at 45 nm, from areas of 8 and 32 bit units (Dally, NIPS 2015 tutorial, recalled) over
// their energies; other processes in proportion to their SRAM cells.
Figure mac_area(Technology technology, NumberFormat format, Picojoules multiply, Picojoules add) {
  const bool integer = format == NumberFormat::kInteger;
  const double at45 =
      multiply.count() * (integer ? 1300 : 1800) + add.count() * (integer ? 1300 : 4000);
  return estimate(at45 * silicon(technology).cell / kSilicon[0].cell * 1e-6, technology,
                  "logic in proportion to its energy at 45 nm");
}

Figure logic_leakage(Technology technology, SquareMillimetres area) {
  return estimate(area.count() * silicon(technology).logic_leak, technology,
                  "leakage of logic by its area");
}

const char* to_string(Technology technology) {
  constexpr std::array kNames{"45nm", "16nm", "7nm"};
  return kNames[static_cast<std::size_t>(technology)];
}

const char* to_string(Status status) {
  constexpr std::array kNames{"confirmed", "second-hand", "estimate"};
  return kNames[static_cast<std::size_t>(status)];
}

const char* to_string(StorageKind kind) {
  constexpr std::array kNames{"sram",  "regfile", "dram",  "lpddr5", "gddr5",
                              "gddr6", "hbm2",    "hbm2e", "hbm3",   "hbm3e"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(NumberFormat format) {
  constexpr std::array kNames{"integer", "float", "bfloat"};
  return kNames[static_cast<std::size_t>(format)];
}

}  // namespace mapsim
