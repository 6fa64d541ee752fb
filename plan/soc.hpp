// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arch/arch.hpp"
#include "arch/gpu.hpp"
#include "core/bytes.hpp"
#include "core/document.hpp"
#include "core/edit_distance.hpp"
#include "plan/options.hpp"

namespace mapsim {

// The memory that all engines of a chip share. It replaces what their own files say of theirs.
struct SocMemory {
  BytesPerSecond bandwidth{0};
  std::optional<double> share{};  // of it that engines reach; nullopt: as their files say
  Bits capacity{0};
  PicojoulesPerBit read{0}, write{0};
  friend bool operator==(const SocMemory&, const SocMemory&) = default;
};

// An engine, `count` times: any machine that an architecture file describes, with the memory of its
// chip in place of its own.
struct Engine {
  std::string name;
  std::string file;  // where the machine was read
  std::variant<Gpu, Arch> machine;
  std::int64_t count = 1;
  std::array<std::optional<Seconds>, kLaunchModes> launch{};  // of a GPU's kernel; nullopt: its own
  Seconds overhead{0};                 // of every operation, besides the machine's time
  Words operators{};                   // that it runs; empty: all
  std::vector<std::int64_t> widths{};  // of operands [b] that it takes; empty: all
  Words formats{};                     // layouts of tensors that it reads and writes
  friend bool operator==(const Engine&, const Engine&) = default;
};

// What it takes until a tensor that one engine has made can be read by another.
struct Transition {
  std::size_t from = 0, to = 0;           // engines
  Seconds sync{0};                        // neither of them works
  std::optional<std::size_t> reformat{};  // the engine that converts it where formats differ
  friend bool operator==(const Transition&, const Transition&) = default;
};

// A chip. Invariants of every loaded value: at least one engine; names distinct; no two transitions
// between the same engines.
struct Soc {
  std::string name;
  SocMemory memory;
  Milliwatts power{0};  // the limit of all engines together; 0: none is known
  std::vector<Engine> engines;
  std::vector<Transition> transitions;
  int line = 0, column = 0;  // of `transitions` in its file, or of the engines; 0: of no file
  friend bool operator==(const Soc&, const Soc&) = default;
};

// Reads a chip (docs/plans.md), and its engines from files beside it or shipped in one of
// `configs`. An architecture file is a chip of one engine with its own memory. Throws ConfigError
// with all that is wrong.
Soc load_soc(const std::string& path, const Words& configs = {});
Soc read_soc(const Document& document, const Words& configs = {});

// The machine of an engine in this mode: a GPU with its launches.
std::variant<Gpu, Arch> machine_of(const Engine& engine, LaunchMode mode);

}  // namespace mapsim
