// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

#include <algorithm>
#include <thread>

namespace mapsim {

void add_output(CLI::App& command, Output& output) {
  command.add_flag("--json", output.json, "JSON for programs instead of text");
  command.add_option("--out", output.file, "Write to FILE, whole or not at all")->type_name("FILE");
}

void add_threads(CLI::App& command, int& threads) {
  threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  add_number(command, "--threads", threads, 1, kMaxThreads,
             "Threads; the answer does not depend on it [all]");
}

void add_choice(CLI::App& command, const std::string& name, const Words& words,
                const std::function<void(const std::string&)>& take, const std::string& help) {
  command.add_option_function<std::string>("--" + name, take, help)
      ->check([name, words](const std::string& word) {
        const bool known = std::find(words.begin(), words.end(), word) != words.end();
        return known ? std::string{}
                     : fmt::format("no {} '{}'{}", name, word, suggestion(word, words));
      })
      ->type_name("NAME");
}

void add_text(CLI::App& command, const std::string& name, const char* type, const std::string& help,
              const std::function<std::optional<std::string>(const std::string&)>& read) {
  command
      .add_option_function<std::string>(
          name, [read](const std::string& text) { read(text); }, help)
      ->check([read](const std::string& text) { return read(text).value_or(""); })
      ->type_name(type);
}

void add_inputs(CLI::App& command, std::string& arch, std::string& workload) {
  command.add_option("ARCH", arch, "Architecture (YAML)")->required()->type_name("");
  command.add_option("WORKLOAD", workload, "Workload (YAML)")->required()->type_name("");
}

void add_objective(CLI::App& command, ObjectiveArguments& a) {
  add_text(command, "--objective", "FORMULA",
           "energy (default), latency, edp, a product like 'energy^2*latency', or "
           "'energy,latency': of the least energy the fastest; 'latency,energy'",
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

void add_budget(CLI::App& command, Budget& budget) {
  add_text(command, "--budget", "TIME",
           "Stop after this long (10 s, 2 min) with the best so far; exact: and its true gap",
           [&budget](const std::string& text) {
             return taken(parse_seconds(text),
                          [&budget](Seconds limit) { budget.seconds = limit.count(); });
           });
  add_number(command, "--budget-labels", budget.labels, std::int64_t{1}, kMost,
             "Stop after about N labels: the same result on any machine");
}

void add_precision(CLI::App& command, std::string& precision) {
  add_choice(
      command, "precision", {"f64", "f32", "tf32", "f16", "f16_acc16", "bf16", "s8", "fp8"},
      [&precision](const std::string& word) { precision = word; },
      "GPU: of the operands, whatever their width in the workload");
}

void add_onnx(CLI::App& command, OnnxArguments& a) {
  command.add_option("--dim", a.dims, "ONNX: the value of a symbolic dim of the inputs")
      ->type_name("NAME=N");
  add_number(command, "--batch", a.batch, std::int64_t{1}, std::int64_t{1} << 20,
             "Inputs at a time; ONNX: a symbolic first dim [1]");
  add_number(command, "--operand-bits", a.operand_bits, std::int64_t{1}, std::int64_t{64},
             "ONNX: operands of N bits and sums of 32, whatever the model says");
}

}  // namespace mapsim
