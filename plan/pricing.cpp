// SPDX-License-Identifier: Apache-2.0
#include "plan/pricing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "campaign/layer.hpp"
#include "costmodel/gpu/kernel.hpp"
#include "costmodel/stream.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "report/figures.hpp"
#include "report/front.hpp"

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
  sum.notes.insert(sum.notes.end(), part.notes.begin(), part.notes.end());
  if (!part.problem.empty()) {
    sum.problem = part.problem;
  }
}

// Bytes that padded channels add to what a group reads and writes.
Stream padding_beside(const Operations& operations, const Group& group, const std::string& format) {
  const auto bits = [&](std::size_t tensor) {
    const GraphTensor& at = operations.graph->tensors[tensor];
    const double more = padding_of(at, format) - 1;
    return Bits{static_cast<std::int64_t>(
        more * static_cast<double>(size_of(at).value_or(Bits{0}).count()))};
  };
  Stream padding;
  for (const std::size_t tensor : group.reads) {
    padding.in += bits(tensor);
  }
  for (const std::size_t tensor : group.writes) {
    padding.out += bits(tensor);
  }
  return padding;
}

}  // namespace

Pricing::Pricing(const Soc& soc, const PlanOptions& options)
    : soc_{soc},
      launch_{options.launch},
      least_energy_{options.objective == PlanObjective::kEnergy},
      sparse_{options.sparse},
      budget_{budget_of(options)},
      stop_{options.stop},
      known_(soc.engines.size()),
      expected_(soc.engines.size()) {
  set_clock(1);
}

Pricing::Known Pricing::search_on(const Gpu& gpu, const Workload& workload, bool adds, bool prunes,
                                  ConvLayout layout) {
  Known known;
  GpuLayerOptions options;
  const SearchEnd end = PlanSearches::end_in(share().budget.seconds);
  options.adds_to_output = adds;
  options.stop = stop_;
  options.request.layout = layout;
  const GpuLayer found = fastest_kernel(gpu, workload, options, end);
  if (!found.kernel) {
    known.price = refused(found.problem);
    return known;
  }
  double bytes = found.kernel->estimate.dram_bytes;
  for (const ExtraPass& pass : found.form.passes) {
    bytes += pass.bytes;
  }
  known.price.load = {found.kernel->total.count(), found.energy.count(), bytes, {}, 0};
  known.price.how = before_path(found.form.problem) + to_string(found.kernel->kernel);
  known.price.proven = false;  // kernels are ranked by a model of their time
  known.price.notes = found.form.notes;
  known.parts = parts_of(gpu, found.kernel->estimate);
  try_algorithms(gpu, workload, adds, prunes, end, known);
  if (PlanSearches::Clock::now() >= end) {
    ++searches_.ended_early;
    searches_.least_share = 0;  // kernels are ranked by a model of their time, without a bound
  }
  return known;
}

// Other ways to run a layer than the GEMM that is priced already: the fastest is taken, and why the
// others are not is noted.
void Pricing::try_algorithms(const Gpu& gpu, const Workload& workload, bool adds, bool prunes,
                             SearchEnd end, Known& known) const {
  if (PlanSearches::Clock::now() >= end) {
    known.price.notes.emplace_back("other algorithms were not tried: time was over (--budget)");
    return;
  }
  const auto take = [&](const std::string& name, double seconds, Load load, std::string how,
                        double least_gain = 1) {
    const double now = known.price.load.latency;
    known.price.notes.push_back(fmt::format("{}: {}, {:.2f} times as fast as {}", name,
                                            scaled(seconds, "s"), now / seconds,
                                            known.price.how.substr(0, known.price.how.find(' '))));
    if (seconds * least_gain < now) {
      known.price.load = load;
      known.price.how = std::move(how);
    }
  };
  for (const Winograd& winograd : kWinograds) {
    if (!is_convolution(workload)) {
      break;
    }
    const std::string name = to_string(winograd);
    const WinogradAnswer answer = winograd_on_gpu(gpu, workload, winograd, end);
    if (answer.cost) {
      const AlgorithmCost& cost = *answer.cost;
      take(name, cost.seconds, {cost.seconds, cost.energy, cost.bytes, {}, 0}, cost.how);
    } else {
      known.price.notes.push_back(fmt::format("no {}: {}", name, answer.problem));
    }
  }
  if (!prunes) {
    return;
  }
  const PrunedAnswer pruned = pruned_on_gpu(gpu, workload, adds, end);
  if (pruned.cost) {
    const AlgorithmCost& cost = *pruned.cost;
    take("2:4 sparse weights", cost.seconds, {cost.seconds, cost.energy, cost.bytes, {}, 0},
         cost.how, pruned.least_gain);
    known.price.notes.push_back(fmt::format(
        "2:4 sparse weights are taken from {:.2f} times as fast on (docs/sparsity.md#gpus)",
        pruned.least_gain));
  } else {
    known.price.notes.push_back("no 2:4 sparse weights: " + pruned.problem);
  }
}

// Scores, softmax and context in one kernel, which keeps the scores on chip: as much as both
// products compute, and an exponential for each score; through memory go the ends.
Price Pricing::attention(const Group& group, const Place& place) {
  const auto* gpu = std::get_if<Gpu>(&machines_[place.engine]);
  if (gpu == nullptr) {
    return refused(fmt::format("{} has no kernel for attention", soc_.engines[place.engine].name));
  }
  // Of an SM: 16 special functions a cycle (CUDA C++ Programming Guide, arithmetic throughput).
  constexpr double kExponentials = 16;
  Price sum;
  double compute = 0;
  double launch = 0;
  double bandwidth = gpu->dram_bandwidth.count();
  double constant = 0;
  for (const NodeLayer& each : group.layers) {
    const Known known = layer(each.workload, false, place);
    if (!known.price.problem.empty()) {
      return known.price;
    }
    compute += known.parts.compute;
    launch = std::max(launch, known.parts.launch);
    bandwidth = std::min(bandwidth, known.parts.bandwidth);
    const double bits = kBitsPerByte * known.price.load.bytes;
    constant += known.price.load.energy - bits * gpu->energy.dram.count();
  }
  const Workload& scores = group.layers.front().workload;
  const auto points = static_cast<double>(count_elements(shape_of(scores, scores.output())));
  compute += points / (kExponentials * static_cast<double>(gpu->sms) * gpu->clock.count());
  const double bytes =
      static_cast<double>((group.stream.in + group.stream.out).count()) / kBitsPerByte;
  sum.load.bytes = bytes;
  sum.load.latency = launch + std::max(compute, bytes / bandwidth);
  sum.load.energy = constant + kBitsPerByte * bytes * gpu->energy.dram.count();
  sum.how = "attention, scores on chip";
  sum.proven = false;
  return sum;
}

// A recurrent layer whose steps are one kernel: the first layer is the products of all inputs, the
// others are counted by the step.
Price Pricing::time_steps(const Group& group, const Place& place) {
  const auto* gpu = std::get_if<Gpu>(&machines_[place.engine]);
  if (gpu == nullptr) {
    return refused(fmt::format("{} has no kernel that stays on the chip for all time steps",
                               soc_.engines[place.engine].name));
  }
  Price sum;
  sum.proven = false;
  for (const NodeLayer& each : group.layers) {
    const Known known = layer(each.workload, false, place);
    if (!known.price.problem.empty()) {
      return known.price;
    }
    if (each.count == 1) {
      add(sum, known.price, 1);
      continue;
    }
    const Tensor& weight = each.workload.tensors[TensorId{1}];
    const double weights =
        static_cast<double>(count_elements(shape_of(each.workload, TensorId{1}))) *
        static_cast<double>(weight.bits.count()) / kBitsPerByte;
    Price all = known.price;
    all.load.latency =
        known.parts.launch + persistent_seconds(*gpu, known.parts, weights, each.count);
    all.load.bytes =
        weights + static_cast<double>(each.count) * std::max(0.0, known.price.load.bytes - weights);
    all.load.energy *= static_cast<double>(each.count);
    add(sum, all, 1);
  }
  sum.how = "all time steps in one kernel";
  return sum;
}

// The best mapping of a layer. Only a search for latency also looks at folds of a systolic array
// that leave a remainder, and one of those may need the least energy, too.
SearchResult Pricing::search_for(const Problem& problem) {
  if (!least_energy_) {
    return search_for(problem, Objective::kLatency);
  }
  SearchResult least = search_for(problem, Objective::kEnergy);
  if (exact::has_partial_folds(Mapspace{problem, {}}, Objective::kLatency)) {
    SearchResult other = search_for(problem, Objective::kLatency);
    if (other.cost && (!least.cost || better(Objective::kEnergy, *other.cost, *least.cost))) {
      return other;
    }
  }
  return least;
}

SearchResult Pricing::search_for(const Problem& problem, const Objective& objective) {
  LayerSearch search;
  search.options = share();
  search.options.objective = objective;
  SearchResult found = search_layer(problem, {}, {}, search).result;
  searches_.peak_bytes = std::max(searches_.peak_bytes, found.statistics.peak_bytes);
  if (found.interrupted) {
    ++searches_.ended_early;
    // Folds that leave a remainder were not looked at, and no bound is about them.
    const bool is_bounded = found.cost && found.certificate.status == Proof::kBounded &&
                            !exact::has_partial_folds(Mapspace{problem, {}}, objective);
    searches_.least_share =
        std::min(searches_.least_share, is_bounded ? 1 / (1 + found.certificate.gap) : 0);
  }
  return found;
}

Pricing::Known Pricing::search_on(const Arch& arch, const Workload& workload) {
  Known known;
  try {
    const Problem problem{arch, workload};
    const SearchResult found = search_for(problem);
    if (!found.cost) {
      known.price = refused(found.interrupted ? "no mapping was found in this memory and time"
                                              : "no mapping fits");
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

const Pricing::Known& Pricing::layer(const Workload& workload, bool adds, const Place& place,
                                     bool has_weights) {
  const std::size_t engine = place.engine;
  const bool on_gpu = std::holds_alternative<Gpu>(machines_[engine]);
  Workload wanted = anonymous(workload);
  adds = adds && on_gpu;  // elsewhere it is traffic beside the layer
  const bool prunes = sparse_ && has_weights && on_gpu;
  const ConvLayout layout =
      on_gpu && (place.format == "linear" || place.format == "chw") && is_convolution(workload)
          ? ConvLayout::kNchw
          : ConvLayout::kNhwc;
  auto [at, end] = known_[engine].equal_range(workload.macs());
  for (; at != end; ++at) {
    if (at->second.adds == adds && at->second.prunes == prunes && at->second.layout == layout &&
        at->second.workload == wanted) {
      return at->second;
    }
  }
  ++searches_.count;
  forget_expected(engine, wanted);
  const std::int64_t short_before = searches_.ended_early;
  Known known = on_gpu ? search_on(std::get<Gpu>(machines_[engine]), workload, adds, prunes, layout)
                       : search_on(std::get<Arch>(machines_[engine]), workload);
  if (stop_ != nullptr && *stop_) {
    throw PlanStopped{};  // what a stopped search found is not the best
  }
  // By energy a layer may be searched twice; it counts once.
  searches_.ended_early = std::min(searches_.ended_early, short_before + 1);
  known.workload = std::move(wanted);
  known.adds = adds;
  known.prunes = prunes;
  known.layout = layout;
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

// Whether constants of the model are among what its nodes multiply: activations are not pruned.
bool Pricing::reads_weights(const Operations& operations, const Group& group) {
  return std::any_of(group.operations.begin(), group.operations.end(), [&](std::size_t operation) {
    const GraphNode& node = operations.node(operation);
    return !node.layers.empty() &&
           (node.parameters > 0 ||
            std::any_of(node.in.begin(), node.in.end(), [&](const GraphUse& use) {
              return operations.graph->tensors[use.tensor].constant;
            }));
  });
}

Price Pricing::price(const Operations& operations, const Group& group, const Place& place) {
  const std::size_t engine = place.engine;
  if (std::string why = refusal(operations, group, engine); !why.empty()) {
    return refused(std::move(why));
  }
  Price sum;
  if (group.kernel == GroupKernel::kAttention || group.kernel == GroupKernel::kTimeSteps) {
    sum = group.kernel == GroupKernel::kAttention ? attention(group, place)
                                                  : time_steps(group, place);
  } else if (!group.elided && group.unpriced.empty()) {
    double operation_count = group.layers.empty() ? 1 : 0;
    double idle = 0;
    const bool has_weights = reads_weights(operations, group);
    for (const NodeLayer& each : group.layers) {
      const Known& known = layer(each.workload, group.adds_tensor, place, has_weights);
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
    if (std::holds_alternative<Gpu>(machines_[engine])) {  // others count it in their own words
      add_beside(padding_beside(operations, group, place.format), 0, engine, sum);
    }
    sum.load.latency += operation_count * soc_.engines[engine].overhead.count();
  }
  sum.load.engine = engine;
  sum.load.busy = sum.load.latency;
  return sum;
}

// A pass of an engine over a tensor.
Load Pricing::copy(double in, double out, std::size_t engine) const {
  Stream pass;
  pass.in = Bits{static_cast<std::int64_t>(in * kBitsPerByte)};
  pass.out = Bits{static_cast<std::int64_t>(out * kBitsPerByte)};
  Load load = stream(pass, engine).load;
  load.latency += soc_.engines[engine].overhead.count();
  load.engine = engine;
  load.busy = load.latency;
  return load;
}

// An engine for which others convert does not convert.
bool Pricing::converts_itself(std::size_t engine) const {
  return std::none_of(soc_.transitions.begin(), soc_.transitions.end(), [&](const Transition& t) {
    return (t.from == engine || t.to == engine) && t.reformat && *t.reformat != engine;
  });
}

std::optional<Load> Pricing::move(const Place& from, const Place& to, double bytes_from,
                                  double bytes_to) const {
  const bool agree = from.format == to.format && from.width == to.width;
  if (from.engine == to.engine) {
    if (agree) {
      return Load{};
    }
    return converts_itself(from.engine) ? std::optional{copy(bytes_from, bytes_to, from.engine)}
                                        : std::nullopt;
  }
  const auto at = std::find_if(
      soc_.transitions.begin(), soc_.transitions.end(),
      [&](const Transition& each) { return each.from == from.engine && each.to == to.engine; });
  if (at == soc_.transitions.end() || (!agree && !at->reformat)) {
    return std::nullopt;
  }
  Load load = agree ? Load{} : copy(bytes_from, bytes_to, *at->reformat);
  load.latency += at->sync.count();
  return load;
}

}  // namespace mapsim
