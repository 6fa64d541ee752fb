// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/case_text.hpp"

#include <fmt/format.h>

#include "costmodel/reference/simulate.hpp"

namespace mapsim {
namespace {

std::string names(const Workload& workload, TensorSet tensors) {
  std::string text;
  for (const TensorId t : workload.tensors.ids()) {
    if (tensors.contains(t)) {
      text += (text.empty() ? "" : ", ") + workload.tensors[t].name;
    }
  }
  return text;
}

std::string names(RoleSet roles) {
  std::string text;
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    if (roles.contains(role)) {
      text += (text.empty() ? "" : ", ") + std::string(to_string(role));
    }
  }
  return text;
}

std::string describe(const Arch& arch) {
  std::string text = "nodes:\n";
  for (std::size_t l = 0; l <= arch.levels.size(); ++l) {
    for (const FanoutId f : arch.fanouts.ids()) {
      if (arch.levels_above[f] == l) {
        const Fanout& fanout = arch.fanouts[f];
        text += fmt::format(
            "  - {{fanout: {}, x: {}, y: {}, multicast: [{}], spatial_reduction: {}, "
            "forwarding: {}, hops: {}}}\n",
            fanout.name, fanout.x, fanout.y, names(fanout.multicast), fanout.spatial_reduction,
            fanout.forwarding, fanout.energy_per_hop.has_value());
      }
    }
    if (l < arch.levels.size()) {
      const Storage& storage = arch.levels[static_cast<LevelId>(l)];
      text += fmt::format("  - {{storage: {}, sliding: {}}}\n", storage.name, storage.sliding);
    }
  }
  return text + fmt::format("  - {{compute: {}, register_reuse: [{}]}}\n", arch.compute.name,
                            names(arch.compute.register_reuse));
}

std::string describe(const RandomCase& random, const MappingNode& node) {
  const PerDim<Dim>& dims = random.workload.dims;
  if (const Keep* keep = std::get_if<Keep>(&node)) {
    return fmt::format("  - keep {}: [{}]\n", random.arch.levels[keep->level].name,
                       names(random.workload, keep->tensors));
  }
  if (const Temporal* loop = std::get_if<Temporal>(&node)) {
    return fmt::format("  - for {}: {}\n", dims[loop->dim].name, loop->extent);
  }
  const Parallel& loop = std::get<Parallel>(node);
  return fmt::format("  - parallel {}: {} over {} of {}\n", dims[loop.dim].name, loop.extent,
                     to_string(loop.axis), random.arch.fanouts[loop.fanout].name);
}

// Notes the first pair of values that differ.
class Comparison {
 public:
  void compare(const std::string& field, std::int64_t walked, std::int64_t closed) {
    if (text_.empty() && walked != closed) {
      text_ = fmt::format("{}: {} by the walk, {} in closed form", field, walked, closed);
    }
  }
  void compare(const std::string& field, const AccessCounts& walked, const AccessCounts& closed) {
    compare(field + ".reads", walked.reads, closed.reads);
    compare(field + ".fills", walked.fills, closed.fills);
    compare(field + ".updates", walked.updates, closed.updates);
    compare(field + ".readbacks", walked.readbacks, closed.readbacks);
    compare(field + ".drains", walked.drains, closed.drains);
  }
  void compare(const std::string& field, const TensorCounts& walked, const TensorCounts& closed) {
    compare(field + ".kept", walked.kept ? 1 : 0, closed.kept ? 1 : 0);
    compare(field + ".footprint", walked.footprint, closed.footprint);
    compare(field + ".total", walked.total, closed.total);
    compare(field + ".busiest", walked.busiest, closed.busiest);
    compare(field + ".bits", walked.bits.count(), closed.bits.count());
    compare(field + ".down_bits", walked.down_bits.count(), closed.down_bits.count());
    compare(field + ".up_bits", walked.up_bits.count(), closed.up_bits.count());
    compare(field + ".read_bits", walked.read_bits.count(), closed.read_bits.count());
    compare(field + ".write_bits", walked.write_bits.count(), closed.write_bits.count());
  }
  void compare(const std::string& field, const NetworkCounts& walked, const NetworkCounts& closed) {
    compare(field + ".words", walked.words, closed.words);
    compare(field + ".received", walked.received, closed.received);
    compare(field + ".routed", walked.routed, closed.routed);
    compare(field + ".half_hops", walked.half_hops, closed.half_hops);
    compare(field + ".returns", walked.returns, closed.returns);
    compare(field + ".hop_bits", walked.bits.count(), closed.bits.count());
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string describe(const RandomCase& random) {
  const Workload& workload = random.workload;
  std::string text = describe(random.arch) + "equation: " + workload.equation() + "\ndims: {";
  for (const Dim& dim : workload.dims) {
    text += fmt::format("{}{}: {}", text.back() == '{' ? "" : ", ", dim.name, dim.bound);
  }
  text += "}\nmapping:\n";
  for (const MappingNode& node : random.mapping.nodes) {
    text += describe(random, node);
  }
  return text;
}

std::string first_difference(const RandomCase& random, const Counts& walked, const Counts& closed) {
  Comparison comparison;
  comparison.compare("macs", walked.macs, closed.macs);
  comparison.compare("steps", walked.steps, closed.steps);
  for (const LevelId l : random.arch.levels.ids()) {
    for (const TensorId t : random.workload.tensors.ids()) {
      comparison.compare(random.arch.levels[l].name + "." + random.workload.tensors[t].name,
                         walked.levels[l][t], closed.levels[l][t]);
    }
  }
  for (const FanoutId f : random.arch.fanouts.ids()) {
    const std::string& name = random.arch.fanouts[f].name;
    comparison.compare(name + ".reductions", walked.reductions[f], closed.reductions[f]);
    for (const TensorId t : random.workload.tensors.ids()) {
      comparison.compare(name + "." + random.workload.tensors[t].name, walked.networks[f][t],
                         closed.networks[f][t]);
    }
    comparison.compare(name + ".used_x", walked.used_x[f], closed.used_x[f]);
    comparison.compare(name + ".used_y", walked.used_y[f], closed.used_y[f]);
  }
  // Should a field be missing above, it still counts.
  return comparison.text().empty() && !(walked == closed) ? "counts differ" : comparison.text();
}

std::string count_mismatch(const RandomCase& random) {
  const Problem problem{random.arch, random.workload};
  const Simulation simulation =
      simulate(problem, random.mapping, random_operands(random.workload, 1), kMaxCaseMacs);
  return first_difference(random, simulation.counts, count(problem, random.mapping));
}

}  // namespace mapsim
