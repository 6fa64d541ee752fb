// SPDX-License-Identifier: Apache-2.0
#include "report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/markup.hpp"
#include "report/names.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;  // bytes that are written at a time

// Three digits after the point, none that are zero at the end.
std::string cycles_text(double cycles) {
  std::string text = fmt::format("{:.3f}", cycles);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

std::string track_name(const Problem& problem, const Track& track) {
  switch (track.kind) {
    case Track::Kind::kCompute:
      return problem.arch().compute.name;
    case Track::Kind::kPort:
      return port_name(problem.arch(), track.level, track.port);
    case Track::Kind::kTiles:
      break;
  }
  return fmt::format("tiles of {}", problem.workload().tensors[track.tensor].name);
}

// Rows are grouped: the compute units first, then the levels from the outermost one in.
std::size_t group_of(const Track& track) {
  return track.kind == Track::Kind::kCompute ? 1 : 2 + index_of(track.level);
}

std::string tile_text(const Workload& workload, const Slice& slice) {
  std::string text = workload.tensors[slice.tensor].name;
  const DimSet relevant = workload.tensors[slice.tensor].dims();
  for (const DimId d : workload.dims.ids()) {
    const auto& range = slice.tile[d];
    if (relevant.contains(d) && workload.dims[d].bound > 1) {
      text += range.size == 1 ? fmt::format(" {} {}", workload.dims[d].name, range.begin)
                              : fmt::format(" {} {}-{}", workload.dims[d].name, range.begin,
                                            range.begin + range.size - 1);
    }
  }
  return text;
}

class Writer {
 public:
  Writer(const Problem& problem, std::vector<Track> tracks, const WriteText& write)
      : problem_{problem}, tracks_{std::move(tracks)}, write_{write} {}

  void begin() {
    put("{\"traceEvents\":[\n");
    const Arch& arch = problem_.arch();
    name_group(1, arch.mac_units() == 1
                      ? arch.compute.name
                      : fmt::format("{} (first of {})", arch.compute.name, arch.mac_units()));
    for (const LevelId l : arch.levels.ids()) {
      const std::int64_t instances = arch.instances(l);
      name_group(2 + index_of(l),
                 instances == 1 ? arch.levels[l].name
                                : fmt::format("{} (first of {})", arch.levels[l].name, instances));
    }
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      const std::size_t group = group_of(tracks_[i]);
      put(
          fmt::format("{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":\"thread_name\",\"args\":"
                      "{{\"name\":{2}}}}},\n{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":"
                      "\"thread_sort_index\",\"args\":{{\"sort_index\":{1}}}}},\n",
                      group, i + 1, json_string(track_name(problem_, tracks_[i]))));
    }
  }

  void add(const Slice& slice) {
    const auto [name, arguments] = said(slice);
    // Ends are rounded like the beginnings that follow them: viewers drop slices that overlap.
    const auto rounded = [](double cycles) { return std::round(cycles * 1000) / 1000; };
    const double begin = rounded(slice.begin);
    put(
        fmt::format("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"name\":{},"
                    "\"args\":{{{}}}}},\n",
                    group_of(tracks_[slice.track]), slice.track + 1, cycles_text(begin),
                    cycles_text(rounded(slice.end) - begin), json_string(name), arguments));
  }

  void finish(const Provenance& origin, const Cost& cost, const TimelineSummary& summary) {
    // An event of no length, so that the list ends without a comma.
    put(
        fmt::format("{{\"ph\":\"I\",\"pid\":1,\"tid\":1,\"ts\":{},\"s\":\"g\",\"name\":\"end\"}}\n"
                    "],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":{{",
                    cycles_text(summary.end)));
    const auto number = [&](const char* key, const std::string& value) {
      put(fmt::format("\"{}\":{},\n", key, value));
    };
    number("mapsim", json_string(tool_version()));
    number("arch", json_string(problem_.arch().name));
    number("workload", json_string(problem_.workload().name));
    for (const InputFile& input : origin.inputs) {
      put(fmt::format("{}:{},\n", json_string(input.role + "_file"), json_string(input.path)));
    }
    number("unit", "\"1 us is 1 cycle\"");
    number("covers", json_string(coverage_text(summary)));
    number("complete", summary.complete ? "true" : "false");
    number("tile_steps", fmt::format("{}", summary.tile_steps));
    number("walked", fmt::format("{}", summary.walked));
    number("end_cycles", cycles_text(summary.end));
    number("waiting_cycles", cycles_text(summary.waiting));
    number("steady_cycles", fmt::format("{}", cost.latency.steady.count()));
    number("ramped_cycles", fmt::format("{}", cost.latency.ramped.count()));
    put("\"ports\":[");
    for (std::size_t i = 0; i < summary.ports.size(); ++i) {
      const PortSum& port = summary.ports[i];
      put(
          fmt::format("{}\n{{\"name\":{},\"bits\":{},\"cycles\":{},\"model_bits\":{},"
                      "\"model_cycles\":{}}}",
                      i == 0 ? "" : ",", json_string(track_name(problem_, tracks_[port.track])),
                      cycles_text(port.bits), cycles_text(port.cycles),
                      cycles_text(port.model_bits), cycles_text(port.model_cycles)));
    }
    put("]}}\n");
    write_(text_);
    text_.clear();
  }

 private:
  void name_group(std::size_t group, const std::string& name) {
    put(
        fmt::format("{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_name\",\"args\":{{\"name\":{1}}}"
                    "}},\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_sort_index\",\"args\":"
                    "{{\"sort_index\":{0}}}}},\n",
                    group, json_string(name)));
  }

  std::pair<std::string, std::string> said(const Slice& slice) const {
    const std::string steps = fmt::format("\"steps\":{}", slice.amount);
    const std::string moved =
        fmt::format("\"elements\":{},\"bits\":{}", slice.amount, cycles_text(slice.bits));
    const Workload& workload = problem_.workload();
    const std::string& tensor = workload.tensors[slice.tensor].name;
    switch (slice.kind) {
      case Slice::Kind::kSteps:
        return {problem_.arch().compute.name, steps};
      case Slice::Kind::kWait:
        return {fmt::format("wait for {} of {}", problem_.arch().levels[slice.level].name, tensor),
                ""};
      case Slice::Kind::kNotWalked:
        return {"not walked", steps};
      case Slice::Kind::kRead:
        return {"read " + tensor, moved};
      case Slice::Kind::kReadback:
        return {"read-back " + tensor, moved};
      case Slice::Kind::kFill:
        return {"fill " + tensor, moved};
      case Slice::Kind::kUpdate:
        return {"update " + tensor, moved};
      case Slice::Kind::kDrain:
        return {"drain " + tensor, moved};
      case Slice::Kind::kTile:
        break;
    }
    return {tile_text(workload, slice), ""};
  }

  void put(const std::string& text) {
    text_ += text;
    if (text_.size() > kPiece) {
      write_(text_);
      text_.clear();
    }
  }

  const Problem& problem_;
  std::vector<Track> tracks_;
  const WriteText& write_;
  std::string text_;
};

}  // namespace

TimelineSummary write_trace(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Cost& cost,
                            const TimelineOptions& options, const WriteText& write) {
  Writer writer{problem, timeline_tracks(problem, mapping, cost), write};
  writer.begin();
  TimelineSummary summary =
      timeline(problem, mapping, cost, options, [&](const Slice& slice) { writer.add(slice); });
  writer.finish(origin, cost, summary);
  return summary;
}

std::string coverage_text(const TimelineSummary& summary) {
  if (summary.complete) {
    return fmt::format("all {} tile steps", grouped(summary.tile_steps));
  }
  return fmt::format(
      "{} of {} tile steps: the first {}, and {} stretches of {} spread over the rest; what lies "
      "between is not walked and is shown at the pace of the cost model",
      grouped(summary.walked), grouped(summary.tile_steps), grouped(summary.first), summary.samples,
      grouped((summary.walked - summary.first) / std::max<std::int64_t>(summary.samples, 1)));
}

std::string trace_text(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const TimelineSummary& summary, const std::string& file) {
  std::string text = fmt::format("trace: {}, {}\n", file, coverage_text(summary));
  const std::vector<Track> tracks = timeline_tracks(problem, mapping, cost);
  std::vector<Row> rows{{"busy cycles", "trace", "cost model"}};
  for (const PortSum& port : summary.ports) {
    rows.push_back({track_name(problem, tracks[port.track]), count_text(std::round(port.cycles)),
                    count_text(port.model_cycles)});
  }
  text += summary.ports.empty() ? "" : table(rows);
  if (summary.complete) {
    text += fmt::format("  its end: {} cycles, {} waits for {} of them; steady {}, ramped {}\n",
                        count_text(std::round(summary.end)), problem.arch().compute.name,
                        count_text(std::round(summary.waiting)),
                        grouped(cost.latency.steady.count()), grouped(cost.latency.ramped.count()));
  }
  return text + "  open it at https://ui.perfetto.dev or chrome://tracing\n";
}

}  // namespace mapsim
