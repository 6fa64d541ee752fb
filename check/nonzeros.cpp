// SPDX-License-Identifier: Apache-2.0
#include "check/nonzeros.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "check/geometry.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim::check {

namespace {

double product(const std::vector<std::int64_t>& of, std::size_t first, std::size_t last) {
  double n = 1;
  for (std::size_t i = first; i < last; ++i) {
    n *= real(of[i]);
  }
  return n;
}

// exp() of less is 0 as a double.
constexpr long double kLeastLog = -750;

// The probability that `drawn` of `all` places miss all `marked` ones, as a sum of logarithms:
// log1p keeps digits that a ratio near 1 would lose.
double misses(double all, double marked, double drawn) {
  if (drawn > all - marked) {
    return 0;
  }
  const double longer = std::max(marked, drawn);
  long double sum = 0;
  for (double i = std::min(marked, drawn); i-- > 0 && sum > kLeastLog;) {
    sum += std::log1p(-static_cast<long double>(longer) / (all - i));
  }
  return static_cast<double>(std::exp(sum));
}

// The logarithm of the number of ways to choose.
long double ln_choose(double all, double chosen) {
  long double sum = 0;
  for (double i = std::min(chosen, all - chosen); i >= 1; --i) {
    sum += std::log1p((static_cast<long double>(all) - std::min(chosen, all - chosen)) / i);
  }
  return sum;
}

double bits_for(double most) {
  double bits = 0;
  for (; most >= 1; most = std::floor(most / 2)) {
    ++bits;
  }
  return bits;
}

double coordinate_bits(const RankCode& code, double most) {
  return code.bits > 0
             ? real(code.bits) * std::max(1.0, std::ceil(bits_for(most) / real(code.bits)))
             : bits_for(most);
}

bool stores_zeros(const RankCode& code) {
  return code.format == RankFormat::kDense || code.format == RankFormat::kOffsets;
}

}  // namespace

NonzeroFlows::NonzeroFlows(const Problem& problem)
    : problem_{problem}, zeros_(problem.workload().tensors.size()) {
  for (const TensorId t : zeros_.ids()) {
    Zeros& zeros = zeros_[t];
    zeros.box = shape_of(t, bounds_of(problem.workload()));
    zeros.all = product(zeros.box, 0, zeros.box.size());
    zeros.nonzeros =
        std::clamp(std::round(problem.workload().tensors[t].density * zeros.all), 1.0, zeros.all);
  }
}

NonzeroFlows::Shape NonzeroFlows::shape_of(TensorId t, const PerDim<std::int64_t>& extents) const {
  Shape shape;
  for (const Rank& rank : problem_.workload().tensors[t].ranks) {
    shape.push_back(count_coordinates(rank, extents));
  }
  return shape;
}

double NonzeroFlows::empty(TensorId t, const Shape& shape) {
  const auto [at, fresh] = zeros_[t].empty.try_emplace(shape, 0);
  if (fresh) {
    const Shared<Pattern>& pattern = problem_.workload().tensors[t].pattern;
    at->second = !pattern
                     ? misses(zeros_[t].all, zeros_[t].nonzeros, product(shape, 0, shape.size()))
                 : pattern->kind == PatternKind::kData ? data_empty(t, shape)
                                                       : blocks_empty(t, shape);
  }
  return at->second;
}

// The rank of blocks.
std::size_t NonzeroFlows::block_rank(TensorId t) const {
  const Tensor& tensor = problem_.workload().tensors[t];
  std::size_t rank = 0;
  while (tensor.ranks[rank].terms.size() != 1 ||
         tensor.ranks[rank].terms.front().dim != tensor.pattern->dim) {
    ++rank;
  }
  return rank;
}

// For every alignment of the tile to its blocks, place by place.
double NonzeroFlows::blocks_empty(TensorId t, const Shape& shape) const {
  const Pattern& pattern = *problem_.workload().tensors[t].pattern;
  const std::size_t rank = block_rank(t);
  const double lines = product(shape, 0, shape.size()) / real(shape[rank]);
  double sum = 0;
  const std::int64_t tiles = zeros_[t].box[rank] / shape[rank];
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    std::map<std::int64_t, double> covered;  // places per block
    for (std::int64_t i = 0; i < shape[rank]; ++i) {
      covered[(tile * shape[rank] + i) / pattern.block] += 1;
    }
    double line = 1;
    for (const auto& block : covered) {
      line *= misses(real(pattern.block), real(pattern.kept), block.second);
    }
    sum += std::pow(line, lines);
  }
  return sum / real(tiles);
}

double NonzeroFlows::data_empty(TensorId t, const Shape& shape) const {
  const Pattern& pattern = *problem_.workload().tensors[t].pattern;
  std::map<Shape, bool> hit;
  for (std::size_t i = 0; i < pattern.nonzero.size(); ++i) {
    Shape tile(shape.size());
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t r = shape.size(); r-- > 0;) {
      tile[r] = rest % pattern.box[r] / shape[r];
      rest /= pattern.box[r];
    }
    hit[tile] = hit[tile] || pattern.nonzero[i] != 0;
  }
  const auto empties =
      std::count_if(hit.begin(), hit.end(), [](const auto& h) { return !h.second; });
  return static_cast<double>(empties) / static_cast<double>(hit.size());
}

// Entries of `children` tiles of `child` places each that runs need where their field is too short.
// All that is left after s tiles is at most `children` times the probability that s are empty.
double NonzeroFlows::padding_of_runs(TensorId t, const RankCode& code, double children,
                                     double child) {
  constexpr double kNothing = 1e-18;             // of the entries
  if (problem_.workload().tensors[t].pattern) {  // every nonzero has one, or the machine is refused
    return 0;
  }
  const auto [at, fresh] = zeros_[t].sums.try_emplace({real(code.bits), children, child}, 0);
  double& padding = at->second;
  const double run = std::ldexp(1, static_cast<int>(code.bits));
  for (double s = run; fresh && s < children; s += run) {
    const double left = misses(zeros_[t].all, zeros_[t].nonzeros, s * child);
    if (children * left <= kNothing * padding) {
      break;
    }
    padding += (children - s) * (left - misses(zeros_[t].all, zeros_[t].nonzeros, (s + 1) * child));
  }
  return padding;
}

// A given width of the last code counts the places of a block of n:m structure, where that is all
// ranks or the one along which the blocks lie.
double NonzeroFlows::places_in_block(TensorId t, const TensorFormat& format,
                                     std::size_t code) const {
  const Tensor& tensor = problem_.workload().tensors[t];
  const std::size_t codes = format.ranks.size();
  if (!tensor.pattern || tensor.pattern->kind == PatternKind::kData || code + 1 < codes ||
      format.ranks[code].bits == 0) {
    return HUGE_VAL;
  }
  const std::size_t last = format.columns ? 0 : tensor.ranks.size() - 1;
  return codes == 1 || (codes == tensor.ranks.size() && block_rank(t) == last)
             ? real(tensor.pattern->block)
             : HUGE_VAL;
}

MovedShare NonzeroFlows::share(TensorId t, LevelId level, const Shape& given, bool to_units) {
  const TensorFormat& format = problem_.sparse()->format(level, t);
  const double density = zeros_[t].nonzeros / zeros_[t].all;
  if (format.ideal || format.ranks.empty()) {
    return {format.ideal ? density : 1, 0};
  }
  const Shared<Pattern>& pattern = problem_.workload().tensors[t].pattern;
  const bool is_data = pattern && pattern->kind == PatternKind::kData;
  if (is_data && !to_units && !problem_.sparse()->is_constant(level, t)) {
    // Measured on the elements, by the closed form's reader, which the reference simulator has
    // confirmed tile by tile.
    return problem_.sparse()->moved(level, t, given);
  }
  // The ranks in the order of the format, each with its index in the tensor.
  Shape order(given.size());
  std::iota(order.begin(), order.end(), 0);
  if (format.columns) {
    std::reverse(order.begin(), order.end());
  }
  const double points = product(given, 0, given.size());
  Shape left = given;
  Shape places = to_units ? zeros_[t].box : given;  // that coordinates tell apart
  double positions = 1;
  double exist = 1;
  MovedShare share;
  for (std::size_t c = 0; c < format.ranks.size(); ++c) {
    const std::size_t end = c + 1 == format.ranks.size() ? order.size() : c + 1;
    double children = 1;
    double among = 1;
    for (std::size_t i = c; i < end; ++i) {
      const auto r = static_cast<std::size_t>(order[i]);
      children *= real(left[r]);
      among *= real(places[r]);
      left[r] = 1;
    }
    const RankCode& code = format.ranks[c];
    const double child = product(left, 0, left.size());
    const double some = stores_zeros(code) ? exist : to_units ? density : 1 - empty(t, left);
    const double entries = positions * children * some;
    double bits = 0;
    if (code.format == RankFormat::kBitmask) {
      bits = positions * exist * children;
    } else if (code.format == RankFormat::kOffsets) {
      bits = positions * exist * (children + 1) * coordinate_bits(code, points);
    } else if (code.format == RankFormat::kCoordinates) {
      bits = entries * coordinate_bits(code, std::min(among, places_in_block(t, format, c)) - 1);
    } else if (code.format == RankFormat::kRuns) {
      bits = real(code.bits) * (entries + positions * padding_of_runs(t, code, children, child));
    }
    share.format_bits += bits / points;
    share.elements = entries * child / points;
    positions *= children;
    exist = some;
  }
  return share;
}

bool NonzeroFlows::is_plain(TensorId t, LevelId parent, std::optional<LevelId> child) const {
  const SparseModel& model = *problem_.sparse();
  return !model.has_conditions() && model.is_constant(parent, t) &&
         (!child || model.is_constant(*child, t));
}

FlowOfNonzeros NonzeroFlows::flow(TensorId t, LevelId parent, std::optional<LevelId> child,
                                  const PerDim<std::int64_t>& extents,
                                  const PerDim<std::int64_t>& shared) {
  const SparseModel& model = *problem_.sparse();
  const Shape shape = shape_of(t, extents);
  FlowOfNonzeros flow;
  flow.parent = share(t, parent, shape, !child);
  flow.child = child ? share(t, *child, shape, false) : MovedShare{};
  PerDim<std::int64_t> served = extents;
  for (const DimId d : served.ids()) {
    served[d] *= shared[d];
  }
  // Zeros of several leaders are independent: what is made passes all of them.
  for (const BoundCondition& condition : model.conditions(parent, t)) {
    const double passed = 1 - empty(condition.leader, shape_of(condition.leader, served));
    flow.made *= passed;
    flow.unskipped *= condition.act == ZeroAct::kSkip ? passed : 1;
  }
  const double skipped = 1 - flow.unskipped;
  const double gated = flow.unskipped - flow.made;
  const auto idle = [&](LevelId level) {
    const StorageSparsity& zeros = model.machine().levels[level];
    return zeros.gated.count() * gated + zeros.skipped.count() * skipped;
  };
  flow.parent_idle_pj = idle(parent);
  flow.child_idle_pj = child ? idle(*child) : 0;
  return flow;
}

// The most nonzeros of a tile in this share of data sets, by adding up their probabilities from
// where nothing is left below.
double NonzeroFlows::most_nonzeros(TensorId t, const Shape& shape, double share) {
  const double points = product(shape, 0, shape.size());
  Zeros& zeros = zeros_[t];
  if (problem_.workload().tensors[t].pattern) {
    return most_in_blocks(t, shape);
  }
  if (share >= 1) {
    return std::min(points, zeros.nonzeros);
  }
  const auto [at, fresh] = zeros.sums.try_emplace({0, points, share}, 0);
  if (!fresh) {
    return at->second;
  }
  constexpr double kSpreads = 40;  // standard deviations below the mean: next to nothing
  const double mean = points * zeros.nonzeros / zeros.all;
  const double spread = std::sqrt(mean * (1 - zeros.nonzeros / zeros.all));
  const double zero = zeros.all - zeros.nonzeros;
  double x = std::max({0.0, points - zero, std::floor(mean - kSpreads * (spread + 1))});
  long double log =
      ln_choose(zeros.nonzeros, x) + ln_choose(zero, points - x) - ln_choose(zeros.all, points);
  double below = static_cast<double>(std::exp(log));
  for (; below < share && x < std::min(points, zeros.nonzeros); ++x) {
    log += std::log(static_cast<long double>(zeros.nonzeros - x) * (points - x) /
                    ((x + 1) * (zero - points + x + 1)));
    below += static_cast<double>(std::exp(log));
  }
  at->second = x;
  return x;
}

// Of n:m structure: the fullest of all alignments of a tile to its blocks, place by place.
double NonzeroFlows::most_in_blocks(TensorId t, const Shape& shape) const {
  const Pattern& pattern = *problem_.workload().tensors[t].pattern;
  const std::size_t rank = block_rank(t);
  std::int64_t most = 0;
  for (std::int64_t tile = 0; tile < zeros_[t].box[rank] / shape[rank]; ++tile) {
    std::map<std::int64_t, std::int64_t> covered;  // places per block
    for (std::int64_t i = 0; i < shape[rank]; ++i) {
      ++covered[(tile * shape[rank] + i) / pattern.block];
    }
    std::int64_t line = 0;
    for (const auto& block : covered) {
      line += std::min(block.second, pattern.kept);
    }
    most = std::max(most, line);
  }
  return real(most) * product(shape, 0, shape.size()) / real(shape[rank]);
}

// Tiles of data are measured, like what they move.
double NonzeroFlows::stored_bits(TensorId t, LevelId level, const PerDim<std::int64_t>& extents,
                                 Bits width) {
  const Shape shape = shape_of(t, extents);
  const double points = product(shape, 0, shape.size());
  const Fits& fits = problem_.sparse()->machine().levels[level].fits;
  const TensorFormat& format = problem_.sparse()->format(level, t);
  const Shared<Pattern>& pattern = problem_.workload().tensors[t].pattern;
  if (format.ideal || format.ranks.empty()) {
    return points * real(width.count());
  }
  const bool is_data = pattern && pattern->kind == PatternKind::kData;
  if (is_data) {
    return problem_.sparse()->stored_bits(level, t, shape, width);
  }
  if (fits.when == FitsWhen::kExpected) {
    const MovedShare mean = share(t, level, shape, false);
    return points * (mean.elements * real(width.count()) + mean.format_bits);
  }
  const double nonzeros = most_nonzeros(t, shape, fits.share);
  Shape left = shape;
  if (format.columns) {
    std::reverse(left.begin(), left.end());
  }
  double bits = 0;
  double fibers = 1;
  double positions = 1;
  for (std::size_t c = 0; c < format.ranks.size(); ++c) {
    const RankCode& code = format.ranks[c];
    const bool last = c + 1 == format.ranks.size();
    const double children = last ? product(left, c, left.size()) : real(left[c]);
    positions *= children;
    const double full = stores_zeros(code) ? fibers * children : std::min(nonzeros, positions);
    if (code.format == RankFormat::kBitmask) {
      bits += fibers * children;
    } else if (code.format == RankFormat::kOffsets) {
      bits += fibers * (children + 1) * coordinate_bits(code, points);
    } else if (code.format == RankFormat::kCoordinates) {
      bits += full * coordinate_bits(code, std::min(children, places_in_block(t, format, c)) - 1);
    } else if (code.format == RankFormat::kRuns) {
      const double longest =
          pattern ? 0 : std::floor(std::ldexp(children, -static_cast<int>(code.bits)));
      bits += real(code.bits) * (full + std::min(full, fibers) * longest);
    }
    fibers = full;
  }
  return fibers * points / positions * real(width.count()) + bits;
}

}  // namespace mapsim::check
