// SPDX-License-Identifier: Apache-2.0
#include "plan/pricing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "campaign/layer.hpp"
#include "costmodel/gpu/kernel.hpp"
#include "costmodel/stream.hpp"
#include "mapper/branch/edge_folds.hpp"

namespace mapsim {

namespace {

// Cycles in which the outermost level's ports are busy.
Cycles memory_time(const Cost& cost) {
  Cycles longest{0};
  for (const Resource& resource : cost.latency.resources) {
    if (resource.kind != PortKind::kCompute && index_of(resource.level) == 0) {
      longest = std::max(longest, resource.time);
    }
  }
  return longest;
}

// Bytes that cross the outermost level.
double memory_bytes(const Arch& arch, const Cost& cost) {
  double bits = 0;
  for (const TensorCounts& at : *cost.counts.levels.begin()) {
    bits += static_cast<double>(at.read_bits.count() + at.write_bits.count());
  }
  // Where the port is timed, with what padding adds.
  const std::optional<BitsPerCycle> shared = arch.levels.begin()->bandwidth.shared;
  const double timed =
      shared ? static_cast<double>(memory_time(cost).count()) * shared->count() : 0;
  return std::max(bits, timed) / kBitsPerByte;
}

double seconds_of(const Arch& arch, Cycles cycles) {
  return static_cast<double>(cycles.count()) / arch.clock.count();
}

// Of its result in memory.
Bits output_bits(const Workload& workload) {
  const TensorId output = workload.output();
  return workload.tensors[output].bits * count_elements(shape_of(workload, output));
}

Price refused(std::string why) {
  Price price;
  price.problem = std::move(why);
  return price;
}

void add(Price& sum, const Price& part, double times) {
  sum.load.latency += times * part.load.latency;
  sum.load.energy += times * part.load.energy;
  sum.load.bytes += times * part.load.bytes;
  sum.proven = sum.proven && part.proven;
  sum.how = sum.how.empty() ? part.how : sum.how;
  if (!part.problem.empty()) {
    sum.problem = part.problem;
  }
}

}  // namespace

Pricing::Pricing(const Soc& soc, LaunchMode mode, bool least_energy)
    : soc_{soc}, least_energy_{least_energy}, known_(soc.engines.size()) {
  for (const Engine& engine : soc.engines) {
    machines_.push_back(machine_of(engine, mode));
  }
}

Pricing::Known Pricing::search_on(const Gpu& gpu, const Workload& workload, bool adds) const {
  Known known;
  GpuLayerOptions options;
  options.adds_to_output = adds;
  const GpuLayer found = fastest_kernel(gpu, workload, options);
  if (!found.kernel) {
    known.price = refused(found.problem);
    return known;
  }
  double bytes = found.kernel->estimate.dram_bytes;
  for (const ExtraPass& pass : found.form.passes) {
    bytes += pass.bytes;
  }
  known.price.load = {found.kernel->total.count(), found.energy.count(), bytes, {}, 0};
  known.price.how = to_string(found.kernel->kernel);
  known.price.proven = false;  // kernels are ranked by a model of their time
  return known;
}

// The best mapping of a layer. Only a search for latency also looks at folds of a systolic array
// that leave a remainder, and one of those may need the least energy, too.
SearchResult Pricing::search_for(const Problem& problem) const {
  LayerSearch search;
  search.options.edge_folds = true;
  search.options.objective = Objective::kLatency;
  const auto with = [&] { return search_layer(problem, {}, {}, search).result; };
  if (!least_energy_) {
    return with();
  }
  search.options.objective = Objective::kEnergy;
  SearchResult least = with();
  if (exact::has_edge_folds(Mapspace{problem, {}}, Objective::kLatency)) {
    search.options.objective = Objective::kLatency;
    SearchResult other = with();
    if (other.cost && (!least.cost || better(Objective::kEnergy, *other.cost, *least.cost))) {
      return other;
    }
  }
  return least;
}

Pricing::Known Pricing::search_on(const Arch& arch, const Workload& workload) const {
  Known known;
  try {
    const Problem problem{arch, workload};
    const SearchResult found = search_for(problem);
    if (!found.cost) {
      known.price = refused("no mapping fits");
      return known;
    }
    const Cost& cost = *found.cost;
    known.price.load = {seconds_of(arch, cost.latency.steady),
                        cost.energy.total.count(),
                        memory_bytes(arch, cost),
                        {},
                        0};
    known.memory_seconds = seconds_of(arch, memory_time(cost));
    known.price.proven = found.certificate.status == Proof::kOptimal;
  } catch (const UnsupportedSearch& error) {
    known.price = refused(error.what());
  }
  return known;
}

const Pricing::Known& Pricing::layer(const Workload& workload, bool adds, std::size_t engine) {
  const bool on_gpu = std::holds_alternative<Gpu>(machines_[engine]);
  Workload anonymous = workload;
  anonymous.name.clear();
  anonymous.note.clear();
  adds = adds && on_gpu;  // elsewhere it is traffic beside the layer
  auto [at, end] = known_[engine].equal_range(workload.macs());
  for (; at != end; ++at) {
    if (at->second.adds == adds && at->second.workload == anonymous) {
      return at->second;
    }
  }
  ++searches_;
  Known known = on_gpu ? search_on(std::get<Gpu>(machines_[engine]), workload, adds)
                       : search_on(std::get<Arch>(machines_[engine]), workload);
  known.workload = std::move(anonymous);
  known.adds = adds;
  return known_[engine].emplace(workload.macs(), std::move(known))->second;
}

Price Pricing::stream(const Stream& stream, std::size_t engine) const {
  Price price;
  const double bytes = static_cast<double>((stream.in + stream.out).count()) / kBitsPerByte;
  if (const auto* gpu = std::get_if<Gpu>(&machines_[engine])) {
    const GpuStream cost = stream_on_gpu(*gpu, {}, stream);
    price.load = {cost.latency.count(), cost.energy.count(), bytes, {}, 0};
    return price;
  }
  const Arch& arch = std::get<Arch>(machines_[engine]);
  const StreamCost cost = stream_cost(arch, stream.in, stream.out);
  price.load = {seconds_of(arch, cost.latency), cost.energy.count(), bytes, {}, 0};
  return price;
}

// What crosses memory beside a layer, in the same kernel: on a GPU after it, at worst; elsewhere it
// hides behind the layer as far as that leaves the port idle.
void Pricing::add_beside(const Stream& beside, double idle, std::size_t engine,
                         Price& price) const {
  if (beside.in + beside.out == Bits{0}) {
    return;
  }
  Price more = stream(beside, engine);
  if (std::holds_alternative<Gpu>(machines_[engine])) {
    const Price nothing = stream(Stream{}, engine);  // the launch, which it shares
    more.load.latency -= nothing.load.latency;
    more.load.energy -= nothing.load.energy;
  } else {
    more.load.latency = std::max(0.0, more.load.latency - idle);
  }
  add(price, more, 1);
}

std::string Pricing::refusal(const Operations& operations, const Group& group,
                             std::size_t engine) const {
  const Engine& on = soc_.engines[engine];
  for (const std::size_t i : group.operations) {
    const GraphNode& node = operations.node(i);
    if (!group.elided && !on.operators.empty() &&
        std::find(on.operators.begin(), on.operators.end(), node.op) == on.operators.end()) {
      return fmt::format("{} has no {}", on.name, node.op);
    }
    for (const NodeLayer& layer : node.layers) {
      for (const TensorId t : layer.workload.tensors.ids()) {
        const std::int64_t width = layer.workload.tensors[t].bits.count();
        if (t != layer.workload.output() && !on.widths.empty() &&
            std::find(on.widths.begin(), on.widths.end(), width) == on.widths.end()) {
          return fmt::format("{} takes no operands of {} b", on.name, width);
        }
      }
    }
  }
  return "";
}

Price Pricing::price(const Operations& operations, const Group& group, std::size_t engine) {
  if (std::string why = refusal(operations, group, engine); !why.empty()) {
    return refused(std::move(why));
  }
  Price sum;
  if (!group.elided && group.unpriced.empty()) {
    double operation_count = group.layers.empty() ? 1 : 0;
    double idle = 0;
    for (const NodeLayer& each : group.layers) {
      const Known& known = layer(each.workload, group.adds_tensor, engine);
      const auto times = static_cast<double>(each.count);
      add(sum, known.price, times);
      operation_count += times;
      idle += times * (known.price.load.latency - known.memory_seconds);
    }
    if (group.layers.empty()) {
      add(sum, stream(group.stream, engine), 1);
    } else {
      Stream beside = group.stream;
      if (group.adds_tensor && std::holds_alternative<Arch>(machines_[engine])) {
        const Workload& workload = group.layers.front().workload;
        beside.in += output_bits(workload);
      }
      add_beside(beside, idle, engine, sum);
    }
    if (group.epilogue > Bits{0}) {
      Stream pass;
      pass.in = pass.out = group.epilogue;
      add(sum, stream(pass, engine), 1);
      operation_count += 1;
    }
    sum.load.latency += operation_count * soc_.engines[engine].overhead.count();
  }
  sum.load.engine = engine;
  sum.load.busy = sum.load.latency;
  return sum;
}

std::optional<Load> Pricing::transition(double bytes, std::size_t from, std::size_t to) const {
  const auto at =
      std::find_if(soc_.transitions.begin(), soc_.transitions.end(),
                   [&](const Transition& each) { return each.from == from && each.to == to; });
  if (at == soc_.transitions.end()) {
    return std::nullopt;
  }
  Load load;
  if (at->reformat) {
    Stream copy;
    copy.in = copy.out = Bits{static_cast<std::int64_t>(bytes * kBitsPerByte)};
    load = stream(copy, *at->reformat).load;
    load.latency += soc_.engines[*at->reformat].overhead.count();
    load.engine = *at->reformat;
    load.busy = load.latency;
  }
  load.latency += at->sync.count();
  return load;
}

}  // namespace mapsim
