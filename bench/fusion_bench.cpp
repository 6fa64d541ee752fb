// SPDX-License-Identifier: Apache-2.0
// Fused layers: CPU seconds of one thread to the proven best mapping trees of networks that are
// graphs, of transformer blocks and of chains; and how many times that is what the search layer by
// layer takes, measured in the same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "bench/summary.hpp"
#include "campaign/fused_network.hpp"
#include "workloads/chain.hpp"

namespace {

using mapsim::Objective;

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";
constexpr double kMostSeconds = 300;  // of a case; then the gap is what is left

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
// The largest that the process has had so far [MiB].
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

mapsim::Arch machine(const std::string& name) {
  return mapsim::load_arch(kConfigs + "arch/" + name + ".yaml");
}

// A block of a transformer, of so many tokens and heads, `wide` channels and four times as many in
// between: Vaswani et al., NIPS 2017. Norms stand behind the sums (BERT: Devlin et al., NAACL 2019)
// or before the products (GPT: Brown et al., 2020, section 2.1).
mapsim::Network block(std::int64_t tokens, std::int64_t wide, std::int64_t heads,
                      bool norms_first) {
  const std::int64_t head = wide / heads;
  const std::string norm = "LayerNormalization";
  std::string text = fmt::format(
      "name: block\nprecision: {{input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}}\n"
      "inputs:\n  x: {{shape: [{}, {}]}}\ngraph:\n",
      tokens, wide);
  const auto node = [&](const std::string& name, const std::string& what, const std::string& in) {
    text += fmt::format("  - {{name: {}, {}, in: {}}}\n", name, what, in);
  };
  const std::string square = fmt::format("gemm: {{n: {}}}", wide);
  if (norms_first) {
    node("norm0", "op: " + norm, "x");
  }
  for (const std::string name : {"q", "k", "v"}) {
    node(name, square, norms_first ? "norm0" : "x");
    node(name + "_heads", fmt::format("op: Reshape, shape: [{}, {}, {}]", tokens, heads, head),
         name);
    node(name + "_rows",
         fmt::format("op: Transpose, perm: {}, alias: true",
                     name == "k" ? "[1, 2, 0]" : "[1, 0, 2]"),
         name + "_heads");
  }
  node("scores", "batched_gemm: {}", "[q_rows, k_rows]");
  node("softmax", "op: Softmax", "scores");
  node("context", "batched_gemm: {}", "[softmax, v_rows]");
  node("context_tokens", "op: Transpose, perm: [1, 0, 2], alias: true", "context");
  node("joined", fmt::format("op: Reshape, shape: [{}, {}]", tokens, wide), "context_tokens");
  node("projection", square, "joined");
  node("sum1", "op: Add", "[projection, x]");
  node("norm1", "op: " + norm, "sum1");
  node("up", fmt::format("gemm: {{n: {}}}, epilogue: [gelu]", 4 * wide), "norm1");
  node("down", square, "up");
  node("sum2", "op: Add", norms_first ? "[down, sum1]" : "[down, norm1]");
  if (!norms_first) {
    node("norm2", "op: " + norm, "sum2");
  }
  return mapsim::parse_network(text, "block.yaml");
}

// Six layers that read each other: products, and convolutions of two bottlenecks of ResNet-50.
mapsim::EinsumChain six_products() {
  std::string text = "name: six_products\nchain:\n";
  std::int64_t k = 512;
  for (int e = 0; e < 6; ++e) {
    const std::int64_t n = e % 2 == 0 ? 1024 : 512;
    text += fmt::format("  - name: e{}\n    gemm: {{m: 2048, n: {}, k: {}}}\n", e, n, k);
    text += e > 0 ? fmt::format("    in: {{A: t{}}}\n", e - 1) : "";
    text += e < 5 ? fmt::format("    out: t{}\n", e) : "";
    k = n;
  }
  return mapsim::parse_chain(text, "six.yaml");
}
mapsim::EinsumChain six_convolutions() {
  std::string text = "name: six_convolutions\nchain:\n";
  std::int64_t side = 60;
  std::int64_t channels = 256;
  for (int e = 0; e < 6; ++e) {
    const std::int64_t kernel = e % 3 == 1 ? 3 : 1;
    const std::int64_t out = e % 3 == 2 ? 256 : 64;
    text += fmt::format(
        "  - name: e{0}\n    conv2d: {{in_channels: {1}, out_channels: {2}, input: [{3}, {3}], "
        "kernel: [{4}, {4}]}}\n",
        e, channels, out, side, kernel);
    text += e > 0 ? fmt::format("    in: {{I: t{}}}\n", e - 1) : "";
    text += e < 5 ? fmt::format("    out: t{}\n", e) : "";
    channels = out;
    side -= kernel - 1;
  }
  return mapsim::parse_chain(text, "six.yaml");
}

// `apart`: CPU seconds of the search layer by layer.
void report(benchmark::State& state, double best, double spilled, double bound, double seconds,
            double apart) {
  state.counters["best"] = best;
  state.counters["of_spilled"] = best / spilled;
  state.counters["gap"] = best / bound - 1;
  state.counters["of_apart"] = seconds / std::max(apart, 1e-3);
  state.counters["peak_MiB"] = peak_memory();
}

void find_network(benchmark::State& state, const std::string& arch_name,
                  const mapsim::Network& network, const Objective& objective) {
  const mapsim::Arch arch = machine(arch_name);
  mapsim::SearchOptions options;
  options.objective = objective;
  mapsim::NetworkOptions layers;
  layers.search = options;
  const double start = cpu_seconds();
  mapsim::search_network(arch, network, layers);
  const double apart = cpu_seconds() - start;
  options.budget.seconds = kMostSeconds;
  mapsim::FusedTotals sums;
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double before = cpu_seconds();
    sums = mapsim::totals(mapsim::search_fused(arch, network, {}, options,
                                               [](const mapsim::GraphChains&, std::size_t) {}));
    seconds = cpu_seconds() - before;
  }
  if (sums.missing > 0) {
    state.SkipWithError("nothing was found for some chains");
    return;
  }
  const auto value = [&](const mapsim::FusedTotals::Figures& figures) {
    return objective.function.value(figures.energy, figures.cycles);
  };
  report(state, value(sums.best), value(sums.spilled), sums.lower_bound, seconds, apart);
}

void find_chain(benchmark::State& state, const std::string& arch_name,
                const mapsim::EinsumChain& chain, const Objective& objective) {
  const mapsim::Arch arch = machine(arch_name);
  mapsim::SearchOptions options;
  options.objective = objective;
  const double start = cpu_seconds();
  const mapsim::ChainResult spilled = mapsim::search_chain(arch, chain, {1, 0, false}, options);
  const double apart = cpu_seconds() - start;
  options.budget.seconds = kMostSeconds;
  mapsim::ChainResult found;
  double seconds = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double before = cpu_seconds();
    found = mapsim::search_chain(arch, chain, {}, options);
    seconds = cpu_seconds() - before;
  }
  if (!found.cost || !spilled.cost) {
    state.SkipWithError("nothing was found");
    return;
  }
  report(state, mapsim::value_of(objective, *found.cost),
         mapsim::value_of(objective, *spilled.cost), found.lower_bound, seconds, apart);
}

template <class Work>
void add(const std::string& name, const Work& work) {
  benchmark::RegisterBenchmark(("fused/" + name).c_str(), work)
      ->Unit(benchmark::kSecond)
      ->MeasureProcessCPUTime()
      ->Iterations(1);
}

void add_all() {
  const std::vector<std::pair<std::string, Objective>> objectives{
      {"energy", Objective::kEnergy}, {"latency", Objective::kLatency}, {"edp", Objective::kEdp}};
  for (const auto& [goal, objective] : objectives) {
    for (const std::string arch : {"eyeriss", "tpu_v1_like", "nvdla_like_1024"}) {
      const std::string group = arch + "/" + goal + ":";
      const Objective by = objective;
      add(group + "resnet50", [arch, by](benchmark::State& state) {
        find_network(state, arch, mapsim::load_network(kConfigs + "networks/graphs/resnet50.yaml"),
                     by);
      });
      for (const std::int64_t tokens : {1024, 4096}) {
        add(fmt::format("{}bert_block_{}", group, tokens), [=](benchmark::State& state) {
          find_network(state, arch, block(tokens, 768, 12, false), by);
        });
        add(fmt::format("{}gpt_block_{}", group, tokens), [=](benchmark::State& state) {
          find_network(state, arch, block(tokens, 4096, 32, true), by);
        });
      }
      add(group + "six_products",
          [=](benchmark::State& state) { find_chain(state, arch, six_products(), by); });
      add(group + "six_convolutions",
          [=](benchmark::State& state) { find_chain(state, arch, six_convolutions(), by); });
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return mapsim::bench::run(argc, argv, add_all); }
