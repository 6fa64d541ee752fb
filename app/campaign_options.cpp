// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "app/options.hpp"

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

void add_database(CLI::App& command, std::string& database, const std::string& name) {
  command.add_option(name, database, "Database of results (SQLite)")->required()->type_name("FILE");
}

}  // namespace

void add_sweep(CLI::App& app, SweepArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "sweep", "Every point of a campaign that is not in its database yet; docs/formats.md");
  command.add_option("CAMPAIGN", a.campaign, "Campaign (YAML)")->required()->type_name("");
  add_database(command, a.database, "--db");
  a.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  add_text(command, "--shard", "I/N", "Only the I-th of N parts, for a database of its own",
           [&a](const std::string& text) { return read_shard(text, a); });
  add_number(command, "--threads", a.threads, 1, kMaxThreads,
             "Points at a time [all cores; under mpirun one a process]");
}

void add_merge(CLI::App& app, MergeArguments& a) {
  CLI::App& command = *app.add_subcommand("merge", "Put databases of results into one");
  add_database(command, a.database, "INTO");
  command.add_option("FROM", a.inputs, "Databases to take from; they stay as they are")
      ->required()
      ->type_name("FILE");
  add_threads(command, a.threads);
}

void add_results(CLI::App& app, ResultsArguments& a) {
  CLI::App& command = *app.add_subcommand("results", "The rows of a database as a table");
  add_database(command, a.database, "RESULTS");
  command.add_option("--campaign", a.campaign, "Only this one")->type_name("NAME");
  command.add_flag("--networks", a.networks, "Totals of networks in place of points");
  CLI::Option* csv = command.add_flag("--csv", a.csv, "CSV, every column, all digits");
  add_threads(command, a.threads);
  add_output(command, a.output);
  csv->excludes(command.get_option("--json"));
}

void add_report(CLI::App& app, ReportArguments& a) {
  CLI::App& command = *app.add_subcommand("report", "Results as one page of figures (HTML)");
  command
      .add_option(
          "RESULTS", a.results,
          "Databases of sweep; JSON of network, search, eval, histogram; measurements (CSV)")
      ->required()
      ->type_name("FILE");
  command.add_option("-o,--out", a.output.file, "Write the page to FILE, whole or not at all")
      ->type_name("FILE");
  command.add_option("--figures", a.figures, "Write each figure as SVG and CSV to DIR")
      ->type_name("DIR");
  command.add_option("--title", a.title, "Title of the page [from the results]")->type_name("TEXT");
  command.add_option("--campaign", a.campaign_name, "Only this one of the databases")
      ->type_name("NAME");
  command
      .add_option("--design", a.designs,
                  "Draw this design layer by layer, too: its number in the page [the best]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_option("--arch", a.machine, "Of measurements: the GPU (YAML) that predicts them")
      ->type_name("FILE");
  command.add_option("--gpu", a.gpu, "Of measurements: the rows of this GPU [the GPU's name]")
      ->type_name("NAME")
      ->needs("--arch");
  add_threads(command, a.threads);
}

}  // namespace mapsim
