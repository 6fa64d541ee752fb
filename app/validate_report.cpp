// SPDX-License-Identifier: Apache-2.0
#include "app/validate_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/figures.hpp"
#include "report/markup.hpp"
#include "report/plots.hpp"
#include "report/table.hpp"
#include "validate/candidates.hpp"
#include "validate/counters.hpp"

namespace mapsim {

namespace {

std::string share(double value) { return value > 0 ? percent(value) : "-"; }
std::string time_text(double seconds) {
  return seconds <= 0 ? "-" : fmt::format("{:.2f} us", seconds * 1e6);
}

std::vector<KernelChoice> choices_of(const ProblemVerdict& problem) {
  std::vector<KernelChoice> kernels;
  for (const KernelVerdict& kernel : problem.kernels) {
    kernels.push_back(*kernel.measurement.kernel);
  }
  return kernels;
}

std::vector<Row> problem_rows(const ValidationVerdict& verdict) {
  std::vector<Row> rows{{"problem", "kernels", "tiles", "MAPE", "bias", "tau", "top-1", "top-5",
                         "best", "cuBLAS", "naive", "of cuBLAS", "of path"}};
  for (const ProblemVerdict& p : verdict.problems) {
    rows.push_back({p.name + (p.cold ? " (cold)" : ""), fmt::format("{}", p.kernels.size()),
                    fmt::format("{}", distinct_tiles(choices_of(p))), percent(p.errors.mape),
                    fmt::format("{:+.1f} %", 100 * p.errors.bias),
                    fmt::format("{:.3f}", p.ranks.tau), fmt::format("{:.4f}", p.ranks.top1),
                    fmt::format("{:.4f}", p.ranks.top5), time_text(p.best), time_text(p.library),
                    time_text(p.naive), share(p.library_to_best), share(p.share_of_ceiling)});
  }
  return rows;
}

Row predictor_row(const char* name, const ErrorMetrics* errors, const RankMetrics& ranks) {
  Row row{name};
  if (errors != nullptr) {
    row.insert(row.end(), {percent(errors->mape), fmt::format("{:+.1f} %", 100 * errors->bias)});
  } else {
    row.insert(row.end(), 2, "-");
  }
  row.insert(row.end(), {fmt::format("{:.3f}", ranks.tau), fmt::format("{:.4f}", ranks.top1),
                         fmt::format("{:.4f}", ranks.top5)});
  return row;
}

std::vector<Row> predictor_rows(const ValidationVerdict& verdict) {
  return {{"all problems", "MAPE", "bias", "tau", "top-1", "top-5"},
          predictor_row("model", &verdict.errors, verdict.ranks),
          predictor_row("roofline", &verdict.roofline_errors, verdict.roofline),
          predictor_row("static best", nullptr, verdict.fixed),
          predictor_row("random", nullptr, verdict.random)};
}

std::vector<Row> counter_rows(const Gpu& gpu, const ValidationVerdict& verdict) {
  std::vector<Row> rows;
  for (const ProblemVerdict& problem : verdict.problems) {
    for (const KernelVerdict& kernel : problem.kernels) {
      for (const CounterComparison& c : compare_counters(gpu, kernel)) {
        rows.push_back({problem.name, to_string(*kernel.measurement.kernel), c.metric,
                        fmt::format("{:.5g}", c.counted), fmt::format("{:.5g}", c.modelled),
                        fmt::format("{:.3f}", c.modelled / c.counted)});
      }
    }
  }
  if (!rows.empty()) {
    rows.insert(rows.begin(), {"problem", "kernel", "metric", "counted", "modelled", "ratio"});
  }
  return rows;
}

std::vector<Row> kernel_rows(const ProblemVerdict& problem) {
  std::vector<Row> rows{{"kernel", "predicted", "measured", "quartiles", "ratio", "bound",
                         "registers", "spilled", "SM clock"}};
  for (const KernelVerdict& kernel : problem.kernels) {
    const GpuMeasurement& row = kernel.measurement;
    rows.push_back(
        {to_string(*row.kernel), time_text(kernel.predicted), time_text(row.median.count()),
         fmt::format("{:.2f}-{:.2f}", row.first_quartile.count() * 1e6,
                     row.third_quartile.count() * 1e6),
         fmt::format("{:.3f}", kernel.predicted / row.median.count()),
         to_string(kernel.estimate.bound), fmt::format("{}", row.kernel->registers.value_or(0)),
         fmt::format("{}", row.kernel->spilled_bytes.value_or(0)),
         row.clock > Hertz{0} ? fmt::format("{:.0f} MHz", row.clock.count() / 1e6) : "-"});
  }
  return rows;
}

std::string summary(const Gpu& gpu, const ValidationVerdict& verdict) {
  std::string text =
      fmt::format("{}: {} kernels on {} problems{}\n", gpu.name, verdict.kernels,
                  verdict.problems.size(), gpu.calibrations.empty() ? ", uncalibrated model" : "");
  if (verdict.host_bound > 0) {
    text += fmt::format(
        "{} rows are left out: a launch took the host longer than the GPU took to run it\n",
        verdict.host_bound);
  }
  if (verdict.kernels == 0) {
    return text;
  }
  text += fmt::format(
      "the model's first choice takes {:.3f} of the best measured kernel's time on the median "
      "problem\n",
      verdict.first_to_best);
  if (verdict.library_to_best > 0) {
    text += fmt::format("the best measured kernel has {} of cuBLAS's speed on the median problem\n",
                        percent(verdict.library_to_best));
  }
  text += fmt::format("and {} of the rate that its path can reach\n",
                      percent(verdict.share_of_ceiling));
  if (!verdict.throttles.empty()) {
    text += fmt::format("the clock was held down by: {}\n", fmt::join(verdict.throttles, "; "));
  }
  return text;
}

std::string html_table(const std::vector<Row>& rows) {
  std::string text = "<table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* const cell = i == 0 ? "th" : "td";
    text += "<tr>";
    for (const std::string& word : rows[i]) {
      text += fmt::format("<{0}>{1}</{0}>", cell, markup(word));
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

constexpr const char* kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>mapsim "
    "validate</title>"
    "\n<style>body{font-family:sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{border:1px solid #ccc;padding:2px 8px;text-align:right}td:first-child,th:first-child"
    "{text-align:left}svg{max-width:900px}</style></head><body>\n";

}  // namespace

std::string verdict_text(const Gpu& gpu, const ValidationVerdict& verdict,
                         const ValidationNotes& notes) {
  std::string text = summary(gpu, verdict);
  if (verdict.kernels > 0) {
    text += fmt::format("\n{}\n{}", table(predictor_rows(verdict)), table(problem_rows(verdict)));
  }
  if (const auto rows = counter_rows(gpu, verdict); !rows.empty()) {
    text += fmt::format("\n{}", table(rows));
  }
  for (const std::string& note : notes.notes) {
    text += fmt::format("note: {}\n", note);
  }
  for (const std::string& refusal : notes.refusals) {
    text += fmt::format("refused: {}\n", refusal);
  }
  return text;
}

std::string verdict_html(const Gpu& gpu, const ValidationVerdict& verdict,
                         const ValidationNotes& notes) {
  std::string text = kHead + fmt::format("<h1>{}</h1>\n<p>{}</p>\n", markup(gpu.name),
                                         markup(summary(gpu, verdict)));
  text += verdict_svg(gpu, verdict) + html_table(predictor_rows(verdict)) +
          html_table(problem_rows(verdict));
  for (const ProblemVerdict& problem : verdict.problems) {
    text += fmt::format("<details><summary>{}: {} kernels</summary>\n", markup(problem.name),
                        problem.kernels.size()) +
            html_table(kernel_rows(problem)) + "</details>\n";
  }
  if (const auto rows = counter_rows(gpu, verdict); !rows.empty()) {
    text += "<h2>Counters</h2>\n" + html_table(rows);
  }
  text += "<ul>\n";
  for (const std::string& note : notes.notes) {
    text += fmt::format("<li>{}</li>\n", markup(note));
  }
  for (const std::string& refusal : notes.refusals) {
    text += fmt::format("<li>refused: {}</li>\n", markup(refusal));
  }
  return text + "</ul>\n</body></html>\n";
}

std::string verdict_svg(const Gpu& gpu, const ValidationVerdict& verdict) {
  std::vector<PredictionSeries> series;
  for (const ProblemVerdict& problem : verdict.problems) {
    PredictionSeries one{problem.name, "MAPE " + percent(problem.errors.mape), {}};
    for (const KernelVerdict& kernel : problem.kernels) {
      one.seconds.push_back({kernel.measurement.median.count(), kernel.predicted});
    }
    series.push_back(std::move(one));
  }
  return predictions_svg(fmt::format("{}: {} kernels, MAPE {}", gpu.name, verdict.kernels,
                                     percent(verdict.errors.mape)),
                         series);
}

}  // namespace mapsim
