// SPDX-License-Identifier: Apache-2.0
#include "tests/validate/kernels/tma_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mapsim {
namespace {

constexpr std::size_t kChunk = 16;

// Chunks of 16 B change places within a line as bits of the address say.
std::uint64_t swizzled(std::uint64_t address, std::int64_t line_bytes) {
  const std::uint64_t mask = static_cast<std::uint64_t>(line_bytes) / kChunk - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

float to_nearest_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x0fffU + (bits >> 13 & 1U)) & ~0x1fffU;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace

TmaUnits::TmaUnits(BlockMachine& machine, bool last_first)
    : machine_{&machine},
      last_first_{last_first},
      lanes_(static_cast<std::size_t>(machine.all_threads())),
      warps_(static_cast<std::size_t>(machine.all_threads() / 32)) {
  machine.set_landing([this] { return land(); });
}

std::uint32_t TmaUnits::address(const void* at) const {
  return kWindow + static_cast<std::uint32_t>(static_cast<const char*>(at) - machine_->shared());
}

TmaUnits::Barrier& TmaUnits::barrier_of(const void* at, int rank) {
  const auto found = barriers_.find({rank, address(at)});
  if (found == barriers_.end()) {
    machine_->fail("a barrier that nobody started");
  }
  if (found->second.starter != machine_->all_thread() && machine_->epoch() == 0) {
    machine_->fail("a barrier of another thread, and no barrier of the block since");
  }
  return found->second;
}

void TmaUnits::start_barrier(const void* at, int count) {
  if (address(at) % 8 != 0) {
    machine_->fail("a barrier that is not aligned");
  }
  barriers_[{machine_->rank(), address(at)}] = {count, count, 0, 0, false, machine_->all_thread()};
}

void TmaUnits::show_barriers() {
  for (auto& [key, barrier] : barriers_) {
    barrier.shown = barrier.shown || barrier.starter == machine_->all_thread();
  }
}

void TmaUnits::settle(Barrier& barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) {
    ++barrier.phase;
    barrier.pending = barrier.count;
  }
}

void TmaUnits::expect(const void* at, int bytes) {
  Barrier& barrier = barrier_of(at, machine_->rank());
  barrier.bytes += bytes;
  arrive(at, machine_->rank());
}

void TmaUnits::arrive(const void* at, int rank) {
  Barrier& barrier = barrier_of(at, rank);
  if (--barrier.pending < 0) {
    machine_->fail("more arrive at a barrier than it counts");
  }
  settle(barrier);
}

void TmaUnits::wait(const void* at, unsigned parity) {
  const Barrier& barrier = barrier_of(at, machine_->rank());
  machine_->wait_until([&barrier, parity] { return barrier.phase % 2 != parity; });
}

void TmaUnits::meet(int threads) {
  auto& [arrived, met] = meetings_[machine_->rank()];
  if (machine_->thread() >= threads) {
    machine_->fail("a thread at the barrier of others");
  }
  if (++arrived == threads) {
    arrived = 0;
    ++met;
    return;
  }
  machine_->wait_until([&met = met, before = met] { return met != before; });
}

void TmaUnits::copy(char* to, const EmulatedMap& map, const void* barrier,
                    std::array<std::int64_t, 3> at, bool to_all) {
  const auto size = static_cast<std::size_t>(operand_size(map.plan.precision).count());
  const auto line = static_cast<std::size_t>(map.plan.box[0]) * size;
  Transfer transfer{static_cast<std::size_t>(to - machine_->shared()),
                    map,
                    address(barrier),
                    at,
                    {},
                    line * static_cast<std::size_t>(map.plan.box[1] * map.plan.box[2])};
  if (line > static_cast<std::size_t>(map.plan.swizzle) || address(to) % 128 != 0 ||
      reinterpret_cast<std::uintptr_t>(map.matrix) % kChunk != 0 || map.plan.strides[0] % 16 != 0 ||
      map.plan.strides[1] % 16 != 0) {
    machine_->fail("a copy of the TMA that is not aligned");
  }
  if (!barrier_of(barrier, machine_->rank()).shown) {
    machine_->fail("the TMA has not been shown its barrier");
  }
  for (int rank = 0; rank < machine_->cluster(); ++rank) {
    if (to_all || rank == machine_->rank()) {
      transfer.ranks.push_back(rank);
      machine_->begin_landing(rank, transfer.to, transfer.bytes);
    }
  }
  transfers_.push_back(transfer);
}

bool TmaUnits::land() {
  if (transfers_.empty()) {
    return false;
  }
  const auto next = last_first_ ? transfers_.end() - 1 : transfers_.begin();
  const Transfer transfer = *next;
  transfers_.erase(next);
  land(transfer);
  return true;
}

void TmaUnits::land(const Transfer& transfer) {
  const TensorMapPlan& plan = transfer.map.plan;
  const auto size = operand_size(plan.precision).count();
  for (const int rank : transfer.ranks) {
    char* const memory = machine_->shared_of(rank);
    for (std::int64_t y = 0; y < plan.box[1]; ++y) {
      for (std::int64_t x = 0; x < plan.box[0]; ++x) {
        std::array<char, 8> element{};
        const std::int64_t column = transfer.at[0] + x, line = transfer.at[1] + y;
        if (column < plan.extents[0] && line < plan.extents[1] &&
            transfer.at[2] < plan.extents[2]) {
          const char* from = transfer.map.matrix + column * size + line * plan.strides[0] +
                             transfer.at[2] * plan.strides[1];
          machine_->check_memory(from, static_cast<std::size_t>(size));
          std::memcpy(element.data(), from, static_cast<std::size_t>(size));
          if (plan.precision == GpuPrecision::kTf32) {
            float value;
            std::memcpy(&value, element.data(), sizeof value);
            value = to_nearest_tf32(value);
            std::memcpy(element.data(), &value, sizeof value);
          }
        }
        const std::uint64_t plain =
            kWindow + transfer.to + static_cast<std::uint64_t>((y * plan.box[0] + x) * size);
        std::memcpy(memory + (swizzled(plain, plan.swizzle) - kWindow), element.data(),
                    static_cast<std::size_t>(size));
      }
    }
    machine_->end_landing(rank, transfer.to, transfer.bytes);
    Barrier& barrier = barriers_.at({rank, transfer.barrier});
    barrier.bytes -= static_cast<std::int64_t>(transfer.bytes);
    settle(barrier);
  }
}

void TmaUnits::begin_products() {
  lanes_[static_cast<std::size_t>(machine_->all_thread())].begun = true;
}

std::size_t TmaUnits::place(std::uint64_t descriptor, bool across, int row, int k, int size) const {
  const auto field = [descriptor](int from) { return (descriptor >> from & 0x3fff) << 4; };
  constexpr std::array<std::int64_t, 4> kLines{0, 128, 64, 32};
  const std::int64_t line = kLines[descriptor >> 62];
  if (line == 0 || (descriptor >> 49 & 7) != 0) {
    machine_->fail("a descriptor of no swizzle, or with an offset");
  }
  const auto r = static_cast<std::uint64_t>(row), depth = static_cast<std::uint64_t>(k);
  const auto bytes = static_cast<std::uint64_t>(size), width = static_cast<std::uint64_t>(line);
  const std::uint64_t in_line = width / bytes;
  const std::uint64_t offset = across ? r % in_line * bytes + r / in_line * field(16) +
                                            depth % 8 * width + depth / 8 * field(32)
                                      : depth * bytes + r % 8 * width + r / 8 * field(32);
  return swizzled(field(0) + offset, line) - kWindow;
}

const char* TmaUnits::at(std::size_t place, int warp) const {
  return machine_->shared_of(warp * 32 / (machine_->all_threads() / machine_->cluster())) + place;
}

bool TmaUnits::is_idle() const {
  return std::all_of(warps_.begin(), warps_.end(),
                     [](const Warp& warp) { return warp.queue.empty(); });
}

void TmaUnits::mark_readers(const Product& product, int by) {
  const int rank = product.warp * 32 / (machine_->all_threads() / machine_->cluster());
  for (const auto& [offset, bytes] : product.chunks) {
    machine_->add_reader(rank, offset, bytes, by);
  }
}

void TmaUnits::multiply(std::uint64_t rows, std::uint64_t columns, bool adds, const Sides& sides,
                        void (*execute)(TmaUnits&, const Product&), void* sums) {
  Lane& lane = lanes_[static_cast<std::size_t>(machine_->all_thread())];
  if (!lane.begun) {
    machine_->fail("a product without a fence before its group");
  }
  const int warp = machine_->all_thread() / 32;
  Warp& queue = warps_[static_cast<std::size_t>(warp)];
  const std::size_t index = lane.issued++ - queue.done;
  if (index == queue.queue.size()) {
    Product product{rows, columns, adds, execute, {}, {}, 0, lane.groups, warp};
    const int depth = 32 / sides.size;
    const int per_chunk = static_cast<int>(kChunk) / sides.size;
    const auto add = [&](std::uint64_t descriptor, bool across, int first, int count) {
      for (int row = first; row < first + count; row += across ? per_chunk : 1) {
        for (int k = 0; k < depth; k += across ? 1 : per_chunk) {
          product.chunks.push_back({place(descriptor, across, row, k, sides.size), kChunk});
        }
      }
    };
    add(rows, sides.across_rows, warp % 4 * 16, 16);
    add(columns, sides.across_columns, 0, sides.columns);
    mark_readers(product, 1);
    queue.queue.push_back(product);
  }
  Product& product = queue.queue[index];
  if (product.rows != rows || product.columns != columns || product.adds != adds) {
    machine_->fail("lanes of a warp multiply other matrices");
  }
  product.sums[static_cast<std::size_t>(machine_->thread() % 32)] = sums;
  ++product.lanes;
}

void TmaUnits::end_products() {
  Lane& lane = lanes_[static_cast<std::size_t>(machine_->all_thread())];
  lane.begun = false;
  ++lane.groups;
}

void TmaUnits::wait_products(int pending) {
  machine_->multiply();  // all lanes are here
  const Lane& lane = lanes_[static_cast<std::size_t>(machine_->all_thread())];
  Warp& warp = warps_[static_cast<std::size_t>(machine_->all_thread() / 32)];
  while (!warp.queue.empty() && warp.queue.front().group < lane.groups - pending) {
    const Product& product = warp.queue.front();
    if (product.lanes != 32) {
      machine_->fail("a product of some lanes");
    }
    mark_readers(product, -1);
    for (const auto& [offset, bytes] : product.chunks) {
      machine_->check_product_read(offset, bytes);
    }
    product.execute(*this, product);
    warp.queue.pop_front();
    ++warp.done;
  }
}

}  // namespace mapsim
