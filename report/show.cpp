// SPDX-License-Identifier: Apache-2.0
#include "report/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "arch/print.hpp"
#include "core/text_stream.hpp"
#include "costmodel/timing/model.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/nest.hpp"
#include "report/svg.hpp"

namespace mapsim {

namespace {

constexpr double kLeft = 20;
constexpr double kTop = 50;
constexpr double kBoxWidth = 300;
constexpr double kInset = 8;  // of the words in a box
constexpr double kLine = 16;
constexpr double kMostWords = 480;  // px of words beside the array
constexpr double kLegend = 300;     // ... of the legend, up to the pictures beside it
constexpr double kMostNest = 1400;  // ... of a line of the nest
constexpr double kArray = 240;      // longer side of the picture of an array
constexpr double kThumbnail = 80;   // ... of one of its occupancies
constexpr double kFlattest = 2.5;   // longer side to shorter one, at most
constexpr std::size_t kMostThumbnails = 6;
const TextStyle kTitle{Anchor::kStart, 14, kInk, true, 0, kMostNest};
const TextStyle kBold{Anchor::kStart, 11, kInk, true, 0, kMostWords};
const TextStyle kPlain{Anchor::kStart, 11, kInk, false, 0, kMostWords};

const char* colour(Role role) { return kRoleColours[static_cast<std::size_t>(role)]; }
const char* tint(Role role) { return kRoleTints[static_cast<std::size_t>(role)]; }

std::string roles_text(RoleSet roles) {
  std::vector<std::string> names;
  for (const Role role : IdRange<Role>{3}) {
    if (roles.contains(role)) {
      names.emplace_back(to_string(role));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> lines_of(const Storage& storage) {
  std::string capacity = storage.capacity.unlimited() ? "unlimited" : "";
  if (storage.capacity.shared) {
    capacity = bytes_text(*storage.capacity.shared);
  }
  for (const auto& [role, size] : storage.capacity.per_role) {
    capacity +=
        fmt::format("{}{} {}", capacity.empty() ? "" : ", ", to_string(role), bytes_text(size));
  }
  std::vector<std::string> lines{capacity + (storage.double_buffered ? ", double-buffered"
                                             : storage.streamed      ? ", streamed"
                                                                     : "")};
  std::vector<std::string> ports;
  for (const auto& [name, port] :
       {std::pair{"read", storage.bandwidth.read}, std::pair{"write", storage.bandwidth.write},
        std::pair{"shared", storage.bandwidth.shared}, std::pair{"link", storage.bandwidth.link}}) {
    if (port) {
      ports.push_back(fmt::format("{} {:.4g} B/cycle", name, port->count() / 8));
    }
  }
  if (!ports.empty()) {
    lines.push_back(fmt::format("{}", fmt::join(ports, ", ")));
  }
  if (!storage.keep.empty() && storage.keep != kAllRoles) {
    lines.push_back("keeps " + roles_text(storage.keep));
  }
  if (!storage.bypass.empty()) {
    lines.push_back("bypassed by " + roles_text(storage.bypass));
  }
  return lines;
}

std::vector<std::string> lines_of(const Fanout& fanout) {
  std::vector<std::string> lines{
      fmt::format("{} columns along X: {}", grouped(fanout.x), dims_text(fanout.x_dims))};
  if (fanout.y > 1) {
    lines.push_back(
        fmt::format("{} rows along Y: {}", grouped(fanout.y), dims_text(fanout.y_dims)));
  }
  if (!fanout.multicast.empty()) {
    lines.push_back("multicast of " + roles_text(fanout.multicast));
  }
  if (fanout.spatial_reduction) {
    lines.emplace_back("sums of instances are added");
  }
  return lines;
}

std::vector<std::string> lines_of(const Arch& arch, const Compute& compute) {
  std::vector<std::string> lines{fmt::format("{} units", grouped(arch.mac_units()))};
  if (!compute.register_reuse.empty()) {
    lines.push_back("latches " + roles_text(compute.register_reuse));
  }
  for (const std::string& fact : timing_model(arch).facts(arch)) {
    lines.push_back(fact);
  }
  return lines;
}

// One node: a box with its name and what it is. Returns where the next one begins.
double draw_node(Canvas& canvas, double y, const std::string& name,
                 const std::vector<std::string>& facts, const char* fill) {
  constexpr double kGap = 14;
  constexpr double kWidth = kBoxWidth - 2 * kInset;
  std::vector<std::string> lines;
  for (const std::string& fact : facts) {
    const std::vector<std::string> parts = wrapped(fact, kPlain.size, kWidth);
    lines.insert(lines.end(), parts.begin(), parts.end());
  }
  const Box box{kLeft, y, kBoxWidth, kLine * static_cast<double>(lines.size() + 1) + 8};
  if (y > kTop) {
    const double middle = box.x + box.width / 2;
    canvas.polyline(std::array{Point{middle, y - kGap}, Point{middle, y}}, {kEdgeStroke, 1, ""});
  }
  canvas.rectangle(box, fill, kEdgeStroke);
  canvas.words({box.x + kInset, y + kLine}, name, {Anchor::kStart, 11, kInk, true, 0, kWidth});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    canvas.words({box.x + kInset, y + kLine * static_cast<double>(i + 2)}, lines[i],
                 {Anchor::kStart, 11, kInk, false, 0, kWidth});
  }
  return box.bottom() + kGap;
}

void draw_arch(Canvas& canvas, const Arch& arch) {
  double y = kTop;
  std::size_t fanout = 0;
  const auto fanouts = [&](std::size_t level) {
    for (; fanout < arch.fanouts.size(); ++fanout) {
      const auto f = static_cast<FanoutId>(fanout);
      if (arch.levels_above[f] != level) {
        return;
      }
      y = draw_node(canvas, y, arch.fanouts[f].name, lines_of(arch.fanouts[f]), kFanoutFill);
    }
  };
  for (const LevelId l : arch.levels.ids()) {
    y = draw_node(canvas, y, arch.levels[l].name, lines_of(arch.levels[l]), kLevelFill);
    fanouts(index_of(l) + 1);
  }
  draw_node(canvas, y, arch.compute.name, lines_of(arch, arch.compute), kComputeFill);
}

// The dims of an axis, "N 6 x K 2".
std::string unrolled_text(const Problem& problem, const Nest& nest, FanoutId fanout, Axis axis) {
  std::vector<std::string> dims;
  for (const NestLoop& loop : nest.loops) {
    if (loop.fanout == fanout && loop.axis == axis) {
      dims.push_back(fmt::format("{} {}", problem.workload().dims[loop.dim].name, loop.bound));
    }
  }
  return dims.empty() ? "nothing" : fmt::format("{}", fmt::join(dims, " x "));
}

DimSet dims_along(const Nest& nest, FanoutId fanout, Axis axis) {
  DimSet dims;
  for (const NestLoop& loop : nest.loops) {
    if (loop.fanout == fanout && loop.axis == axis) {
      dims.insert(loop.dim);
    }
  }
  return dims;
}

// Instances side by side along an axis that want the same of a tensor.
std::int64_t sharing(const Nest& nest, FanoutId fanout, Axis axis, DimSet dims) {
  std::int64_t instances = 1;
  for (const NestLoop& loop : nest.loops) {
    const bool same = loop.fanout == fanout && loop.axis == axis && !dims.contains(loop.dim);
    instances *= same ? loop.bound : 1;
  }
  return instances;
}

// Does a rank of the tensor have a dim along each axis: do neighbours across want the same?
bool is_diagonal(const Tensor& tensor, DimSet x, DimSet y) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [&](const Rank& rank) {
    DimSet dims;
    for (const Term& term : rank.terms) {
      dims.insert(term.dim);
    }
    return !(dims & x).empty() && !(dims & y).empty();
  });
}

class ArrayPicture {
 public:
  ArrayPicture(Canvas& canvas, const Problem& problem, const Mapping& mapping, const Cost& cost,
               FanoutId fanout)
      : canvas_{canvas},
        problem_{problem},
        cost_{cost},
        fanout_{fanout},
        array_{problem.arch().fanouts[fanout]},
        nest_{make_nest(problem.workload(), mapping)} {
    const auto ratio = static_cast<double>(array_.x) / static_cast<double>(array_.y);
    width_ = std::clamp(ratio, 1 / kFlattest, 1.0);
    height_ = std::clamp(1 / ratio, 1 / kFlattest, 1.0);
    if (const auto& stays = cost.latency.compute.stationary) {
      used_ = tint(problem.workload().tensors[*stays].role);
    }
  }

  void draw() {
    canvas_.words({kX, kTop - 6},
                  fmt::format("{}: {} column{} x {} row{}", array_.name, array_.x,
                              array_.x == 1 ? "" : "s", array_.y, array_.y == 1 ? "" : "s"),
                  kBold);
    draw_array();
    draw_movement();
    draw_occupancies();
  }
  static constexpr double kX = kLeft + kBoxWidth + 60;

 private:
  static constexpr double kY = kTop + 24;

  void fill(const Box& whole, const Occupancy& used) {
    canvas_.rectangle(whole, kIdleFill, kEdgeStroke);
    canvas_.rectangle(
        {whole.x, whole.y,
         whole.width * static_cast<double>(used.columns) / static_cast<double>(array_.x),
         whole.height * static_cast<double>(used.rows) / static_cast<double>(array_.y)},
        used_, kEdgeStroke);
  }

  void draw_array() {
    const Box whole{kX, kY, kArray * width_, kArray * height_};
    const Occupancy used{cost_.counts.used_x[fanout_], cost_.counts.used_y[fanout_], 0};
    fill(whole, used);
    canvas_.words({kX + whole.width / 2, kY - 8},
                  fmt::format("columns: {}", unrolled_text(problem_, nest_, fanout_, Axis::kX)),
                  {Anchor::kMiddle, 11, kInk, false, 0, kArray + 40});
    canvas_.words({kX - 10, kY + whole.height / 2},
                  fmt::format("rows: {}", unrolled_text(problem_, nest_, fanout_, Axis::kY)),
                  {Anchor::kMiddle, 11, kInk, false, -90, kArray});
    const ComputeTime& time = cost_.latency.compute;
    const std::string stays =
        time.stationary ? problem_.workload().tensors[*time.stationary].name + " stays" : "";
    const Point middle{kX + whole.width / 2, kY + whole.height / 2};
    if (!stays.empty()) {
      canvas_.words(middle, stays, {Anchor::kMiddle, 11, kInk, true, 0, whole.width});
    }
    if (time.stationary) {
      const TimingModel& model = timing_model(problem_.arch());
      canvas_.words(
          {middle.x, middle.y + kLine},
          fmt::format("{} {}", grouped(time.folds), time.folds == 1 ? model.fold : model.folds),
          {Anchor::kMiddle});
    }
  }

  // What an instance shares with its neighbours moves between them; sums that all add to, too.
  void draw_movement() {
    const Box whole{kX, kY, kArray * width_, kArray * height_};
    double down = kX + whole.width / 6;
    double across = kY + whole.height / 6;
    double legend = whole.bottom() + kLine + 4;
    const auto& tensors = problem_.workload().tensors;
    for (const TensorId t : tensors.ids()) {
      const DimSet dims = tensors[t].dims();
      const char* stroke = colour(tensors[t].role);
      std::string ways;
      if ((dims & dims_along(nest_, fanout_, Axis::kX)).empty() &&
          cost_.counts.used_x[fanout_] > 1) {
        canvas_.arrow({kX + 8, across}, {whole.right() - 8, across}, stroke);
        canvas_.words({whole.right() - 14, across - 5}, tensors[t].name,
                      {Anchor::kEnd, 11, kInk, false, 0, whole.width - 30});
        across += whole.height / 8;
        ways = "along the rows";
      }
      if ((dims & dims_along(nest_, fanout_, Axis::kY)).empty() &&
          cost_.counts.used_y[fanout_] > 1) {
        canvas_.arrow({down, kY + 8}, {down, whole.bottom() - 8}, stroke);
        canvas_.words({down + 5, whole.bottom() - 14}, tensors[t].name,
                      {Anchor::kStart, 11, kInk, false, 0, whole.right() - down - 12});
        down += whole.width / 8;
        ways += ways.empty() ? "down the columns" : " and down the columns";
      }
      const std::string partly = partly_shared(tensors[t]);
      ways += ways.empty() || partly.empty() ? partly : ", " + partly;
      const bool stays = cost_.latency.compute.stationary == t;
      canvas_.rectangle({kX, legend - 9, 10, 10}, stroke, stroke);
      const std::string words =
          fmt::format("{} ({}): {}", tensors[t].name, to_string(tensors[t].role),
                      stays          ? "stays"
                      : ways.empty() ? "one of its own in each instance"
                                     : movement(tensors[t].role) + ways);
      for (const std::string& line : wrapped(words, kPlain.size, kLegend)) {
        canvas_.words({kX + 16, legend}, line, {Anchor::kStart, 11, kInk, false, 0, kLegend});
        legend += kLine;
      }
    }
  }

  // What carries a tensor that instances share: neighbours in a systolic array, else the network.
  std::string movement(Role role) const {
    if (timing_model(problem_.arch()).hands_on) {
      return "moves ";
    }
    if (role == Role::kOutput) {
      return array_.spatial_reduction ? "added up " : "a sum of its own, of the same element, ";
    }
    return array_.multicast.contains(role) ? "multicast " : "the same, one by one, ";
  }

  // "in groups of 7 along the rows, along the diagonals": what some neighbours share.
  std::string partly_shared(const Tensor& tensor) const {
    const DimSet x = dims_along(nest_, fanout_, Axis::kX);
    const DimSet y = dims_along(nest_, fanout_, Axis::kY);
    std::string ways;
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const bool differ = !(tensor.dims() & (axis == Axis::kX ? x : y)).empty();
      const std::int64_t same = sharing(nest_, fanout_, axis, tensor.dims());
      if (differ && same > 1) {
        ways += (ways.empty() ? "in groups of " : ", in groups of ") + std::to_string(same) +
                (axis == Axis::kX ? " along the rows" : " along the columns");
      }
    }
    if (is_diagonal(tensor, x, y)) {
      ways += ways.empty() ? "along the diagonals" : ", along the diagonals";
    }
    return ways;
  }

  void draw_occupancies() {
    const std::vector<Occupancy> all = occupancies(problem_, nest_, fanout_);
    const double left = kX + std::max(kArray * width_, kArray / 2) + 90;
    const Box each{0, 0, kThumbnail * width_, kThumbnail * height_};
    double x = left;
    double y = kY;
    canvas_.words({x, kY - 8}, "columns x rows in use, and for how long");
    for (std::size_t i = 0; i < std::min(all.size(), kMostThumbnails); ++i) {
      fill({x, y, each.width, each.height}, all[i]);
      canvas_.words({x, y + each.height + kLine},
                    fmt::format("{} x {}", all[i].columns, all[i].rows));
      canvas_.words(
          {x, y + each.height + 2 * kLine},
          percent(static_cast<double>(all[i].steps) / static_cast<double>(cost_.counts.steps)));
      const bool right = i % 3 < 2;
      x = right ? x + kThumbnail + 30 : left;
      y = right ? y : y + each.height + 3 * kLine;
    }
    if (all.size() > kMostThumbnails) {
      canvas_.words({x, y + kLine}, fmt::format("and {} more", all.size() - kMostThumbnails));
    }
  }

  Canvas& canvas_;
  const Problem& problem_;
  const Cost& cost_;
  FanoutId fanout_;
  const Fanout& array_;
  Nest nest_;
  double width_ = 1;  // of the picture, in longer sides
  double height_ = 1;
  const char* used_ = kUsedFill;
};

// The array of a timing model, or the innermost fanout that is in use, or the first.
std::optional<FanoutId> array_of(const Arch& arch, const Counts& counts) {
  if (const std::optional<FanoutId> array = mapsim::array_of(arch)) {
    return array;
  }
  std::optional<FanoutId> found;
  for (const FanoutId f : arch.fanouts.ids()) {
    const bool used = counts.used_x[f] * counts.used_y[f] > 1;
    found = used || !found ? std::optional{f} : found;
  }
  return found;
}

}  // namespace

std::string show_arch(const Arch& arch) {
  Canvas canvas;
  canvas.words({kLeft, 24}, arch.name, kTitle);
  draw_arch(canvas, arch);
  return standalone(canvas.finish(arch.name));
}

std::string show_mapping(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  Canvas canvas;
  const Arch& arch = problem.arch();
  const std::string title = fmt::format("{} on {}", problem.workload().name, arch.name);
  canvas.words({kLeft, 24}, title, kTitle);
  if (const auto fanout = array_of(arch, cost.counts)) {
    ArrayPicture{canvas, problem, mapping, cost, *fanout}.draw();
  }
  double y = std::max(canvas.bottom(), kTop) + 30;
  std::istringstream nest = stream_of(draw_nest(problem, mapping, cost.counts));
  for (std::string line; std::getline(nest, line); y += kLine) {
    canvas.words({ArrayPicture::kX, y}, line,
                 {Anchor::kStart, 11, kInk, false, 0, kMostNest, true});
  }
  draw_arch(canvas, arch);
  return standalone(canvas.finish(title));
}

}  // namespace mapsim
