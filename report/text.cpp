// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/nvdla/engine.hpp"
#include "costmodel/nvdla/features.hpp"
#include "costmodel/timing/model.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/nest.hpp"
#include "report/sparse.hpp"
#include "report/table.hpp"
#include "report/widths.hpp"

namespace mapsim {

namespace {

Row tensor_names(const Workload& workload) {
  Row row{""};
  for (const Tensor& tensor : workload.tensors) {
    row.push_back(tensor.name);
  }
  return row;
}

double seconds(const Arch& arch, Cycles cycles) {
  return static_cast<double>(cycles.count()) / arch.clock.count();
}

std::string cycles_text(const Arch& arch, Cycles cycles) {
  return fmt::format("{} cycles ({})", grouped(cycles.count()), scaled(seconds(arch, cycles), "s"));
}

Row energy_row(const std::string& name, const Row& parts, Picojoules sum, Picojoules total) {
  Row row{name};
  row.insert(row.end(), parts.begin(), parts.end());
  row.push_back(energy_text(sum));
  row.push_back(percent(total.count() > 0 ? sum.count() / total.count() : 0));
  return row;
}

// What is not dense: "; density I 0.4, W 0.5".
std::string density_text(const Workload& workload) {
  std::string text;
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.density != 1) {
      text += fmt::format("{} {} {:.4g}", text.empty() ? "; density" : ",", tensor.name,
                          tensor.density);
    }
  }
  return text;
}

Row hop_row(const std::string& name, const PerTensor<Picojoules>& hops, Picojoules total) {
  Row parts;
  Picojoules sum{0};
  for (const Picojoules part : hops) {
    parts.push_back(part > Picojoules{0} ? energy_text(part) : "-");
    sum += part;
  }
  return energy_row(name + " hops", parts, sum, total);
}

// What crosses the networks of fanouts that say what a hop costs.
std::string network_text(const Problem& problem, const Counts& counts) {
  std::vector<Row> rows{{"", "elements", "received", "returns", "hops each"}};
  for (const FanoutId fanout : counts.networks.ids()) {
    for (const TensorId id : counts.networks[fanout].ids()) {
      const NetworkCounts& at = counts.networks[fanout][id];
      if (at.words > 0) {
        rows.push_back(
            {problem.arch().fanouts[fanout].name + " " + problem.workload().tensors[id].name,
             grouped(at.words), grouped(at.received), grouped(at.returns),
             ratio(at.word_hops() / static_cast<double>(at.words + at.returns))});
      }
    }
  }
  return rows.size() == 1 ? "" : "networks: elements, all instances\n" + table(rows) + "\n";
}

// Of the networks: "PEs 0.05 pJ/b"; empty if no fanout says.
std::string hop_energies(const Arch& arch, std::vector<std::string>& missing) {
  std::vector<std::string> given;
  for (const Fanout& fanout : arch.fanouts) {
    if (fanout.energy_per_hop) {
      given.push_back(fmt::format("{} {:.4g} pJ/b", fanout.name, fanout.energy_per_hop->count()));
    } else {
      missing.push_back(fanout.name);
    }
  }
  return fmt::format("{}", fmt::join(given, ", "));
}

// "; CBUF banks: 4 of I, 8 of W, of 16"
std::string banks_text(const Problem& problem, const Counts& counts) {
  const std::optional<BufferBanks> banks = buffer_banks(problem, counts);
  if (!banks) {
    return "";
  }
  const PerTensor<Padding> moved = feature_paddings(problem, counts.levels[LevelId{0}]);
  std::vector<std::string> used;
  std::string padded;
  for (const TensorId t : problem.workload().tensors.ids()) {
    const std::string& name = problem.workload().tensors[t].name;
    if (counts.levels[banks->buffer][t].kept) {
      used.push_back(fmt::format("{} of {}", banks->used[t], name));
    }
    if (!moved.empty() && moved[t].whole != moved[t].used) {
      padded += fmt::format("; of {} {:.3g} times what is counted moves", name, moved[t].of(1));
    }
  }
  return fmt::format("; {} banks: {}, of {}{}", problem.arch().levels[banks->buffer].name,
                     fmt::join(used, ", "), banks->of, padded);
}

// What an array of a timing model does in the steady latency.
std::string array_text(const Problem& problem, const Cost& cost) {
  const Latency& latency = cost.latency;
  const std::optional<FanoutId> array = array_of(problem.arch());
  if (!array) {
    return "";
  }
  if (is_by_workbook(problem.arch())) {
    return "times are those of NVIDIA's workbook, whatever the mapping\n";
  }
  const TimingModel& model = timing_model(problem.arch());
  const ComputeTime& time = latency.compute;
  const auto share = [&](const char* name, Cycles cycles) -> Row {
    return {
        name, grouped(cycles.count()) + " cycles",
        percent(static_cast<double>(cycles.count()) / static_cast<double>(latency.steady.count()))};
  };
  const std::string flow = model.has_dataflow ? dataflow_name(problem.workload(), time) : "";
  const std::string what =
      (flow.empty() ? "" : flow + ": ") +
      (time.stationary
           ? fmt::format("{} stays, in {} {}", problem.workload().tensors[*time.stationary].name,
                         grouped(time.folds), time.folds == 1 ? model.fold : model.folds)
           : "nothing stays");
  return fmt::format("{}: {}, {}{}\n", problem.arch().fanouts[*array].name, model.word, what,
                     banks_text(problem, cost.counts)) +
         table({share("busy", time.busy), share("load", time.load), share(model.skew, time.skew),
                share("stall", latency.stall)});
}

}  // namespace

std::string title_text(const Arch& arch, const Workload& workload) {
  std::string text = fmt::format("{} on {}\n  {}\n  {} MACs", workload.name, arch.name,
                                 workload.equation(), grouped(workload.macs()));
  for (const Dim& dim : workload.dims) {
    text += fmt::format("; {} {}", dim.name, dim.bound);
  }
  text += density_text(workload);
  text += "\n  " + widths_text(widths_of(workload));
  return text + "\n" + (workload.note.empty() ? "" : "  " + workload.note + "\n");
}

std::string energy_text(const Problem& problem, const Cost& cost) {
  const Arch& arch = problem.arch();
  const Energy& energy = cost.energy;
  Row head = tensor_names(problem.workload());
  head.insert(head.end(), {"all", "share"});
  std::vector<Row> rows{head};
  const Row blanks(problem.workload().tensors.size());
  for (const LevelId level : arch.levels.ids()) {
    Row parts;
    Picojoules sum{0};
    for (const TensorId id : problem.workload().tensors.ids()) {
      const Picojoules part = energy.levels[level][id].total;
      parts.push_back(cost.counts.levels[level][id].kept ? energy_text(part) : "-");
      sum += part;
    }
    rows.push_back(energy_row(arch.levels[level].name, parts, sum, energy.total));
  }
  for (const FanoutId fanout : arch.fanouts.ids()) {
    rows.push_back(
        energy_row(arch.fanouts[fanout].name, blanks, energy.fanouts[fanout], energy.total));
    if (arch.fanouts[fanout].energy_per_hop) {
      rows.push_back(hop_row(arch.fanouts[fanout].name, energy.hops[fanout], energy.total));
    }
  }
  rows.push_back(energy_row(arch.compute.name, blanks, energy.compute, energy.total));
  if (energy.leakage > Picojoules{0}) {
    rows.push_back(energy_row("leakage", blanks, energy.leakage, energy.total));
  }
  const double macs = static_cast<double>(cost.counts.macs);
  return fmt::format("energy: {}, {} per MAC\n{}", energy_text(energy.total),
                     energy_text(Picojoules{energy.total.count() / macs}), table(rows));
}

std::string physical_text(const Arch& arch) {
  const auto line = [](const char* what, const std::string& sum,
                       const std::vector<std::string>& missing) {
    return fmt::format("{}: {}{}{}\n", what, sum.empty() ? "not given" : sum,
                       sum.empty() || missing.empty() ? "" : "; not given for ",
                       sum.empty() ? "" : fmt::format("{}", fmt::join(missing, ", ")));
  };
  std::vector<std::string> silent;
  const std::string hops = hop_energies(arch, silent);
  const auto leakage = total_leakage(arch);
  const auto area = total_area(arch);
  return line("leakage",
              leakage.sum ? fmt::format("{:.4g} mW{}", leakage.sum->count(),
                                        arch.leaks ? "" : ", left out of the energy")
                          : "",
              leakage.missing) +
         line("area", area.sum ? fmt::format("{:.4g} mm2", area.sum->count()) : "", area.missing) +
         (arch.fanouts.empty() ? "" : line("energy per hop", hops, silent));
}

std::string latency_text(const Problem& problem, const Cost& cost) {
  const Arch& arch = problem.arch();
  const Latency& latency = cost.latency;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < latency.resources.size(); ++i) {
    const Resource& resource = latency.resources[i];
    const bool limits = resource.utilization >= kLimitingUtilization;
    rows.push_back({resource_name(arch, resource), grouped(resource.time.count()) + " cycles",
                    percent(resource.utilization),
                    i == latency.bottleneck ? "<- bottleneck" : (limits ? "<- limits too" : "")});
  }
  std::string text =
      fmt::format("latency: {}; ramped {}: single-buffered levels do not overlap\n{}",
                  cycles_text(arch, latency.steady), grouped(latency.ramped.count()), table(rows));
  text +=
      fmt::format("  {} of the peak of {} MAC units{}", percent(cost.utilization), arch.mac_units(),
                  cost.utilization <= 1 ? ""
                  : cost.sparse         ? ", operations that zeros spare included"
                                        : ", multiplications that Winograd spares included");
  for (const FanoutId fanout : arch.fanouts.ids()) {
    const Fanout& node = arch.fanouts[fanout];
    text += fmt::format("; {}: {} x {} of {} x {} in use", node.name, cost.counts.used_x[fanout],
                        cost.counts.used_y[fanout], node.x, node.y);
  }
  return text + "\n" + array_text(problem, cost);
}

std::string access_text(const Problem& problem, const Counts& counts) {
  std::vector<Row> rows{{"", "reads", "fills", "updates", "read-backs", "drains"}};
  for (const LevelId level : counts.levels.ids()) {
    for (const TensorId id : counts.levels[level].ids()) {
      const TensorCounts& at = counts.levels[level][id];
      if (at.kept) {
        rows.push_back(
            {problem.arch().levels[level].name + " " + problem.workload().tensors[id].name,
             grouped(at.total.reads), grouped(at.total.fills), grouped(at.total.updates),
             grouped(at.total.readbacks), grouped(at.total.drains)});
      }
    }
  }
  return "accesses: elements, all instances\n" + table(rows);
}

// With a line behind it, if there is anything.
std::string block(std::string text) { return text.empty() ? text : text + "\n"; }

std::string cost_text(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  return "mapping:\n" + draw_nest(problem, mapping, cost.counts) + "\n" +
         energy_text(problem, cost) + "\n" + latency_text(problem, cost) + "\n" +
         access_text(problem, cost.counts) + "\n" + block(sparse_text(problem, mapping, cost)) +
         network_text(problem, cost.counts) + physical_text(problem.arch());
}

std::string roofline_text(const Arch& arch, const Workload& workload, const Roofline& bounds) {
  const RooflineBound& bound = bounds.bound;
  std::vector<Row> rows{{"", "elements", "size", "transfer"}};
  for (const TensorId id : workload.tensors.ids()) {
    const TensorTraffic& entry = bounds.tensors[id];
    rows.push_back({workload.tensors[id].name, grouped(entry.elements),
                    bytes_text(Bits{static_cast<std::int64_t>(entry.bytes * 8)}),
                    scaled(entry.transfer.count(), "s")});
  }
  const Storage& outermost = arch.levels[LevelId{0}];
  std::string text = title_text(arch, workload) + "\n";
  text += fmt::format("tensors as they lie in {}{}\n", outermost.name,
                      workload.bias ? ", weights with the bias" : "");
  text += table(rows) + "\nroofline\n";
  const auto limits = [](double utilization) {
    return utilization >= kLimitingUtilization ? "limits" : "";
  };
  text += table({
      {"math", grouped(bounds.ops) + " op", scaled(bounds.peak.ops_per_second, "op/s"),
       scaled(bound.compute.count(), "s"), percent(bound.math_utilization),
       limits(bound.math_utilization)},
      {"memory", grouped(static_cast<std::int64_t>(bounds.bytes)) + " B",
       scaled(bounds.peak.bytes_per_second, "B/s"), scaled(bound.transfer.count(), "s"),
       percent(bound.memory_utilization), limits(bound.memory_utilization)},
  });
  text += fmt::format("  {} op/B, the ridge is at {} op/B: {}-limited; {} at best\n",
                      ratio(bound.intensity), ratio(bound.ridge), to_string(bound.limiter),
                      scaled(bounds.macs_per_second, "MAC/s"));
  if (arch.sparsity && std::any_of(workload.tensors.begin(), workload.tensors.end(),
                                   [](const Tensor& tensor) { return tensor.density < 1; })) {
    text +=
        "  of all operations, and of tensors without their zeros and formats; what the machine "
        "skips "
        "is in the bound below\n";
  }
  if (bounds.slowest) {
    const SlowestPort& port = *bounds.slowest;
    text +=
        fmt::format("  slowest port: {}, {}: {} MAC per byte that passes it, its knee is at {}\n",
                    port_name(arch, port.level, port.kind), scaled(port.bytes_per_second, "B/s"),
                    ratio(port.intensity), ratio(port.knee));
  }
  text += fmt::format("\nno mapping takes less than {} or {}{}\n",
                      cycles_text(arch, bounds.least_cycles), energy_text(bounds.least_energy),
                      moves_zeros(arch, workload)
                          ? ", counted on the padded input, whose zeros move like pixels"
                          : "");
  return text;
}

}  // namespace mapsim
