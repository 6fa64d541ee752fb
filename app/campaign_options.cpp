// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "app/options.hpp"
#include "app/places.hpp"
#include "core/shipped.hpp"

namespace mapsim {

namespace {

// "2/4": the second of four.
std::optional<std::string> read_shard(const std::string& text, SweepArguments& a) {
  const char* const end = text.data() + text.size();
  int shard = 0;
  int shards = 0;
  const auto first = std::from_chars(text.data(), end, shard);
  const bool slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shards) : first;
  if (!slash || second.ec != std::errc{} || second.ptr != end || shard < 1 || shard > shards) {
    return fmt::format("'{}' is not I/N with 1 <= I <= N, such as 2/4", text);
  }
  a.shard = shard;
  a.shards = shards;
  return std::nullopt;
}

constexpr std::int64_t kMostTop = 1'000'000;

Option database_option(const std::string& name, std::string& database) {
  return required({name, "FILE", "Database of results (SQLite)", &database});
}

Options limits_of(DesignArguments& a) {
  return {{"--max-area", "AREA", "Consider only machines of at most this area: 4mm2",
           reads([](const std::string& text) { return parse_area(text, std::nullopt); },
                 [&a](SquareMillimetres area) { a.limits.area = area; })},
          {"--max-energy", "ENERGY",
           "Consider only machines whose layers together take at most this energy: 20mJ",
           reads(parse_energy, [&a](Picojoules energy) { a.limits.energy = energy; })},
          {"--max-latency", "TIME",
           "Consider only machines whose layers together take at most this time: 20ms",
           reads(parse_seconds, [&a](Seconds time) { a.limits.latency = time; })},
          {"--max-power", "POWER",
           "Consider only machines of at most this average power, total energy divided by "
           "total latency: 300mW",
           reads(parse_power, [&a](Milliwatts power) { a.limits.power = power; })}};
}

}  // namespace

void find_work(std::vector<std::string>& paths) {
  for (std::string& path : paths) {
    const std::string network = find_shipped(path, FileKind::kNetwork, shipped_configs());
    path = network == path ? find_shipped(path, FileKind::kWorkload, shipped_configs()) : network;
  }
}

CommandOptions options_of(SweepArguments& a) {
  Option threads = threads_option(a.threads);
  threads.help = "Number of points searched at a time [all cores; under mpirun 1 per process]";
  return {{input(required({"CAMPAIGN", "", "Campaign (YAML, or the name of a shipped one)",
                           &a.campaign}),
                 FileKind::kCampaign),
           database_option("--db", a.database),
           {"--shard", "I/N", "Search only the I-th of N parts; each part needs its own database",
            Read{[&a](const std::string& text) { return read_shard(text, a); }}},
           {"--memory", "SIZE",
            "Memory limit of the search of a point, such as 1 GiB [3/4 of the machine's, divided "
            "among its cores]",
            reads(parse_size,
                  [&a](Bits limit) { a.bytes = static_cast<std::size_t>(limit.count() / 8); })},
           threads,
           json_option(a.output)}};
}

CommandOptions options_of(DesignArguments& a) {
  Option threads = threads_option(a.threads);
  threads.help =
      "Number of threads of each search of a layer; results do not depend on it [all cores]";
  return {
      joined(
          {{input(required({"SPACE", "",
                            "Design space: a campaign (YAML, or the name of a shipped one)",
                            &a.space}),
                  FileKind::kCampaign),
            {.names = "WORK",
             .type = "FILE",
             .help = "Networks and layers (YAML, ONNX, or names of shipped ones) [those of SPACE]",
             .value = &a.work,
             .also = {FileKind::kNetwork, FileKind::kWorkload}},
            usual(
                {"--objective", "FORMULA",
                 "What to minimise: edp (total energy times total latency, mappings chosen "
                 "jointly); or a sum over all layers: energy, latency, sum-edp (the EDP of each), "
                 "a formula such as 'energy^2*latency' [the one of SPACE]",
                 reads(parse_design_objective,
                       [&a](const DesignObjective& objective) { a.objective = objective; })},
                {"edp", "energy", "latency", "sum-edp"})},
           limits_of(a),
           {{"--top", "K", "Find the best K machines [1]", whole(a.top, 1, kMostTop)},
            {.names = "--pareto",
             .type = "area",
             .help = "Find all machines of which no other has a lower objective and no more area",
             .value = Choice{[&a](const std::string&) { a.front = true; }, {"area"}},
             .excludes = {"--top"}},
            {"--gap", "SHARE",
             "Stop when the best machine is proven to be within this share of the optimum: "
             "1% [0]",
             reads(parse_share, [&a](double share) { a.budget.gap = share; })},
            budget_option(a.budget,
                          "Stop after this time (10 s, 2 min); print the best machine so "
                          "far and its true gap"),
            memory_option(a.budget.bytes),
            threads,
            {"--save-arch", "FILE", "Write the best machine to FILE (YAML)", &a.arch_file},
            {"--certificate", "FILE", "Write the proof to FILE, for mapsim check",
             &a.certificate_file},
            {.names = "--db",
             .type = "FILE",
             .help = "Take answers from this database of sweep (SQLite), and write new ones to it",
             .value = &a.database,
             .excludes = {"--certificate"}},
            {"--svg", "FILE",
             "Write a figure to FILE (SVG): the front, or what one step along each axis changes of "
             "the best machine",
             &a.svg}},
           output_options(a.output)}),
      "", [&a](const Given&) { find_work(a.work); }};
}

CommandOptions options_of(MergeArguments& a) {
  return {
      {database_option("INTO", a.database),
       required({"FROM", "FILE", "Databases to merge into INTO; they are not changed", &a.inputs}),
       threads_option(a.threads), json_option(a.output)}};
}

CommandOptions options_of(ResultsArguments& a) {
  return {joined({{database_option("RESULTS", a.database),
                   {"--campaign", "NAME", "Print only this campaign", &a.campaign},
                   {"--networks", "", "Print totals of networks instead of points", &a.networks},
                   {.names = "--csv",
                    .type = "",
                    .help = "Print CSV with all columns and all digits",
                    .value = &a.csv,
                    .excludes = {"--json"}},
                   threads_option(a.threads)},
                  output_options(a.output)})};
}

CommandOptions options_of(ReportArguments& a) {
  const auto take_design = [&a](std::int64_t design) {
    a.designs.push_back(static_cast<std::size_t>(design));
  };
  return {{required({"RESULTS", "FILE",
                     "Databases of sweep; JSON of network, search, eval, histogram; "
                     "measurements (CSV)",
                     &a.results}),
           {"-o,--out", "FILE", "Write the page to FILE (atomically)", &a.output.file},
           {"--figures", "DIR", "Write each figure as SVG and CSV to DIR", &a.figures},
           {"--title", "TEXT", "Title of the page [from the results]", &a.title},
           {"--campaign", "NAME", "Use only this campaign of the databases", &a.campaign_name},
           {.names = "--design",
            .type = "N",
            .help = "Also draw this design layer by layer, by its number, from 0 [the best]",
            .value = Whole{take_design, 0, kMost},
            .repeats = true},
           input({"--arch", "FILE",
                  "Measurements: the GPU (YAML, or the name of a shipped one) whose predictions to "
                  "compare",
                  &a.machine},
                 FileKind::kArch),
           {.names = "--gpu",
            .type = "NAME",
            .help = "Measurements: use those of this GPU [the name in --arch]",
            .value = &a.gpu,
            .needs = {"--arch"}},
           threads_option(a.threads),
           {"--json", "", "Write JSON, with the page and its figures as texts", &a.output.json}}};
}

}  // namespace mapsim
