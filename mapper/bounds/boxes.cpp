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
  Box box;
  box.common = figures[begin].packed;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      least[k] = std::min(least[k], figures[i].row[k]);
      most[k] = std::max(most[k], figures[i].row[k]);
    }
    box.instances = std::max(box.instances, figures[i].instances);
    box.common = primes_.common(box.common, figures[i].packed);
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
  const PerDim<std::int64_t> left = primes_.left(box.common);
  for (const DimId d : left.ids()) {
    box.most.push_back(most[width - dims + index_of(d)]);
    box.divisor.push_back(real(primes_.bounds()[d] / left[d]));
  }
  const auto id = static_cast<std::uint32_t>(boxes_.size());
  boxes_.push_back(box);
  if (end - begin == 1) {
    boxes_[id].choice = figures[begin].choice;
    return id;
  }
  std::stable_sort(
      figures.begin() + static_cast<std::ptrdiff_t>(begin),
      figures.begin() + static_cast<std::ptrdiff_t>(end),
      [widest](const Figures& a, const Figures& b) { return a.row[widest] < b.row[widest]; });
  std::size_t middle = begin + (end - begin) / 2;
  if (box.spread > 1) {
    const double mean = std::sqrt(least[widest] * most[widest]);
    for (middle = begin + 1; middle + 1 < end && figures[middle].row[widest] < mean;) {
      ++middle;
    }
  }
  const std::uint32_t left_box = build(figures, begin, middle);
  const std::uint32_t right_box = build(figures, middle, end);
  boxes_[id].left = left_box;
  boxes_[id].right = right_box;
  return id;
}

}  // namespace mapsim::branch
