// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/zigzag_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "workloads/load.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ZigzagLoop {
  std::string dim;
  std::int64_t size = 1;
};

// "K, 32" of an unrolling, "(K, 32)" of a mapping.
ZigzagLoop loop_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of('(');
  const std::size_t comma = text.find(", ");
  ZigzagLoop loop{text.substr(begin, comma - begin), 1};
  std::from_chars(text.data() + comma + 2, text.data() + text.size(), loop.size);
  return loop;
}

const std::map<std::string, Role> kOperands{
    {"I", Role::kInput}, {"W", Role::kWeight}, {"O", Role::kOutput}};

Workload to_workload(const Json& run) {
  const Json& loops = run["loops"];
  std::vector<std::string> bounds;
  for (const auto& [dim, bound] : loops.items()) {
    bounds.push_back(fmt::format("{}: {}", dim, bound.get<std::int64_t>()));
  }
  const std::string equation = loops.contains("M")
                                   ? "O[M][K] += I[M][C] * W[C][K]"
                                   : fmt::format(
                                         "O[B][K][OY][OX] += I[B][C][{0}*OY+FY][{0}*OX+FX] * "
                                         "W[K][C][FY][FX]",
                                         run["stride"].get<int>());
  const Json& bits = run["precision_bits"];
  return parse_workload(
      fmt::format("name: {}\neinsum:\n  equation: {}\n  dims: {{{}}}\nprecision: {{I: {} b, "
                  "W: {} b, O: {} b, partial: {} b}}\n",
                  run["layer"].get<std::string>(), equation, fmt::join(bounds, ", "),
                  bits["I"].get<int>(), bits["W"].get<int>(), bits["O_final"].get<int>(),
                  bits["O"].get<int>()),
      "layer");
}

// Translates one run. ZigZag's array dims become one fanout, all of them along X: what is unrolled
// is given. Every memory that not all units share becomes one copy a unit: a copy holds and moves
// what the shared one does, since only dims that do not index its operands may be unrolled over the
// units that share it; so each copy's energy is its share of the energy of the shared one.
class RunReader {
 public:
  RunReader(const Json& run, const Json& machine)
      : run_{run}, machine_{machine}, workload_{to_workload(run)} {
    PerDim<std::int64_t> steps(workload_.dims.size(), 1);
    for (const Json& block : run["best"]["energy"]["temporal_mapping"]["O"]) {
      for (const Json& text : block) {
        const ZigzagLoop loop = loop_of(text);
        steps[dim(loop.dim)] *= loop.size;
      }
    }
    for (const DimId d : workload_.dims.ids()) {
      unrolled_.push_back((workload_.dims[d].bound + steps[d] - 1) / steps[d]);
    }
    for (const Json& memory : machine["memories_inner_to_outer"]) {
      memories_.insert(memories_.begin(), memory);
    }
  }

  ZigzagRun read(const std::string& id) {
    ZigzagRun run{id, Problem{to_arch(), workload_}, to_constraints(), {}, 0, true};
    run.seconds = run_["wall_s"];
    for (const DimId d : workload_.dims.ids()) {
      run.divides = run.divides && workload_.dims[d].bound % unrolled_[d] == 0;
    }
    for (const auto& [name, objective] : {std::pair{"energy", Objective::kEnergy},
                                          {"latency", Objective::kLatency},
                                          {"edp", Objective::kEdp}}) {
      const Json& best = run_["best"][name];
      ZigzagBest found{objective, best["energy_pJ"], best["latency_cycles"], {}, {}};
      try {
        found.mapping = to_mapping(best["temporal_mapping"]);
      } catch (const std::runtime_error& error) {
        found.reason = error.what();
      }
      run.bests.push_back(std::move(found));
    }
    return run;
  }

 private:
  DimId dim(const std::string& name) const {
    const auto found = workload_.find_dim(name);
    if (!found) {
      throw std::runtime_error(fmt::format("no dim {}", name));
    }
    return *found;
  }

  static bool stores(const Json& memory, const std::string& operand) {
    const Json& stored = memory["stores"];
    return std::find(stored.begin(), stored.end(), operand) != stored.end();
  }

  // Shared by the whole array: above the fanout. The outermost memory is, whatever it says.
  bool is_above(std::size_t level) const {
    return level == 0 ||
           memories_[level]["shared_across_array_dims"].size() == machine_["array"].size();
  }

  // Units at work that share one instance: what is unrolled between them and the memory, for the
  // one operand that it stores.
  double sharers(std::size_t level) const {
    const std::string operand = memories_[level]["stores"].at(0);
    const Json& spatial = run_["best"]["energy"]["spatial_mapping"][operand];
    double units = 1;
    std::size_t inner = memories_.size();
    for (const Json& block : spatial) {
      for (const Json& text : block) {
        const ZigzagLoop loop = loop_of(text);
        const DimId d = dim(loop.dim);
        if (loop.size == 1) {
          continue;
        }
        if (tensor(operand).dims().contains(d)) {
          throw std::runtime_error(fmt::format("{} is shared along {}, which indexes {}",
                                               memories_[level]["name"].get<std::string>(),
                                               workload_.dims[d].name, operand));
        }
        units *= static_cast<double>(unrolled_[d]);
      }
      do {
        --inner;
      } while (!stores(memories_[inner], operand));
      if (inner == level) {
        break;
      }
    }
    return units;
  }

  const Tensor& tensor(const std::string& name) const {
    return workload_.tensors[*workload_.find_tensor(name)];
  }

  Storage to_storage(std::size_t level) const {
    const Json& memory = memories_[level];
    Storage storage;
    storage.name = memory["name"];
    storage.word = Bits{memory["access_width_bits"].get<std::int64_t>()};
    if (level > 0) {
      storage.capacity.shared = Bits{memory["size_bits"].get<std::int64_t>()};
    }
    const double bits =
        static_cast<double>(storage.word.count()) * (is_above(level) ? 1 : sharers(level));
    const double write = memory["write_energy_pJ_per_access"].get<double>() / bits;
    storage.energy = {PicojoulesPerBit{memory["read_energy_pJ_per_access"].get<double>() / bits},
                      PicojoulesPerBit{write}, PicojoulesPerBit{write}};
    double rates[2] = {0, 0};
    bool is_shared = false;
    for (const Json& port : memory["ports"]) {
      is_shared = is_shared || port["kind"] == "read_write";
      rates[port["kind"] == "write" ? 1 : 0] += port["bits_per_cycle_max"].get<double>();
    }
    if (is_shared) {
      storage.bandwidth.shared = BitsPerCycle{rates[0] + rates[1]};
    } else {
      storage.bandwidth.read = BitsPerCycle{rates[0]};
      storage.bandwidth.write = BitsPerCycle{rates[1]};
    }
    for (const auto& [operand, role] : kOperands) {
      (stores(memory, operand) ? storage.keep : storage.bypass).insert(role);
    }
    return storage;
  }

  Arch to_arch() const {
    Arch arch;
    arch.name = machine_["name"];
    for (std::size_t level = 0; level < memories_.size(); ++level) {
      if (!is_above(level) && arch.fanouts.empty()) {
        arch.fanouts.push_back(to_fanout());
        arch.levels_above.push_back(level);
      } else if (is_above(level) && !arch.fanouts.empty()) {
        throw std::runtime_error("a memory of the whole array inside of one of its parts");
      }
      arch.levels.push_back(to_storage(level));
    }
    if (arch.fanouts.empty()) {
      arch.fanouts.push_back(to_fanout());
      arch.levels_above.push_back(memories_.size());
    }
    arch.compute.name = "MAC";
    arch.compute.energy = Picojoules{machine_["mac_energy_pJ"].get<double>()};
    arch.compute.register_reuse = {Role::kInput, Role::kWeight};
    return arch;
  }

  Fanout to_fanout() const {
    Fanout fanout;
    fanout.name = "array";
    for (const auto& [axis, size] : machine_["array"].items()) {
      fanout.x *= size.get<std::int64_t>();
    }
    fanout.multicast = {Role::kInput, Role::kWeight};
    fanout.spatial_reduction = true;
    return fanout;
  }

  Constraints to_constraints() const {
    Constraints constraints;
    constraints.even = run_["temporal_mapping_type"] == "even";
    constraints.spatial = Unrolling{};
    for (const DimId d : workload_.dims.ids()) {
      if (unrolled_[d] > 1 || constraints.spatial->empty()) {
        constraints.spatial->push_back({d, FanoutId{0}, Axis::kX, unrolled_[d]});
      }
    }
    return constraints;
  }

  // Per operand and memory: how many loops, counted from the innermost, its tile spans.
  struct Held {
    std::size_t level;
    TensorId tensor;
    std::size_t loops;
  };

  // Levels of an operand are listed inner to outer, the loops of each inner to outer, too.
  std::vector<Held> held_by(const Json& temporal, std::vector<ZigzagLoop>& order) const {
    std::vector<Held> held;
    for (const TensorId t : workload_.tensors.ids()) {
      const std::string& operand = workload_.tensors[t].name;
      std::vector<ZigzagLoop> loops;
      std::size_t level = memories_.size();
      for (const Json& block : temporal[operand]) {
        do {
          --level;
        } while (!stores(memories_[level], operand));
        for (const Json& text : block) {
          loops.push_back(loop_of(text));
        }
        held.push_back({level, t, loops.size()});
      }
      order = std::move(loops);
    }
    return held;
  }

  Mapping to_mapping(const Json& temporal) const {
    std::vector<ZigzagLoop> order;  // innermost first; the same for all operands
    std::vector<Held> held = held_by(temporal, order);
    const std::size_t fanout_at = clear_fanout(held, order);
    PerDim<std::int64_t> inside(workload_.dims.size(), 1);  // temporal, further in
    std::vector<PerDim<std::int64_t>> tiles{inside};
    for (const ZigzagLoop& loop : order) {
      inside[dim(loop.dim)] *= loop.size;
      tiles.push_back(inside);
    }
    Mapping mapping;
    const auto add_keeps = [&](std::size_t loops, bool above) {
      for (std::size_t level = 0; level < memories_.size(); ++level) {
        Keep keep{static_cast<LevelId>(level), {}};
        for (const Held& each : held) {
          const std::size_t at = above && level == 0 ? order.size() : each.loops;
          if (each.level == level && at == loops && is_above(level) == above) {
            keep.tensors.insert(each.tensor);
          }
        }
        if (!keep.tensors.empty()) {
          mapping.nodes.emplace_back(keep);
        }
      }
    };
    for (std::size_t loops = order.size();; --loops) {
      if (loops >= fanout_at) {
        add_keeps(loops, true);
      }
      if (loops == fanout_at) {
        for (const DimId d : workload_.dims.ids()) {
          if (unrolled_[d] > 1) {
            mapping.nodes.emplace_back(Parallel{d, cut(d, tiles[loops][d]), FanoutId{0}});
          }
        }
      }
      add_keeps(loops, false);
      if (loops == 0) {
        break;
      }
      const DimId d = dim(order[loops - 1].dim);
      const std::int64_t spatial = loops > fanout_at ? unrolled_[d] : 1;
      mapping.nodes.emplace_back(Temporal{d, cut(d, tiles[loops - 1][d] * spatial)});
    }
    return mapping;
  }

  std::int64_t cut(DimId d, std::int64_t extent) const {
    return std::min(extent, workload_.dims[d].bound);
  }

  // Above how many loops the parallel ones stand: what units hold goes below, the rest above. A
  // keep may pass loops that do not index its operand; its tile and what it moves stay the same.
  std::size_t clear_fanout(std::vector<Held>& held, const std::vector<ZigzagLoop>& order) const {
    const auto indexes = [&](const Held& each, std::size_t loop) {
      return workload_.tensors[each.tensor].dims().contains(dim(order[loop].dim));
    };
    std::size_t fanout_at = 0;
    for (Held& each : held) {
      if (is_above(each.level)) {
        continue;
      }
      while (each.loops > 0 && !indexes(each, each.loops - 1)) {
        --each.loops;
      }
      fanout_at = std::max(fanout_at, each.loops);
    }
    for (Held& each : held) {
      while (each.level > 0 && is_above(each.level) && each.loops < fanout_at &&
             !indexes(each, each.loops)) {
        ++each.loops;
      }
      if (each.level > 0 && is_above(each.level) && each.loops < fanout_at) {
        throw std::runtime_error(fmt::format("{} of {} inside of what units hold",
                                             workload_.tensors[each.tensor].name,
                                             memories_[each.level]["name"].get<std::string>()));
      }
    }
    return fanout_at;
  }

  const Json& run_;
  const Json& machine_;
  Workload workload_;
  std::vector<Json> memories_;     // outermost first
  PerDim<std::int64_t> unrolled_;  // units side by side
};

}  // namespace

ZigzagRun read_zigzag_run(const fs::path& run, const fs::path& architectures) {
  const Json record = Json::parse(std::ifstream{run});
  const Json machines = Json::parse(std::ifstream{architectures});
  return RunReader{record, machines.at(record["architecture"])}.read(run.stem().string());
}

}  // namespace mapsim
