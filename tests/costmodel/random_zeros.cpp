// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/random_zeros.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "costmodel/reference/point_set.hpp"
#include "costmodel/sparse/format.hpp"

namespace mapsim {

namespace {

// All masks of a tensor with exactly `z` nonzeros among these points of its box.
std::vector<std::vector<double>> masks_of(const PointSet& points, std::int64_t box,
                                          std::int64_t z) {
  std::vector<std::vector<double>> all;
  std::vector<char> chosen(points.size(), 0);
  std::fill_n(chosen.begin(), z, 1);
  do {
    std::vector<double>& mask = all.emplace_back(static_cast<std::size_t>(box), 0.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      mask[static_cast<std::size_t>(points[i])] = chosen[i];
    }
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return all;
}

std::int64_t volume_of(const std::vector<std::int64_t>& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1}, std::multiplies<>{});
}

double choices(std::int64_t n, std::int64_t k) {
  double product = 1;
  for (std::int64_t i = 0; i < k; ++i) {
    product *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return product;
}

RankCode random_code(Rng& rng, bool last) {
  const auto kind = static_cast<RankFormat>(rng.below(last ? 4 : 5));
  const std::int64_t bits = kind == RankFormat::kRuns ? 1 + static_cast<std::int64_t>(rng.below(3))
                            : kind == RankFormat::kDense || kind == RankFormat::kBitmask
                                ? 0
                                : static_cast<std::int64_t>(rng.below(2) * 5);
  return {kind, bits};
}

TensorFormat random_format(Rng& rng, std::size_t ranks) {
  TensorFormat format;
  if (rng.below(8) == 0) {
    return {true, false, {}};
  }
  const std::size_t codes = std::min<std::size_t>(rng.below(4), ranks);
  for (std::size_t i = 0; i < codes; ++i) {
    format.ranks.push_back(random_code(rng, i + 1 == codes));
  }
  format.columns = codes > 0 && rng.below(4) == 0;
  return format;
}

}  // namespace

void for_each_data_set(const Workload& workload, const Masks& masks,
                       const std::function<void(const PerTensor<DenseTensor>&)>& visit) {
  PerTensor<DenseTensor> operands(workload.tensors.size());
  const std::function<void(std::size_t)> choose = [&](std::size_t t) {
    if (t == workload.tensors.size()) {
      visit(operands);
      return;
    }
    const auto id = static_cast<TensorId>(t);
    operands[id].shape = box_shape(workload, workload.tensors[id]);
    for (const std::vector<double>& mask : masks[id]) {
      operands[id].values = mask;
      choose(t + 1);
    }
  };
  choose(0);
}

Sparsity random_sparsity(Rng& rng, const RandomCase& random) {
  Sparsity sparsity;
  std::size_t fewest = 8;
  for (const Tensor& tensor : random.workload.tensors) {
    fewest = std::min(fewest, tensor.ranks.size());
  }
  for (std::size_t l = 0; l < random.arch.levels.size(); ++l) {
    StorageSparsity storage;
    for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
      storage.formats[role] = random_format(rng, fewest);
    }
    for (const Role role : {Role::kInput, Role::kWeight}) {  // somewhere zeros are seen
      TensorFormat& format = storage.formats[role];
      format = l + 1 < random.arch.levels.size() || is_compressed(format)
                   ? format
                   : TensorFormat{false, false, {{RankFormat::kBitmask, 0}}};
    }
    for (std::uint64_t c = rng.below(3); c > 0; --c) {
      Condition condition{
          rng.below(2) == 0 ? ZeroAct::kGate : ZeroAct::kSkip, static_cast<Role>(rng.below(3)), {}};
      condition.leaders.insert(
          condition.target == Role::kInput || rng.below(2) == 0 ? Role::kWeight : Role::kInput);
      if (!condition.leaders.contains(condition.target)) {
        storage.when_empty.push_back(condition);
      }
    }
    sparsity.levels.push_back(storage);
  }
  sparsity.when_zero = static_cast<ZeroAct>(rng.below(3));
  return sparsity;
}

Masks masks_of_blocks(const Workload& workload) {
  Masks masks(workload.tensors.size());
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    const std::vector<std::int64_t> box = box_shape(workload, tensor);
    const std::int64_t size = volume_of(box);
    masks[t] = {std::vector<double>(static_cast<std::size_t>(size), 1.0)};
    if (!tensor.pattern) {
      continue;
    }
    const Pattern& pattern = *tensor.pattern;
    std::size_t rank = 0;
    while (tensor.ranks[rank].terms.front().dim != pattern.dim) {
      ++rank;
    }
    const std::int64_t stride =
        volume_of({box.begin() + static_cast<std::ptrdiff_t>(rank) + 1, box.end()});
    std::map<std::int64_t, std::vector<std::size_t>> blocks;  // by the first of their elements
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t place = i / stride % box[rank] % pattern.block;
      blocks[i - place * stride].push_back(static_cast<std::size_t>(i));
    }
    for (const auto& [first, places] : blocks) {
      std::vector<std::vector<double>> more;
      for (const std::vector<double>& mask : masks[t]) {
        std::vector<char> chosen(places.size(), 0);
        std::fill_n(chosen.begin(), pattern.kept, 1);
        do {
          std::vector<double>& next = more.emplace_back(mask);
          for (std::size_t i = 0; i < places.size(); ++i) {
            next[places[i]] = chosen[i];
          }
        } while (std::prev_permutation(chosen.begin(), chosen.end()));
      }
      masks[t] = std::move(more);
    }
  }
  return masks;
}

Masks draw_blocks(Rng& rng, Workload& workload) {
  constexpr double kMostChoices = 300;
  const auto t = static_cast<TensorId>(rng.below(workload.tensors.size() - 1));
  Tensor& tensor = workload.tensors[t];
  const std::vector<std::int64_t> box = box_shape(workload, tensor);
  const std::size_t rank = rng.below(box.size());
  const std::int64_t block = rng.between(2, std::max<std::int64_t>(2, box[rank]));
  const std::int64_t kept = rng.between(1, block - 1);
  const double blocks = static_cast<double>(volume_of(box)) / static_cast<double>(block);
  if (t != workload.output() && tensor.ranks[rank].terms.size() == 1 && box[rank] % block == 0 &&
      std::pow(choices(block, kept), blocks) <= kMostChoices) {
    Pattern pattern;
    pattern.kept = kept;
    pattern.block = block;
    pattern.dim = tensor.ranks[rank].terms.front().dim;
    tensor.pattern = Shared<Pattern>{pattern};
    tensor.density = static_cast<double>(kept) / static_cast<double>(block);
  }
  return masks_of_blocks(workload);
}

Masks draw_masks(Rng& rng, Workload& workload) {
  constexpr double kMostSets = 60;
  Masks masks;
  double sets = 1;
  for (const TensorId t : workload.tensors.ids()) {
    const Projection projection{workload, t};
    const PointSet points = projection.points(whole_tile(workload));
    const std::int64_t n = count_of(points);
    std::int64_t z = n;
    for (const std::int64_t wish :
         {1 + static_cast<std::int64_t>(rng.below(3)), n - 1, std::int64_t{1}}) {
      if (wish >= 1 && wish < n && z == n && sets * choices(n, wish) <= kMostSets) {
        z = wish;
      }
    }
    sets *= choices(n, z);
    workload.tensors[t].density = static_cast<double>(z) / static_cast<double>(n);
    masks.push_back(masks_of(points, projection.box_size(), z));
  }
  return masks;
}

PerTensor<DenseTensor> draw_data(Rng& rng, Workload& workload) {
  PerTensor<DenseTensor> operands(workload.tensors.size());
  for (const TensorId t : workload.tensors.ids()) {
    Tensor& tensor = workload.tensors[t];
    operands[t].shape = box_shape(workload, tensor);
    const auto size = static_cast<std::size_t>(Projection{workload, t}.box_size());
    operands[t].values.assign(size, 1.0);
    const bool has_window = std::any_of(
        tensor.ranks.begin(), tensor.ranks.end(),
        [](const auto& r) { return r.terms.size() != 1 || r.terms.front().coefficient != 1; });
    if (t == workload.output() || has_window) {
      continue;
    }
    const std::uint64_t zeros = rng.below(4);  // of 4
    Pattern pattern;
    pattern.kind = PatternKind::kData;
    pattern.box = operands[t].shape;
    for (double& value : operands[t].values) {
      value = rng.below(4) < zeros ? 0 : 1;
    }
    operands[t].values[rng.below(size)] = 1;
    pattern.nonzero.assign(operands[t].values.begin(), operands[t].values.end());
    tensor.density =
        static_cast<double>(std::count(pattern.nonzero.begin(), pattern.nonzero.end(), 1)) /
        static_cast<double>(size);
    tensor.pattern = Shared<Pattern>{std::move(pattern)};
  }
  return operands;
}

}  // namespace mapsim
