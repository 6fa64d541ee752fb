// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/measurement_file.hpp"
#include "arch/gpu_load.hpp"
#include "campaign/report.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/gpu/library.hpp"
#include "report/json.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

namespace {

enum class Kind : unsigned char { kDatabase, kMeasurements, kJson };

// By what the file begins with, whatever it is called.
Kind kind_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string head(21, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!file && file.gcount() == 0) {
    throw UsageError(fmt::format("cannot read '{}', or it is empty", path));
  }
  if (head.starts_with("SQLite format 3")) {
    return Kind::kDatabase;
  }
  if (head.starts_with("# mapsim measurements")) {
    return Kind::kMeasurements;
  }
  if (const std::size_t first = head.find_first_not_of(" \t\r\n");
      first != std::string::npos && head[first] == '{') {
    return Kind::kJson;
  }
  throw UsageError(fmt::format(
      "'{}' is neither a database of sweep, nor what --json prints, nor measurements", path));
}

MeasuredResult measured_of(const std::string& path, const std::string& arch,
                           const std::string& name) {
  if (arch.empty()) {
    throw UsageError(fmt::format("'{}': measurements need --arch, the GPU that predicts", path));
  }
  const Gpu gpu = load_gpu(arch);
  MeasuredResult result{gpu.name, std::filesystem::path{path}.filename().string(), {}, {}};
  std::vector<GpuMeasurement> rows = measurements_of(path, name.empty() ? gpu.name : name);
  infer_cache(gpu, rows);
  const MeasuredPredictions predictions = predict_measurements(gpu, rows, library_kernels);
  for (const PredictedGroup& group : predictions.groups) {
    const PredictionScore& score = group.all;
    PredictionSeries series{group.name, fmt::format("MAPE {:.1f} %", 100 * score.errors.mape), {}};
    if (score.ranks.problems > 0) {
      series.remark += fmt::format(", tau {:.2f}", score.ranks.tau);
    }
    for (const PredictedKernel& kernel : group.kernels) {
      series.seconds.push_back({kernel.measured, kernel.predicted});
      result.kernels.push_back(kernel.name);
    }
    result.series.push_back(std::move(series));
  }
  if (result.series.empty()) {
    throw UsageError(
        fmt::format("{}: the model of {} can predict none of the measurements", path, gpu.name));
  }
  return result;
}

std::vector<WrittenText::Figure> figures_of(const Page& page) {
  std::vector<WrittenText::Figure> figures;
  for (const Section& section : page.sections) {
    for (const auto& part : section.parts) {
      if (const auto* figure = std::get_if<PageFigure>(&part)) {
        figures.push_back({figure->name, figure->caption, figure->svg, figure->csv});
      }
    }
  }
  return figures;
}

void write_figures(const Page& page, const std::string& folder) {
  if (folder.empty()) {
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw UsageError(fmt::format("cannot write '{}': {}", folder, error.message()));
  }
  const Uninterrupted all_or_none;
  for (const WrittenText::Figure& figure : figures_of(page)) {
    const std::string path = (std::filesystem::path{folder} / figure.name).string();
    OutputFile{path + ".svg"}.write(figure.svg);
    OutputFile{path + ".csv"}.write(figure.csv);
  }
}

}  // namespace

Answer run(const ReportArguments& arguments) {
  if (!arguments.output.json) {
    refuse_terminal(arguments.output.file, "the page is HTML");
  }
  ReportInput input;
  input.title = arguments.title;
  input.designs = arguments.designs;
  for (const std::string& path : arguments.results) {
    refuse_same_file(arguments.output.file, path);
    const std::size_t source = input.sources.size();
    const std::size_t studies = input.results.studies.size();
    const std::size_t searches = input.results.design_searches.size();
    input.sources.push_back(std::filesystem::path{path}.filename().string());
    switch (kind_of(path)) {
      case Kind::kDatabase:
        for (Study& study : read_studies(path, arguments.campaign_name, arguments.designs)) {
          input.results.studies.push_back(std::move(study));
        }
        break;
      case Kind::kMeasurements:
        input.measured.push_back(measured_of(path, arguments.machine, arguments.gpu));
        break;
      case Kind::kJson:
        read_json_results(read_text(path), path, input.results);
        break;
    }
    for (std::size_t i = studies; i < input.results.studies.size(); ++i) {
      input.results.studies[i].source = source;
    }
    for (std::size_t i = searches; i < input.results.design_searches.size(); ++i) {
      input.results.design_searches[i].source = source;
    }
  }
  const Page page = report_page(input);
  write_figures(page, arguments.figures);
  if (arguments.output.json) {
    return {kDone, text_json({"report", input_files("results", arguments.results)},
                             {"html", page_html(page), {}, figures_of(page)})};
  }
  return {kDone, page_html(page)};
}

}  // namespace mapsim
