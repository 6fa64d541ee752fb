// SPDX-License-Identifier: Apache-2.0
#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "arch/gpu_load.hpp"
#include "arch/gpu_words.hpp"
#include "campaign/campaign_parts.hpp"
#include "campaign/network_file.hpp"
#include "campaign/own_error.hpp"
#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "core/shipped.hpp"
#include "core/substitute.hpp"
#include "report/figures.hpp"
#include "workloads/load.hpp"
#include "workloads/network.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = kMaxInteger;
constexpr std::int64_t kMostBatch = 1'000'000;  // as `network --batch`
constexpr std::int64_t kMostOperandBits = 64;
constexpr std::size_t kGpuPaths = 4;
const Words kStrategies{"exact", "exhaustive", "random", "annealing", "genetic"};
const Words kKeys{"name",        "architectures", "workloads",   "networks", "objectives",
                  "constraints", "strategy",      "evaluations", "seed",     "budget_labels"};

template <class Enum>
Words names_of(std::size_t count) {
  Words names;
  for (std::size_t i = 0; i < count; ++i) {
    names.emplace_back(to_string(static_cast<Enum>(i)));
  }
  return names;
}

bool is_same(const OnnxOptions& a, const OnnxOptions& b) {
  return a.dims == b.dims && a.batch == b.batch && a.operand_bits == b.operand_bits;
}

class CampaignReader {
 public:
  // `work`: what load_design_space() has.
  CampaignReader(Reader& reader, fs::path folder, const Words& configs,
                 const std::optional<Words>& work, const ReadChip& read_chip)
      : reader_{reader},
        folder_{std::move(folder)},
        configs_{configs},
        work_{work},
        read_chip_{read_chip} {}

  Campaign read() {
    const Fields fields = reader_.fields(reader_.root(), kKeys);
    Campaign campaign;
    campaign.name = reader_.name(fields.require("name")).value_or("");
    for (const Node* item : items(fields.require("architectures"), "a list of architectures")) {
      read_machine(campaign, *item);
    }
    read_search(campaign, fields);
    read_questions(campaign, fields);
    check_chips(reader_, fields, campaign);
    std::vector<Source> workloads = sources(fields.find("workloads"), "workloads");
    std::vector<Source> networks = sources(fields.find("networks"), "networks");
    if (work_ && !work_->empty()) {
      take_work(fields.node(), workloads, networks);
    } else if (!fields.has("workloads") && !fields.has("networks")) {
      reader_.error(fields.node(), "nothing to map; name workloads or networks");
    }
    reader_.finish();
    load_layers(campaign, workloads, networks);
    if (!work_ &&
        campaign.designs() > kMostPoints / std::max<std::size_t>(1, campaign.points_per_design())) {
      reader_.error(fields.place("architectures"),
                    fmt::format("more than {} points", grouped(kMostPoints)));
      reader_.finish();
    }
    return campaign;
  }

 private:
  // A file that a campaign names, and how it is to be read.
  struct Source {
    const Node* node = nullptr;
    std::string file;
    std::string name;  // empty: the network's own
    OnnxOptions options;
  };

  std::vector<const Node*> items(const Node* list, std::string_view what) {
    return list == nullptr ? std::vector<const Node*>{} : reader_.items(*list, what);
  }

  void read_machine(Campaign& campaign, const Node& node) {
    const Fields fields =
        reader_.fields(node, {"file", "name", "list", "grid", "precision", "path", "layout"});
    const auto file = reader_.text(fields.require("file"), "the file of an architecture");
    const auto name = reader_.name(fields.find("name"));
    if (!file) {
      return;
    }
    Machine machine;
    machine.name = name.value_or(fs::path{*file}.stem().string());
    const bool again = std::any_of(campaign.machines.begin(), campaign.machines.end(),
                                   [&](const Machine& m) { return m.name == machine.name; });
    if (again) {
      reader_.error(
          node, fmt::format("a second architecture '{}'; give it a name of its own", machine.name));
    }
    try {
      machine.document = read_yaml(machine_file(*file));
    } catch (const ConfigError& error) {
      reader_.error(fields.place("file"),
                    error.diagnostics().front().file + ": " + error.diagnostics().front().message);
      return;
    }
    if (describes_chip(machine.document)) {
      machine.read_chip = read_chip_;
    }
    read_kernels(machine, fields);
    read_list(machine, fields.find("list"));
    read_grid(machine, fields.find("grid"));
    check_values(machine);
    campaign.machines.push_back(std::move(machine));
  }

  // Of a GPU: what the kernels multiply, how, and how images lie; as options of `network`.
  void read_kernels(Machine& machine, const Fields& fields) {
    const bool gpu = !machine.read_chip && describes_gpu(machine.document);
    has_gpu_ = has_gpu_ || gpu;
    for (const char* key : {"precision", "path", "layout"}) {
      if (!gpu && fields.has(key)) {
        reader_.error(fields.place(key), machine.document.file + ": is no GPU, which has kernels");
      }
    }
    const auto precision = read_precision(reader_, fields.find("precision"));
    const auto path = reader_.choice(fields.find("path"), names_of<GpuPath>(kGpuPaths), "path");
    const auto layout = reader_.choice(fields.find("layout"), {"nhwc", "nchw"}, "layout");
    machine.kernels.request.precision = precision;
    if (path) {
      machine.kernels.path = static_cast<GpuPath>(*path);
    }
    machine.kernels.request.layout = layout == 1U ? ConvLayout::kNchw : ConvLayout::kNhwc;
  }

  // A value at its path, tried on a copy of the file.
  bool is_good(const Machine& machine, const Node& key, const Node& value) {
    Node copy = machine.document.root;
    const auto problem = substitute(copy, key.text, value);
    if (problem) {
      reader_.error(key, fmt::format("{}: {}", machine.document.file, *problem));
    }
    return !problem;
  }

  void read_list(Machine& machine, const Node* list) {
    for (const Node* item : items(list, "a list of settings")) {
      Settings settings;
      for (const Entry* entry : reader_.entries(*item, "a map of paths to values")) {
        if (is_good(machine, entry->key, entry->value)) {
          settings.push_back({entry->key.text, entry->value});
          places_.push_back({&entry->value, entry->key.text, machine.list.size()});
        }
      }
      machine.list.push_back(std::move(settings));
    }
    if (list == nullptr) {
      machine.list.emplace_back();
    }
  }

  void read_grid(Machine& machine, const Node* grid) {
    if (grid == nullptr) {
      return;
    }
    for (const Entry* entry : reader_.entries(*grid, "a map of paths to lists of values")) {
      std::vector<Node> values;
      std::set<std::string> texts;
      for (const Node* value : items(&entry->value, "a list of values")) {
        if (!texts.insert(flow_text(*value)).second) {
          reader_.error(*value, fmt::format("a second {}", describe(*value)));
        } else if (!is_good(machine, entry->key, *value)) {
          break;  // what is wrong with the path is wrong for all of them
        } else {
          values.push_back(*value);
          places_.push_back({value, entry->key.text, std::nullopt});
        }
      }
      for (const Settings& settings : machine.list) {
        for (const Setting& setting : settings) {
          if (setting.path == entry->key.text) {
            reader_.error(entry->key, "is in the list, too, which this grid would overrule");
          }
        }
      }
      machine.grid.emplace_back(entry->key.text, std::move(values));
    }
  }

  // Values that are wrong in themselves are errors of the campaign, said once for all designs.
  void check_values(const Machine& machine) {
    std::set<std::pair<std::string, std::string>> tried;  // items of a list repeat values
    std::set<std::pair<std::string, std::string>> said;   // an unknown key, once for all values
    for (const auto& [value, path, item] : std::exchange(places_, {})) {
      if (item && !tried.emplace(path, flow_text(*value)).second) {
        continue;
      }
      const auto problem =
          own_error(machine, item ? &machine.list[*item] : nullptr, {path, *value});
      if (problem && said.emplace(path, *problem).second) {
        reader_.error(*value, *problem);
      }
    }
  }

  void read_search(Campaign& campaign, const Fields& fields) {
    if (const auto chosen = reader_.choice(fields.find("strategy"), kStrategies, "strategy")) {
      campaign.strategy = kStrategies[*chosen];
    }
    campaign.evaluations = reader_.integer(fields.find("evaluations"), 1, kMost).value_or(10'000);
    campaign.seed = reader_.integer(fields.find("seed"), 0, kMost).value_or(1);
    campaign.budget.labels =
        reader_.integer(fields.find("budget_labels"), 1, kMost).value_or(campaign.budget.labels);
  }

  void read_questions(Campaign& campaign, const Fields& fields) {
    const bool has_chip = std::any_of(campaign.machines.begin(), campaign.machines.end(),
                                      [](const Machine& m) { return m.read_chip != nullptr; });
    std::vector<Question> objectives;
    for (const Node* item : items(fields.find("objectives"), "a list of objectives")) {
      if (const auto question = read_objective(reader_, *item)) {
        const bool again =
            std::any_of(objectives.begin(), objectives.end(), [&](const Question& other) {
              return other.objective == question->objective &&
                     other.is_throughput == question->is_throughput &&
                     other.max_latency == question->max_latency;
            });
        if (again) {
          reader_.error(*item, "repeats an earlier item");
        }
        objectives.push_back(*question);
      }
    }
    if (!fields.has("objectives")) {
      objectives.emplace_back();
      objectives.back().objective = has_gpu_ || has_chip ? Objective::kLatency : Objective::kEnergy;
    }
    std::vector<Question> rules;
    for (const Node* item : items(fields.find("constraints"), "a list of constraints files")) {
      if (const auto file = reader_.text(item, "a constraints file, or none")) {
        const bool again = std::any_of(rules.begin(), rules.end(), [&](const Question& other) {
          return other.constraints == *file;
        });
        if (again) {
          reader_.error(*item, fmt::format("a second {}", quoted(*file)));
        }
        rules.push_back(read_rules(*item, *file));
      }
    }
    if (!fields.has("constraints")) {
      rules.emplace_back();
    }
    for (const Question& objective : objectives) {
      for (const Question& rule : rules) {
        campaign.questions.push_back(rule);
        campaign.questions.back().objective = objective.objective;
        campaign.questions.back().is_throughput = objective.is_throughput;
        campaign.questions.back().max_latency = objective.max_latency;
      }
    }
  }

  // Its text only: what it means depends on the design and the layer.
  Question read_rules(const Node& node, const std::string& file) {
    Question question;
    question.constraints = file;
    if (file != "none") {
      question.constraints_file = found(file, FileKind::kConstraints);
      try {
        require_name(file, question.constraints_file, FileKind::kConstraints);
        question.constraints_text =
            read_yaml(checked_file(question.constraints_file, {FileKind::kConstraints})).text;
      } catch (const ConfigError& error) {
        reader_.error(
            node, error.diagnostics().front().file + ": " + error.diagnostics().front().message);
      }
    }
    return question;
  }

  std::string machine_file(const std::string& file) const {
    const std::string arch = found(file, FileKind::kArch);
    std::error_code error;
    const bool is_chip = !fs::exists(arch, error);
    const std::string path = is_chip ? found(file, FileKind::kSoc) : arch;
    require_name(file, path, FileKind::kArch);
    return checked_file(
        fs::exists(path, error) ? path : arch,
        read_chip_ ? FileKinds{FileKind::kArch, FileKind::kSoc} : FileKinds{FileKind::kArch});
  }

  std::string found(const std::string& file, FileKind kind) const {
    return find_named(folder_.string(), file, kind, configs_);
  }

  // An error for a name that neither a file at `path` nor a shipped one has.
  void require_name(const std::string& name, const std::string& path, FileKind kind) const {
    std::error_code error;
    const std::string unknown = fs::exists(path, error) ? "" : unknown_name(name, kind, configs_);
    if (!unknown.empty()) {
      throw ConfigError{{Diagnostic{name, 0, 0, "", unknown, ""}}};
    }
  }

  // What a pattern stands for, each file once: files, else shipped ones by their names.
  void add_sources(const Node& node, const std::string& pattern, FileKind kind, const Source& like,
                   std::vector<Source>& into) {
    std::vector<std::string> files = files_of(folder_.string(), pattern);
    if (files.empty()) {
      files = shipped_files_of(pattern, kind, configs_);
    }
    if (files.empty()) {
      files.push_back(found(pattern, kind));
      std::error_code error;
      if (!fs::exists(files.front(), error)) {
        const bool many = pattern.find('*') != std::string::npos;
        const std::string unknown = many ? "" : unknown_name(pattern, kind, configs_);
        reader_.error(node, unknown.empty() ? fmt::format("no such file: {}", quoted(pattern))
                                            : fmt::format("{}: {}", quoted(pattern), unknown));
        return;
      }
    }
    for (const std::string& file : files) {
      const bool again = std::any_of(into.begin(), into.end(), [&](const Source& other) {
        return other.file == file && other.name == like.name &&
               is_same(other.options, like.options);
      });
      if (!again) {
        into.push_back({&node, file, like.name, like.options});
      }
    }
  }

  // {file: ..., name: ..., batch: ..., dims: ..., operand_bits: ...}
  void add_network_source(const Node& node, std::vector<Source>& into) {
    const Fields fields = reader_.fields(node, {"file", "name", "batch", "dims", "operand_bits"});
    Source like;
    like.name = reader_.name(fields.find("name")).value_or("");
    like.options.batch = reader_.integer(fields.find("batch"), 1, kMostBatch).value_or(1);
    if (const Node* dims = fields.find("dims")) {
      for (const Entry* entry : reader_.entries(*dims, "a map of symbolic dims to extents")) {
        like.options.dims[entry->key.text] = reader_.integer(&entry->value, 1, kMost).value_or(1);
      }
    }
    if (const auto bits = reader_.integer(fields.find("operand_bits"), 1, kMostOperandBits)) {
      like.options.operand_bits = Bits{*bits};
    }
    if (const auto file = reader_.text(fields.require("file"), "a file or a pattern")) {
      add_sources(node, *file, FileKind::kNetwork, like, into);
    }
  }

  std::vector<Source> sources(const Node* list, const std::string& what) {
    std::vector<Source> files;
    for (const Node* item : items(list, fmt::format("a list of {} (files or patterns)", what))) {
      if (item->kind == Node::Kind::kMap && what == "networks") {
        add_network_source(*item, files);
      } else if (const auto pattern = reader_.text(item, "a file or a pattern")) {
        const FileKind kind = what == "networks" ? FileKind::kNetwork : FileKind::kWorkload;
        add_sources(*item, *pattern, kind, {}, files);
      }
    }
    return files;
  }

  void take_work(const Node& node, std::vector<Source>& workloads, std::vector<Source>& networks) {
    workloads.clear();
    networks.clear();
    for (const std::string& file : *work_) {
      const auto kind = recognise(beginning_of(file));
      const bool network = file.ends_with(".onnx") || (kind && kind->kind == FileKind::kNetwork);
      (network ? networks : workloads).push_back({&node, file, "", {}});
    }
  }

  // Operators that only move data are rows, too: they are part of what a network costs.
  void add_network(Campaign& campaign, const Source& source) {
    const Network network = read_network(source.file, source.options, configs_);
    const std::string name = source.name.empty() ? network.name : source.name;
    if (!networks_.insert(name).second) {
      reader_.error(*source.node,
                    fmt::format("a second network {}; give it a name of its own: {{file: ..., "
                                "name: ...}}",
                                quoted(name)));
    }
    for (const std::string& warning : network.warnings) {
      campaign.warnings.push_back(name + ": " + warning);
    }
    if (!campaign.machines.empty() && campaign.machines.front().read_chip) {
      if (!network.graph) {
        reader_.error(*source.node, fmt::format("{}: is a list of layers and has no edges; a plan "
                                                "needs a graph (mapsim list networks)",
                                                source.file));
        return;
      }
      campaign.layers.push_back(
          {name, "plan", 1, {}, {}, {}, std::make_shared<const Network>(network)});
      return;
    }
    for (const NetworkLayer& layer : network.layers) {
      campaign.layers.push_back(
          {name, layer.name, layer.count, layer.workload, {}, layer.workbook});
    }
    for (const Stream& stream : network.streams) {
      campaign.layers.push_back({name, stream.name, stream.count, {}, stream});
    }
    for (const auto& [kind, count] : network.unpriced) {
      campaign.unpriced.emplace_back(name, kind, count);
    }
  }

  void load_layers(Campaign& campaign, const std::vector<Source>& workloads,
                   const std::vector<Source>& networks) {
    for (const Source& source : workloads) {
      if (source.file.ends_with(".onnx")) {
        add_network(campaign, source);
        continue;
      }
      const Workload workload = load_workload(source.file);
      campaign.layers.push_back({"", workload.name, 1, workload});
    }
    for (const Source& source : networks) {
      add_network(campaign, source);
    }
    reader_.finish();
  }

  Reader& reader_;
  fs::path folder_;  // files are named from here
  const Words& configs_;
  const std::optional<Words>& work_;
  const ReadChip& read_chip_;
  std::set<std::string> networks_;
  bool has_gpu_ = false;  // kernels are chosen by time
  // Where the settings of a machine stand: the value, its path, and the item of the list.
  struct Place {
    const Node* value = nullptr;
    std::string path;
    std::optional<std::size_t> item;
  };
  std::vector<Place> places_;
};

Campaign read_campaign(const Document& document, const Words& configs, const ReadChip& read_chip,
                       const std::optional<Words>& work = std::nullopt) {
  Reader reader{document};
  return CampaignReader{reader, fs::path{document.file}.parent_path(), configs, work, read_chip}
      .read();
}

}  // namespace

Campaign load_campaign(const std::string& path, const std::vector<std::string>& configs,
                       const ReadChip& read_chip) {
  return read_campaign(read_yaml(checked_file(path, {FileKind::kCampaign})), configs, read_chip);
}

Campaign load_design_space(const std::string& path, const std::vector<std::string>& work,
                           const std::vector<std::string>& configs) {
  return read_campaign(read_yaml(checked_file(path, {FileKind::kCampaign})), configs, {}, work);
}

Campaign parse_campaign(const std::string& text, const std::string& filename,
                        const std::vector<std::string>& configs, const ReadChip& read_chip) {
  return read_campaign(parse_yaml(text, filename), configs, read_chip);
}

}  // namespace mapsim
