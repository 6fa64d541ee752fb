// SPDX-License-Identifier: Apache-2.0
#include "workloads/form.hpp"

#include <gtest/gtest.h>

#include "core/diagnostic.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/problem.hpp"
#include "tests/nvdla/engines.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::form_test {
namespace {

std::int64_t points(const Workload& workload, const char* tensor) {
  std::int64_t product = 1;
  for (const Rank& rank : workload.tensors[*workload.find_tensor(tensor)].ranks) {
    std::int64_t extent = 1;
    for (const Term& term : rank.terms) {
      extent += term.coefficient * (workload.dims[term.dim].bound - 1);
    }
    product *= extent;
  }
  return product;
}

ConvShape shape(std::int64_t channels, std::int64_t kernels, std::int64_t size,
                std::int64_t kernel) {
  ConvShape made;
  made.in_channels = channels;
  made.out_channels = kernels;
  made.input = {size, size};
  made.kernel = {kernel, kernel};
  made.padding = {kernel / 2, kernel / 2};
  return made;
}

TEST(Form, WinogradHas16WeightsFor9AndSavesFiveNinthsOfTheMultiplications) {
  const Workload direct = layer(shape(8, 16, 12, 3));
  const Workload winograd = in_form(direct, {FormKind::kWinograd, 1}).value();
  EXPECT_EQ(4 * direct.macs(), 9 * winograd.macs());
  EXPECT_EQ(16 * points(direct, "W"), 9 * points(winograd, "W"));
  EXPECT_EQ(points(direct, "I"), points(winograd, "I"));
  const auto output_bits = [](const Workload& workload) {
    return points(workload, "O") * workload.tensors[workload.output()].bits.count();
  };
  EXPECT_EQ(output_bits(direct), output_bits(winograd));
  EXPECT_EQ(outputs_per_element(winograd), 4);
}

TEST(Form, WinogradPadsOutputsToMultiplesOfFour) {
  const Workload winograd = in_form(layer(shape(8, 16, 14, 3)), {FormKind::kWinograd, 1}).value();
  EXPECT_EQ(points(winograd, "O"), 16 * 8 * 8);  // 16 x 16 outputs instead of 14 x 14
}

TEST(Form, WinogradIsForKernelsOf3By3WithoutStride) {
  ConvShape strided = shape(8, 8, 12, 3);
  strided.stride = {2, 2};
  EXPECT_FALSE(in_form(layer(strided), {FormKind::kWinograd, 1}));
  EXPECT_FALSE(in_form(layer(shape(8, 8, 12, 5)), {FormKind::kWinograd, 1}));
  EXPECT_FALSE(in_form(gemm("fc", {1, 8, 8, {}, false}), {FormKind::kWinograd, 1}));
}

TEST(Form, ImageHasThePixelsOfALineSideBySide) {
  ConvShape stem = shape(3, 8, 20, 7);
  stem.stride = {2, 2};
  const Workload direct = layer(stem);
  const Workload image = in_form(direct, {FormKind::kImage, 1}).value();
  EXPECT_EQ(image.equation(), "O[N][K][P][Q] += I[N][2*P+R][6*Q+S] * W[K][R][S]");
  EXPECT_EQ(image.dims[*image.find_dim("S")].bound, 21);
  for (const char* tensor : {"I", "W", "O"}) {
    EXPECT_EQ(points(image, tensor), points(direct, tensor)) << tensor;
  }
  EXPECT_EQ(image.macs(), direct.macs());
  EXPECT_FALSE(in_form(layer(shape(5, 8, 20, 7)), {FormKind::kImage, 1}));
}

TEST(Form, MergedGroupsMultiplyZeros) {
  ConvShape depthwise = shape(24, 24, 10, 3);
  depthwise.groups = 24;
  const Workload direct = layer(depthwise);
  const Workload merged = in_form(direct, {FormKind::kMerged, 8}).value();
  EXPECT_EQ(merged.macs(), 8 * direct.macs());
  EXPECT_EQ(points(merged, "I"), points(direct, "I"));
  EXPECT_EQ(points(merged, "O"), points(direct, "O"));
  EXPECT_EQ(points(merged, "W"), 8 * points(direct, "W"));
  const Workload dense = in_form(direct, {FormKind::kMerged, 24}).value();
  EXPECT_FALSE(dense.find_dim("G"));
  EXPECT_FALSE(in_form(direct, {FormKind::kMerged, 25}));
}

TEST(Form, MergesWhatIsLeftOfTheGroupsWithGroupsOfZeros) {
  ConvShape depthwise = shape(37, 37, 10, 3);
  depthwise.groups = 37;
  const Workload merged = in_form(layer(depthwise), {FormKind::kMerged, 8}).value();
  EXPECT_EQ(merged.tensors[*merged.find_tensor("I")].stored_elements, 40 * 10 * 10);
  EXPECT_EQ(merged.dims[*merged.find_dim("G")].bound, 5);
  EXPECT_EQ(merged.dims[*merged.find_dim("C")].bound, 8);
  EXPECT_NE(merged.note.find("merged 8, the last with 5 groups and 3 of zeros"), std::string::npos);
  depthwise.groups = depthwise.in_channels = depthwise.out_channels = 33;  // one is left
  const Workload last = in_form(layer(depthwise), {FormKind::kMerged, 8}).value();
  EXPECT_EQ(last.dims[*last.find_dim("G")].bound, 5);
}

TEST(Form, BatchRepeatsARowOfAMatrixProduct) {
  const Workload fc = gemm("fc", {1, 10, 20, {}, false});
  EXPECT_EQ(in_form(fc, {FormKind::kBatch, 16})->macs(), 16 * fc.macs());
  EXPECT_FALSE(in_form(gemm("two", {2, 10, 20, {}, false}), {FormKind::kBatch, 16}));
}

TEST(Form, IsReadAsItIsWritten) {
  for (const Form form : {Form{}, Form{FormKind::kWinograd, 1}, Form{FormKind::kImage, 1},
                          Form{FormKind::kMerged, 8}, Form{FormKind::kBatch, 32}}) {
    EXPECT_EQ(parse_form(to_string(form)), form);
  }
  for (const char* wrong : {"", "Winograd", "winograd 2", "merged", "merged 0", "batch x"}) {
    EXPECT_FALSE(parse_form(wrong)) << wrong;
  }
}

TEST(Form, OfAMappingMustBeTheWorkloads) {
  const Workload direct = layer(shape(4, 4, 8, 3));
  const Arch arch = small_engine({});
  try {
    parse_mapping("form: winograd\nmapping:\n  - keep DRAM: [I, W, O]\n", "m.yaml", arch, direct);
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("m.yaml:1:7: form: the mapping is of the form "
                                             "winograd, the workload of the form direct"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace mapsim::form_test
