// SPDX-License-Identifier: Apache-2.0
#include "app/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "app/options.hpp"
#include "core/edit_distance.hpp"
#include "report/json.hpp"

namespace mapsim {

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 a negative answer (nothing fits, counts differ, a proof does not\n"
    "hold); 2 bad input or usage; 4 an error of mapsim's own; 130 interrupted, the best so far "
    "written.";

void add_inputs(CLI::App& command, std::string& arch, std::string& workload) {
  command.add_option("ARCH", arch, "Architecture (YAML)")->required()->type_name("");
  command.add_option("WORKLOAD", workload, "Workload (YAML)")->required()->type_name("");
}

// What is wrong with a text, else nothing; `take` gets what it means.
template <class T, class Take>
std::optional<std::string> taken(const Parsed<T>& parsed, const Take& take) {
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  take(std::get<T>(parsed));
  return std::nullopt;
}

void add_objective(CLI::App& command, ObjectiveArguments& a) {
  add_text(command, "--objective", "FORMULA",
           "energy (default), latency, edp, a product like 'energy^2*latency', or "
           "'energy,latency': of the least energy the fastest",
           [&a](const std::string& text) {
             return taken(parse_objective(text), [&a](const Objective& parsed) {
               a.chosen = true;
               a.objective.energy_power = parsed.energy_power;
               a.objective.latency_power = parsed.latency_power;
               a.objective.exact_ties = parsed.exact_ties;
             });
           });
  add_choice(
      command, "latency", {"steady", "ramped"},
      [&a](const std::string& word) {
        a.objective.mode = word == "ramped" ? LatencyMode::kRamped : LatencyMode::kSteady;
      },
      "Which latency counts: steady (default), or ramped, with first fills and last drains");
  add_text(command, "--max-energy", "ENERGY", "Only mappings that need at most this: 800 uJ",
           [&a](const std::string& text) {
             return taken(parse_energy(text),
                          [&a](Picojoules energy) { a.objective.max_energy = energy; });
           });
  add_text(command, "--max-latency", "TIME",
           "Only mappings that take at most this: 1.2e6 cycles, 6 ms",
           [&a](const std::string& text) {
             a.max_latency = text;  // the clock is not known yet
             return taken(parse_duration(text, Hertz{1e9}), [](Cycles) {});
           });
}

void add_fronts(CLI::App& command, SearchArguments& a) {
  CLI::Option* pareto = command.add_flag(
      "--pareto", a.pareto, "Every mapping that none beats in both energy and latency");
  CLI::Option* curve = command.add_option(
      "--curve", a.curve, "The optimum over the capacity of a level, or of its part for a role");
  curve->type_name("LEVEL[:ROLE]")->excludes(pareto);
  pareto->excludes(command.get_option("--objective"));
  for (CLI::Option* front : {pareto, curve}) {
    for (const char* other : {"--strategy", "--why"}) {
      front->excludes(command.get_option(other));
    }
  }
  command.add_option("--svg", a.svg, "Draw the front or the curve to FILE (SVG)")
      ->type_name("FILE");
}

void add_budget(CLI::App& command, Budget& budget) {
  add_text(command, "--budget", "TIME",
           "Stop after this long (10 s, 2 min) with the best so far and its true gap",
           [&budget](const std::string& text) {
             return taken(parse_seconds(text),
                          [&budget](Seconds limit) { budget.seconds = limit.count(); });
           });
  add_number(command, "--budget-labels", budget.labels, std::int64_t{1}, kMost,
             "Stop after about N labels: the same result on any machine");
}

// How mappings are looked for: of search and of network.
template <class Arguments>
void add_strategy(CLI::App& command, Arguments& a) {
  add_choice(
      command, "strategy", {"exact", "exhaustive", "random", "annealing", "genetic", "sample"},
      [&a](const std::string& word) { a.strategy = word; },
      "exact (default), exhaustive, random, annealing or genetic");
  add_number(command, "--evaluations,--samples", a.evaluations, std::int64_t{1}, kMost,
             "How many mappings random, annealing and genetic try [10000]");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of these [1]");
  command.add_flag("--even", a.even, "A level keeps all its tensors at one point of the nest");
}

void add_precision(CLI::App& command, std::string& precision) {
  add_choice(
      command, "precision", {"f64", "f32", "tf32", "f16", "f16_acc16", "bf16", "s8", "fp8"},
      [&precision](const std::string& word) { precision = word; },
      "GPU: of the operands, whatever their width in the workload");
}

void add_path(CLI::App& command, KernelArguments& a) {
  add_choice(
      command, "path", {"wmma", "mma", "wgmma", "simt"},
      [&a](const std::string& word) { a.path = word; },
      "GPU: wmma, mma, wgmma or simt; default the chip's fastest");
}

void add_kernels(CLI::App& command, KernelArguments& a) {
  command.add_option("--top", a.top, "GPU: how many kernels to print [10]")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_precision(command, a.precision);
  add_path(command, a);
  add_choice(
      command, "layout", {"tn", "nn", "nt", "tt", "nhwc", "nchw"},
      [&a](const std::string& word) { a.layout = word; },
      "GPU: tn (default), nn, nt or tt of a GEMM; nhwc (default) or nchw of a convolution");
  add_choice(
      command, "export", {"triton", "cutlass", "json"},
      [&a](const std::string& word) { a.format = word; },
      "GPU: the kernels as triton.Config list, CUTLASS test list or JSON");
}

void add_search(CLI::App& app, SearchArguments& a) {
  CLI::App& command = *app.add_subcommand("search", "The best mapping, and the proof that it is");
  add_inputs(command, a.arch, a.workload);
  command.add_option("--constraints", a.constraints, "What mappings must look like (YAML)")
      ->type_name("FILE");
  add_objective(command, a.objective);
  add_strategy(command, a);
  command.add_flag("--imperfect", a.imperfect,
                   "Tiles of ceil(bound / n) beside divisors (factors: balanced)");
  add_threads(command, a.threads);
  command.add_flag("--print-constraints", a.print_constraints,
                   "Print what the constraints say, in full, before the result");
  CLI::Option* explain =
      command.add_flag("--explain-energy", a.explain_energy,
                       "Every action of the best mapping with its count and its energy");
  command.add_flag("--why", a.why, "Which capacity or bandwidth, doubled, would help first");
  command
      .add_option(
          "--save-mapping", a.mapping_file,
          "Write the best mapping to FILE (YAML); with --pareto or --curve one per point to "
          "the folder FILE")
      ->type_name("FILE");
  command.add_option("--certificate", a.certificate_file, "Write the proof to FILE, for check")
      ->type_name("FILE");
  add_fronts(command, a);
  add_kernels(command, a.kernels);
  explain->excludes("--pareto")->excludes("--curve");
  add_budget(command, a.budget);
  add_output(command, a.output);
}

void add_onnx(CLI::App& command, OnnxArguments& a) {
  command.add_option("--dim", a.dims, "ONNX: the value of a symbolic dim of the inputs")
      ->type_name("NAME=N");
  add_number(command, "--batch", a.batch, std::int64_t{1}, std::int64_t{1} << 20,
             "ONNX: a symbolic first dim [1]");
  add_number(command, "--operand-bits", a.operand_bits, std::int64_t{1}, std::int64_t{64},
             "ONNX: operands of N bits and sums of 32, whatever the model says");
}

void add_network(CLI::App& app, NetworkArguments& a) {
  CLI::App& command =
      *app.add_subcommand("network", "The best mapping of every layer of a network, and totals");
  command.add_option("ARCH", a.arch, "Architecture (YAML)")->required()->type_name("");
  command.add_option("NETWORK", a.network, "Network (YAML, or a model: FILE.onnx)")
      ->required()
      ->type_name("");
  add_onnx(command, a.onnx);
  command.add_option("--constraints", a.constraints, "What mappings of every layer must look like")
      ->type_name("FILE");
  add_objective(command, a.objective);
  add_strategy(command, a);
  add_threads(command, a.threads);
  add_budget(command, a.budget);
  add_precision(command, a.kernels.precision);
  add_path(command, a.kernels);
  add_choice(
      command, "layout", {"nhwc", "nchw"},
      [&a](const std::string& word) { a.kernels.layout = word; },
      "GPU: nhwc (default) or nchw, of convolutions");
  add_output(command, a.output);
}

void add_check(CLI::App& app, CheckArguments& a) {
  CLI::App& command =
      *app.add_subcommand("check", "Does a certificate prove what it claims? Without the search");
  command.add_option("CERTIFICATE", a.certificate, "Of search --certificate")
      ->required()
      ->type_name("");
  command.add_option("--arch", a.machine, "It must be about this architecture (YAML)")
      ->type_name("FILE");
  command.add_option("--workload", a.layer, "It must be about this workload (YAML)")
      ->type_name("FILE");
  add_number(command, "--max-steps", a.max_steps, std::int64_t{0}, kMost,
             "Walk the mapping step by step if it has no more MACs than this [1000000]");
  add_threads(command, a.threads);
  add_output(command, a.output);
}

void add_eval(CLI::App& app, EvalArguments& a) {
  CLI::App& command = *app.add_subcommand("eval", "The cost of one mapping");
  add_inputs(command, a.arch, a.workload);
  command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->required()->type_name("");
  command.add_flag("--explain-energy", a.explain_energy,
                   "Every action with its count, its energy, and where that number comes from");
  CLI::Option* why = command.add_flag(
      "--why", a.why, "What sets it apart from the optimum of a mapspace: all of perfect factors");
  command.add_option("--constraints", a.constraints, "... that obey these constraints (YAML)")
      ->type_name("FILE");
  command.add_flag("--imperfect", a.imperfect,
                   "... with tiles of ceil(bound / n) beside divisors (factors: balanced)");
  add_objective(command, a.objective);
  add_budget(command, a.budget);
  for (const char* name : {"--constraints", "--imperfect", "--budget", "--budget-labels"}) {
    command.get_option(name)->needs(why);
  }
  add_threads(command, a.threads);
  add_output(command, a.output);
}

void add_simulate(CLI::App& app, SimulateArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "simulate", "Walk a mapping step by step; compare counts and results with eval's");
  add_inputs(command, a.arch, a.workload);
  command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->required()->type_name("");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of the operands [1]");
  add_number(command, "--max-steps", a.max_steps, std::int64_t{1}, kMost,
             "Refuse walks of more steps of MAC units [10000000]");
  add_threads(command, a.threads);
  add_output(command, a.output);
}

void add_roofline(CLI::App& app, RooflineArguments& a) {
  CLI::App& command = *app.add_subcommand("roofline", "Bounds that no mapping can beat");
  add_inputs(command, a.arch, a.workload);
  add_precision(command, a.precision);
  add_threads(command, a.threads);
  add_output(command, a.output);
}

void add_show(CLI::App& app, ShowArguments& a) {
  CLI::App& command = *app.add_subcommand("show", "Draw a machine, and a mapping on it (SVG)");
  command.add_option("ARCH", a.arch, "Architecture (YAML)")->required()->type_name("");
  CLI::Option* workload =
      command.add_option("WORKLOAD", a.workload, "Workload (YAML)")->type_name("");
  CLI::Option* mapping = command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->type_name("");
  workload->needs(mapping);
  add_threads(command, a.threads);
  command.add_option("--out", a.output.file, "Write to FILE, whole or not at all")
      ->type_name("FILE");
}

void add_histogram(CLI::App& app, HistogramArguments& a) {
  CLI::App& command =
      *app.add_subcommand("histogram", "Energy over the mappings that keep the machine busy");
  add_inputs(command, a.arch, a.workload);
  command.add_option("--constraints", a.constraints, "What mappings must look like (YAML)")
      ->type_name("FILE");
  add_number(command, "--mappings", a.options.mappings, std::int64_t{1}, kMost,
             "How many distinct mappings [480000]");
  command.add_flag("--compute-only", a.options.compute_only, "Busy as if bandwidths were infinite");
  command
      .add_option_function<std::uint64_t>(
          "--seed", [&a](std::uint64_t seed) { a.options.seed = seed; }, "Seed of the walks [1]")
      ->type_name("N");
  add_threads(command, a.options.threads);
  command.add_option("--svg", a.svg, "Draw it to FILE (SVG)")->type_name("FILE");
  command.footer(
      "It is the picture of Timeloop's figure 1 (Parashar et al., ISPASS 2019); the buffer sizes "
      "of\n"
      "the machine there are not published, so shapes can be compared, energies cannot.");
  add_output(command, a.output);
}

// The tool whose files are read or written.
void add_format(CLI::App& command, const Words& formats, std::string& format) {
  command
      .add_option("FORMAT", format,
                  fmt::format("Of the other tool: {}", fmt::join(formats, " or ")))
      ->check([formats](const std::string& word) {
        const bool known = std::find(formats.begin(), formats.end(), word) != formats.end();
        return known ? std::string{}
                     : fmt::format("no format '{}'{}", word, suggestion(word, formats));
      })
      ->required()
      ->type_name("");
}

void add_import(CLI::App& app, ImportArguments& a) {
  CLI::App& command = *app.add_subcommand("import", "Read the design of another tool");
  add_format(command, {"timeloop", "scalesim", "onnx", "gpu-table"}, a.format);
  command
      .add_option(
          "FILE", a.files,
          "timeloop: architecture, ERT, problem, mapping, constraints (YAML); scalesim: "
          "configuration and topology (CFG CSV); onnx: a model; gpu-table: GEMM timings (CSV, T4 "
          "JSON)")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--out", a.folder,
                  "Write arch.yaml and so on to DIR; gpu-table: add to the measurements file")
      ->required()
      ->type_name("DIR");
  add_onnx(command, a.onnx);
  command.add_option("--gpu", a.gpu, "gpu-table: of which GPU, where it does not say")
      ->type_name("NAME");
  command.add_option("--precision", a.precision, "gpu-table: in which precision: f16, bf16, ...")
      ->type_name("NAME");
  command.add_option("--problem", a.problem, "gpu-table: of which GEMM: 4096x4096x4096")
      ->type_name("MxNxK");
}

void add_export(CLI::App& app, ExportArguments& a) {
  CLI::App& command = *app.add_subcommand("export", "Write a mapping for another tool");
  add_format(command, {"timeloop"}, a.format);
  add_inputs(command, a.arch, a.workload);
  command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->required()->type_name("");
  command.add_option("-o,--out", a.output.file, "Write to FILE, whole or not at all")
      ->type_name("FILE");
}

void add_calibrate(CLI::App& app, CalibrateArguments& a) {
  CLI::App& command =
      *app.add_subcommand("calibrate", "Fit a GPU's calibration to measured kernels");
  command.add_option("MEASUREMENTS", a.measurements, "Measurements (CSV)")
      ->required()
      ->type_name("");
  command.add_option("--arch", a.arch, "Architecture (YAML) of a GPU")
      ->required()
      ->type_name("FILE");
  command.add_option("-o", a.calibrated, "Write the architecture with its calibration to FILE")
      ->type_name("FILE");
  command.add_option("--gpu", a.gpu, "Use the rows of this GPU [the architecture's name]")
      ->type_name("NAME");
  add_number(command, "--folds", a.folds, std::int64_t{2}, std::int64_t{100},
             "Hold out one problem in N, and judge by it [5]");
  add_number(command, "--rows", a.fit_rows, std::int64_t{20}, kMost,
             "Fit to N rows at most, drawn by the seed; all are judged [1500]");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of folds and draws [1]");
  add_output(command, a.output);
}

Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

Words command_names(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Misspelt commands and options, before CLI11 sees them: it says only that something is missing.
void check_spelling(const CLI::App& app, const Words& words) {
  const Words commands = command_names(app);
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (word == "--") {
      return;
    }
    if (word.starts_with("--")) {
      const Words known = option_names(*command);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw UsageError(fmt::format("no option '{}'{}", name, suggestion(name, known)));
      }
    } else if (command == &app && !word.starts_with("-")) {
      if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
        throw UsageError(fmt::format("no command '{}'{}", word, suggestion(word, commands)));
      }
      command = app.get_subcommand(word);
    }
  }
  if (words.empty()) {
    throw UsageError(fmt::format("a command is missing; one of {}", fmt::join(commands, ", ")));
  }
}

// CLI11 speaks by exceptions, of help too; here they become values and errors of ours.
std::optional<Information> read(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Information{app.help()};
  } catch (const CLI::CallForVersion&) {
    return Information{app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

}  // namespace

Objective complete(const ObjectiveArguments& arguments, Hertz clock) {
  Objective objective = arguments.objective;
  if (!arguments.max_latency.empty()) {
    const auto problem = taken(parse_duration(arguments.max_latency, clock),
                               [&objective](Cycles latency) { objective.max_latency = latency; });
    if (problem) {
      throw UsageError("--max-latency: " + *problem);
    }
  }
  return objective;
}

std::variant<Command, Information> parse_arguments(int argc, const char* const* argv) {
  CLI::App app{"Design-space simulator for mapping deep-learning layers onto hardware"};
  app.name("mapsim");
  app.set_version_flag("--version", "mapsim " + tool_version());
  app.footer(kExitCodes);
  app.require_subcommand(1);
  SearchArguments search;
  NetworkArguments network;
  SweepArguments sweep;
  MergeArguments merge;
  ResultsArguments results;
  CheckArguments check_proof;
  EvalArguments eval;
  SimulateArguments simulate;
  RooflineArguments roofline;
  ShowArguments show;
  HistogramArguments histogram;
  ImportArguments import;
  ExportArguments export_mapping;
  CalibrateArguments calibrate;
  add_search(app, search);
  add_network(app, network);
  add_sweep(app, sweep);
  add_merge(app, merge);
  add_results(app, results);
  add_check(app, check_proof);
  add_eval(app, eval);
  add_simulate(app, simulate);
  add_roofline(app, roofline);
  add_show(app, show);
  add_histogram(app, histogram);
  add_import(app, import);
  add_export(app, export_mapping);
  add_calibrate(app, calibrate);
  check_spelling(app, Words(argv + 1, argv + argc));
  if (const auto information = read(app, argc, argv)) {
    return *information;
  }
  const std::map<std::string, Command> parsed{{"search", search},
                                              {"network", network},
                                              {"sweep", sweep},
                                              {"merge", merge},
                                              {"results", results},
                                              {"check", check_proof},
                                              {"eval", eval},
                                              {"simulate", simulate},
                                              {"roofline", roofline},
                                              {"show", show},
                                              {"histogram", histogram},
                                              {"import", import},
                                              {"export", export_mapping},
                                              {"calibrate", calibrate}};
  return parsed.at(app.get_subcommands().front()->get_name());
}

}  // namespace mapsim
