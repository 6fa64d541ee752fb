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

// Results for programs: docs/results.md. Keys keep their order and meaning within a schema version;
// new ones may be added. Equal inputs give equal bytes, but for statistics.seconds.
inline constexpr int kResultSchema = 4;

std::string tool_version();  // "0.1.0"

// Where a result comes from.
struct InputFile {
  std::string role;  // arch, workload, mapping, constraints
  std::string path;
  std::uint64_t hash = 0;  // FNV-1a of its bytes
};
struct Provenance {
  std::string command;  // search, eval, roofline
  std::vector<InputFile> inputs;
  std::vector<std::string> warnings{};  // of what was asked: rules that do not concern a layer
};

std::string search_json(const Provenance& origin, const Mapspace& space,
                        const std::string& strategy, const SearchOptions& options,
                        const SearchResult& result,
                        const std::optional<std::vector<Relief>>& reliefs = std::nullopt,
                        const std::vector<TriedForm>& forms = {});  // of an engine after NVDLA
std::string front_json(const Provenance& origin, const Mapspace& space, const FrontSubject& subject,
                       const SearchOptions& options, const Front& front);
std::string evaluation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Evaluation& evaluation,
                            const std::optional<GapReport>& gap = std::nullopt);
std::string histogram_json(const Provenance& origin, const Mapspace& space,
                           const HistogramOptions& options, const Histogram& histogram);
// A walk compared with the closed form, and its numbers compared with plain loops.
struct SimulationRecord {
  struct Difference {
    std::string name;
    std::int64_t model = 0;
    std::int64_t simulated = 0;
  };
  std::int64_t steps = 0;  // of the first MAC unit
  std::int64_t counts_compared = 0;
  std::vector<Difference> differences;
  std::int64_t outputs = 0;  // elements
  std::int64_t outputs_wrong = 0;
  // For machines that exploit zeros. If all places are given, a run must have the counts of the
  // closed form; otherwise that is a mean over data sets.
  std::vector<ZeroCount> zeros{};
  bool zeros_known = false;
  bool agrees() const;
};
std::string simulation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const SimulationRecord& record);
// Comparison of another tool's figures with ours.
struct ComparisonRecord {
  struct Figure {
    std::string figure, where;
    double theirs = 0;
    std::optional<double> derived{};  // by the other tool's rules, of the same input
    std::optional<double> ours;
    std::string verdict;
    std::vector<std::string> rules;
    // If an optimum is compared with the mapping, instead of `derived`, `verdict` and `rules`.
    std::optional<double> best{};
    std::optional<double> lower_bound{};
  };
  std::string tool;
  std::int64_t equal = 0;
  std::int64_t derived = 0;
  std::int64_t unexplained = 0;
  std::int64_t not_compared = 0;  // of other input than the other tool's
  // Another version of the tool, whose rules leave the fewest figures unexplained, and how many.
  struct Closer {
    std::string version;
    std::int64_t unexplained = 0;
  };
  std::optional<Closer> closer{};
  std::vector<Figure> figures;
};
std::string comparison_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const ComparisonRecord& record);
std::string check_json(const Provenance& origin, const check::Certificate& certificate,
                       const check::Verdict& verdict);
std::string roofline_json(const Provenance& origin, const Arch& arch, const Workload& workload,
                          const Roofline& bounds);
// The shipped files of a kind: what commands call them, and what they are in a few words.
struct ListedFile {
  std::string kind, name, what;
};
std::string list_json(const std::vector<ListedFile>& files);
// What a command writes in a format of another kind: SVG, HTML, CUDA C++, another tool's YAML.
struct WrittenText {
  std::string format;  // svg, html, cuda, timeloop
  std::string text;
  std::vector<std::string> notes{};
  struct Figure {
    std::string name, caption;
    std::string svg, csv;  // the latter may be empty
  };
  std::vector<Figure> figures{};  // of a report
};
std::string text_json(const Provenance& origin, const WrittenText& written);
// The files that an import made, and the command that reads them.
struct ImportRecord {
  std::vector<std::string> files;  // paths
  std::vector<std::string> notes;
  std::string next{};  // empty: none
  struct Table {
    std::string path, kind;
    std::int64_t added = 0, known = 0;  // measurements; known: they were there before
  };
  std::vector<Table> tables{};  // of GPU timings
};
std::string import_json(const Provenance& origin, const ImportRecord& record);
// Databases of results, and the one that has them all.
std::string merge_json(const std::string& into, const std::vector<std::string>& from);

}  // namespace mapsim
