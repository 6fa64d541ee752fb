// SPDX-License-Identifier: Apache-2.0
// Whole networks on the shipped engines, and the stripe mode beside NVIDIA's workbook. Prints the
// tables that docs/validation_nvdla.md keeps, and fails where that keeps others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/nvdla/sheet_layer.hpp"
#include "mapper/nvdla/search.hpp"
#include "tests/nvdla/engines.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/form.hpp"
#include "workloads/gemm.hpp"
#include "workloads/network.hpp"

namespace mapsim::networks_test {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kNetworks{"alexnet", "vgg16", "resnet50", "mobilenet_v2"};
const std::vector<std::string> kEngines{"nv_small",       "nv_small_256", "nv_medium_512",
                                        "nv_medium_1024", "nv_large",     "nv_full"};

std::string grouped(double number) {
  const std::string digits = fmt::format("{:.0f}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool starts_group = i > 0 && (digits.size() - i) % 3 == 0;
    text += starts_group ? "," : "";
    text += digits[i];
  }
  return text;
}

std::string kept_tables() {
  std::ifstream file{source_path("docs/validation_nvdla.md")};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// "", "w", "i", "m8", "b32": what the form is called in the table.
std::string mark(Form form) {
  const std::string text = to_string(form);
  const std::size_t space = text.find(' ');
  return form == Form{} ? ""
                        : fmt::format(" {}{}", text[0],
                                      space == std::string::npos ? "" : text.substr(space + 1));
}

struct Found {
  double cycles = 0;  // of a frame
  Form form;
};

Found least_latency(const Arch& arch, const Workload& workload) {
  SearchOptions options;
  options.objective = Objective::kLatency;
  const FormedResult found = search_forms(Problem{arch, workload}, options);
  const Form form = found.problem.workload().form;
  EXPECT_TRUE(found.result.cost) << workload.name << " on " << arch.name;
  EXPECT_EQ(found.result.certificate.status, Proof::kOptimal);
  const auto frames = static_cast<double>(form.kind == FormKind::kBatch ? form.count : 1);
  return {found.result.cost
              ? static_cast<double>(found.result.cost->latency.steady.count()) / frames
              : HUGE_VAL,
          form};
}

TEST(NvdlaNetworks, LayersOnTheShippedEngines) {
  const auto start = std::chrono::steady_clock::now();
  std::map<std::string, Arch> engines;
  std::string head = "| layer |";
  std::string rule = "|---|";
  for (const std::string& name : kEngines) {
    engines.emplace(name, shipped_engine(name));
    head += fmt::format(" `{}` |", name);
    rule += "---:|";
  }
  std::string text;
  std::string totals = fmt::format("| network |{}\n{}\n", head.substr(9), rule);
  int searches = 0;
  for (const std::string& name : kNetworks) {
    const Network network = load_network(kNvdlaConfigs + "networks/" + name + ".yaml");
    text += fmt::format("\n### {}\n\n{}\n{}\n", network.name, head, rule);
    std::vector<double> sums(kEngines.size(), 0.0);
    for (const NetworkLayer& layer : network.layers) {
      text += fmt::format("| {}{} |", layer.name,
                          layer.count > 1 ? fmt::format(" × {}", layer.count) : "");
      for (std::size_t i = 0; i < kEngines.size(); ++i) {
        const Found found = least_latency(engines.at(kEngines[i]), layer.workload);
        sums[i] += static_cast<double>(layer.count) * found.cycles;
        text += fmt::format(" {}{} |", grouped(found.cycles), mark(found.form));
        ++searches;
      }
      text += "\n";
    }
    text += "| all |";
    totals += fmt::format("| {} |", network.name);
    for (const double sum : sums) {
      text += fmt::format(" {} |", grouped(sum));
      totals += fmt::format(" {:.1f} |", 1e9 / sum);
    }
    text += "\n";
    totals += "\n";
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  std::cout << text << '\n' << totals;
  std::cout << fmt::format("{} layers, {:.1f} ms each\n", searches, 1e3 * spent.count() / searches);
  EXPECT_NE(kept_tables().find(text), std::string::npos) << "docs/validation_nvdla.md";
  EXPECT_NE(kept_tables().find(totals), std::string::npos) << "docs/validation_nvdla.md";
}

// The workbook's layers as workloads.
Workload workload_of(const Json& json) {
  const Precision precision{{{Role::kInput, Bits{8}}, {Role::kOutput, Bits{8}}}, {}, Bits{32}};
  if (json.at("type") == "fc") {
    return gemm(json.at("name"), {1, json.at("K"), json.at("C"), {}, false}, precision);
  }
  ConvShape shape;
  shape.in_channels = json.at("C");
  shape.out_channels = json.at("K");
  shape.input = {json.at("H"), json.at("W")};
  shape.kernel = {json.at("R"), json.at("S")};
  shape.stride = json.at("stride");
  shape.padding = {shape.kernel[0] / 2, shape.kernel[1] / 2};
  return conv2d(json.at("name"), shape, precision);
}

struct Difference {
  int rows = 0;
  double sheet = 0, stripe = 0;
};

// Why stripes take another time than the workbook's MAC cycles with kernels padded to the atom.
std::string reason(const Workload& workload, const SheetRow& row, Form form) {
  const LayerView view = *view_layer(workload);
  const std::int64_t rows = workload.dims[*view.rows].bound;
  if (workload.dims[*view.channel].bound < 16) {
    return "image: channels padded to 16 there, columns of a line side by side here";
  }
  if (row.winograd && (form.kind != FormKind::kWinograd || rows % 4 != 0)) {
    return "Winograd: outputs padded to multiples of 4 here";
  }
  if (rows == 1) {
    return "fully connected: kernels padded to 32 here, those of 16 frames together there";
  }
  return "none";
}

TEST(NvdlaNetworks, StripesBesideTheWorkbook) {
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  std::ifstream file{folder == nullptr ? "" : std::string{folder} + "/systolic/nvdla_perf.json"};
  if (!file) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/nvdla_perf.json; 0 rows compared";
  }
  Arch arch = shipped_engine("nv_full");
  arch.levels[LevelId{0}].bandwidth = {};  // the MAC cycles alone
  auto& timing = std::get<NvdlaTiming>(arch.compute.timing);
  timing.post_throughput = 0;  // which the workbook does not know
  timing.most_batch = 16;
  timing.sheet_padding = arch.fanouts[timing.array].x;
  std::map<std::string, Difference> reasons;
  const Json book = Json::parse(file);
  for (const Json& json : book.at("networks").at("resnet50").at("layers")) {
    const Workload workload = workload_of(json);
    const Found found = least_latency(arch, workload);
    const SheetLayer sheet = sheet_layers(workload)->layer;
    const SheetRow row = sheet_row(sheet_engine(Problem{arch, workload}, timing), sheet);
    const std::string why = reason(workload, row, found.form);
    Difference& all = reasons[why];
    ++all.rows;
    all.sheet += row.mac_cycles;
    all.stripe += found.cycles;
    if (why == "none") {
      EXPECT_NEAR(found.cycles, row.mac_cycles, 0.01 * row.mac_cycles) << workload.name;
    }
  }
  std::string text = "| difference | rows | workbook | stripes | |\n|---|---:|---:|---:|---:|\n";
  for (const auto& [why, all] : reasons) {
    text += fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", why, all.rows, grouped(all.sheet),
                        grouped(all.stripe), 100 * (all.stripe / all.sheet - 1));
  }
  std::cout << text;
  EXPECT_NE(kept_tables().find(text), std::string::npos) << "docs/validation_nvdla.md";
}

}  // namespace
}  // namespace mapsim::networks_test
