// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/schedules.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/arithmetic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

// The distinct ceil(bound / n), largest first.
std::vector<std::int64_t> parts_of(std::int64_t bound) {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 1; n <= bound;) {
    const std::int64_t extent = ceil_div(bound, n);
    found.push_back(extent);
    n = extent == 1 ? bound + 1 : ceil_div(bound, extent - 1);
  }
  return found;
}

const NvdlaTiming& timing_of(const Problem& problem) {
  return std::get<NvdlaTiming>(problem.arch().compute.timing);
}

std::int64_t bound(const Problem& problem, std::optional<DimId> dim) {
  return dim ? problem.workload().dims[*dim].bound : 1;
}

// Builds a mapping from the outside in; loops without effect are left out.
class NestBuilder {
 public:
  explicit NestBuilder(const Problem& problem)
      : problem_{problem}, extents_{bounds_of(problem.workload())} {}

  void loop(std::optional<DimId> dim, std::int64_t extent) {
    if (dim && extent < extents_[*dim]) {
      mapping_.nodes.emplace_back(Temporal{*dim, extent});
      extents_[*dim] = extent;
    }
  }
  void parallel(std::optional<DimId> dim, FanoutId fanout, Axis axis) {
    if (dim && extents_[*dim] > 1) {
      mapping_.nodes.emplace_back(Parallel{*dim, 1, fanout, axis});
      extents_[*dim] = 1;
    }
  }
  void keep(LevelId level, TensorSet tensors) {
    if (!tensors.empty()) {
      mapping_.nodes.emplace_back(Keep{level, tensors});
    }
  }
  // Adds the keeps that the levels from `first` to `last` - 1 must have.
  void keep_levels(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto level = static_cast<LevelId>(i);
      TensorSet tensors;
      for (const TensorId t : problem_.workload().tensors.ids()) {
        if (problem_.must_keep(level, t)) {
          tensors.insert(t);
        }
      }
      keep(level, tensors);
    }
  }
  Mapping take() { return std::move(mapping_); }

 private:
  const Problem& problem_;
  PerDim<std::int64_t> extents_;
  Mapping mapping_;
};

// The stripes of a tile of rows, over all tiles of the layer: their number and cost.
struct StripeSum {
  std::int64_t count = 0;
  std::int64_t cycles = 0;
};

StripeSum stripes_of_tile(std::int64_t rows, std::int64_t columns, std::int64_t stripe_rows,
                          std::int64_t stripe_columns, std::int64_t least) {
  StripeSum sum;
  const auto add = [&](std::int64_t times, std::int64_t outputs) {
    sum.count += outputs > 0 ? times : 0;
    sum.cycles += outputs > 0 ? times * std::max(least, outputs) : 0;
  };
  const std::int64_t down = rows / stripe_rows;
  const std::int64_t across = columns / stripe_columns;
  const std::int64_t below = rows % stripe_rows;
  const std::int64_t beside = columns % stripe_columns;
  add(down * across, stripe_rows * stripe_columns);
  add(across, below * stripe_columns);
  add(down, stripe_rows * beside);
  add(1, below * beside);
  return sum;
}

// A lower bound of the outputs whose sums the levels between buffer and array hold, if they keep
// all kernels of an atom.
std::int64_t certain_outputs(const Problem& problem, const NvdlaAtom& atom) {
  const TensorId output = problem.workload().output();
  const Tensor& tensor = problem.workload().tensors[output];
  const NvdlaTiming& timing = timing_of(problem);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = index_of(timing.buffer) + 1; i < problem.arch().levels_above[timing.array];
       ++i) {
    const auto level = static_cast<LevelId>(i);
    const std::optional<Bits> capacity = problem.capacity(level, tensor.role);
    if (capacity && problem.must_keep(level, output)) {
      least = std::min(least, capacity->count() / (atom.kernels * tensor.partial_bits.count()));
    }
  }
  return least;
}

struct Stripe {
  std::int64_t rows = 1, columns = 1;
  StripeSum sum;
};

// Adds the stripes of tiles of `rows` rows. Returns their number, including those left out.
class StripeChoices {
 public:
  StripeChoices(const Problem& problem, const LayerView& view, const NvdlaAtom& atom,
                LatencyMode mode)
      : timing_{timing_of(problem)},
        keeps_all_{mode == LatencyMode::kRamped},
        image_{problem.workload().form.kind == FormKind::kImage},
        all_rows_{bound(problem, view.rows)},
        columns_{bound(problem, view.columns)},
        certain_{certain_outputs(problem, atom)} {}

  std::vector<Stripe> of(std::int64_t rows, std::int64_t& all) const {
    const std::int64_t most = image_ ? timing_.image_stripe : timing_.most_stripe;
    std::vector<Stripe> kept;
    for (const std::int64_t down : image_ ? std::vector<std::int64_t>{1} : parts_of(rows)) {
      for (const std::int64_t across : parts_of(columns_)) {
        if (down * across <= most) {
          ++all;
          offer({down, across, sum(rows, down, across)}, kept);
        }
      }
    }
    return kept;
  }

 private:
  StripeSum sum(std::int64_t rows, std::int64_t down, std::int64_t across) const {
    const StripeSum whole = stripes_of_tile(rows, columns_, down, across, timing_.least_stripe);
    const StripeSum rest =
        stripes_of_tile(all_rows_ % rows, columns_, down, across, timing_.least_stripe);
    const std::int64_t tiles = all_rows_ / rows;
    return {tiles * whole.count + rest.count, tiles * whole.cycles + rest.cycles};
  }

  // Fewer stripes fetch the array's weights less often; everything else is equal, except the last
  // drain. A stripe that may not fit is neither left out nor used to leave others out.
  void offer(const Stripe& stripe, std::vector<Stripe>& kept) const {
    const auto fits = [this](const Stripe& s) { return s.rows * s.columns <= certain_; };
    const auto rules_out = [&](const Stripe& a, const Stripe& b) {
      return fits(a) && fits(b) && a.sum.count <= b.sum.count && a.sum.cycles <= b.sum.cycles;
    };
    if (!keeps_all_) {
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const Stripe& other) { return rules_out(other, stripe); })) {
        return;
      }
      std::erase_if(kept, [&](const Stripe& other) { return rules_out(stripe, other); });
    }
    kept.push_back(stripe);
  }

  const NvdlaTiming& timing_;
  bool keeps_all_;
  bool image_;
  std::int64_t all_rows_;
  std::int64_t columns_;
  std::int64_t certain_;
};

// Adds the schedules of one atom and one tile of channels.
void add_schedules(const Problem& problem, const LayerView& view, const NvdlaAtom& atom,
                   std::int64_t channels, LatencyMode mode, NvdlaSpace& space) {
  const std::int64_t all_rows = bound(problem, view.rows);
  const std::int64_t all_kernels = bound(problem, view.kernel);
  const bool many_images = bound(problem, view.batch) > 1;
  const StripeChoices choices{problem, view, atom, mode};
  for (const std::int64_t rows : parts_of(all_rows)) {
    std::int64_t all = 0;
    const std::vector<Stripe> stripes = choices.of(rows, all);
    for (const std::int64_t groups : parts_of(ceil_div(all_kernels, atom.kernels))) {
      const std::int64_t kernels = std::min(all_kernels, groups * atom.kernels);
      const bool orders = kernels < all_kernels && (many_images || rows < all_rows);
      for (const bool weights_outside : {true, false}) {
        if (!weights_outside && !orders) {
          continue;
        }
        space.size += all;
        for (const Stripe& stripe : stripes) {
          space.schedules.push_back(
              {atom, channels, rows, kernels, weights_outside, stripe.rows, stripe.columns});
        }
      }
    }
  }
}

// Does the smallest amount of work that the engine can do at a time fit?
bool least_fits(const Problem& problem, const NvdlaAtom& atom, std::int64_t channels) {
  const NvdlaSchedule least{atom, channels, 1, atom.kernels, true, 1, 1};
  return std::holds_alternative<Cost>(evaluate(problem, mapping_of(problem, least)));
}

}  // namespace

std::vector<NvdlaAtom> nvdla_atoms(const Problem& problem) {
  const Workload& workload = problem.workload();
  const std::optional<LayerView> view = view_layer(workload);
  const Fanout& array = problem.arch().fanouts[timing_of(problem).array];
  NvdlaAtom atom;
  atom.kernels = std::min(bound(problem, view->kernel), array.x);
  if (workload.form.kind == FormKind::kWinograd) {
    constexpr std::int64_t kPatch = 16;
    atom.channels = std::min(bound(problem, view->channel), array.y / kPatch);
    atom.filter_rows = atom.filter_columns = 4;
    return array.y < kPatch ? std::vector<NvdlaAtom>{} : std::vector{atom};
  }
  if (workload.form.kind != FormKind::kImage) {
    atom.channels = std::min(bound(problem, view->channel), array.y);
    return {atom};
  }
  // Two or four filter lines side by side, if they and the pixels of a step fit (nvdla/doc, unit
  // description, "Limits of channel post-extension", with atomic-C = 64), but no more than the
  // filter has.
  std::vector<NvdlaAtom> atoms;
  const std::int64_t columns = bound(problem, view->filter_columns);
  for (const std::int64_t lines : {1, 2, 4}) {
    const std::int64_t lines_left = array.y / lines;
    atom.filter_rows = std::min(lines, bound(problem, view->filter_rows));
    atom.filter_columns = std::min(columns, lines_left);
    const bool helps = atom.filter_rows > lines / 2;
    if (lines == 1 || (helps && columns <= lines_left && view->stride[1] <= lines_left)) {
      atoms.push_back(atom);
    }
  }
  return atoms;
}

Mapping mapping_of(const Problem& problem, const NvdlaSchedule& schedule) {
  const LayerView view = *view_layer(problem.workload());
  const NvdlaTiming& timing = timing_of(problem);
  const Arch& arch = problem.arch();
  const std::size_t inside = arch.levels_above[timing.array];
  NestBuilder nest{problem};
  nest.keep_levels(0, index_of(timing.buffer));
  nest.loop(view.group, 1);
  nest.loop(view.channel, schedule.channels);
  const auto weights = [&] {
    nest.loop(view.kernel, schedule.kernels);
    nest.keep(timing.buffer, {view.weight});
  };
  const auto inputs = [&] {
    nest.loop(view.batch, 1);
    nest.loop(view.rows, schedule.rows);
    nest.keep(timing.buffer, {view.input});
  };
  if (schedule.weights_outside) {
    weights();
    inputs();
  } else {
    inputs();
    weights();
  }
  nest.loop(view.kernel, schedule.atom.kernels);
  nest.loop(view.rows, schedule.stripe_rows);
  nest.loop(view.columns, schedule.stripe_columns);
  nest.keep_levels(index_of(timing.buffer) + 1, inside);
  nest.loop(view.channel, schedule.atom.channels);
  nest.loop(view.filter_rows, schedule.atom.filter_rows);
  nest.loop(view.filter_columns, schedule.atom.filter_columns);
  nest.parallel(view.kernel, timing.array, Axis::kX);
  nest.parallel(view.channel, timing.array, Axis::kY);
  nest.parallel(view.filter_rows, timing.array, Axis::kY);
  nest.parallel(view.filter_columns, timing.array, Axis::kY);
  nest.keep_levels(inside, arch.levels.size());
  nest.loop(view.rows, 1);
  nest.loop(view.columns, 1);
  return nest.take();
}

NvdlaSpace nvdla_space(const Problem& problem, LatencyMode mode) {
  const LayerView view = *view_layer(problem.workload());
  const std::int64_t channels = bound(problem, view.channel);
  NvdlaSpace space;
  for (const NvdlaAtom& atom : nvdla_atoms(problem)) {
    for (const std::int64_t blocks : parts_of(ceil_div(channels, atom.channels))) {
      const std::int64_t tile = std::min(channels, blocks * atom.channels);
      const bool fits = least_fits(problem, atom, tile);
      if (fits || blocks == 1) {
        add_schedules(problem, view, atom, tile, mode, space);
        break;
      }
    }
  }
  return space;
}

void check_engine(const Problem& problem) {
  const std::optional<LayerView> view = view_layer(problem.workload());
  if (!view) {
    throw UnsupportedSearch("the engine runs convolutions and matrix products, and " +
                            problem.workload().name + " is neither");
  }
  for (const NvdlaAtom& atom : nvdla_atoms(problem)) {
    const Mapping mapping =
        mapping_of(problem, {atom, bound(problem, view->channel), 1, atom.kernels, true, 1, 1});
    const auto problems = check_structure(problem.arch(), problem.workload(), mapping);
    if (!problems.empty()) {
      throw UnsupportedSearch(
          "the levels of the machine are not those of an NVDLA-like engine (docs/nvdla.md): " +
          problems.front().what);
    }
  }
}

}  // namespace mapsim
