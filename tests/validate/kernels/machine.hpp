// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/validate/kernels/machine_parts.hpp"

namespace mapsim {

class TmaUnits;

// What a kernel may not do; says which thread did it.
class KernelFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs the threads of a block, or of a cluster of blocks, on a CPU, each as a fiber that runs until
// it waits for others: warp by warp, so that a warp gets as far ahead of the others as its barriers
// let it. Every access is checked: alignment, bounds, reads of what is still under way, output
// written twice, and two threads at the same byte of shared memory of which one writes, with no
// barrier between.
class BlockMachine {
 public:
  BlockMachine(int threads, std::size_t shared_bytes, bool last_warp_first, int cluster = 1);
  ~BlockMachine();
  BlockMachine(const BlockMachine&) = delete;
  BlockMachine& operator=(const BlockMachine&) = delete;

  void allow(const void* begin, std::size_t bytes, bool writable);  // global memory
  // Shared memory starts as garbage. Throws the first KernelFault.
  void run_block(long long block, const std::function<void()>& body);
  bool wrote_everything() const;  // to writable memory, once
  // Offset of the first byte in writable memory that the last block wrote.
  std::size_t first_written() const { return first_written_; }

  // For the thread that runs now:
  static BlockMachine& now();
  int thread() const { return thread_ % threads_; }
  long long block() const { return block_ + rank(); }
  char* shared() { return shared_of(rank()); }
  void read(const void* from, std::size_t bytes, std::size_t alignment);
  void write(const void* to, std::size_t bytes, std::size_t alignment);
  // As read() of a row of 16 B of shared memory, and of a part of one: count_rows() counts them.
  void check_row(const char* row);
  void read_uncounted(const char* from, std::size_t bytes);
  // The eight rows of 16 B, by their offsets, that ldmatrix reads at once; called by all lanes.
  void count_rows(const double* offsets);
  // Counts, from now on, wavefronts of shared memory that a better place of the data would save.
  void count_conflicts() { counts_ = true; }
  std::int64_t conflicts() const { return conflicts_; }
  void copy_async(char* to, const char* from, int bytes, int valid);
  void commit();
  void wait(int pending);
  void barrier();
  void warp_barrier();
  // Dense operands of this warp's next MMA operation: written before, read after multiply().
  double* operand(bool is_a);
  void multiply();
  const double* multiplied(bool is_a) const;
  [[noreturn]] void fail(const std::string& what) const;

  // Of a cluster: which block the thread is of; threads of all blocks, and of one.
  int rank() const { return thread_ / threads_; }
  int cluster() const { return cluster_; }
  int all_thread() const { return thread_; }
  int all_threads() const { return threads_ * cluster_; }
  int epoch() const { return epoch_; }
  char* shared_of(int rank) { return shared_ + static_cast<std::size_t>(rank) * stride_; }
  TmaUnits*& units() { return units_; }
  // `land` ends one thing that is under way, when no thread can go on; false: there is nothing.
  void set_landing(std::function<bool()> land) { land_ = std::move(land); }
  void wait_until(std::function<bool()> ready);
  void check_memory(const void* at, std::size_t bytes) { region(at, bytes); }
  // Bytes of a block's shared memory that a copy will write and has written; that a product will
  // read (+1) or has read (-1); whether it may.
  void begin_landing(int rank, std::size_t at, std::size_t bytes);
  void end_landing(int rank, std::size_t at, std::size_t bytes);
  void add_reader(int rank, std::size_t at, std::size_t bytes, int by);
  void check_product_read(std::size_t at, std::size_t bytes);

 private:
  enum class State : std::uint8_t { kReady, kBarrier, kWarp, kWaits, kDone };
  using Copy = machine_parts::Copy;
  using Touch = machine_parts::Touch;
  using Byte = machine_parts::Byte;
  using Region = machine_parts::Region;
  using Warp = machine_parts::Warp;
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    void* sanitizer = nullptr;  // its stack of its own
    State state = State::kReady;
    const char* waits_for = "";
    std::function<bool()> ready;  // of kWaits
    std::vector<Copy> copies;
    std::vector<machine_parts::Access> accesses;  // of shared memory, since the warp last met
    int groups = 0;                               // committed
    int products = 0;
  };

  static void enter();
  void switch_back(State state, const char* waits_for);
  bool advance();  // releases whoever can go on
  bool poll();     // those that wait for what has come to be
  Byte& byte_of(int rank, std::size_t at, std::size_t bytes);
  bool release(int warp);
  bool ordered(const Touch& touch) const;
  Touch self() const;
  void touch_shared(const char* at, std::size_t bytes, bool writes);
  void note_access(const void* at, std::size_t bytes);
  void settle(int warp);  // counts the conflicts of what its lanes did together
  bool is_shared(const void* at, std::size_t bytes) const;
  Region& region(const void* at, std::size_t bytes);

  int threads_;
  int cluster_;
  std::size_t stride_;  // of the blocks' shared memory
  TmaUnits* units_ = nullptr;
  std::function<bool()> land_;
  bool last_warp_first_;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  std::vector<char> memory_;
  char* shared_ = nullptr;  // aligned
  std::size_t shared_bytes_;
  std::vector<Byte> bytes_;
  std::vector<Region> regions_;
  ucontext_t scheduler_{};
  void* sanitizer_ = nullptr;  // the scheduler's, and where its stack lies
  const void* stack_ = nullptr;
  std::size_t stack_size_ = 0;
  const std::function<void()>* body_ = nullptr;
  std::string fault_;
  int thread_ = 0;
  int epoch_ = 0;  // barriers passed
  long long block_ = 0;
  std::size_t first_written_ = 0;
  bool counts_ = false;
  std::int64_t conflicts_ = 0;
};

}  // namespace mapsim
