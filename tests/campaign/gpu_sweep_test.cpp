// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "arch/gpu_load.hpp"
#include "campaign/gpu_network.hpp"
#include "campaign/network_file.hpp"
#include "campaign/report.hpp"
#include "campaign/results.hpp"
#include "tests/campaign/sweeps.hpp"

namespace mapsim::gpu_sweep_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The small campaign's folder with a network, on a GPU.
class GpuSweeps : public Sweeps {
 protected:
  GpuSweeps() {
    std::ofstream{path("net.yaml")} << "name: net\nlayers: [{workload: gemm.yaml, count: 3}]\n"
                                       "streams: [{name: act, kind: Relu, in: 1 MiB, out: 1 MiB, "
                                       "count: 5}]\n";
  }
  Campaign chips(const std::string& grid, const std::string& rest = "") const {
    return parse_campaign("name: chips\narchitectures:\n  - file: " + kConfigs +
                              "arch/h100_sxm.yaml\n    precision: f16\n" + grid +
                              "networks: [net.yaml]\n" + rest,
                          path("chips.yaml"));
  }
  double number(std::size_t row, const std::string& column) const {
    return std::get<double>(cell("a.sqlite", row, column));
  }
};

// Each row is what `network` says of that layer on that chip.
TEST_F(GpuSweeps, PriceLayersAsNetworksDo) {
  const Campaign asked =
      chips("    grid: {gpu.sms: [66, 132], gpu.dram.bandwidth: [3350 GB/s, 1 TB/s]}\n");
  const SweepSummary summary = run(asked, "a.sqlite");
  EXPECT_EQ(summary.progress.computed, 8);
  EXPECT_EQ(summary.statistics.mapped, 8) << summary_text(asked, summary);
  Gpu gpu = load_gpu(kConfigs + "arch/h100_sxm.yaml");
  GpuNetworkOptions options;
  options.layer.request.precision = GpuPrecision::kF16;
  const Network network = read_network(path("net.yaml"), {});
  std::size_t row = 0;
  for (const std::int64_t sms : {66, 132}) {
    for (const double bandwidth : {3350e9, 1000e9}) {
      gpu.sms = sms;
      gpu.dram_bandwidth = BytesPerSecond{bandwidth};
      const GpuNetworkResult alone = search_network(gpu, network, options);
      const GpuLayer& layer = alone.layers.front();
      EXPECT_EQ(cell("a.sqlite", row, "status"), Cell{"fastest"});
      EXPECT_DOUBLE_EQ(number(row, "latency_seconds"), layer.kernel->total.count());
      EXPECT_DOUBLE_EQ(number(row, "energy_pj"), layer.energy.count());
      EXPECT_DOUBLE_EQ(number(row, "utilization"), layer.utilization);
      const auto json =
          nlohmann::json::parse(gpu_network_json({"network", {}}, gpu, network, alone));
      EXPECT_GT(json["layers"][0]["search_seconds"], 0);
      EXPECT_EQ(json["total"]["search_seconds"], json["layers"][0]["search_seconds"]);
      EXPECT_EQ(json["layers"][0]["resource_seconds"]["dram"],
                layer.kernel->estimate.time.dram.count());
      EXPECT_EQ(cell("a.sqlite", row + 1, "status"), Cell{"priced"});
      EXPECT_DOUBLE_EQ(number(row + 1, "latency_seconds"), alone.streams[0].latency.count());
      EXPECT_DOUBLE_EQ(3 * number(row, "latency_seconds") + 5 * number(row + 1, "latency_seconds"),
                       alone.latency.count());
      row += 2;
    }
  }
  for (const char* column : {"latency_cycles", "edp", "area_mm2", "mac_units", "gap"}) {
    EXPECT_EQ(cell("a.sqlite", 0, column), Cell{}) << column;
  }
  EXPECT_THAT(std::get<std::string>(cell("a.sqlite", 0, "mapping")),
              HasSubstr("\nkernel: {path: "));
  const std::string csv =
      results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kCsv});
  EXPECT_THAT(csv, HasSubstr(",net,latency,steady,,none,exact,8,0,"));
}

TEST_F(GpuSweeps, GoOnAndShareRowsByContent) {
  const std::string grid = "    grid: {gpu.sms: [66, 132], gpu.clock: [1.83 GHz, 1400 MHz]}\n";
  run(chips(grid), "a.sqlite");
  EXPECT_EQ(run(chips(grid), "a.sqlite").progress.computed, 0);
  EXPECT_EQ(run(chips("    grid: {gpu.sms: [66, 99]}\n"), "a.sqlite").progress.computed, 2)
      << "66 SMs at 1830 MHz are known";
  Campaign other = chips("    path: wmma\n    grid: {gpu.sms: [66]}\n");
  EXPECT_EQ(run(other, "a.sqlite").progress.computed, 2) << "another path, other kernels";
  run(chips(grid), "one.sqlite", 1);
  Store whole{path("whole.sqlite"), Store::Open::kOrNew};
  for (std::size_t shard = 0; shard < 2; ++shard) {
    const std::string name = fmt::format("shard{}.sqlite", shard);
    run(chips(grid), name, 1, {shard, 2});
    whole.merge(path(name));
  }
  EXPECT_EQ(answers("whole.sqlite"), answers("one.sqlite"));
}

// A chip that cannot be, a question that kernels do not answer, a limit: rows with reasons.
TEST_F(GpuSweeps, RecordBadPointsWithTheirReasons) {
  run(chips("    grid: {gpu.shared.per_sm: [64 KiB, 228 KiB]}\n",
            "objectives: [energy, latency, {minimize: latency, max_latency: 1 cycle}]\n"),
      "a.sqlite");
  const auto reason = [&](std::size_t row) {
    return std::get<std::string>(cell("a.sqlite", row, "reason"));
  };
  EXPECT_THAT(reason(0), HasSubstr("gpu.shared.per_block: a block cannot have more than its SM"));
  EXPECT_EQ(reason(6), "objective energy: not for a GPU, whose kernels are ranked by time");
  EXPECT_EQ(cell("a.sqlite", 6, "status"), Cell{"error"});
  EXPECT_EQ(cell("a.sqlite", 7, "status"), Cell{"fastest"});
  EXPECT_THAT(reason(8), StartsWith("nothing fits: latency limit (at least "));
  EXPECT_EQ(cell("a.sqlite", 8, "status"), Cell{"infeasible"});
}

// Beside other machines: designs, fronts, rooflines, and what each is limited by.
TEST_F(GpuSweeps, AreInReports) {
  run(parse_campaign("name: chips\narchitectures:\n  - file: teaching.yaml\n  - file: " + kConfigs +
                         "arch/h100_sxm.yaml\n    precision: f16\n    grid: {gpu.sms: [66, 132]}\n"
                         "networks: [net.yaml]\n",
                     path("chips.yaml")),
      "a.sqlite");
  ReportInput input{"", {"a.sqlite"}, {read_studies(path("a.sqlite"), ""), {}, {}}, {}, {}};
  const Study& study = input.results.studies.at(0);
  EXPECT_EQ(study.objective, "latency") << "the default beside GPUs";
  ASSERT_EQ(study.designs.size(), 3);
  EXPECT_NEAR(study.designs[2].seconds(),
              3 * number(4, "latency_seconds") + 5 * number(5, "latency_seconds"), 1e-11);
  EXPECT_GT(study.designs[2].utilization(), 0);
  EXPECT_EQ(study.designs[2].name(), "h100_sxm, sms 132");
  const std::string html = page_html(report_page(input));
  EXPECT_THAT(html, HasSubstr("1 of them proven optimal, 2 the fastest of all kernels"));
  EXPECT_THAT(html, HasSubstr(">constant<"));
  EXPECT_THAT(html, HasSubstr("Roofline of design "));
}

}  // namespace
}  // namespace mapsim::gpu_sweep_test
