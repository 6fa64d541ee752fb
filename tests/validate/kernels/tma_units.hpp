// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tests/validate/kernels/machine.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// What stands in the words of an emulated TensorMap: a plan and the matrix that it is of.
struct EmulatedMap {
  TensorMapPlan plan;
  const char* matrix = nullptr;
};

// What a cluster of blocks has beside its threads: barriers in shared memory, the TMA, warpgroup
// MMA. All is as late as the hardware may be: copies land when no thread can go on, products read
// shared memory when they are waited for. Faults are those of a BlockMachine.
class TmaUnits {
 public:
  explicit TmaUnits(BlockMachine& machine, bool last_first);

  static constexpr std::uint32_t kWindow = 1024;  // address of a block's shared memory
  std::uint32_t address(const void* at) const;

  void start_barrier(const void* at, int count);
  void show_barriers();
  void expect(const void* at, int bytes);
  void arrive(const void* at, int rank);
  void wait(const void* at, unsigned parity);
  void meet(int threads);  // the first of a block, by number

  void copy(char* to, const EmulatedMap& map, const void* barrier, std::array<std::int64_t, 3> at,
            bool to_all);

  // One product of a warp, by all of its lanes.
  struct Product {
    std::uint64_t rows = 0, columns = 0;  // descriptors
    bool adds = false;
    void (*execute)(TmaUnits& units, const Product& product) = nullptr;
    std::vector<std::array<std::size_t, 2>> chunks{};  // that it reads: offset, bytes
    std::array<void*, 32> sums{};
    int lanes = 0, group = 0;
    int warp = 0;  // of all
  };
  void begin_products();
  // `sides`: of rows and columns, how many and whether they lie across K; `size` of an element.
  struct Sides {
    int columns;
    bool across_rows, across_columns;
    int size;
  };
  void multiply(std::uint64_t rows, std::uint64_t columns, bool adds, const Sides& sides,
                void (*execute)(TmaUnits&, const Product&), void* sums);
  void end_products();
  void wait_products(int pending);
  // Where element `k` of a row is, by the layouts of the PTX ISA ("Asynchronous warpgroup level
  // matrix shared memory layout"), in the memory of the block of this warp.
  std::size_t place(std::uint64_t descriptor, bool across, int row, int k, int size) const;
  const char* at(std::size_t place, int warp) const;
  bool is_idle() const;  // all products are waited for

 private:
  struct Barrier {
    int count = 0, pending = 0;
    std::int64_t bytes = 0;  // expected and not there
    unsigned phase = 0;
    bool shown = false;
    int starter = 0;
  };
  struct Transfer {
    std::size_t to;
    EmulatedMap map;
    std::size_t barrier;
    std::array<std::int64_t, 3> at;
    std::vector<int> ranks;
    std::size_t bytes;
  };
  struct Lane {
    bool begun = false;
    int groups = 0;
    std::size_t issued = 0;  // of the warp's products
  };
  struct Warp {
    std::deque<Product> queue{};
    std::size_t done = 0;  // products before the queue's first
  };

  Barrier& barrier_of(const void* at, int rank);
  void settle(Barrier& barrier);
  bool land();
  void land(const Transfer& transfer);
  void mark_readers(const Product& product, int by);

  BlockMachine* machine_;
  bool last_first_;
  std::map<std::pair<int, std::size_t>, Barrier> barriers_;  // by rank and offset
  std::map<int, std::pair<int, int>> meetings_;              // arrived, how often met; by rank
  std::vector<Transfer> transfers_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
};

}  // namespace mapsim
