// SPDX-License-Identifier: Apache-2.0
// Time to the proven best design of a space, by one thread: CPU seconds, searches of layers, boxes,
// and the share of a full sweep's searches.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "campaign/campaign.hpp"
#include "core/units.hpp"
#include "design/certificate.hpp"
#include "design/search.hpp"

namespace {

using mapsim::Campaign;
using mapsim::DesignAnswer;
using mapsim::DesignOptions;

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

struct Case {
  const char* name;
  std::string space;                // a campaign
  std::vector<std::string> work{};  // in place of that of the campaign
  bool certificate = false;
};

std::vector<Case> cases() {
  const std::string designs = MAPSIM_SOURCE_DIR "/bench/designs/";
  const std::string eyeriss = kConfigs + "campaigns/eyeriss_10k.yaml";
  std::vector<std::string> ten_networks;
  for (const char* name : {"alexnet", "bert_base", "gpt2", "llama3_8b", "llama_7b_decode",
                           "llama_7b_prefill", "mobilenet_v2", "resnet50", "vgg16", "vit_b16"}) {
    ten_networks.push_back(kConfigs + "networks/" + name + ".yaml");
  }
  return {{"eyeriss_10k", eyeriss},
          {"eyeriss_10k_certificate", eyeriss, {}, true},
          {"eyeriss_45nm_420", designs + "eyeriss_45nm_420.yaml"},
          {"eyeriss_45nm_420_ten_networks", designs + "eyeriss_45nm_420.yaml", ten_networks},
          {"eyeriss_45nm_294912", designs + "eyeriss_45nm_294912.yaml"},
          {"eyeriss_45nm_bandwidths", designs + "eyeriss_45nm_bandwidths.yaml"}};
}

void find(benchmark::State& state, const Case& asked, const char* objective) {
  const Campaign campaign = mapsim::load_design_space(asked.space, asked.work);
  DesignOptions options;
  options.objective = std::get<mapsim::DesignObjective>(mapsim::parse_design_objective(objective));
  options.limits.area = mapsim::SquareMillimetres{4};
  options.certificate = asked.certificate;
  DesignAnswer answer;
  for ([[maybe_unused]] auto _ : state) {
    answer = mapsim::search_design(campaign, options);
    if (asked.certificate) {
      benchmark::DoNotOptimize(mapsim::design_certificate(campaign, options, answer));
    }
  }
  if (answer.best() == nullptr || !answer.proven) {
    state.SkipWithError("no proven best design");
    return;
  }
  state.counters["value"] = answer.best()->value;
  state.counters["designs"] = answer.counts.designs;
  state.counters["layers"] = static_cast<double>(answer.layers);
  state.counters["boxes"] = static_cast<double>(answer.boxes);
  state.counters["searches"] = static_cast<double>(answer.searches);
  state.counters["share"] = static_cast<double>(answer.searches) /
                            (answer.counts.designs * static_cast<double>(answer.layers));
}

void register_case(const Case& asked, const char* objective) {
  benchmark::RegisterBenchmark((std::string{"design/"} + asked.name + ":" + objective).c_str(),
                               [=](benchmark::State& state) { find(state, asked, objective); })
      ->Unit(benchmark::kSecond)
      ->MeasureProcessCPUTime()
      ->Iterations(1);
}

void add_all() {
  for (const char* objective : {"sum-edp", "edp"}) {
    for (const Case& asked : cases()) {
      register_case(asked, objective);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return mapsim::bench::run(argc, argv, add_all); }
