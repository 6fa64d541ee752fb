// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "app/files.hpp"
#include "app/import.hpp"
#include "arch/load.hpp"
#include "core/reader.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/scalesim_ifmap.hpp"
#include "interop/scalesim_import.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

// Names of files and workloads: what a topology calls its layers, as a name of ours, each once.
class LayerNames {
 public:
  std::string of(const std::string& text) {
    std::string name;
    for (const char c : text) {
      name += is_name(std::string{'a', c}) ? c : '_';
    }
    name = is_name(name) ? name : "layer_" + name;
    const int seen = ++seen_[name];
    return seen == 1 ? name : of(fmt::format("{}_{}", name, seen));
  }

 private:
  std::map<std::string, int> seen_;
};

// Columns of the tool's figures: `prefix` and these.
constexpr std::array kTheirs{"cycles",
                             "stall_cycles",
                             "cycles_with_prefetch",
                             "overall_utilization_percent",
                             "mapping_efficiency_percent",
                             "compute_utilization_percent",
                             "sram_ifmap_reads",
                             "sram_filter_reads",
                             "sram_ofmap_writes",
                             "dram_ifmap_reads",
                             "dram_filter_reads",
                             "dram_ofmap_writes",
                             "dram_ifmap_start",
                             "dram_filter_start",
                             "dram_ofmap_start"};

std::string heading(const ScaleSimConfig& config) {
  const char* prefix = config.not_modelled.empty() ? "scalesim_" : "scalesim_calc_";
  std::string text = "layer,copies,folds";
  for (const char* column : kTheirs) {
    text += fmt::format(",{}{}", prefix, column);
  }
  return text +
         ",cycles,array_cycles,sram_ifmap_reads,sram_filter_reads,sram_ofmap_writes,"
         "sram_ofmap_readbacks,dram_ifmap_reads,dram_ifmap_reads_unfolded,dram_filter_reads,"
         "dram_ofmap_writes,dram_ofmap_readbacks\n";
}

// The tool's figures of one copy. Empty: not known.
std::string their_figures(const ScaleSimConfig& config, const ScaleSimFigures& f) {
  const std::string fixed =
      fmt::format("{},{},{},{},{}", f.mapping_efficiency, f.compute_utilization, f.ifmap.sram,
                  f.filter.sram, f.ofmap.sram);
  if (f.walked) {
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", f.cycles, f.stall_cycles,
                       f.cycles_with_prefetch, f.overall_utilization, fixed, f.ifmap.dram,
                       f.filter.dram, f.ofmap.dram, f.ifmap.dram_start, f.filter.dram_start,
                       f.ofmap.dram_start);
  }
  const bool stalls = config.bandwidth && config.not_modelled.empty();
  return stalls ? fmt::format(",,,,{},,,,,,", fixed)
                : fmt::format("{},0,,{},{},,,,,,", f.cycles, f.overall_utilization, fixed);
}

// Of compressed weights. The tool's other figures count reads of the ifmap by its ratio, and
// utilizations by the dense layer.
std::string compressed_figures(const ScaleSimConfig& config, const ScaleSimFigures& f) {
  return fmt::format("{},,,,,,,{},{},,,,,,", config.bandwidth ? "" : fmt::format("{}", f.cycles),
                     f.filter.sram, f.ofmap.sram);
}

// The product of the words that are kept: windows by filters.
ScaleSimLayer compressed(const ScaleSimLayer& layer, std::int64_t kept) {
  ScaleSimLayer product = layer;
  product.gemm = true;
  product.ifmap_height = scalesim_gemm(layer).m;
  product.ifmap_width = product.filter_width = kept;
  product.filter_height = product.channels = product.stride = 1;
  return product;
}

// Layers whose weights the tool compresses become products. Says which.
std::vector<bool> compress(const ImportArguments& arguments, const ScaleSimConfig& config,
                           std::vector<ScaleSimLayer>& layers, std::vector<std::string>& notes) {
  std::vector<bool> is_compressed;
  for (ScaleSimLayer& layer : layers) {
    const std::int64_t words = layer.filter_height * layer.filter_width * layer.channels;
    const std::int64_t kept = scalesim_kept(config, layer);
    is_compressed.push_back(kept != words);
    if (kept != words) {
      notes.push_back(fmt::format(
          "{}:{}: {}: {} of {} words of a window remain when its weights are compressed ({}), so "
          "it becomes a matrix product with as long a reduction, as in SCALE-Sim; its stalls, DRAM "
          "accesses, ifmap reads and metadata are left out",
          arguments.files[1], layer.line, layer.name, kept, words,
          config.sparse_block > 0 ? fmt::format("blocks of {}", config.sparse_block)
                                  : layer.ratio));
      layer = compressed(layer, kept);
    }
  }
  return is_compressed;
}

// Ours of one copy, of the tool's dataflow on the machine that it describes: of the layer, whose
// ifmap SRAM holds pixels, but for the one figure of the unfolded ifmap.
std::string our_figures(const ScaleSimConfig& config, std::optional<std::int64_t> pixels,
                        const Problem& problem, const Cost& cost) {
  const auto at = [&](std::size_t level, std::size_t tensor) -> const AccessCounts& {
    return cost.counts.levels[static_cast<LevelId>(level)][static_cast<TensorId>(tensor)].total;
  };
  const std::size_t output = index_of(problem.workload().output());
  const Resource& array = cost.latency.resources.front();
  std::int64_t cycles = array.time.count();
  if (config.bandwidth && pixels) {  // a port each, also for what goes past its SRAM
    const auto passing = [](std::int64_t words, std::int64_t each) {
      return (words + each - 1) / each;
    };
    cycles = std::max(
        {cycles, passing(*pixels, config.bandwidth->ifmap),
         passing(at(0, 1).reads, config.bandwidth->filter),
         passing(at(0, output).updates + at(0, output).readbacks, config.bandwidth->ofmap)});
  }
  const std::string time = config.bandwidth && !pixels ? "" : fmt::format("{}", cycles);
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", time, array.time.count(), at(1, 0).reads,
                     at(2, 1).reads, at(3, output).updates, at(3, output).readbacks,
                     pixels ? fmt::format("{}", *pixels) : "", at(0, 0).reads, at(0, 1).reads,
                     at(0, output).updates, at(0, output).readbacks);
}

// The first cell of some, cycles, for people. Not known: "-".
std::string first_cell(const std::string& cells) {
  const std::string first = cells.substr(0, cells.find(','));
  return first.empty() ? "-" : grouped(std::stoll(first));
}

void add_layer_notes(const ScaleSimLayer& layer, const std::string& name,
                     const ScaleSimFigures& figures, std::vector<std::string>& notes) {
  if (scalesim_gemm(layer) != whole_gemm(layer)) {
    notes.push_back(
        fmt::format("{}: SCALE-Sim rounds the output up to {} pixels; {} have a whole window", name,
                    scalesim_gemm(layer).m, whole_gemm(layer).m));
  }
  if (!figures.walked) {
    notes.push_back(fmt::format(
        "{}: too large to walk through SCALE-Sim's buffers, alone or after shorter layers (a "
        "topology of few layers leaves each more time); the figures that need it are empty",
        name));
  }
}

void add_notes(const ImportArguments& arguments, const ScaleSimConfig& config,
               const std::vector<ScaleSimLayer>& layers, std::vector<std::string>& notes) {
  for (const std::string& each : config.left_out) {
    notes.push_back(fmt::format("{}: left out: {}", arguments.files[0], each));
  }
  for (const ScaleSimLayer& layer : layers) {
    if (!layer.ratio.empty() && !config.sparse) {
      notes.push_back(fmt::format("{}:{}: left out: the ratio {} of {}: SparsitySupport is off",
                                  arguments.files[1], layer.line, layer.ratio, layer.name));
    }
  }
  if (config.bandwidth) {
    notes.push_back(fmt::format(
        "each SRAM has a port of its own to DRAM (bandwidth: link), as in the tool: {}, {} and {} "
        "B/cycle of ifmap, filter and ofmap",
        config.bandwidth->ifmap, config.bandwidth->filter, config.bandwidth->ofmap));
  }
  if (!config.not_modelled.empty()) {
    notes.push_back(
        fmt::format("not modelled: {}. The columns scalesim_calc_* are what SCALE-Sim prints where "
                    "it computes the bandwidth (InterfaceBandwidth: CALC)",
                    config.not_modelled));
  }
  if (std::any_of(layers.begin(), layers.end(), [](const auto& layer) { return !layer.gemm; })) {
    notes.push_back(
        "convolutions have three figures: scalesim.csv has the tool's folds with an ifmap of "
        "pixels; NAME.mapping.yaml evaluates with an unfolded ifmap (dram_ifmap_reads_unfolded), "
        "slower where its port is; a search of NAME.workload.yaml by latency has folds that run on "
        "from line to line, in the form unfolded");
  }
}

}  // namespace

Unread why_no_scalesim(const std::vector<std::string>& files) {
  return why_refused([&files] {
    if (files.size() != 2) {
      throw UsageError("import scalesim takes two files, a configuration and a topology");
    }
    parse_scalesim_config(read_text(files[0]), files[0]);
    parse_scalesim_topology(read_text(files[1]), files[1]);
  });
}

ImportedFiles import_scalesim(const ImportArguments& arguments) {
  if (arguments.files.size() != 2) {
    throw UsageError("import scalesim takes two files, a configuration and a topology");
  }
  const ScaleSimConfig config =
      parse_scalesim_config(read_text(arguments.files[0]), arguments.files[0]);
  std::vector<ScaleSimLayer> layers =
      parse_scalesim_topology(read_text(arguments.files[1]), arguments.files[1]);
  ImportedFiles imported;
  const std::vector<bool> is_compressed = compress(arguments, config, layers, imported.notes);
  const auto add = [&imported](const std::string& name, const std::string& text) {
    imported.files.push_back({name, "# Imported from SCALE-Sim.\n" + text});
    return text;
  };
  const Arch arch = parse_arch(add("arch.yaml", scalesim_arch_text(config)), "arch.yaml");
  std::string columns = heading(config);
  std::vector<Row> rows{{"layer", "copies", "cycles: SCALE-Sim", "mapsim"}};
  LayerNames names;
  const std::vector<ScaleSimWalk> walks = scalesim_walks(config, layers);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const ScaleSimLayer& layer = layers[l];
    const std::string name = names.of(layer.name);
    imported.layer = l == 0 ? name : imported.layer;
    parse_workload(add(name + ".workload.yaml", scalesim_workload_text(layer, name)), name);
    const std::string gemm_file = layer.gemm ? name + ".workload.yaml" : name + ".gemm.yaml";
    const std::string gemm = scalesim_gemm_text(whole_gemm(layer), layer.copies, name);
    const Problem problem{arch, parse_workload(layer.gemm ? gemm : add(gemm_file, gemm), name)};
    const Mapping mapping = scalesim_mapping(problem, config);
    const std::string file = name + ".mapping.yaml";
    parse_mapping(add(file, fmt::format("# Of {}.\n", gemm_file) +
                                print_mapping(arch, problem.workload(), mapping)),
                  file, arch, problem.workload());
    const std::string one = scalesim_gemm_text(whole_gemm(layer), 1, name);
    const Problem copy{arch, parse_workload(one, name)};
    const Cost cost = std::get<Cost>(evaluate(copy, scalesim_mapping(copy, config)));
    const ScaleSimFigures& figures = walks[l].figures;
    const std::string theirs =
        is_compressed[l] ? compressed_figures(config, figures) : their_figures(config, figures);
    const std::string ours = our_figures(config, walks[l].pixels, copy, cost);
    columns += fmt::format("{},{},{},{},{}\n", name, layer.copies,
                           scalesim_folding(config, scalesim_gemm(layer)).folds(), theirs, ours);
    rows.push_back({table_name(name), grouped(layer.copies), first_cell(theirs), first_cell(ours)});
    add_layer_notes(layer, name, figures, imported.notes);
  }
  add_notes(arguments, config, layers, imported.notes);
  imported.files.push_back({"scalesim.csv", columns});
  const auto path = [&arguments](const std::string& name) {
    return (std::filesystem::path{arguments.folder} / name).string();
  };
  const std::string gemm = layers.front().gemm ? ".workload.yaml" : ".gemm.yaml";
  imported.figures = fmt::format(
      "one copy of each layer, in SCALE-Sim's dataflow (more: {}, and mapsim eval {} {} {}):\n{}",
      path("scalesim.csv"), path("arch.yaml"), path(imported.layer + gemm),
      path(imported.layer + ".mapping.yaml"), table(rows));
  imported.objective = "latency";  // the tool has no energies
  return imported;
}

}  // namespace mapsim
