// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/onnx_model.hpp"
#include "app/places.hpp"
#include "core/shipped.hpp"
#include "plan/given.hpp"
#include "plan/pair.hpp"
#include "plan/pricing.hpp"
#include "plan/request.hpp"
#include "plan/throughput.hpp"

namespace mapsim {

namespace {

// The engine of this name; throws UsageError about the option that has it.
std::size_t engine_of(const Soc& soc, const std::string& name, const char* option) {
  const Parsed<std::size_t> engine = engine_named(soc, name);
  if (const auto* wrong = std::get_if<std::string>(&engine)) {
    throw UsageError(fmt::format("{}: {}", option, *wrong));
  }
  return std::get<std::size_t>(engine);
}

// The chip with the engines that may be used.
Soc chip_with(const Soc& soc, const Words& engines) {
  std::vector<std::size_t> kept;
  for (const std::string& name : engines) {
    kept.push_back(engine_of(soc, name, "--engine"));
  }
  return kept.empty() ? soc : with_engines(soc, kept);
}

void check_node(const Network& network, const std::string& name, const char* option) {
  Words names;
  for (const GraphNode& node : network.graph->nodes) {
    names.push_back(node.name);
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw UsageError(fmt::format("{}: {} has no node '{}'{}", option, network.name, name,
                                 suggestion(name, names)));
  }
}

Provenance origin_of(const PlanArguments& arguments, const Soc& soc, const Network& network) {
  Provenance origin{"plan",
                    {input_file("soc", arguments.soc), input_file("network", arguments.network)}};
  for (const Engine& engine : soc.engines) {
    if (engine.file != arguments.soc) {
      origin.inputs.push_back(input_file("engine " + engine.name, engine.file));
    }
  }
  for (const NetworkLayer& layer : network.layers) {
    if (!layer.file.empty()) {
      origin.inputs.push_back(input_file("layer " + layer.name, layer.file));
    }
  }
  origin.warnings = network.warnings;
  return origin;
}

// The widths that --node-precision gives to nodes.
std::map<std::string, std::int64_t> node_widths_of(const PlanArguments& arguments,
                                                   const Network& network) {
  std::map<std::string, std::int64_t> widths;
  for (const std::string& text : arguments.node_precisions) {
    const std::size_t at = text.rfind('=');
    const auto width = at == std::string::npos ? std::nullopt : width_named(text.substr(at + 1));
    if (!width) {
      throw UsageError(fmt::format("--node-precision: '{}' is no NODE=WORD: conv1=f16", text));
    }
    check_node(network, text.substr(0, at), "--node-precision");
    widths[text.substr(0, at)] = *width;
  }
  return widths;
}

// Options that do not go together; throws UsageError.
void check_options(const PlanOptions& options) {
  if (const auto conflict = conflict_of(options)) {
    throw UsageError(fmt::format("--{} {}", conflict->option, conflict->why));
  }
}

// Options about GPUs that no engine would obey; throws UsageError.
void check_engines_for(const PlanOptions& options, const Soc& soc) {
  const bool has_gpu = std::ranges::any_of(soc.engines, [](const Engine& engine) {
    return std::holds_alternative<Gpu>(engine.machine);
  });
  for (const auto& [is_given, option] :
       {std::pair{options.sparse, "--sparse"},
        std::pair{options.launch == LaunchMode::kStream, "--launch stream"}}) {
    if (is_given && !has_gpu) {
      throw UsageError(
          fmt::format("{}: only for chips with a GPU, and {} has none", option, soc.name));
    }
  }
}

// Throws UsageError about a plan that is the best one as far as is known, but without a proof.
void check_has_certificate(const Soc& soc, const PlanOptions& options, const PlanAnswer& plan) {
  if (has_certificate(options, plan)) {
    return;
  }
  throw UsageError(
      plan.is_within_memory
          ? fmt::format(
                "--certificate: the best plan does not fit into the memory of {}, and there "
                "is no proof of schedules with engines at once that do",
                soc.name)
          : "--certificate: it is not known whether the plan is the best one within the limits");
}

// The network for a batch of so many.
Network network_for(const PlanArguments& arguments, std::int64_t batch) {
  OnnxArguments onnx = arguments.onnx;
  onnx.batch = batch;
  Network network = network_of(arguments.network, onnx);
  if (!network.graph) {
    throw UsageError(
        fmt::format("{} is a list of layers and has no edges; a plan needs a graph: an ONNX model, "
                    "nodes with `in` and `out`, or a shipped one such as graphs/resnet50",
                    arguments.network));
  }
  return network;
}

bool has_limit(const PlanOptions& options) {
  return options.max_power || options.max_latency || options.max_memory;
}

// Two networks at the same time.
Answer run_pair(const PlanArguments& arguments, const Soc& soc) {
  if (arguments.with.size() > 1) {
    throw UsageError("--with: two networks at a time");
  }
  for (const auto& [is_given, option] :
       {std::pair{has_limit(arguments.options), "a limit"},
        std::pair{arguments.options.front, "--front"},
        std::pair{arguments.options.why.has_value(), "--why"},
        std::pair{arguments.options.what_if, "--what-if"},
        std::pair{!arguments.given.empty(), "--given"},
        std::pair{!arguments.certificate_file.empty(), "--certificate"},
        std::pair{!arguments.plan_file.empty(), "--save-plan"},
        std::pair{!arguments.page_file.empty(), "--report"},
        std::pair{!arguments.trace.empty(), "--trace"}}) {
    if (is_given) {
      throw UsageError(fmt::format("--with: {} is for the plan of one network", option));
    }
  }
  if (arguments.options.objective != PlanObjective::kLatency) {
    throw UsageError("--with: is for latency");
  }
  PlanArguments other = arguments;
  other.network = find_shipped(arguments.with.front(), FileKind::kNetwork, shipped_configs());
  const Network first = network_for(arguments, arguments.onnx.batch);
  const Network second = network_for(other, arguments.onnx.batch);
  const PairAnswer pair = make_pair_plan(soc, {&first, &second}, arguments.options, arguments.soc,
                                         {arguments.network, other.network});
  const bool whole = pair.networks[0].unpriced.empty() && pair.networks[1].unpriced.empty();
  Provenance origin = origin_of(arguments, soc, first);
  origin.inputs.push_back(input_file("network", other.network));
  return {whole ? kDone : kNegative, arguments.output.json
                                         ? pair_json(origin, soc, {&first, &second}, pair)
                                         : pair_text(soc, {&first, &second}, pair)};
}

// A stream of frames, each engine with a batch of its own.
Answer run_stream(const PlanArguments& arguments, const Soc& soc) {
  const auto own = numbers_of(arguments.engine_batches, "--engine-batch", 1);
  for (const auto& [name, batch] : own) {
    engine_of(soc, name, "--engine-batch");
  }
  for (const auto& [is_given, option] : {std::pair{arguments.options.why.has_value(), "--why"},
                                         std::pair{arguments.options.what_if, "--what-if"},
                                         std::pair{!arguments.page_file.empty(), "--report"},
                                         std::pair{!arguments.trace.empty(), "--trace"},
                                         std::pair{!arguments.plan_file.empty(), "--save-plan"},
                                         std::pair{!arguments.given.empty(), "--given"},
                                         std::pair{arguments.options.at_once, "--at-once"},
                                         std::pair{has_limit(arguments.options), "a limit"},
                                         std::pair{arguments.options.front, "--front"}}) {
    if (is_given) {
      throw UsageError(
          fmt::format("{} is about the plan of one frame; it is not for throughput", option));
    }
  }
  std::vector<std::int64_t> batches;
  std::map<std::int64_t, Network> networks;
  for (const Engine& engine : soc.engines) {
    const auto at = own.find(engine.name);
    batches.push_back(at == own.end() ? arguments.onnx.batch : at->second);
    networks.try_emplace(batches.back(), network_for(arguments, batches.back()));
  }
  std::vector<const Network*> each;
  for (const std::int64_t batch : batches) {
    each.push_back(&networks.at(batch));
  }
  const Network& network = *each.front();
  PlanOptions options = arguments.options;
  options.node_widths = node_widths_of(arguments, network);
  const StreamAnswer stream =
      make_stream(soc, each, batches, options, arguments.soc, arguments.network);
  if (!arguments.certificate_file.empty()) {
    OutputFile{arguments.certificate_file}.write(stream_certificate(soc, network, options, stream));
  }
  return {stream.unpriced.empty() ? kDone : kNegative,
          arguments.output.json ? stream_json(origin_of(arguments, soc, network), soc, network,
                                              arguments.options, stream)
                                : stream_text(soc, network, stream)};
}

Answer no_plan(const PlanArguments& arguments, const Soc& soc, const Network& network,
               const PlanOptions& options, const PlanAnswer& plan) {
  return {kNegative,
          arguments.output.json
              ? no_plan_json(origin_of(arguments, soc, network), soc, network, options, plan.misfit)
              : fmt::format("no plan of {} on {}{}: {}\n", network.name, soc.name,
                            plan.passes.empty() ? "" : " keeps the limits", plan.misfit)};
}

}  // namespace

Answer run(const PlanArguments& arguments) {
  const Soc soc = chip_with(load_soc(arguments.soc, shipped_configs()), arguments.engines);
  check_engines_for(arguments.options, soc);
  if (arguments.options.objective == PlanObjective::kThroughput) {
    return run_stream(arguments, soc);
  }
  if (!arguments.with.empty()) {
    return run_pair(arguments, soc);
  }
  if (!arguments.engine_batches.empty()) {
    throw UsageError("--engine-batch is for throughput; a frame has one batch, --batch");
  }
  const Network network = network_for(arguments, arguments.onnx.batch);
  refuse_same_file(arguments.trace, arguments.output.file);
  OutputFile trace{arguments.trace};
  if (arguments.options.why) {
    check_node(network, *arguments.options.why, "--why");
  }
  PlanOptions options = arguments.options;
  options.node_widths = node_widths_of(arguments, network);
  check_options(options);
  const bool is_to_prove = !arguments.certificate_file.empty();
  OutputFile plan_out{arguments.plan_file};
  OutputFile proof{arguments.certificate_file};
  const SharedBudget budget = budget_of(options);
  PlanAnswer plan = make_plan(soc, network, with_share(options, budget, options.what_if ? 2 : 1),
                              arguments.soc, arguments.network);
  if (!plan.misfit.empty()) {
    return no_plan(arguments, soc, network, options, plan);
  }
  if (is_to_prove) {
    check_has_certificate(soc, options, plan);
  }
  if (!arguments.given.empty()) {
    plan.given = plan_of(plan, load_given_plan(arguments.given, soc, plan));
  }
  if (options.what_if) {
    plan.what_if =
        what_if(soc, network, with_share(options, budget, 1), arguments.soc, arguments.network);
  }
  if (!arguments.page_file.empty()) {
    OutputFile{arguments.page_file}.write(plan_page(soc, network, options, plan));
  }
  if (!arguments.plan_file.empty()) {
    plan_out.write(plan_file(soc, network, plan));
  }
  if (is_to_prove) {
    proof.write(plan_certificate(soc, network, options, plan));
  }
  if (!arguments.trace.empty()) {
    trace.write(plan_trace(soc, network, plan));
  }
  return {plan.unpriced.empty() ? kDone : kNegative,
          arguments.output.json
              ? plan_json(origin_of(arguments, soc, network), soc, network, arguments.options, plan)
              : plan_text(soc, network, arguments.options, plan)};
}

}  // namespace mapsim
