// SPDX-License-Identifier: Apache-2.0
#include "check/engine.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "costmodel/evaluate.hpp"

namespace mapsim::check {

namespace {

const NvdlaTiming& timing_of(const Problem& problem) {
  return std::get<NvdlaTiming>(problem.arch().compute.timing);
}

// What one atomic operation takes along each dim that the array spreads.
struct Operation {
  std::int64_t kernels = 1, channels = 1, lines = 1, columns = 1;
};

// A schedule: tiles of the buffer and of the accumulators.
struct Schedule {
  std::int64_t channels = 1, rows = 1, kernels = 1;
  bool kernels_first = true;
  std::int64_t down = 1, across = 1;  // outputs of a stripe
};

class Engine {
 public:
  explicit Engine(const Problem& problem)
      : problem_{problem},
        timing_{timing_of(problem)},
        array_{problem.arch().fanouts[timing_.array]},
        view_{*view_layer(problem.workload())} {}

  std::int64_t visit(const std::function<void(const Mapping&)>& visit) const {
    std::int64_t count = 0;
    for (const Operation& operation : operations()) {
      const std::int64_t channels = channels_at_once(operation);
      for (const std::int64_t rows : shares(extent(view_.rows))) {
        for (const std::int64_t kernels : kernel_shares(operation)) {
          Schedule schedule{channels, rows, kernels, true, 1, 1};
          const bool other_order = kernels < extent(view_.kernel) &&
                                   (extent(view_.batch) > 1 || rows < extent(view_.rows));
          count += visit_stripes(operation, schedule, visit);
          if (other_order) {
            schedule.kernels_first = false;
            count += visit_stripes(operation, schedule, visit);
          }
        }
      }
    }
    return count;
  }

  std::string why_not() const {
    for (const Operation& operation : operations()) {
      const Schedule least{extent(view_.channel), 1, operation.kernels, true, 1, 1};
      const auto faults =
          check_structure(problem_.arch(), problem_.workload(), nest_of(operation, least));
      if (!faults.empty()) {
        return "the levels of the machine are not those of an NVDLA-like engine: " +
               faults.front().what;
      }
    }
    return {};
  }

  EngineBound bound() const {
    const Operation operation = operations().front();
    const Mapping nest =
        nest_of(operation, {extent(view_.channel), 1, operation.kernels, true, 1, 1});
    const Counts counts = count(problem_, nest);
    return {energy(problem_, counts).compute.count(),
            static_cast<double>(latency(problem_, nest, counts).compute.busy.count())};
  }

 private:
  std::int64_t extent(std::optional<DimId> dim) const {
    return dim ? problem_.workload().dims[*dim].bound : 1;
  }
  FormKind form() const { return problem_.workload().form.kind; }

  // The extents that cut a whole as evenly as possible: no smaller extent makes as few parts.
  static std::vector<std::int64_t> shares(std::int64_t whole) {
    std::vector<std::int64_t> found;
    std::int64_t fewest = 0;
    for (std::int64_t part = whole; part >= 1; --part) {
      const std::int64_t parts = (whole - 1) / part + 1;
      if (parts > fewest) {  // a larger part makes fewer; the least one that makes `parts`
        const std::int64_t least = (whole - 1) / parts + 1;
        found.push_back(least);
        fewest = parts;
      }
    }
    return found;
  }

  // The extents that are whole kernel groups.
  std::vector<std::int64_t> kernel_shares(const Operation& operation) const {
    const std::int64_t kernels = extent(view_.kernel);
    std::vector<std::int64_t> found = shares((kernels - 1) / operation.kernels + 1);
    for (std::int64_t& share : found) {
      share = std::min(kernels, share * operation.kernels);
    }
    return found;
  }

  std::vector<Operation> operations() const {
    Operation plain;
    plain.kernels = std::min(extent(view_.kernel), array_.x);
    if (form() == FormKind::kImage) {
      return of_images(plain);
    }
    std::int64_t lanes = array_.y;
    if (form() == FormKind::kWinograd) {
      plain.lines = plain.columns = 4;  // extents of a patch
      lanes /= plain.lines * plain.columns;
    }
    plain.channels = std::min(extent(view_.channel), lanes);
    return lanes == 0 ? std::vector<Operation>{} : std::vector{plain};
  }

  // One filter line, or two or four if they and the pixels of a step fit side by side (nvdla/doc,
  // unit description, "Limits of channel post-extension").
  std::vector<Operation> of_images(const Operation& plain) const {
    std::vector<Operation> found;
    for (std::int64_t side_by_side = 1; side_by_side <= 4; side_by_side *= 2) {
      Operation operation = plain;
      const std::int64_t lanes = array_.y / side_by_side;
      operation.lines = std::min(side_by_side, extent(view_.filter_rows));
      operation.columns = std::min(extent(view_.filter_columns), lanes);
      const bool fit =
          operation.columns == extent(view_.filter_columns) && view_.stride[1] <= lanes;
      const bool more = 2 * operation.lines > side_by_side;
      if (side_by_side == 1 || (fit && more)) {
        found.push_back(operation);
      }
    }
    return found;
  }

  // The most channels that fit in the buffer beside the smallest possible tiles.
  std::int64_t channels_at_once(const Operation& operation) const {
    const std::int64_t channels = extent(view_.channel);
    std::int64_t tile = channels;
    for (const std::int64_t share : shares((channels - 1) / operation.channels + 1)) {
      tile = std::min(channels, share * operation.channels);
      const Schedule least{tile, 1, operation.kernels, true, 1, 1};
      if (std::holds_alternative<Cost>(evaluate(problem_, nest_of(operation, least)))) {
        break;
      }
    }
    return tile;
  }

  std::int64_t visit_stripes(const Operation& operation, Schedule schedule,
                             const std::function<void(const Mapping&)>& visit) const {
    const bool image = form() == FormKind::kImage;  // stripes within a line
    const std::int64_t most = image ? timing_.image_stripe : timing_.most_stripe;
    std::int64_t count = 0;
    for (const std::int64_t across : shares(extent(view_.columns))) {
      for (const std::int64_t down : shares(image ? 1 : schedule.rows)) {
        if (down * across > most) {
          continue;
        }
        ++count;
        if (visit) {
          schedule.down = down;
          schedule.across = across;
          visit(nest_of(operation, schedule));
        }
      }
    }
    return count;
  }

  // A loop, or the instances of a dim, down to an extent; nullopt if the dim is that small already.
  struct Cut {
    std::optional<DimId> dim;
    std::int64_t extent = 1;
    std::optional<Axis> axis{};
  };

  Mapping nest_of(const Operation& operation, const Schedule& schedule) const {
    Mapping nest;
    PerDim<std::int64_t> left(problem_.workload().dims.size(), 1);
    for (const DimId d : left.ids()) {
      left[d] = problem_.workload().dims[d].bound;
    }
    const auto cut = [&](const std::vector<Cut>& cuts) {
      for (const Cut& next : cuts) {
        if (!next.dim || next.extent >= left[*next.dim]) {
          continue;
        }
        left[*next.dim] = next.extent;
        nest.nodes.push_back(
            next.axis ? MappingNode{Parallel{*next.dim, next.extent, timing_.array, *next.axis}}
                      : MappingNode{Temporal{*next.dim, next.extent}});
      }
    };
    const std::array<std::vector<Cut>, 2> filled{
        std::vector<Cut>{{view_.kernel, schedule.kernels}},
        std::vector<Cut>{{view_.batch, 1}, {view_.rows, schedule.rows}}};
    const std::array<TensorId, 2> held{view_.weight, view_.input};
    const std::size_t buffer = index_of(timing_.buffer);
    const std::size_t inside = problem_.arch().levels_above[timing_.array];

    add_keeps(nest, 0, buffer);
    cut({{view_.group, 1}, {view_.channel, schedule.channels}});
    for (const std::size_t turn : {0U, 1U}) {
      const std::size_t which = schedule.kernels_first ? turn : 1 - turn;
      cut(filled[which]);
      nest.nodes.emplace_back(Keep{timing_.buffer, {held[which]}});
    }
    cut({{view_.kernel, operation.kernels},
         {view_.rows, schedule.down},
         {view_.columns, schedule.across}});
    add_keeps(nest, buffer + 1, inside);
    cut({{view_.channel, operation.channels},
         {view_.filter_rows, operation.lines},
         {view_.filter_columns, operation.columns}});
    cut({{view_.kernel, 1, Axis::kX},
         {view_.channel, 1, Axis::kY},
         {view_.filter_rows, 1, Axis::kY},
         {view_.filter_columns, 1, Axis::kY}});
    add_keeps(nest, inside, problem_.arch().levels.size());
    cut({{view_.rows, 1}, {view_.columns, 1}});
    return nest;
  }

  // Adds the keeps of the machine's levels `first` to `last` - 1.
  void add_keeps(Mapping& nest, std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) {
      Keep keep{static_cast<LevelId>(i), {}};
      for (const TensorId t : problem_.workload().tensors.ids()) {
        if (problem_.must_keep(keep.level, t)) {
          keep.tensors.insert(t);
        }
      }
      if (!keep.tensors.empty()) {
        nest.nodes.emplace_back(keep);
      }
    }
  }

  const Problem& problem_;
  const NvdlaTiming& timing_;
  const Fanout& array_;
  LayerView view_;
};

}  // namespace

bool runs_on_engine(const Workload& workload) { return view_layer(workload).has_value(); }

std::string why_no_engine(const Problem& problem) { return Engine{problem}.why_not(); }

std::vector<Form> list_forms(const Problem& problem, bool batches) {
  const NvdlaTiming& timing = timing_of(problem);
  std::vector<Form> forms{Form{}};
  if (timing.mode == NvdlaMode::kSheet) {
    return forms;  // NVIDIA's workbook chooses by itself
  }
  const LayerView view = *view_layer(problem.workload());
  const auto offer = [&](Form form) {
    if (in_form(problem.workload(), form)) {
      forms.push_back(form);
    }
  };
  if (timing.winograd) {
    offer({FormKind::kWinograd, 1});
  }
  if (timing.image_input) {
    offer({FormKind::kImage, 1});
  }
  const std::int64_t groups = view.group ? problem.workload().dims[*view.group].bound : 1;
  for (std::int64_t merged = 2; merged <= groups; ++merged) {
    offer({FormKind::kMerged, merged});
  }
  for (std::int64_t frames = 2; batches && frames <= timing.most_batch; frames *= 2) {
    offer({FormKind::kBatch, frames});
  }
  return forms;
}

std::int64_t frames_of(const Form& form) { return form.kind == FormKind::kBatch ? form.count : 1; }

std::optional<Problem> formed(const Problem& problem, Form form) {
  std::optional<Workload> workload = in_form(problem.workload(), form);
  return workload ? std::optional<Problem>{std::in_place, problem.arch(), std::move(*workload)}
                  : std::nullopt;
}

EngineBound bound_of_schedules(const Problem& problem) { return Engine{problem}.bound(); }

std::int64_t visit_schedules(const Problem& problem,
                             const std::function<void(const Mapping&)>& visit) {
  return Engine{problem}.visit(visit);
}

}  // namespace mapsim::check
