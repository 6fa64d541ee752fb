// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "arch/gpu_load.hpp"
#include "costmodel/gpu/convolution.hpp"
#include "mapper/gpu/search.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::gpu_bound_test {
namespace {

// The search costs few kernels, best bound first. Here each is costed, and all are sorted.

struct Costed {
  Seconds key{0};  // total, or that of the kernel that is ranked before it
  std::size_t form = 0;
  bool after_sibling = false;
  KernelChoice kernel;
  Seconds total{0};
  friend bool operator<(const Costed& a, const Costed& b) {
    return std::tie(a.key, a.form, a.after_sibling, a.kernel) <
           std::tie(b.key, b.form, b.after_sibling, b.kernel);
  }
};

std::vector<GpuPath> paths_of(const Gpu& gpu, const GemmForm& form) {
  if (!form.tensor_cores) {
    return {GpuPath::kSimt};
  }
  return gpu.rate(form.problem.precision, GpuPath::kWgmma) > 0 && is_for_wgmma(form.problem)
             ? std::vector<GpuPath>{GpuPath::kWgmma, GpuPath::kMma}
             : std::vector<GpuPath>{GpuPath::kMma};
}

// Every legal kernel; each must not be faster than the bound of its rasters.
std::vector<Costed> all_sorted(const Gpu& gpu, const std::vector<GemmForm>& forms) {
  std::vector<Costed> all;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const GemmProblem& problem = forms[i].problem;
    for (const GpuPath path : paths_of(gpu, forms[i])) {
      const GpuCalibration calibration = gpu.calibration(problem.precision, path);
      const Seconds passes = pass_time(gpu, calibration, forms[i]);
      for (const KernelChoice& kernel : kernel_set(gpu, problem, path)) {
        if (illegal(gpu, problem, kernel)) {
          continue;
        }
        const Seconds total = estimate(gpu, calibration, problem, kernel).time.total;
        EXPECT_LE(least_time(gpu, calibration, problem, kernel), total) << to_string(kernel);
        const std::optional<Seconds> deeper =
            deeper_sibling(gpu, calibration, problem, kernel, total);
        all.push_back({std::max(total, deeper.value_or(total)) + passes, i, deeper.has_value(),
                       kernel, total + passes});
      }
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

using Row = std::tuple<KernelChoice, Seconds, std::int64_t, bool>;  // with `same`, `as_good`

// The first `top` rows and how many kernels are as good as the first.
std::pair<std::vector<Row>, std::int64_t> rows_of(const Gpu& gpu,
                                                  const std::vector<GemmForm>& forms,
                                                  const std::vector<Costed>& all, std::size_t top) {
  std::vector<Row> rows;
  std::int64_t as_good = 0;
  const Costed& first = all.front();
  const GpuCalibration calibration =
      gpu.calibration(forms[first.form].problem.precision, first.kernel.path);
  const double apart = std::max(calibration.resolution, 2 * timing_noise(first.total));
  for (const Costed& one : all) {
    const bool near = one.total.count() <= first.total.count() * (1 + apart);
    as_good += near ? 1 : 0;
    if (!rows.empty() && std::get<1>(rows.back()) == one.total) {
      ++std::get<2>(rows.back());
    } else if (rows.size() < top) {
      rows.emplace_back(one.kernel, one.total, 0, near);
    } else if (one.key.count() > first.total.count() * (1 + apart)) {
      break;
    }
  }
  return {rows, as_good};
}

void expect_same(const Gpu& gpu, const std::vector<GemmForm>& forms) {
  const std::vector<Costed> all = all_sorted(gpu, forms);
  ASSERT_FALSE(all.empty());
  for (const std::size_t top : {1U, 7U, 150U}) {
    GpuSearchOptions options;
    options.top = top;
    const GpuSearchResult found = search_kernels(gpu, forms, options);
    const auto [rows, as_good] = rows_of(gpu, forms, all, top);
    EXPECT_EQ(found.legal, std::ssize(all));
    EXPECT_EQ(found.as_good_as_first, as_good);
    std::vector<Row> listed;
    for (const RankedKernel& ranked : found.ranked) {
      listed.emplace_back(ranked.kernel, ranked.total, ranked.same, ranked.as_good_as_first);
    }
    EXPECT_TRUE(listed == rows) << "the first " << top;
  }
}

struct BoundCase {
  const char* chip;
  GpuPrecision precision;
  std::int64_t m, n, k;
};

class GpuBound : public ::testing::TestWithParam<BoundCase> {};

TEST_P(GpuBound, LeavesTheRankingAsItIs) {
  const BoundCase& c = GetParam();
  Gpu gpu = load_gpu(source_path("configs/arch/") + std::string{c.chip} + ".yaml");
  for (GpuCalibration& calibration : gpu.calibrations) {
    calibration.best_fixed.reset();  // it would be put first, whatever the ranking
  }
  GpuRequest request;
  request.precision = c.precision;
  const auto forms = gemm_forms(gpu, gemm("g", {c.m, c.n, c.k, std::nullopt, false}), request);
  expect_same(gpu, std::get<0>(forms));
}

INSTANTIATE_TEST_SUITE_P(
    Chips, GpuBound,
    testing::Values(BoundCase{"t4", GpuPrecision::kF16, 512, 768, 1024},
                    BoundCase{"v100", GpuPrecision::kF16, 197, 768, 3072},
                    BoundCase{"jetson_orin", GpuPrecision::kS8, 64, 3136, 576},
                    BoundCase{"a100_80gb", GpuPrecision::kTf32, 1000, 1000, 50},
                    BoundCase{"calibrated/l20", GpuPrecision::kF16, 2048, 2048, 2048},
                    BoundCase{"rtx4090", GpuPrecision::kF32, 128, 50257, 768},
                    BoundCase{"h200", GpuPrecision::kBf16, 4096, 4096, 4096},
                    BoundCase{"calibrated/h200", GpuPrecision::kF16, 16, 4096, 4096}),
    [](const auto& chip_case) {
      std::string name = chip_case.param.chip;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    });

}  // namespace
}  // namespace mapsim::gpu_bound_test
