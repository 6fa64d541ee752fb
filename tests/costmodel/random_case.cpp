// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/random_case.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/costmodel/random_einsum.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMaxInstances = 16;
constexpr std::int64_t kMaxParallelBound = 4;

bool one_in(Rng& rng, std::uint64_t n) { return rng.below(n) == 0; }

RoleSet random_roles(Rng& rng) {
  return RoleSet::from_bits(static_cast<std::uint32_t>(rng.below(8)));
}

constexpr std::size_t kUsualLevels = 4;

Arch random_arch(Rng& rng, std::size_t fewest_levels, std::size_t most_levels) {
  constexpr std::array<const char*, kUsualLevels> kLevelNames{"DRAM", "L2", "L1", "spad"};
  constexpr std::array kFanoutNames{"F0", "F1"};
  constexpr std::array<std::size_t, 6> kFanoutCounts{0, 1, 1, 2, 2, 2};
  Arch arch;
  arch.name = "random";
  const std::size_t levels = fewest_levels + rng.below(most_levels - fewest_levels + 1);
  for (std::size_t l = 0; l < levels; ++l) {
    Storage storage;
    storage.name = l < kLevelNames.size() ? kLevelNames[l] : "spad" + std::to_string(l);
    storage.sliding = !one_in(rng, 4);
    arch.levels.push_back(storage);
  }
  const std::size_t fanouts = kFanoutCounts[rng.below(kFanoutCounts.size())];
  std::size_t above = 1;
  for (std::size_t f = 0; f < fanouts; ++f) {
    Fanout fanout;
    fanout.name = kFanoutNames[f];
    fanout.multicast = one_in(rng, 2) ? kAllRoles : random_roles(rng);
    fanout.spatial_reduction = one_in(rng, 2);
    fanout.forwarding = !one_in(rng, 3);
    if (!one_in(rng, 4)) {
      fanout.energy_per_hop = PicojoulesPerBit{1};
      fanout.x = 1 + static_cast<std::int64_t>(rng.below(3));  // as much wider than what is used
      fanout.y = 1 + static_cast<std::int64_t>(rng.below(3));
    }
    arch.fanouts.push_back(fanout);
    above += rng.below(levels - above + 1);
    arch.levels_above.push_back(above);
  }
  arch.compute.name = "MAC";
  arch.compute.register_reuse = one_in(rng, 3) ? random_roles(rng) : RoleSet{};
  return arch;
}

// Writes a nest from the outside inwards.
class MappingWriter {
 public:
  MappingWriter(Rng& rng, Arch& arch, const Workload& workload)
      : rng_{rng},
        arch_{arch},
        workload_{workload},
        perfect_{one_in(rng, 3)},
        even_{one_in(rng, 4)},
        extents_(workload.dims.size()) {
    for (const DimId d : workload.dims.ids()) {
      extents_[d] = workload.dims[d].bound;
    }
  }

  Mapping write() {
    mapping_.nodes.push_back(Keep{LevelId{0}, all_tensors()});
    std::size_t next_level = 1;
    for (const FanoutId f : arch_.fanouts.ids()) {
      write_levels(next_level, arch_.levels_above[f]);
      next_level = arch_.levels_above[f];
      write_fanout(f);
    }
    write_levels(next_level, arch_.levels.size());
    write_rest();
    return std::move(mapping_);
  }

 private:
  TensorSet all_tensors() const {
    TensorSet all;
    for (const TensorId t : workload_.tensors.ids()) {
      all.insert(t);
    }
    return all;
  }

  DimId random_dim() { return static_cast<DimId>(rng_.below(extents_.size())); }

  std::int64_t random_extent(DimId d) {
    const auto above = static_cast<std::uint64_t>(extents_[d]);
    std::uint64_t extent = 1 + rng_.below(above);
    while (perfect_ && above % extent != 0) {
      extent = 1 + rng_.below(above);
    }
    return static_cast<std::int64_t>(extent);
  }

  void write_loop() {
    const DimId d = random_dim();
    extents_[d] = random_extent(d);
    mapping_.nodes.push_back(Temporal{d, extents_[d]});
  }

  void write_fanout(FanoutId f) {
    for (std::uint64_t left = rng_.below(5); left > 0; --left) {
      if (one_in(rng_, 4)) {
        write_loop();
      }
      write_parallel(f);
    }
  }

  // Unless a few attempts find nothing that cuts a tile and still gives few instances.
  void write_parallel(FanoutId f) {
    constexpr int kAttempts = 6;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const DimId d = random_dim();
      const std::int64_t extent = random_extent(d);
      const std::int64_t bound = (extents_[d] + extent - 1) / extent;
      if ((bound == 1 && !one_in(rng_, 8)) || bound > kMaxParallelBound ||
          instances_ * bound > kMaxInstances) {
        continue;
      }
      instances_ *= bound;
      extents_[d] = extent;
      const Axis axis = one_in(rng_, 2) ? Axis::kX : Axis::kY;
      (axis == Axis::kX ? arch_.fanouts[f].x : arch_.fanouts[f].y) *= bound;
      mapping_.nodes.push_back(Parallel{d, extent, f, axis});
      return;
    }
  }

  // Keeps of levels first..last-1, each tensor's inwards, with loops between.
  void write_levels(std::size_t first, std::size_t last) {
    if (even_) {
      for (std::size_t l = first; l < last; ++l) {
        write_loops();
        write_keep(static_cast<LevelId>(l), all_tensors() & random_tensors());
      }
      write_loops();
      return;
    }
    PerTensor<std::size_t> next(workload_.tensors.size(), first);
    for (std::size_t left = (last - first) * next.size(); left > 0; --left) {
      TensorId t = static_cast<TensorId>(rng_.below(next.size()));
      while (next[t] == last) {
        t = static_cast<TensorId>(rng_.below(next.size()));
      }
      if (one_in(rng_, 3)) {
        write_loop();
      }
      const auto level = static_cast<LevelId>(next[t]++);
      if (!one_in(rng_, 3)) {
        write_keep(level, {t});
      }
    }
    write_loops();
  }

  TensorSet random_tensors() {
    return TensorSet::from_bits(
        static_cast<std::uint32_t>(rng_.below(std::uint64_t{1} << kMaxTensors)));
  }

  void write_keep(LevelId level, TensorSet tensors) {
    if (!tensors.empty()) {
      mapping_.nodes.push_back(Keep{level, tensors});
    }
  }

  void write_loops() {
    for (std::uint64_t left = rng_.below(4); left > 0; --left) {
      write_loop();
    }
  }

  // Brings every dim down to 1, in a random order.
  void write_rest() {
    std::vector<DimId> open;
    for (const DimId d : extents_.ids()) {
      if (extents_[d] > 1) {
        open.insert(open.begin() + static_cast<std::ptrdiff_t>(rng_.below(open.size() + 1)), d);
      }
    }
    for (const DimId d : open) {
      mapping_.nodes.push_back(Temporal{d, 1});
    }
  }

  Rng& rng_;
  Arch& arch_;
  const Workload& workload_;
  bool perfect_;
  bool even_;
  PerDim<std::int64_t> extents_;
  std::int64_t instances_ = 1;
  Mapping mapping_;
};

RandomCase case_of(std::uint64_t seed, std::size_t fewest_levels, std::size_t most_levels) {
  Rng rng{seed};
  RandomCase result;
  result.workload = random_einsum(rng, kMaxCaseMacs);
  result.arch = random_arch(rng, fewest_levels, most_levels);
  result.mapping = MappingWriter{rng, result.arch, result.workload}.write();
  return result;
}

}  // namespace

RandomCase random_case(std::uint64_t seed) { return case_of(seed, 1, kUsualLevels); }

RandomCase random_deep_case(std::uint64_t seed) { return case_of(seed, 9, kMaxLevels); }

}  // namespace mapsim
