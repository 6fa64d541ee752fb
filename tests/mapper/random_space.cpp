// SPDX-License-Identifier: Apache-2.0
#include "random_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "arch/timing/array.hpp"
#include "core/rng.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "random_rules.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

constexpr std::array kRoles{Role::kInput, Role::kWeight, Role::kOutput};

// Dice.
bool one_in(Rng& rng, std::uint64_t n) { return rng.below(n) == 0; }

std::int64_t pick(Rng& rng, const std::vector<std::int64_t>& values) {
  return values[rng.below(values.size())];
}

RoleSet random_roles(Rng& rng, std::uint64_t one_in_n) {
  RoleSet roles;
  for (const Role role : kRoles) {
    if (one_in(rng, one_in_n)) {
      roles.insert(role);
    }
  }
  return roles;
}

Precision random_precision(Rng& rng) {
  Precision precision;
  if (one_in(rng, 2)) {
    precision.roles[Role::kInput] = Bits{pick(rng, {4, 8, 16})};
    precision.roles[Role::kWeight] = Bits{pick(rng, {4, 8})};
    precision.roles[Role::kOutput] = Bits{pick(rng, {8, 16})};
    precision.partial = Bits{pick(rng, {16, 32})};
  }
  return precision;
}

// `heights`: of the output and of the kernel.
Workload random_conv(Rng& rng, const Precision& precision, HeightWidth heights, bool depthwise) {
  ConvShape shape;
  shape.in_channels = pick(rng, {1, 2, 4});
  shape.out_channels = depthwise ? shape.in_channels : pick(rng, {1, 2, 3});
  shape.groups = depthwise ? shape.in_channels : 1;
  shape.kernel = {heights[1], pick(rng, {2, 3})};
  shape.stride = {pick(rng, {1, 2}), pick(rng, {1, 1, 2, 3})};
  shape.dilation = {1, pick(rng, {1, 1, 2})};
  shape.input = input_for(shape, {heights[0], pick(rng, {2, 3, 4, 6})});
  return conv2d("conv", shape, precision);
}

// Ranks that no convolution has: windows in the output, on both sides, of three dims.
Workload random_window(Rng& rng, const Precision& precision) {
  switch (rng.below(3)) {
    case 0:
      return einsum(
          "window_in_output",
          one_in(rng, 2) ? "Z[n][2*p+r] += A[n][p] * B[r]" : "Z[n][p+r] += A[n][p] * B[r]",
          {{"n", pick(rng, {1, 2, 3})}, {"p", pick(rng, {2, 3, 4, 6})}, {"r", pick(rng, {2, 3})}},
          precision);
    case 1:
      return einsum("windows_on_both_sides", "Z[p+s] += A[p+2*r] * B[r][s]",
                    {{"p", pick(rng, {2, 4})}, {"r", pick(rng, {2, 3})}, {"s", pick(rng, {2, 4})}},
                    precision);
    default:
      return einsum("three_dims_in_a_rank", "Z[p] += A[2*p+r+2*u] * B[r][u]",
                    {{"p", pick(rng, {2, 4})}, {"r", pick(rng, {2, 3})}, {"u", pick(rng, {2, 3})}},
                    precision);
  }
}

Workload random_workload(Rng& rng) {
  const Precision precision = random_precision(rng);
  switch (rng.below(7)) {
    case 0:
      return gemm("gemm",
                  {pick(rng, {2, 4, 6}), pick(rng, {2, 3, 4, 8}), pick(rng, {2, 4, 5}), {}, false},
                  precision);
    case 1:
      return gemm(
          "batched_gemm",
          {pick(rng, {2, 4}), pick(rng, {2, 3}), pick(rng, {2, 4}), pick(rng, {2, 3}), false},
          precision);
    case 2:
      return random_conv(rng, precision, {1, 1}, false);
    case 3:
      return random_conv(rng, precision, {pick(rng, {2, 3}), pick(rng, {2, 3})}, false);
    case 4:
      return random_conv(rng, precision, {pick(rng, {1, 2}), pick(rng, {1, 2})}, true);
    case 5:
      return random_window(rng, precision);
    default:
      return einsum("three_operands", "Z[i][j] += A[i][k] * B[k][j] * C[k]",
                    {{"i", pick(rng, {2, 4})}, {"j", pick(rng, {2, 3})}, {"k", pick(rng, {2, 4})}},
                    precision);
  }
}

// Tight: a few elements per tensor.
Capacity random_capacity(Rng& rng, RoleSet keep) {
  Capacity capacity;
  const std::uint64_t kind = rng.below(5);
  if (kind == 0) {
    for (const Role role : kRoles) {
      if (keep.contains(role) || !one_in(rng, 4)) {
        capacity.per_role[role] = Bits{pick(rng, {8, 16, 32, 64, 128, 256})};
      }
    }
  }
  if (kind >= 2 || (kind == 0 && capacity.per_role.empty())) {
    capacity.shared = Bits{pick(rng, {24, 48, 64, 96, 128, 192, 256, 384, 512, 1024})};
  }
  return capacity;
}

Bandwidth random_bandwidth(Rng& rng) {
  Bandwidth bandwidth;
  const auto rate = [&rng] {
    return BitsPerCycle{static_cast<double>(pick(rng, {2, 4, 8, 12, 16, 32, 64}))};
  };
  switch (rng.below(4)) {
    case 0:
      break;
    case 1:
      bandwidth.read = rate();
      break;
    case 2:
      bandwidth.read = rate();
      bandwidth.write = rate();
      break;
    default:
      bandwidth.shared = rate();
  }
  return bandwidth;
}

Storage random_storage(Rng& rng, std::size_t level) {
  Storage storage;
  storage.name = fmt::format("L{}", level);
  const double scale = level == 0 ? 16.0 : level == 1 ? 2.0 : 0.25;
  const auto energy = [&] {
    return PicojoulesPerBit{scale * static_cast<double>(pick(rng, {1, 2, 3}))};
  };
  storage.energy = {energy(), energy(), energy()};
  storage.bandwidth = random_bandwidth(rng);
  storage.double_buffered = one_in(rng, 4);
  storage.sliding = !one_in(rng, 4);
  if (level > 0) {
    storage.keep = random_roles(rng, 8);
    for (const Role role : kRoles) {
      if (!storage.keep.contains(role) && one_in(rng, 6)) {
        storage.bypass.insert(role);
      }
    }
    storage.capacity = random_capacity(rng, storage.keep);
  }
  return storage;
}

AxisConstraint random_axis(Rng& rng) {
  AxisConstraint constraint;
  if (one_in(rng, 3)) {
    for (const GemmAxis axis : {GemmAxis::kM, GemmAxis::kN, GemmAxis::kK, GemmAxis::kBatch}) {
      if (one_in(rng, 2)) {
        constraint.gemm_axes.push_back(axis);
      }
    }
    constraint.dims = {"P"};  // ignored where there is no such dim
  }
  return constraint;
}

Fanout random_fanout(Rng& rng, std::size_t index) {
  Fanout fanout;
  fanout.name = fmt::format("F{}", index);
  fanout.x = pick(rng, {2, 3, 4});
  fanout.y = pick(rng, {1, 1, 2});
  fanout.multicast = random_roles(rng, 2);
  fanout.multicast.erase(Role::kOutput);  // says nothing: sums are spatial_reduction's
  fanout.spatial_reduction = one_in(rng, 2);
  fanout.forwarding = !one_in(rng, 3);
  fanout.reduction_energy = Picojoules{static_cast<double>(rng.below(3))};
  fanout.x_dims = random_axis(rng);
  fanout.y_dims = random_axis(rng);
  if (one_in(rng, 3)) {
    fanout.energy_per_hop = PicojoulesPerBit{static_cast<double>(pick(rng, {0, 1, 2, 4})) / 16};
  }
  return fanout;
}

constexpr std::size_t kFewestLevels = 2;

// Of so many levels or one more.
Arch random_arch(Rng& rng, std::size_t fewest_levels = kFewestLevels) {
  Arch arch;
  arch.name = "random";
  const std::size_t levels = fewest_levels + rng.below(2);
  for (std::size_t level = 0; level < levels; ++level) {
    arch.levels.push_back(random_storage(rng, level));
  }
  std::size_t above = 1;
  for (std::size_t index = rng.below(3); index > 0; --index) {
    above += rng.below(levels + 1 - above);
    arch.fanouts.push_back(random_fanout(rng, arch.fanouts.size()));
    arch.levels_above.push_back(above);
  }
  arch.compute.name = "MAC";
  arch.compute.energy = Picojoules{1.0};
  arch.compute.issue_interval = pick(rng, {1, 1, 2});
  arch.compute.register_reuse = one_in(rng, 3) ? random_roles(rng, 2) : RoleSet{};
  return arch;
}

Constraints random_constraints(Rng& rng, const Problem& problem) {
  Constraints constraints;
  constraints.even = one_in(rng, 3);
  if (one_in(rng, 3)) {
    const std::vector<Unrolling> all = Mapspace{problem, {}}.unrollings();
    constraints.spatial = all[rng.below(all.size())];
  }
  if (one_in(rng, 3)) {
    const PerTensor<KeepRule> free(problem.workload().tensors.size(), KeepRule::kFree);
    constraints.keeps = PerLevel<PerTensor<KeepRule>>(problem.arch().levels.size(), free);
    for (PerTensor<KeepRule>& rules : constraints.keeps) {
      for (KeepRule& rule : rules) {
        rule = one_in(rng, 6) ? KeepRule::kKeep : one_in(rng, 6) ? KeepRule::kBypass : rule;
      }
    }
  }
  return constraints;
}

// Bounds with few divisors and several imperfect extents.
Workload awkward_workload(Rng& rng) {
  const Precision precision = random_precision(rng);
  const auto bound = [&rng] { return pick(rng, {1, 2, 3, 5, 7, 9, 10, 11, 13}); };
  switch (rng.below(5)) {
    case 0:
    case 1:
      return gemm("gemm", {bound(), bound(), bound(), {}, false}, precision);
    case 2: {
      ConvShape shape;
      shape.in_channels = pick(rng, {1, 1, 3});
      shape.out_channels = pick(rng, {1, 2, 5});
      shape.kernel = {1, pick(rng, {2, 3, 5})};
      shape.stride = {1, pick(rng, {1, 1, 2, 3})};
      shape.dilation = {1, pick(rng, {1, 1, 2})};
      shape.input = input_for(shape, {1, pick(rng, {3, 5, 7, 9})});
      return conv2d("conv", shape, precision);
    }
    case 3:
      return einsum(
          "window_in_output", "Z[n][2*p+r] += A[n][p] * B[r]",
          {{"n", pick(rng, {1, 2})}, {"p", pick(rng, {3, 5, 7})}, {"r", pick(rng, {2, 3})}},
          precision);
    default:
      return einsum("three_operands", "Z[i][j] += A[i][k] * B[k][j] * C[k]",
                    {{"i", bound()}, {"j", pick(rng, {1, 2, 3})}, {"k", bound()}}, precision);
  }
}

Factors random_factors(Rng& rng, const Workload& workload) {
  Factors factors;
  factors.imperfect = true;
  factors.pieces = one_in(rng, 3) ? pick(rng, {1, 2, 3}) : 0;
  if (one_in(rng, 3)) {
    for (const Dim& dim : workload.dims) {
      factors.tiles.push_back({});
      if (one_in(rng, 2)) {
        factors.tiles[factors.tiles.last()].push_back(rng.between(1, dim.bound));
      }
    }
  }
  return factors;
}

// Quarters: sums of their bits are exact.
void thin_out(Workload& workload, Rng& rng) {
  for (Tensor& tensor : workload.tensors) {
    tensor.density = static_cast<double>(pick(rng, {1, 2, 4})) / 4;
  }
}

// Links to the parent, drawn apart, so that the rest of a seed stays as it was.
void add_links(Arch& arch, std::uint64_t seed) {
  Rng rng{seed + 77'777};
  for (const LevelId l : arch.levels.ids()) {
    if (index_of(l) > 0 && one_in(rng, 4)) {
      arch.levels[l].bandwidth.link = BitsPerCycle{static_cast<double>(pick(rng, {2, 8, 16}))};
    }
  }
}

SearchCase random_case(std::uint64_t seed, std::int64_t max_size, bool ruled,
                       std::size_t fewest_levels = kFewestLevels) {
  Rng rng{seed};
  while (true) {
    Arch arch = random_arch(rng, fewest_levels);
    Workload workload = random_workload(rng);
    add_links(arch, seed);
    if (one_in(rng, 4)) {
      thin_out(workload, rng);
    }
    SearchCase found{Problem{std::move(arch), std::move(workload)}, {}};
    found.constraints = random_constraints(rng, found.problem);
    if (ruled) {
      add_random_rules(rng, found.problem, found.constraints);
    }
    const std::string size = mapspace_size(Mapspace{found.problem, found.constraints});
    if (size.size() < 19 && std::stoll(size) <= max_size && size != "0") {
      return found;
    }
  }
}

// Looking at all mappings meets those that rules forbid, up to where they do.
bool is_quick_to_look_at(const Problem& problem, Constraints free, std::int64_t max_size) {
  free.extents.clear();
  free.loops.clear();
  free.spatial.reset();
  const std::string size = mapspace_size(Mapspace{problem, free});
  return size.size() < 12 && std::stoll(size) <= 10 * max_size;
}

SearchCase imperfect_case(std::uint64_t seed, std::int64_t max_size, bool ruled) {
  Rng rng{seed};
  while (true) {
    Arch arch = random_arch(rng);
    add_links(arch, seed);
    SearchCase found{Problem{std::move(arch), awkward_workload(rng)}, {}};
    found.constraints = random_constraints(rng, found.problem);
    found.constraints.factors = random_factors(rng, found.problem.workload());
    if (found.constraints.spatial) {
      Constraints free;
      free.factors = found.constraints.factors;
      const std::vector<Unrolling> all = Mapspace{found.problem, free}.unrollings();
      found.constraints.spatial = all[rng.below(all.size())];
    }
    if (ruled) {
      add_random_rules(rng, found.problem, found.constraints);
    }
    const bool quick = !ruled || is_quick_to_look_at(found.problem, found.constraints, max_size);
    const std::string size =
        quick ? mapspace_size(Mapspace{found.problem, found.constraints}) : "0";
    // Charges that grow later keep labels apart: where hops cost something, small spaces only.
    const std::int64_t most = found.problem.places_matter() ? max_size / 10 : max_size;
    if (size.size() < 10 && std::stoll(size) <= most && size != "0") {
      return found;
    }
  }
}

}  // namespace

SearchCase random_space(std::uint64_t seed, std::int64_t max_size) {
  return random_case(seed, max_size, false);
}

SearchCase random_tall_space(std::uint64_t seed, std::int64_t max_size) {
  return random_case(seed, max_size, seed % 4 == 0, 4);
}

SearchCase random_deep_space(std::uint64_t seed, std::int64_t max_size) {
  Rng rng{seed};
  while (true) {
    Arch arch = random_arch(rng, 9 + 2 * rng.below(2));
    for (const LevelId level : arch.levels.ids()) {
      Storage& storage = arch.levels[level];
      if (index_of(level) == 0 || one_in(rng, 6)) {
        continue;
      }
      storage.keep = random_roles(rng, 3);
      storage.bypass = RoleSet::from_bits(kAllRoles.bits() & ~storage.keep.bits());
      storage.capacity = one_in(rng, 3) ? random_capacity(rng, storage.keep) : Capacity{};
    }
    SearchCase found{Problem{std::move(arch), random_workload(rng)}, {}};
    found.constraints.even = one_in(rng, 3);
    const std::string size = mapspace_size(Mapspace{found.problem, found.constraints});
    if (size.size() < 19 && std::stoll(size) <= max_size && size != "0") {
      return found;
    }
  }
}

SearchCase random_ruled_space(std::uint64_t seed, std::int64_t max_size) {
  return random_case(seed, max_size, true);
}

SearchCase random_systolic_space(std::uint64_t seed, std::int64_t max_size) {
  for (;; seed += 1'000'000) {
    SearchCase random = random_case(seed, max_size, seed % 3 == 0);
    Arch arch = random.problem.arch();
    if (arch.fanouts.empty()) {
      continue;
    }
    Rng rng{seed};
    SystolicTiming timing{static_cast<FanoutId>(rng.below(arch.fanouts.size())), one_in(rng, 2),
                          one_in(rng, 2), one_in(rng, 2)};
    if (index_of(arch.levels.last()) < arch.levels_above[timing.array] &&
        arch.compute.register_reuse.empty()) {
      arch.compute.register_reuse = {kRoles[rng.below(kRoles.size())]};
    }
    Rng more{seed + 1};  // drawn apart, so that the rest stays as it was
    const RoleSet stay = roles_in_array(arch, timing.array);
    timing.whole_tiles = timing.full_folds && one_in(more, 2) &&
                         (stay.contains(Role::kInput) || stay.contains(Role::kWeight));
    timing.scalesim = one_in(more, 4);
    arch.compute.timing = timing;
    if (!one_in(rng, 8)) {
      arch.fanouts[timing.array].multicast = {Role::kInput, Role::kWeight};
      arch.fanouts[timing.array].spatial_reduction = true;
    }
    for (Storage& level : arch.levels) {
      level.streamed = !level.double_buffered && one_in(rng, 3);
    }
    if (Storage& inner = arch.levels[arch.levels.last()];
        timing.hides_load && !arch.is_above(arch.levels.last(), timing.array)) {
      inner.streamed = !inner.double_buffered;  // room for the next tile
    }
    random.problem = Problem{std::move(arch), random.problem.workload()};
    return random;
  }
}

SearchCase random_imperfect_space(std::uint64_t seed, std::int64_t max_size) {
  return imperfect_case(seed, max_size, false);
}

SearchCase random_ruled_imperfect_space(std::uint64_t seed, std::int64_t max_size) {
  return imperfect_case(seed, max_size, true);
}

bool is_counted(const SearchCase& random) {
  const Mapspace space{random.problem, random.constraints};
  std::int64_t count = 0;
  return space.enumerate([&](const Mapping&) { return ++count > 0; }) &&
         mapspace_size(space) == std::to_string(count);
}

}  // namespace mapsim
