// SPDX-License-Identifier: Apache-2.0
#include "arch/accelergy.hpp"
#include "arch/gpu_load.hpp"
#include "arch/gpu_print.hpp"
#include "arch/load.hpp"
#include "arch/print.hpp"
#include "campaign/campaign.hpp"
#include "core/document.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/roofline.hpp"
#include "design/space.hpp"
#include "design/supported.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "plan/soc.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/chain.hpp"
#include "workloads/gemm.hpp"
#include "workloads/graph_print.hpp"
#include "workloads/load.hpp"
#include "workloads/network.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

const std::string kConfigs = source_path("configs/");

const Problem& teaching() {
  static const Problem problem{load_arch(kConfigs + "arch/teaching.yaml"),
                               load_workload(kConfigs + "workloads/teaching/conv.yaml")};
  return problem;
}

void read_arch_file(const std::string& text) {
  const Document document = parse_yaml(text, "arch.yaml");
  if (describes_gpu(document)) {
    parse_gpu(print_gpu(read_gpu(document)), "again.yaml");
    return;
  }
  const std::string printed = print_arch(read_arch(document));
  require_law(print_arch(parse_arch(printed, "again.yaml")) == printed,
              "an architecture reads back");
}

void read_workload_file(const std::string& text) {
  const Workload workload = parse_workload(text, "workload.yaml");
  for (const std::string& printed : {print_workload(workload), print_layer(workload)}) {
    require_law(print_layer(parse_workload(printed, "again.yaml")) == print_layer(workload) ||
                    printed == print_workload(workload),
                "a workload reads back");
  }
  roofline(teaching().arch(), workload);
}

void read_chain_file(const std::string& text) { parse_chain(text, "chain.yaml"); }

void read_mapping_file(const std::string& text) {
  const Arch& arch = teaching().arch();
  const Workload& workload = teaching().workload();
  const Mapping mapping = parse_mapping(text, "mapping.yaml", arch, workload);
  require_law(parse_mapping(print_mapping(arch, workload, mapping), "again.yaml", arch, workload) ==
                  mapping,
              "a mapping reads back");
  evaluate(teaching(), mapping);
}

void read_tree_file(const std::string& text) {
  static const EinsumChain chain = load_chain(kConfigs + "chains/teaching_convs.yaml");
  const Arch& arch = teaching().arch();
  const MappingTree tree = parse_tree(text, "tree.yaml", arch, chain);
  require_law(parse_tree(print_tree(arch, chain, tree), "again.yaml", arch, chain) == tree,
              "a tree reads back");
  evaluate_tree(arch, chain, tree);
}

void read_constraints_file(const std::string& text) {
  static const Problem problem{load_arch(kConfigs + "arch/teaching.yaml"),
                               gemm("g", {4, 6, 2, {}, false}, {})};
  const Mapspace space{problem, parse_constraints(text, "rules.yaml", problem)};
  int seen = 0;
  space.enumerate([&seen](const Mapping&) { return ++seen < 20; });
}

void read_network_file(const std::string& text) {
  const std::string path = kConfigs + "networks/network.yaml";
  const Network network = parse_network(text, path);
  batched(network, 2, path);
}

// A graph that a file can say is written as it is read.
void read_graph_file(const std::string& text) {
  const std::string path = kConfigs + "networks/network.yaml";
  const Network network = parse_network(text, path);
  if (!network.graph) {
    return;
  }
  const PrintedGraph printed = print_graph(network.name, *network.graph);
  require_law(!printed.why.empty() || parse_network(printed.text, path).macs() == network.macs(),
              "a graph reads back");
  batched(network, 2, path);
}

void read_soc_file(const std::string& text) {
  const Soc soc = read_soc(parse_yaml(text, kConfigs + "soc/soc.yaml"), {kConfigs});
  for (const Engine& engine : soc.engines) {
    machine_of(engine, LaunchMode::kGraph);
  }
}

// Each machine of a campaign as a box of designs, with the enclosure of all and of the first.
void read_space_file(const std::string& text) {
  const Campaign campaign = parse_campaign(text, kConfigs + "campaigns/campaign.yaml", {kConfigs});
  try {
    check_supported_by_design(campaign);
  } catch (const UnsupportedSearch&) {
    return;
  }
  for (const Machine& machine : campaign.machines) {
    DesignSpace space{machine, false};
    space.enclosure(space.all());
    const std::vector<std::size_t> first(space.axes().size(), 0);
    DesignBox single;
    for (const std::size_t value : first) {
      single.push_back({value, value});
    }
    const auto enclosure = space.enclosure(single);
    require_law(enclosure.has_value(), "one design is enclosed");
    space.arch(first);
  }
}

// Designs as the command reads them: the first, one in between, the last.
void read_campaign_file(const std::string& text) {
  const Campaign campaign = parse_campaign(text, kConfigs + "campaigns/campaign.yaml", {kConfigs});
  for (const std::size_t number :
       {std::size_t{0}, campaign.designs() / 2, campaign.designs() - 1}) {
    const Document document = design(campaign, number).document();
    if (!describes_gpu(document)) {
      read_arch(document);
    }
  }
}

// Tables of energies or of areas.
void read_accelergy_file(const std::string& text) {
  try {
    parse_ert(text, "ert.yaml");
  } catch (const ConfigError&) {
    parse_art(text, "art.yaml");
  }
}

}  // namespace

std::vector<FuzzTarget> own_format_targets() {
  const InputForm tree = InputForm::kTree;
  return {
      {"arch",
       tree,
       read_arch_file,
       {"configs/arch/teaching.yaml", "configs/arch/eyeriss.yaml", "configs/arch/nv_small.yaml",
        "configs/arch/systolic_32x32.yaml", "configs/arch/a100_40gb.yaml",
        "configs/arch/simba_package.yaml"}},
      {"workload",
       tree,
       read_workload_file,
       {"configs/workloads/teaching/conv.yaml", "configs/workloads/resnet50/conv1.yaml"}},
      {"chain",
       tree,
       read_chain_file,
       {"configs/chains/teaching_convs.yaml", "configs/chains/resnet50_conv2_block.yaml"}},
      {"mapping",
       tree,
       read_mapping_file,
       {"configs/mappings/teaching_output_stationary.yaml",
        "configs/mappings/teaching_weight_stationary.yaml"}},
      {"tree", tree, read_tree_file, {"configs/trees/teaching_convs.yaml"}},
      {"constraints", tree, read_constraints_file, {"configs/constraints/even.yaml"}},
      {"network", tree, read_network_file, {"configs/networks/alexnet.yaml"}},
      {"graph",
       tree,
       read_graph_file,
       {"configs/networks/graphs/squeezenet.yaml",
        "configs/networks/graphs/llama3_8b_decoder.yaml"}},
      {"soc",
       tree,
       read_soc_file,
       {"configs/soc/teaching_chip.yaml", "configs/soc/jetson_agx_orin.yaml"}},
      {"space", tree, read_space_file, {"configs/campaigns/teaching_buffers.yaml"}},
      {"campaign", tree, read_campaign_file, {"configs/campaigns/teaching_buffers.yaml"}},
      {"accelergy", tree, read_accelergy_file, {}},
  };
}

}  // namespace mapsim
