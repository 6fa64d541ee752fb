// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "app/options.hpp"

namespace mapsim {

namespace {

void add_kernel(CLI::App& command, OneKernelArguments& a) {
  add_precision(command, a.precision);
  add_choice(
      command, "path", {"wmma", "mma", "wgmma", "simt"},
      [&a](const std::string& word) { a.path = word; },
      "GPU: wmma, mma, wgmma or simt; default the chip's fastest");
  add_choice(
      command, "layout", {"tn", "nn", "nt", "tt", "nhwc", "nchw"},
      [&a](const std::string& word) { a.layout = word; },
      "GPU: tn (default), nn, nt or tt of a GEMM; nhwc (default) or nchw of a convolution");
  command.add_option("--block", a.block, "GPU: tile of a block and its step along K: 128x128x32")
      ->type_name("MxNxK");
  command.add_option("--warp", a.warp, "GPU: tile of a warp or warpgroup: 64x64")->type_name("MxN");
  command.add_option("--fragment", a.fragment, "GPU: tile of one MMA operation: 16x16x16")
      ->type_name("MxNxK");
  for (const auto& [name, value, help] :
       {std::tuple{"--stages", &a.stages, "GPU: K steps of shared memory [3, before sm_80 2]"},
        std::tuple{"--split-k", &a.split_k, "GPU: slices of K [1]"},
        std::tuple{"--raster", &a.raster, "GPU: block columns of a group; 0: row by row [8]"},
        std::tuple{"--padding", &a.padding, "GPU: elements after a row of shared memory"},
        std::tuple{"--cluster", &a.cluster, "GPU: blocks along M that share B (wgmma) [1]"},
        std::tuple{"--registers", &a.registers, "GPU: of a thread, from the compiler"}}) {
    command.add_option(name, *value, help)->check(CLI::Range(0, 1024))->type_name("N");
  }
}

}  // namespace

void add_eval(CLI::App& app, EvalArguments& a) {
  CLI::App& command = *app.add_subcommand("eval", "The cost of one mapping, or of a GPU's kernel");
  add_inputs(command, a.arch, a.workload);
  command
      .add_option("MAPPING", a.mapping,
                  "Mapping (YAML); on a GPU a kernel (YAML, or JSON of search), or options instead")
      ->type_name("");
  add_kernel(command, a.kernel);
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

}  // namespace mapsim
