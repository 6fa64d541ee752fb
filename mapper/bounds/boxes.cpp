// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/boxes.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"

namespace mapsim::branch {

// The figures of one choice, in one row: operations per element and copies of each tensor, then
// instances along each dim.
struct BoxTree::Figures {
  std::vector<double> row;
  PackedFactors packed;
  double instances = 1;
  std::uint32_t choice = 0;
};

BoxTree::BoxTree(const UnrollingClasses& classes, FanoutId fanout,
                 const PerTensor<exact::TensorUse>& uses)
    : primes_{classes.primes()} {
  const std::vector<FanoutChoice>& choices = classes.choices()[fanout];
  std::vector<Figures> idle;
  std::vector<Figures> busy;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const FanoutChoice& choice = choices[c];
    exact::Extents instances;
    for (const std::int64_t factor : choice.factors) {
      instances.push_back(real(factor));
    }
    Figures figures{
        {}, primes_.pack(choice.factors), real(choice.instances), static_cast<std::uint32_t>(c)};
    for (const exact::TensorUse& use : uses) {
      figures.row.push_back(exact::most_operations(use, instances));
      double copies = 1;
      for (const DimId d : instances.ids()) {
        copies *= use.dims.contains(d) ? 1 : instances[d];
      }
      figures.row.push_back(copies);
    }
    figures.row.insert(figures.row.end(), instances.begin(), instances.end());
    (choice.instances > 1 ? busy : idle).push_back(std::move(figures));
  }
  boxes_.reserve(2 * choices.size());
  if (!idle.empty()) {
    idle_ = build(idle, 0, idle.size());
  }
  if (!busy.empty()) {
    busy_ = build(busy, 0, busy.size());
  }
}

// Splits a box at the geometric mean of the figure in which its choices differ most. Instances
// along single dims are not split by; they act through the other figures.
std::uint32_t BoxTree::build(std::vector<Figures>& figures, std::size_t begin, std::size_t end) {
  const std::size_t width = figures[begin].row.size();
  std::vector<double> least = figures[begin].row;
  std::vector<double> most = least;
  FactorBox box;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      least[k] = std::min(least[k], figures[i].row[k]);
      most[k] = std::max(most[k], figures[i].row[k]);
    }
    box.instances = std::max(box.instances, figures[i].instances);
  }
  const std::size_t dims = primes_.bounds().size();
  std::size_t widest = 0;
  for (std::size_t k = 0; k + dims < width; ++k) {
    if (most[k] / least[k] > box.spread) {
      box.spread = most[k] / least[k];
      widest = k;
    }
  }
  for (std::size_t t = 0; 2 * t + dims < width; ++t) {
    box.most_served.push_back(most[2 * t]);
    box.most_copies.push_back(most[2 * t + 1]);
    box.fewest_copies.push_back(least[2 * t + 1]);
  }
  const auto id = static_cast<std::uint32_t>(boxes_.size());
  boxes_.emplace_back();
  if (end - begin == 1) {
    box.choice = figures[begin].choice;
    box.common = figures[begin].packed;
  } else {
    std::size_t middle = begin + (end - begin) / 2;
    if (box.spread > 1) {
      const double mean = std::sqrt(least[widest] * most[widest]);
      const auto first = figures.begin();
      middle = static_cast<std::size_t>(
          std::stable_partition(first + static_cast<std::ptrdiff_t>(begin),
                                first + static_cast<std::ptrdiff_t>(end),
                                [&](const Figures& each) { return each.row[widest] < mean; }) -
          first);
      middle = std::clamp(middle, begin + 1, end - 1);
    }
    box.left = build(figures, begin, middle);
    box.right = build(figures, middle, end);
    box.common = primes_.common(boxes_[box.left].common, boxes_[box.right].common);
  }
  const PerDim<std::int64_t> left = primes_.left(box.common);
  for (const DimId d : left.ids()) {
    box.most.push_back(most[width - dims + index_of(d)]);
    box.divisor.push_back(real(primes_.bounds()[d] / left[d]));
  }
  boxes_[id] = box;
  return id;
}

}  // namespace mapsim::branch
