// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <vector>

// What a BlockMachine keeps of its threads and memory.
namespace mapsim::machine_parts {

struct Copy {
  char* to;
  std::array<char, 16> bytes;
  int count;
  int group;
};

struct Access {
  std::size_t at, bytes;
};

// Who touched a byte last, and when. Several: of the same warp -> thread -1; else warp -1, too.
struct Touch {
  int thread = -1, warp = -1;
  int epoch = -1, warp_epoch = -1;
};

struct Byte {
  Touch read, write;
  bool under_way = false;
  int readers = 0;  // products under way
};

struct Region {
  const char* begin;
  std::size_t bytes;
  std::vector<unsigned char> writes;  // empty: read only
};

struct Warp {
  int epoch = 0;
  std::array<std::array<std::vector<double>, 2>, 2> operands;  // by parity, A and B
};

}  // namespace mapsim::machine_parts
