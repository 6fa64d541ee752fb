// SPDX-License-Identifier: Apache-2.0
#include "tests/validate/kernels/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace mapsim {
namespace {

constexpr std::size_t kStack = 256 * 1024;
constexpr std::size_t kAlignment = 1024;          // of shared memory
constexpr std::size_t kLargestOperand = 32 * 16;  // elements of a fragment of A or B
thread_local BlockMachine* running = nullptr;
// What a fiber waits for; compared by address.
constexpr const char* kWarpBarrier = "a barrier of the warp";
constexpr const char* kMultiply = "an MMA operation";

// The address sanitizer wants to be told which stack is in use.
#if defined(__SANITIZE_ADDRESS__)
void leave(void** mine, const void* stack, std::size_t size) {
  __sanitizer_start_switch_fiber(mine, stack, size);
}
void arrive(void* mine, const void** from, std::size_t* size) {
  __sanitizer_finish_switch_fiber(mine, from, size);
}
#else
void leave(void** /*mine*/, const void* /*stack*/, std::size_t /*size*/) {}
void arrive(void* /*mine*/, const void** /*from*/, std::size_t* /*size*/) {}
#endif

}  // namespace

BlockMachine& BlockMachine::now() { return *running; }

BlockMachine::BlockMachine(int threads, std::size_t shared_bytes, bool last_warp_first, int cluster)
    : threads_{threads},
      cluster_{cluster},
      stride_{(shared_bytes + kAlignment - 1) / kAlignment * kAlignment},
      last_warp_first_{last_warp_first},
      fibers_(static_cast<std::size_t>(threads * cluster)),
      warps_(static_cast<std::size_t>((threads * cluster + 31) / 32)),
      memory_(stride_ * static_cast<std::size_t>(cluster) + kAlignment),
      shared_bytes_{shared_bytes},
      bytes_(stride_ * static_cast<std::size_t>(cluster)) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  shared_ = memory_.data() + (kAlignment - address % kAlignment);
  for (Fiber& fiber : fibers_) {
    fiber.stack.reset(new char[kStack]);  // not touched before it is used
  }
  for (Warp& warp : warps_) {
    for (auto& parity : warp.operands) {
      parity.fill(std::vector<double>(kLargestOperand));
    }
  }
}

BlockMachine::~BlockMachine() = default;

void BlockMachine::allow(const void* begin, std::size_t bytes, bool writable) {
  if (bytes > 0) {
    regions_.push_back(
        {static_cast<const char*>(begin), bytes, std::vector<unsigned char>(writable ? bytes : 0)});
  }
}

bool BlockMachine::wrote_everything() const {
  return std::all_of(regions_.begin(), regions_.end(), [](const Region& region) {
    return std::all_of(region.writes.begin(), region.writes.end(),
                       [](unsigned char count) { return count == 1; });
  });
}

void BlockMachine::fail(const std::string& what) const {
  throw KernelFault{fmt::format("block {}, thread {}: {}", block(), thread(), what)};
}

void BlockMachine::enter() {
  BlockMachine& machine = now();
  arrive(nullptr, &machine.stack_, &machine.stack_size_);
  try {
    (*machine.body_)();
    if (!machine.fibers_[static_cast<std::size_t>(machine.thread_)].copies.empty()) {
      machine.fail("ends with copies under way");
    }
  } catch (const KernelFault& fault) {
    machine.fault_ = fault.what();
  }
  machine.switch_back(State::kDone, "");
}

void BlockMachine::switch_back(State state, const char* waits_for) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
  fiber.state = state;
  fiber.waits_for = waits_for;
  leave(state == State::kDone ? nullptr : &fiber.sanitizer, stack_, stack_size_);
  swapcontext(&fiber.context, &scheduler_);
  arrive(fiber.sanitizer, &stack_, &stack_size_);
}

bool BlockMachine::release(int warp) {
  const auto first = fibers_.begin() + warp * 32;
  const auto last = fibers_.begin() + std::min(all_threads(), warp * 32 + 32);
  const bool all = std::all_of(first, last, [&](const Fiber& fiber) {
    return fiber.state == State::kWarp && fiber.waits_for == first->waits_for;
  });
  if (all) {
    settle(warp);
    std::for_each(first, last, [](Fiber& fiber) { fiber.state = State::kReady; });
    warps_[static_cast<std::size_t>(warp)].epoch += first->waits_for == kWarpBarrier ? 1 : 0;
  }
  return all;
}

bool BlockMachine::poll() {
  bool any = false;
  for (Fiber& fiber : fibers_) {
    if (fiber.state == State::kWaits && fiber.ready()) {
      fiber.state = State::kReady;
      any = true;
    }
  }
  return any;
}

void BlockMachine::wait_until(std::function<bool()> ready) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
  if (!ready()) {
    fiber.ready = std::move(ready);
    switch_back(State::kWaits, "something under way");
  }
}

bool BlockMachine::advance() {
  if (std::all_of(fibers_.begin(), fibers_.end(),
                  [](const Fiber& fiber) { return fiber.state == State::kDone; })) {
    if (land_ && land_()) {
      fault_ = fmt::format("block {} ends with copies under way", block_);
    }
    return false;
  }
  if (poll()) {
    return true;
  }
  if (land_ && std::any_of(fibers_.begin(), fibers_.end(),
                           [](const Fiber& fiber) { return fiber.state == State::kWaits; })) {
    try {
      if (land_()) {
        return true;
      }
    } catch (const KernelFault& fault) {
      fault_ = fault.what();
      return false;
    }
  }
  if (!std::all_of(fibers_.begin(), fibers_.end(),
                   [](const Fiber& fiber) { return fiber.state == State::kBarrier; })) {
    fault_ = fmt::format("block {}: some threads wait for others that do not come", block_);
    return false;
  }
  for (int warp = 0; warp < static_cast<int>(warps_.size()); ++warp) {
    settle(warp);
  }
  for (Fiber& fiber : fibers_) {
    fiber.state = State::kReady;
  }
  ++epoch_;
  return true;
}

void BlockMachine::run_block(long long block, const std::function<void()>& body) {
  running = this;
  body_ = &body;
  block_ = block;
  epoch_ = 0;
  fault_.clear();
  first_written_ = SIZE_MAX;
  std::fill(memory_.begin(), memory_.end(), '\xff');  // NaN
  std::fill(bytes_.begin(), bytes_.end(), Byte{});
  for (Fiber& fiber : fibers_) {
    fiber.state = State::kReady;
    fiber.copies.clear();
    fiber.accesses.clear();
    fiber.groups = fiber.products = 0;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    makecontext(&fiber.context, &BlockMachine::enter, 0);
  }
  const int warps = static_cast<int>(warps_.size());
  do {
    for (int i = 0; i < warps; ++i) {
      const int warp = last_warp_first_ ? warps - 1 - i : i;
      do {
        for (thread_ = warp * 32; thread_ < std::min(all_threads(), warp * 32 + 32); ++thread_) {
          Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
          if (fiber.state == State::kReady && fault_.empty()) {
            leave(&sanitizer_, fiber.stack.get(), kStack);
            swapcontext(&scheduler_, &fiber.context);
            arrive(sanitizer_, nullptr, nullptr);
          }
        }
      } while (fault_.empty() && release(warp));
    }
  } while (fault_.empty() && advance());
  if (!fault_.empty()) {
    throw KernelFault{fault_};
  }
}

BlockMachine::Touch BlockMachine::self() const {
  const int warp = thread_ / 32;
  return {thread_, warp, epoch_, warps_[static_cast<std::size_t>(warp)].epoch};
}

// Did a barrier, of the block or of the warp, come between that and now?
bool BlockMachine::ordered(const Touch& touch) const {
  const Touch mine = self();
  return touch.epoch < mine.epoch || touch.thread == thread_ ||
         (touch.warp == mine.warp && touch.warp_epoch < mine.warp_epoch);
}

void BlockMachine::touch_shared(const char* at, std::size_t bytes, bool writes) {
  const auto first = static_cast<std::size_t>(at - shared_);
  for (std::size_t i = first; i < first + bytes; ++i) {
    Byte& byte = bytes_[i];
    if (byte.under_way || (writes && byte.readers > 0)) {
      fail(fmt::format("byte {} of shared memory is still under way", i));
    }
    if (!ordered(byte.write)) {
      fail(fmt::format("byte {} of shared memory was written by thread {}, and no barrier since", i,
                       byte.write.thread));
    }
    if (writes) {
      if (!ordered(byte.read)) {
        fail(fmt::format(
            "byte {} of shared memory was read by another thread, and no barrier since", i));
      }
      byte.write = self();
    } else {
      Touch touch = self();
      if (byte.read.epoch == touch.epoch && byte.read.thread != thread_) {
        touch.thread = -1;
        touch.warp = byte.read.warp == touch.warp ? touch.warp : -1;
      }
      byte.read = touch;
    }
  }
}

bool BlockMachine::is_shared(const void* at, std::size_t bytes) const {
  const char* address = static_cast<const char*>(at);
  const char* const first = shared_ + static_cast<std::size_t>(rank()) * stride_;
  return address >= first && address + bytes <= first + shared_bytes_;
}

BlockMachine::Region& BlockMachine::region(const void* at, std::size_t bytes) {
  const char* address = static_cast<const char*>(at);
  for (Region& candidate : regions_) {
    if (address >= candidate.begin && address + bytes <= candidate.begin + candidate.bytes) {
      return candidate;
    }
  }
  fail(fmt::format("{} bytes outside of all memory", bytes));
}

void BlockMachine::read(const void* from, std::size_t bytes, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(from) % alignment != 0) {
    fail(fmt::format("a read of {} bytes is not aligned", bytes));
  }
  if (is_shared(from, bytes)) {
    note_access(from, bytes);
    touch_shared(static_cast<const char*>(from), bytes, false);
  } else {
    region(from, bytes);
  }
}

void BlockMachine::write(const void* to, std::size_t bytes, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(to) % alignment != 0) {
    fail(fmt::format("a write of {} bytes is not aligned", bytes));
  }
  if (is_shared(to, bytes)) {
    note_access(to, bytes);
    touch_shared(static_cast<const char*>(to), bytes, true);
    return;
  }
  Region& target = region(to, bytes);
  if (target.writes.empty()) {
    fail("a write to an operand");
  }
  const auto first = static_cast<std::size_t>(static_cast<const char*>(to) - target.begin);
  first_written_ = std::min(first_written_, first);
  for (std::size_t i = first; i < first + bytes; ++i) {
    if (++target.writes[i] > 1) {
      fail("output written twice");
    }
  }
}

void BlockMachine::check_row(const char* row) {
  constexpr std::size_t kRow = 16;
  if (!is_shared(row, kRow) || (row - shared_) % static_cast<std::ptrdiff_t>(kRow) != 0) {
    fail("a row of a matrix is not 16 B of shared memory, aligned");
  }
}

void BlockMachine::read_uncounted(const char* from, std::size_t bytes) {
  touch_shared(from, bytes, false);
}

void BlockMachine::count_rows(const double* offsets) {
  if (!counts_ || thread_ % 32 != 0) {
    return;
  }
  std::array<int, 8> in_banks{};  // rows, by the group of four banks
  for (int i = 0; i < 8; ++i) {
    if (std::find(offsets, offsets + i, offsets[i]) == offsets + i) {
      ++in_banks[static_cast<std::size_t>(offsets[i] / 16) % 8];
    }
  }
  conflicts_ += *std::max_element(in_banks.begin(), in_banks.end()) - 1;
}

void BlockMachine::note_access(const void* at, std::size_t bytes) {
  if (counts_) {
    fibers_[static_cast<std::size_t>(thread_)].accesses.push_back(
        {static_cast<std::size_t>(static_cast<const char*>(at) - shared_), bytes});
  }
}

// The n-th accesses of all lanes are one instruction, which serves 128 B at a time: so many lanes
// together, of which two must not want different words of one bank.
void BlockMachine::settle(int warp) {
  const auto lane = [&](std::size_t i) -> Fiber& {
    return fibers_[static_cast<std::size_t>(warp) * 32 + i];
  };
  if (!counts_ || warp * 32 + 32 > all_threads()) {
    return;
  }
  const std::size_t many = lane(0).accesses.size();
  bool is_alike = true;  // else lanes went different ways: nothing is known
  for (std::size_t i = 1; i < 32; ++i) {
    is_alike = is_alike && lane(i).accesses.size() == many;
  }
  for (std::size_t n = 0; is_alike && n < many; ++n) {
    const std::size_t bytes = std::max<std::size_t>(4, lane(0).accesses[n].bytes);
    const std::size_t together = std::min<std::size_t>(32, 128 / bytes);
    for (std::size_t first = 0; first < 32; first += together) {
      std::array<std::set<std::size_t>, 32> words;
      for (std::size_t i = first; i < first + together; ++i) {
        for (std::size_t w = 0; w < bytes / 4; ++w) {
          const std::size_t word = lane(i).accesses[n].at / 4 + w;
          words[word % 32].insert(word);
        }
      }
      std::size_t most = 1;
      for (const auto& bank : words) {
        most = std::max(most, bank.size());
      }
      conflicts_ += static_cast<std::int64_t>(most) - 1;
    }
  }
  for (std::size_t i = 0; i < 32; ++i) {
    lane(i).accesses.clear();
  }
}

BlockMachine::Byte& BlockMachine::byte_of(int rank, std::size_t at, std::size_t bytes) {
  if (at + bytes > shared_bytes_) {
    fail("an asynchronous access beyond shared memory");
  }
  return bytes_[static_cast<std::size_t>(rank) * stride_ + at];
}

void BlockMachine::begin_landing(int rank, std::size_t at, std::size_t bytes) {
  Byte* const first = &byte_of(rank, at, bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (first[i].under_way || first[i].readers > 0) {
      fail(fmt::format("a copy to byte {} of shared memory, which is in use", at + i));
    }
    first[i].under_way = true;
  }
}

void BlockMachine::end_landing(int rank, std::size_t at, std::size_t bytes) {
  Byte* const first = &byte_of(rank, at, bytes);
  std::fill(first, first + bytes, Byte{});
}

void BlockMachine::add_reader(int rank, std::size_t at, std::size_t bytes, int by) {
  Byte* const first = &byte_of(rank, at, bytes);
  std::for_each(first, first + bytes, [by](Byte& byte) { byte.readers += by; });
}

void BlockMachine::check_product_read(std::size_t at, std::size_t bytes) {
  const Byte* const first = &byte_of(rank(), at, bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (first[i].under_way || first[i].write.thread >= 0) {
      fail(fmt::format("a product reads byte {} of shared memory, which no copy has brought",
                       at + i));
    }
  }
}

// As late as the hardware may: the bytes are read now and arrive at the wait.
void BlockMachine::copy_async(char* to, const char* from, int bytes, int valid) {
  const auto count = static_cast<std::size_t>(bytes);
  if (reinterpret_cast<std::uintptr_t>(to) % count != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % count != 0) {
    fail(fmt::format("an asynchronous copy of {} bytes is not aligned", bytes));
  }
  if (!is_shared(to, count)) {
    fail("an asynchronous copy beyond shared memory");
  }
  note_access(to, count);
  Copy copy{to, {}, bytes, fibers_[static_cast<std::size_t>(thread_)].groups};
  if (valid > 0) {
    region(from, static_cast<std::size_t>(valid));
    std::memcpy(copy.bytes.data(), from, static_cast<std::size_t>(valid));
  }
  touch_shared(to, count, true);
  for (std::size_t i = 0; i < count; ++i) {
    bytes_[static_cast<std::size_t>(to - shared_) + i].under_way = true;
  }
  fibers_[static_cast<std::size_t>(thread_)].copies.push_back(copy);
}

void BlockMachine::commit() { ++fibers_[static_cast<std::size_t>(thread_)].groups; }

void BlockMachine::wait(int pending) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
  std::vector<Copy> left;
  for (const Copy& copy : fiber.copies) {
    if (copy.group >= fiber.groups - pending) {
      left.push_back(copy);
      continue;
    }
    std::memcpy(copy.to, copy.bytes.data(), static_cast<std::size_t>(copy.count));
    for (int i = 0; i < copy.count; ++i) {
      Byte& byte = bytes_[static_cast<std::size_t>(copy.to - shared_ + i)];
      byte.under_way = false;
      byte.write = self();
    }
  }
  fiber.copies = std::move(left);
}

void BlockMachine::barrier() { switch_back(State::kBarrier, "a barrier"); }

void BlockMachine::warp_barrier() { switch_back(State::kWarp, kWarpBarrier); }

double* BlockMachine::operand(bool is_a) {
  const Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
  Warp& warp = warps_[static_cast<std::size_t>(thread_ / 32)];
  return warp.operands[static_cast<std::size_t>(fiber.products % 2)][is_a ? 0 : 1].data();
}

// Operands of two operations in turn: no lane writes those of the next but one before all lanes
// have come to the next, and so read these. An MMA operation orders no memory.
void BlockMachine::multiply() {
  switch_back(State::kWarp, kMultiply);
  ++fibers_[static_cast<std::size_t>(thread_)].products;
}

const double* BlockMachine::multiplied(bool is_a) const {
  const Fiber& fiber = fibers_[static_cast<std::size_t>(thread_)];
  const Warp& warp = warps_[static_cast<std::size_t>(thread_ / 32)];
  return warp.operands[static_cast<std::size_t>((fiber.products - 1) % 2)][is_a ? 0 : 1].data();
}

}  // namespace mapsim
