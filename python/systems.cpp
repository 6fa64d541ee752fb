// SPDX-License-Identifier: Apache-2.0
// Fused layers, plans of networks on chips, the best machine of a space.
#include "mapsim/systems.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "core/edit_distance.hpp"
#include "core/quantity_text.hpp"
#include "core/shipped.hpp"
#include "python/bind.hpp"

namespace py = pybind11;

namespace mapsim {

namespace {

FusionLimits limits_of(const py::dict& asked) {
  FusionLimits limits;
  limits.most_einsums = asked["max_group"].cast<std::size_t>();
  limits.most_loops = asked["shared_loops"].cast<std::size_t>();
  return limits;
}

// The index of a word among those of an enumeration.
template <class Enum>
Enum word_of(const py::dict& asked, const char* key, const Words& words) {
  const auto word = asked[key].cast<std::string>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) {
      return static_cast<Enum>(i);
    }
  }
  throw std::invalid_argument{std::string{key} + ": '" + word + "' is unknown" +
                              suggestion(word, words)};
}

// A quantity as people write it ("2 ms"); nullopt: an empty text.
template <class Quantity, class Parse>
std::optional<Quantity> quantity_of(const py::dict& asked, const char* key, const Parse& parse) {
  const auto text = asked[key].cast<std::string>();
  if (text.empty()) {
    return std::nullopt;
  }
  const Parsed<Quantity> parsed = parse(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{std::string{key} + ": " + *wrong};
  }
  return std::get<Quantity>(parsed);
}

// The memory of each search, where it is given.
void set_memory(const py::dict& asked, std::size_t& bytes) {
  if (const auto memory = quantity_of<Bits>(asked, "memory", parse_size)) {
    bytes = static_cast<std::size_t>(memory->count() / 8);
  }
}

PlanOptions plan_options_of(const py::dict& asked) {
  PlanOptions options;
  options.objective =
      word_of<PlanObjective>(asked, "objective", {"latency", "energy", "throughput"});
  options.fusion = word_of<Fusion>(asked, "fusion", {"none", "vertical", "horizontal", "elision"});
  options.launch = word_of<LaunchMode>(asked, "launch", {"graph", "stream"});
  options.front = asked["front"].cast<bool>();
  options.at_once = asked["at_once"].cast<bool>();
  options.sparse = asked["sparse"].cast<bool>();
  for (const auto& word : asked["precision"].cast<Words>()) {
    const std::optional<std::int64_t> width = width_named(word);
    if (!width) {
      throw std::invalid_argument{"precision: '" + word + "' is none of s8, f16, f32"};
    }
    options.widths.push_back(*width);
  }
  if (const auto time = quantity_of<Seconds>(asked, "max_latency", parse_seconds)) {
    options.max_latency = time->count();
  }
  if (const auto power = quantity_of<Milliwatts>(asked, "max_power", parse_power)) {
    options.max_power = power->count() / 1000;
  }
  if (const auto memory = quantity_of<Bits>(asked, "max_memory", parse_size)) {
    options.max_memory = static_cast<double>(memory->count()) / 8;
  }
  options.seconds = budget_seconds(asked);
  set_memory(asked, options.bytes);
  return options;
}

// The chip, with no engines but those that are named.
Soc chip_of(const std::string& path, const py::dict& asked, const Words& configs) {
  const Soc soc = load_soc(path, configs);
  std::vector<std::size_t> engines;
  for (const auto& name : asked["engines"].cast<Words>()) {
    const Parsed<std::size_t> engine = engine_named(soc, name);
    if (const auto* wrong = std::get_if<std::string>(&engine)) {
      throw std::invalid_argument{"engines: " + *wrong};
    }
    engines.push_back(std::get<std::size_t>(engine));
  }
  return engines.empty() ? soc : with_engines(soc, engines);
}

void bind_fusion(py::module_& m) {
  py::class_<ChainSolution>(m, "Chain")
      .def_property_readonly("json", [](const ChainSolution& s) { return to_json(s); })
      .def_property_readonly("text", [](const ChainSolution& s) { return to_text(s); })
      .def_property_readonly("tree", &tree_yaml)
      .def("proof", [](const ChainSolution& s) { return proof_yaml(s); });
  py::class_<FusedSolution>(m, "FusedNetwork")
      .def_property_readonly("json", [](const FusedSolution& s) { return to_json(s); })
      .def_property_readonly("text", [](const FusedSolution& s) { return to_text(s); })
      .def("proof", [](const FusedSolution& s) {
        return interruptible([&](const std::atomic<bool>& stop) { return proof_yaml(s, &stop); });
      });
  m.def("fuse", [](const ArchFile& file, const EinsumChain& chain, const py::dict& asked) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    const FusionLimits limits = limits_of(asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      return fuse(arch, chain, request, limits);
    });
  });
  m.def("fusion_curve", [](const ArchFile& file, const EinsumChain& chain, const std::string& level,
                           const py::dict& asked) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    const FusionLimits limits = limits_of(asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      const ChainCurveSolution curve = fusion_curve(arch, chain, level, request, limits);
      return std::tuple{to_json(curve), to_text(curve), to_svg(curve)};
    });
  });
  m.def("fuse_network", [](const ArchFile& file, const std::string& path, const py::dict& asked,
                           const std::map<std::string, std::int64_t>& dims, std::int64_t batch,
                           std::int64_t operand_bits, const Words& configs) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    const FusionLimits limits = limits_of(asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      return fuse(arch, read_network(path, model_options(dims, batch, operand_bits), configs),
                  request, limits);
    });
  });
}

void bind_plans(py::module_& m) {
  m.def("plan", [](const std::string& chip, const std::string& path, const py::dict& asked,
                   const std::map<std::string, std::int64_t>& dims, std::int64_t batch,
                   const Words& configs) {
    PlanOptions options = plan_options_of(asked);
    const Soc soc = chip_of(chip, asked, configs);
    return interruptible([&](const std::atomic<bool>& stop) {
      options.stop = &stop;
      const PlanSolution solution =
          plan(soc, read_network(path, model_options(dims, batch), configs), options);
      if (!solution.answer.misfit.empty()) {
        throw std::invalid_argument{"no plan keeps the limits: " + solution.answer.misfit};
      }
      return std::tuple{to_json(solution), to_text(solution), to_trace(solution),
                        proof_json(solution)};
    });
  });
  m.def("plan_stream", [](const std::string& chip, const std::string& path, const py::dict& asked,
                          const std::map<std::string, std::int64_t>& dims,
                          const std::map<std::string, std::int64_t>& batches, std::int64_t batch,
                          const Words& configs) {
    PlanOptions options = plan_options_of(asked);
    const Soc soc = chip_of(chip, asked, configs);
    for (const auto& [name, own] : batches) {
      if (const Parsed<std::size_t> engine = engine_named(soc, name);
          const auto* wrong = std::get_if<std::string>(&engine)) {
        throw std::invalid_argument{"engine_batches: " + *wrong};
      }
    }
    return interruptible([&](const std::atomic<bool>& stop) {
      options.stop = &stop;
      std::vector<Network> networks;
      std::vector<std::int64_t> each;
      for (const Engine& engine : soc.engines) {
        const auto own = batches.find(engine.name);
        each.push_back(own == batches.end() ? batch : own->second);
        networks.push_back(read_network(path, model_options(dims, each.back()), configs));
      }
      const StreamSolution solution = plan_stream(soc, networks, each, options);
      return std::tuple{to_json(solution), to_text(solution), proof_json(solution)};
    });
  });
}

// That of the space where `text` is empty.
DesignObjective design_objective(const Campaign& campaign, const std::string& space,
                                 const std::string& text) {
  if (text.empty()) {
    if (const std::optional<DesignObjective> own = space_objective(campaign)) {
      return *own;
    }
    throw std::invalid_argument{"objective: " + space + " has several; choose one"};
  }
  const Parsed<DesignObjective> parsed = parse_design_objective(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{"objective: " + *wrong};
  }
  return std::get<DesignObjective>(parsed);
}

void bind_designs(py::module_& m) {
  m.def("design", [](const std::string& space, const Words& work, const py::dict& asked,
                     const Words& configs) {
    const Campaign campaign = load_design_space(space, work, configs);
    DesignOptions options;
    options.objective = design_objective(campaign, space, asked["objective"].cast<std::string>());
    options.limits.area = quantity_of<SquareMillimetres>(
        asked, "max_area", [](const std::string& text) { return parse_area(text, std::nullopt); });
    options.limits.energy = quantity_of<Picojoules>(asked, "max_energy", parse_energy);
    options.limits.latency = quantity_of<Seconds>(asked, "max_latency", parse_seconds);
    options.limits.power = quantity_of<Milliwatts>(asked, "max_power", parse_power);
    options.wanted = asked["front"].cast<bool>() ? Wanted::kFront : Wanted::kBest;
    options.top = asked["top"].cast<std::size_t>();
    options.certificate = asked["certificate"].cast<bool>();
    if (const std::string why = options.certificate ? why_no_certificate(campaign, options) : "";
        !why.empty()) {
      throw std::invalid_argument{"certificate: " + why};
    }
    options.gap = asked["gap"].cast<double>();
    options.threads = asked["threads"].cast<int>();
    options.seconds = budget_seconds(asked);
    set_memory(asked, options.bytes);
    return interruptible([&](const std::atomic<bool>& stop) {
      options.stop = &stop;
      const DesignSolution solution = best_design(campaign, options);
      return std::tuple{to_json(solution), to_text(solution), arch_yaml(solution),
                        certificate_text(solution)};
    });
  });
}

}  // namespace

void bind_systems(py::module_& m) {
  py::class_<EinsumChain>(m, "EinsumChain")
      .def_static("load", &load_chain)
      .def_static("parse", &parse_chain)
      .def_readonly("name", &EinsumChain::name)
      .def_property_readonly("einsums", [](const EinsumChain& chain) {
        Words names;
        for (const Workload& einsum : chain.einsums) {
          names.push_back(einsum.name);
        }
        return names;
      });
  bind_fusion(m);
  bind_plans(m);
  bind_designs(m);
}

}  // namespace mapsim
