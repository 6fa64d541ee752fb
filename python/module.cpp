// SPDX-License-Identifier: Apache-2.0
// mapsim._mapsim: the library (mapsim/mapsim.hpp) as the package mapsim uses it. What people call
// is python/mapsim; here are texts, numbers and handles.
#include <limits>
#include <tuple>

#include "core/shipped.hpp"
#include "core/shipped_kinds.hpp"
#include "python/bind.hpp"
#include "report/show.hpp"
#include "workloads/print.hpp"

namespace py = pybind11;

namespace mapsim {

double budget_seconds(const py::dict& asked) {
  const auto text = asked["budget"].cast<std::string>();
  if (text.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  const Parsed<Seconds> parsed = parse_seconds(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{"budget: " + *wrong};
  }
  return std::get<Seconds>(parsed).count();
}

// What a search is asked, by its names in Python.
SearchRequest request_of(const Arch& arch, const py::dict& asked) {
  const auto text = [&asked](const char* key) { return asked[key].cast<std::string>(); };
  SearchRequest request;
  request.strategy = text("strategy");
  request.constraints = text("constraints");
  request.constraints_name = text("constraints_name");
  request.even = asked["even"].cast<bool>();
  request.imperfect = asked["imperfect"].cast<bool>();
  request.batches = asked["batches"].cast<bool>();
  SearchOptions& options = request.options;
  options.objective = objective_of(
      {text("objective"), text("latency"), text("max_energy"), text("max_latency")}, arch.clock);
  options.threads = asked["threads"].cast<int>();
  options.evaluations = asked["evaluations"].cast<std::int64_t>();
  options.seed = asked["seed"].cast<std::uint64_t>();
  options.budget.seconds = budget_seconds(asked);
  if (!asked["budget_labels"].is_none()) {
    options.budget.labels = asked["budget_labels"].cast<std::int64_t>();
  }
  if (const auto memory = text("memory"); !memory.empty()) {
    const Parsed<Bits> parsed = parse_size(memory);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
      throw std::invalid_argument{"memory: " + *wrong};
    }
    options.budget.bytes = static_cast<std::size_t>(std::get<Bits>(parsed).count() / 8);
  }
  options.budget.gap = asked["gap"].cast<double>();
  return request;
}

namespace {

// What the checker finds, as JSON, whatever the proof is about. `sample`: of designs alone.
std::string checked(const std::string& proof, const std::string& name, int threads,
                    std::size_t sample, const std::atomic<bool>& stop) {
  check::CheckOptions options;
  options.threads = threads;
  options.effort.stop = {&stop};
  if (check::is_plan_certificate(proof)) {
    return to_json(verify_plan(proof, name));
  }
  if (check::is_chain_certificate(proof)) {
    return to_json(verify_chain(proof, name, options));
  }
  if (check::is_network_certificate(proof)) {
    return to_json(verify_network(proof, name, options));
  }
  if (check::is_design_certificate(proof)) {
    return to_json(
        verify_designs(proof, name, {threads, options.max_steps, sample, options.effort.stop}));
  }
  return to_json(verify(proof, name, options));
}

// An exception of the package (python/mapsim/_errors.py), with its arguments.
template <class... Arguments>
void raise(const char* name, const Arguments&... arguments) {
  const py::object type = py::module_::import("mapsim._errors").attr(name);
  PyErr_SetObject(type.ptr(), type(arguments...).ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ConfigError& error) {
    py::list diagnostics;
    for (const Diagnostic& d : error.diagnostics()) {
      diagnostics.append(py::make_tuple(d.file, d.line, d.column, d.path, d.message, d.source));
    }
    raise("ConfigError", error.what(), diagnostics);
  } catch (const UnsupportedSearch& error) {
    raise("UnsupportedSearch", error.what());
  } catch (const std::invalid_argument& error) {
    const py::object words = py::module_::import("mapsim._words").attr("in_python");
    PyErr_SetObject(PyExc_ValueError, words(error.what()).ptr());
  }
}

FileKind kind_named(const std::string& word) {
  for (const ShippedKind& kind : kShippedKinds) {
    if (word == kind.name) {
      return kind.files;
    }
  }
  throw std::invalid_argument{"no kind of files '" + word + "'"};
}

void bind_inputs(py::module_& m) {
  py::class_<ArchFile>(m, "Arch")
      .def_static("load", &ArchFile::load)
      .def_static("parse", &ArchFile::parse)
      .def("set", &ArchFile::set)
      .def("copy", [](const ArchFile& arch) { return arch; })
      .def("check",
           [](const ArchFile& arch) { return arch.is_gpu() ? arch.gpu().name : arch.arch().name; })
      .def("svg", [](const ArchFile& arch) { return show_arch(arch.arch()); })
      .def_property_readonly("is_gpu", &ArchFile::is_gpu)
      .def_property_readonly("file", &ArchFile::file)
      .def_property_readonly("yaml", &ArchFile::yaml);
  py::class_<Workload>(m, "Workload")
      .def_static("load", &load_workload)
      .def_static("parse", &parse_workload)
      .def_readonly("name", &Workload::name)
      .def_property_readonly("macs", &Workload::macs)
      .def_property_readonly("equation", &Workload::equation)
      .def_property_readonly("yaml", &print_layer)
      .def_property_readonly("dims", [](const Workload& workload) {
        py::dict dims;
        for (const Dim& dim : workload.dims) {
          dims[py::str(dim.name)] = dim.bound;
        }
        return dims;
      });
  m.def("configs_above", &configs_above);
  m.def("find", [](const std::string& path, const std::string& kind, const Words& configs) {
    return find_shipped(path, kind_named(kind), configs);
  });
  m.def("unknown", [](const std::string& name, const std::string& kind, const Words& configs) {
    return unknown_name(name, kind_named(kind), configs, "shipped('" + kind + "')");
  });
  m.def("suggestion",
        [](const std::string& word, const Words& known) { return suggestion(word, known); });
  m.def("names", [](const std::string& kind, const Words& configs) {
    return shipped_names(kind_named(kind), configs);
  });
}

void bind_search(py::module_& m) {
  py::class_<Solution>(m, "Solution")
      .def_property_readonly("json", [](const Solution& s) { return to_json(s); })
      .def_property_readonly("text", [](const Solution& s) { return to_text(s); })
      .def_property_readonly("svg", [](const Solution& s) { return to_svg(s); })
      .def_property_readonly("nest", &nest_text)
      .def_property_readonly("mapping", &mapping_yaml)
      .def_property_readonly("reason", &why_none)
      .def_readonly("warnings", &Solution::warnings)
      .def_property_readonly("feasible",
                             [](const Solution& s) { return s.result.cost.has_value(); })
      .def_property_readonly("energy_pj",
                             [](const Solution& s) { return s.result.cost->energy.total.count(); })
      .def_property_readonly(
          "latency_cycles", [](const Solution& s) { return s.result.cost->latency.steady.count(); })
      .def("proof",
           [](const Solution& s) {
             return interruptible(
                 [&](const std::atomic<bool>& stop) { return proof_yaml(s, &stop); });
           })
      .def("reliefs",
           [](const Solution& s) {
             return interruptible([&](const std::atomic<bool>& stop) {
               std::vector<std::tuple<std::string, double, double>> rows;
               for (const Relief& relief : what_would_help(s, &stop)) {
                 if (relief.known) {
                   rows.emplace_back(relief.resource, relief.value, relief.gain);
                 }
               }
               return rows;
             });
           })
      .def("trace", [](const Solution& s) {
        return interruptible([&](const std::atomic<bool>& stop) { return trace_json(s, &stop); });
      });
  m.def("search", [](const ArchFile& file, const Workload& layer, const py::dict& asked) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      return search(arch, layer, request);
    });
  });
  py::class_<FrontSolution>(m, "Front")
      .def_property_readonly("json", [](const FrontSolution& s) { return to_json(s); })
      .def_property_readonly("text", [](const FrontSolution& s) { return to_text(s); })
      .def_property_readonly("svg", [](const FrontSolution& s) { return to_svg(s); });
  // `level` empty: energy against latency.
  m.def("front", [](const ArchFile& file, const Workload& layer, const std::string& level,
                    const py::dict& asked) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      return level.empty() ? pareto_front(arch, layer, request)
                           : capacity_curve(arch, layer, level, request);
    });
  });
}

void bind_evaluation(py::module_& m) {
  py::class_<Evaluated>(m, "Evaluated")
      .def_property_readonly("json", [](const Evaluated& e) { return to_json(e); })
      .def_property_readonly("text", [](const Evaluated& e) { return to_text(e); })
      .def_property_readonly("svg", [](const Evaluated& e) { return to_svg(e); })
      .def_property_readonly(
          "fits", [](const Evaluated& e) { return std::holds_alternative<Cost>(e.evaluation); })
      .def("simulate",
           [](const Evaluated& e, std::int64_t max_steps, std::uint64_t seed) {
             return interruptible([&](const std::atomic<bool>& stop) {
               const auto record = simulate(e, max_steps, seed, &stop);
               return record ? to_json(e, *record) : std::string{};
             });
           })
      .def("gap",
           [](const Evaluated& e, const py::dict& asked) {
             SearchRequest request = request_of(e.problem.arch(), asked);
             return interruptible([&](const std::atomic<bool>& stop) {
               request.options.stop = &stop;
               const GapReport gap = find_gap(e, request);
               return std::pair{to_json(e, gap), to_text(e, gap)};
             });
           })
      .def("trace", [](const Evaluated& e) {
        return interruptible([&](const std::atomic<bool>& stop) { return trace_json(e, &stop); });
      });
  m.def("roofline", [](const ArchFile& file, const Workload& layer) {
    const Arch arch = file.arch();
    return std::pair{roofline_json(arch, layer), roofline_text(arch, layer)};
  });
  m.def("evaluate",
        [](const ArchFile& arch, const Workload& layer, const std::string& mapping,
           const std::string& name) { return evaluate(arch.arch(), layer, mapping, name); });
  m.def("check",
        [](const std::string& proof, const std::string& name, int threads, std::size_t sample) {
          return interruptible([&](const std::atomic<bool>& stop) {
            return checked(proof, name, threads, sample, stop);
          });
        });
}

void bind_others(py::module_& m) {
  m.def("network", [](const ArchFile& file, const std::string& path, const py::dict& asked,
                      const std::map<std::string, std::int64_t>& dims, std::int64_t batch,
                      std::int64_t operand_bits, const Words& configs) {
    const Arch arch = file.arch();
    SearchRequest request = request_of(arch, asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      request.options.stop = &stop;
      const NetworkSolution solution = search_network(
          arch, read_network(path, model_options(dims, batch, operand_bits), configs), request);
      return std::pair{to_json(solution), to_text(solution)};
    });
  });
  m.def("histogram", [](const ArchFile& file, const Workload& layer, std::int64_t mappings,
                        std::uint64_t seed, const py::dict& asked) {
    const Arch arch = file.arch();
    const SearchRequest request = request_of(arch, asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      HistogramOptions options;
      options.mappings = mappings;
      options.seed = seed;
      options.threads = request.options.threads;
      options.stop = &stop;
      std::string svg;
      const Histogram histogram = energy_histogram(arch, layer, options, request, &svg);
      std::vector<double> energies;
      for (const HistogramPoint& point : histogram.points) {
        energies.push_back(point.energy_pj);
      }
      const double optimum = histogram.optimum ? histogram.optimum->energy.total.count() : 0;
      return std::tuple{energies, optimum, svg};
    });
  });
}

}  // namespace

}  // namespace mapsim

PYBIND11_MODULE(_mapsim, m) {
  m.attr("version") = mapsim::tool_version();
  py::register_exception_translator(mapsim::translate);
  mapsim::bind_inputs(m);
  mapsim::bind_search(m);
  mapsim::bind_evaluation(m);
  mapsim::bind_others(m);
  mapsim::bind_gpus(m);
  mapsim::bind_systems(m);
  mapsim::bind_timeloop(m);
}
