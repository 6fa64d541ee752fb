// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/plan.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/svg.hpp"

namespace mapsim {

namespace {

constexpr double kMicroseconds = 1e6;  // in a second
constexpr double kLeft = 90;
constexpr double kWidth = 860;
constexpr double kRow = 26;
constexpr double kGap = 8;
constexpr double kMapHeight = 260;
constexpr double kWordsSize = 10;
constexpr double kLeastWords = 24;  // px: narrower bars have no words
// Of the pale fills, groups by their rule have the first ones, moves between engines the next, and
// tensors in memory the others.
constexpr std::size_t kMoveFill = kFusions;
constexpr std::size_t kTensorFills = 5;

std::string names_of(const PlanAnswer& answer, const PlannedGroup& group) {
  std::string names;
  for (const std::size_t i : answer.groups.all[group.group].operations) {
    names += (names.empty() ? "" : " + ") + answer.operations.node(i).name;
  }
  return names;
}

double x_of(double time, double total) { return kLeft + kWidth * time / total; }

void draw_bar(Canvas& canvas, double start, double length, double total, double top,
              const std::string& name, const char* fill) {
  const Box box{x_of(start, total), top, std::max(0.5, kWidth * length / total), kRow};
  canvas.mark_bar(box, fill,
                  fmt::format("{}: {} from {}", name, scaled(length, "s"), scaled(start, "s")));
  if (box.width >= kLeastWords) {
    TextStyle style;
    style.size = kWordsSize;
    style.max_width = box.width - 4;
    canvas.words({box.x + 2, top + kRow / 2 + 4}, name, style);
  }
}

void draw_axis(Canvas& canvas, double total, double top, double bottom) {
  constexpr int kTicks = 10;
  for (int tick = 0; tick <= kTicks; ++tick) {
    const double time = total * tick / kTicks;
    const std::array<Point, 2> line{Point{x_of(time, total), top},
                                    Point{x_of(time, total), bottom}};
    canvas.polyline(line, {"#dddddd", 1, ""});
    TextStyle style;
    style.anchor = Anchor::kMiddle;
    style.size = kWordsSize;
    canvas.words({x_of(time, total), bottom + 14}, fmt::format("{:.4g} us", time * kMicroseconds),
                 style);
  }
}

PageFigure gantt(const Soc& soc, const PlanAnswer& answer) {
  Canvas canvas;
  const double total = answer.plan.total.latency;
  std::vector<double> first_row;  // by engine: the top of its first copy
  std::vector<std::string> rows;
  for (const Engine& engine : soc.engines) {
    first_row.push_back(static_cast<double>(rows.size()) * (kRow + kGap));
    for (std::int64_t copy = 1; copy <= engine.count; ++copy) {
      rows.push_back(engine.count == 1 ? engine.name : fmt::format("{} {}", engine.name, copy));
    }
  }
  rows.emplace_back("transitions");
  const double bottom = static_cast<double>(rows.size()) * (kRow + kGap);
  draw_axis(canvas, total, 0, bottom);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    canvas.words({0, static_cast<double>(r) * (kRow + kGap) + kRow / 2 + 4}, rows[r]);
  }
  std::string csv = "start_seconds,time_seconds,engine,what\n";
  for (const PlannedGroup& each : answer.plan.groups) {
    const std::size_t engine = answer.places[each.place].engine;
    const double top = first_row[engine] + static_cast<double>(each.copy) * (kRow + kGap);
    for (const PlannedMove& move : each.moves) {
      const std::string& name = answer.operations.graph->tensors[move.move.tensor].name;
      draw_bar(canvas, move.start, move.load.latency, total, bottom - kRow - kGap, name,
               pale_fill(kMoveFill));
      csv += fmt::format("{},{},transition,{}\n", move.start, move.load.latency, csv_field(name));
    }
    const Group& group = answer.groups.all[each.group];
    const double time = each.price.load.latency;
    if (time > 0) {
      draw_bar(canvas, each.start, time, total, top, names_of(answer, each),
               pale_fill(static_cast<std::size_t>(group.by)));
    }
    csv += fmt::format("{},{},{},{}\n", each.start, time, soc.engines[engine].name,
                       csv_field(names_of(answer, each)));
  }
  return {
      "timeline",
      "Groups in time: nodes alone (light blue), with epilogues and as chains (blue), merged "
      "siblings (green), parts of a concat (orange); conversions of tensors (grey). A bar's name "
      "and times appear where the pointer rests on it.",
      canvas.finish("timeline of the plan"),
      csv,
      {"", "plan"}};
}

// Tensors over time: each from the start of its first group to the end of its last one.
PageFigure memory_map(const PlanAnswer& answer) {
  Canvas canvas;
  const auto& groups = answer.plan.groups;
  const double total = answer.plan.total.latency;
  const auto peak = static_cast<double>(std::max<std::int64_t>(answer.memory.peak, 1));
  draw_axis(canvas, total, 0, kMapHeight);
  std::string csv = "tensor,bytes,offset,first,last\n";
  for (std::size_t b = 0; b < answer.memory.buffers.size(); ++b) {
    const Buffer& each = answer.memory.buffers[b];
    const double start = groups[each.first].start;
    const double end = groups[each.last].start + groups[each.last].price.load.latency;
    const double height = kMapHeight * static_cast<double>(each.bytes) / peak;
    const double below = kMapHeight * static_cast<double>(each.offset) / peak;
    const Box box{x_of(start, total), kMapHeight - below - height,
                  std::max(0.5, kWidth * (end - start) / total), height};
    canvas.mark_bar(box, pale_fill(kMoveFill + 1 + b % kTensorFills),
                    fmt::format("{}: {} B at {}", each.name, each.bytes, each.offset));
    csv += fmt::format("{},{},{},{},{}\n", csv_field(each.name), each.bytes, each.offset,
                       each.first, each.last);
  }
  canvas.words({0, 10}, bytes_text(Bits{8 * answer.memory.peak}));
  canvas.words({0, kMapHeight}, "0");
  return {"memory",
          "Offsets of tensors over time; weights are not in it.",
          canvas.finish("memory map of the plan"),
          csv,
          {"", "plan"}};
}

PageTable passes_table(const PlanAnswer& answer) {
  PageTable table{"passes",
                  "What fusion gains",
                  {{"fusion", "fused up to", true},
                   {"latency", "latency [us]"},
                   {"energy", "energy [mJ]"},
                   {"bytes", "through memory [MB]"}},
                  {}};
  constexpr double kMillijoule = 1e9;  // pJ
  constexpr double kMega = 1e6;
  for (const PlanPass& pass : answer.passes) {
    table.rows.push_back({std::string{to_string(pass.fusion)}, pass.total.latency * kMicroseconds,
                          pass.total.energy / kMillijoule, pass.total.bytes / kMega});
  }
  return table;
}

PageTable front_table(const PlanAnswer& answer) {
  PageTable table{"front",
                  "Corners of the convex front of latency and energy: no plan lies below the lines "
                  "between them",
                  {{"latency", "latency [us]"}, {"energy", "energy [mJ]"}},
                  {}};
  constexpr double kMillijoule = 1e9;  // pJ
  for (const Plan& plan : answer.front) {
    table.rows.push_back({plan.total.latency * kMicroseconds, plan.total.energy / kMillijoule});
  }
  return table;
}

}  // namespace

std::string plan_page(const Soc& soc, const Network& network, const PlanOptions& options,
                      const PlanAnswer& answer) {
  Page page;
  page.title = fmt::format("{} on {}", network.name, soc.name);
  page.paragraphs.push_back(fmt::format(
      "Batch {}, objective {}: {}, {} a batch.", network.batch, to_string(options.objective),
      scaled(answer.plan.total.latency, "s"), energy_text(Picojoules{answer.plan.total.energy})));
  page.sections.push_back({"timeline", "Timeline", {}, {gantt(soc, answer)}});
  page.sections.push_back({"memory", "Memory", {}, {memory_map(answer)}});
  page.sections.push_back({"passes", "Fusion", {}, {passes_table(answer)}});
  if (!answer.front.empty()) {
    page.sections.push_back({"front", "Latency against energy", {}, {front_table(answer)}});
  }
  page.sections.push_back(
      {"text", "As text", {}, {Listing{"the plan", plan_text(soc, network, options, answer)}}});
  page.footer = fmt::format("Made by mapsim {}.", tool_version());
  return page_html(page);
}

}  // namespace mapsim
