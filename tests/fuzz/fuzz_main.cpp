// SPDX-License-Identifier: Apache-2.0
// The entry of libFuzzer. `--target=NAME` says which reader is fuzzed; `--list` names them all.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "tests/fuzz/targets.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace mapsim;

// What libFuzzer's functions share.
const FuzzTarget*& chosen() {
  static const FuzzTarget* target = nullptr;
  return target;
}

std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

void write_seeds(const std::string& folder) {
  std::size_t number = 0;
  for (const std::string& seed : seed_inputs(*chosen())) {
    std::ofstream{folder + "/seed" + std::to_string(number++), std::ios::binary} << seed;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static const std::vector<FuzzTarget> targets = fuzz_targets();
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    for (const FuzzTarget& target : targets) {
      if (argument == "--list") {
        std::cout << target.name << '\n';
      } else if (argument == "--target=" + target.name) {
        chosen() = &target;
      }
    }
    if (argument.starts_with("--seeds=") && chosen() != nullptr) {
      write_seeds(std::string{argument.substr(8)});
      std::exit(0);
    }
  }
  if (chosen() == nullptr) {
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  accepts(*chosen(), text_of(data, size));
  return 0;
}

// A fourth of the mutations are libFuzzer's own, of bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  Rng rng{seed};
  if (size == 0 || rng.below(4) == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const std::string changed = mutate(chosen()->form, text_of(data, size), most, rng);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
