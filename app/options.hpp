// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "app/arguments.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

// Kinds of options, for the functions that describe a command to CLI11.

inline constexpr int kMaxThreads = 1024;
inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void add_output(CLI::App& command, Output& output);
void add_threads(CLI::App& command, int& threads);
// One of a few words; `take` gets it.
void add_choice(CLI::App& command, const std::string& name, const Words& words,
                const std::function<void(const std::string&)>& take, const std::string& help);
// `read` says what is wrong with a text, or takes it.
void add_text(CLI::App& command, const std::string& name, const char* type, const std::string& help,
              const std::function<std::optional<std::string>(const std::string&)>& read);

void add_inputs(CLI::App& command, std::string& arch, std::string& workload);
void add_objective(CLI::App& command, ObjectiveArguments& a);
void add_budget(CLI::App& command, Budget& budget);
void add_precision(CLI::App& command, std::string& precision);  // of a GPU's operands
void add_onnx(CLI::App& command, OnnxArguments& a);

// What is wrong with a text, else nothing; `take` gets what it means.
template <class T, class Take>
std::optional<std::string> taken(const Parsed<T>& parsed, const Take& take) {
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  take(std::get<T>(parsed));
  return std::nullopt;
}

// A whole number. CLI11 lets what overflows saturate, so the digits are read here first.
template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& number, Number least,
                Number most, const std::string& help) {
  command.add_option(name, number, help)
      ->check([least, most](const std::string& text) {
        Number value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        return whole && value >= least && value <= most
                   ? std::string{}
                   : fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
      })
      ->type_name("N");
}

// The commands.
void add_search(CLI::App& app, SearchArguments& a);
void add_network(CLI::App& app, NetworkArguments& a);
void add_sweep(CLI::App& app, SweepArguments& a);
void add_merge(CLI::App& app, MergeArguments& a);
void add_results(CLI::App& app, ResultsArguments& a);
void add_report(CLI::App& app, ReportArguments& a);
void add_check(CLI::App& app, CheckArguments& a);
void add_eval(CLI::App& app, EvalArguments& a);
void add_simulate(CLI::App& app, SimulateArguments& a);
void add_roofline(CLI::App& app, RooflineArguments& a);
void add_show(CLI::App& app, ShowArguments& a);
void add_histogram(CLI::App& app, HistogramArguments& a);
void add_import(CLI::App& app, ImportArguments& a);
void add_export(CLI::App& app, ExportArguments& a);
void add_calibrate(CLI::App& app, CalibrateArguments& a);
void add_validate(CLI::App& app, ValidateArguments& a);
void add_microbench(CLI::App& app, MicrobenchArguments& a);

}  // namespace mapsim
