// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
#include "report/front.hpp"
#include "report/histogram.hpp"
#include "report/why.hpp"

namespace mapsim {

// Results as JSON text: docs/results.md, docs/results_keys.md. Keys keep their order and meaning
// within a schema version; new ones may be added. Equal inputs give equal bytes, except for
// statistics.seconds.
inline constexpr int kResultSchema = 4;

std::string tool_version();  // "0.1.0"

// An input of a result.
struct InputFile {
  std::string role;  // arch, workload, mapping, constraints
  std::string path;
  std::uint64_t hash = 0;  // FNV-1a of its bytes
};
// Where a result comes from.
struct Provenance {
  std::string command;  // search, eval, roofline, ...
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings{};  // about the question: rules that do not concern a layer
};

// The results of the commands search, search --pareto or --curve, eval and histogram. `reliefs`: of
// --why; `forms`: of NVDLA-like engines; `gap`: of eval --why.
std::string search_json(const Provenance& origin, const Mapspace& space,
                        const std::string& strategy, const SearchOptions& options,
                        const SearchResult& result,
                        const std::optional<std::vector<Relief>>& reliefs = std::nullopt,
                        const std::vector<TriedForm>& forms = {});
std::string front_json(const Provenance& origin, const Mapspace& space, const FrontSubject& subject,
                       const SearchOptions& options, const Front& front);
std::string evaluation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Evaluation& evaluation,
                            const std::optional<GapReport>& gap = std::nullopt);
std::string histogram_json(const Provenance& origin, const Mapspace& space,
                           const HistogramOptions& options, const Histogram& histogram);
// A simulation: its counts compared with the closed form, its outputs with plain loops.
struct SimulationRecord {
  struct Difference {
    std::string name;  // of the count: "GLB I fills"
    std::int64_t model = 0;
    std::int64_t simulated = 0;
  };
  std::int64_t steps = 0;  // of the first MAC unit
  std::int64_t counts_compared = 0;
  std::vector<Difference> differences;
  std::int64_t outputs = 0;  // elements
  std::int64_t outputs_wrong = 0;
  // For machines that exploit zeros. If the places of all zeros are given, a run must have the
  // counts of the closed form; otherwise the closed form is a mean over data sets.
  std::vector<ZeroCount> zeros{};
  bool zeros_known = false;
  bool agrees() const;  // no difference and no wrong output
};
std::string simulation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const SimulationRecord& record);
// Another tool's figures compared with ours.
struct ComparisonRecord {
  struct Figure {
    std::string figure, where;  // "reads", "GLB I"
    double theirs = 0;
    std::optional<double> derived{};  // our model by the other tool's rules, same input
    std::optional<double> ours;
    std::string verdict;
    std::vector<std::string> rules;  // of the other tool, that explain the difference
    // If an optimum is compared with the mapping, instead of `derived`, `verdict` and `rules`.
    std::optional<double> best{};
    std::optional<double> lower_bound{};
  };
  std::string tool;
  std::int64_t equal = 0;
  std::int64_t derived = 0;
  std::int64_t unexplained = 0;
  std::int64_t not_compared = 0;  // their inputs differ from the other tool's
  // The version of the tool whose rules leave the fewest figures unexplained, if it is another one.
  struct Closer {
    std::string version;
    std::int64_t unexplained = 0;
  };
  std::optional<Closer> closer{};
  std::vector<Figure> figures;
};
// The results of the commands compare, check and roofline.
std::string comparison_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const ComparisonRecord& record);
std::string check_json(const Provenance& origin, const check::Certificate& certificate,
                       const check::Verdict& verdict);
std::string roofline_json(const Provenance& origin, const Arch& arch, const Workload& workload,
                          const Roofline& bounds);
// A shipped file: its kind, its name on the command line, and a description in a few words.
struct ListedFile {
  std::string kind, name, what;
};
std::string list_json(const std::vector<ListedFile>& files);
// The result of a command that writes another format: SVG, HTML, CUDA C++, another tool's YAML.
struct WrittenText {
  std::string format;  // svg, html, cuda, timeloop
  std::string text;
  std::vector<std::string> notes{};
  struct Figure {
    std::string name, caption;
    std::string svg, csv;  // csv may be empty
  };
  std::vector<Figure> figures{};  // of a report
};
std::string text_json(const Provenance& origin, const WrittenText& written);
// The files that an import wrote, and a command that reads them.
struct ImportRecord {
  std::vector<std::string> files;  // paths
  std::vector<std::string> notes;
  std::string next{};  // empty: none
  struct Table {
    std::string path, kind;
    std::int64_t added = 0, known = 0;  // measurements; known: already in the file
  };
  std::vector<Table> tables{};  // of GPU timings
};
std::string import_json(const Provenance& origin, const ImportRecord& record);
// The result of the command merge: the database `into` has all results of `from`.
std::string merge_json(const std::string& into, const std::vector<std::string>& from);

}  // namespace mapsim
