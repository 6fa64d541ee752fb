// SPDX-License-Identifier: Apache-2.0
#include "arch/print.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim::print_test {
namespace {

namespace fs = std::filesystem;

// Where numbers came from is not printed.
Arch without_sources(Arch arch) {
  for (Storage& storage : arch.levels) {
    storage.sources = {};
    storage.physical.leakage_source.clear();
    storage.physical.area_source.clear();
  }
  for (Fanout& fanout : arch.fanouts) {
    fanout.reduction_source.clear();
    fanout.hop_source.clear();
  }
  arch.compute.source.clear();
  return arch;
}

TEST(PrintArch, ReadsBackToTheSameValue) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(source_path("configs/arch"))) {
    if (entry.is_directory() || describes_gpu(read_yaml(entry.path().string()))) {
      continue;
    }
    const Arch arch = load_arch(entry.path().string());
    EXPECT_EQ(parse_arch(print_arch(arch), "printed.yaml"), without_sources(arch))
        << print_arch(arch);
    ++files;
  }
  EXPECT_GE(files, 6);
}

TEST(PrintArch, KeepsNumbersThatHaveNoShortForm) {
  const Arch arch = parse_arch(
      "name: odd\nclock: 333.3333333 MHz\nnodes:\n"
      "  - {storage: DRAM, word: 12 b, capacity: unlimited, sliding: false,\n"
      "     bandwidth: {read: 0.1 GB/s, write: 7 word/cycle},\n"
      "     energy: {read: 0.1 pJ/word, write: 1.1 fJ/b, update: 3e-7 pJ/B}}\n"
      "  - {storage: A, capacity: {input: 3 b, output: 24 B}, energy: {read: 0 pJ/b, write: 0 "
      "pJ/b},\n"
      "     double_buffered: true, keep: [input], bypass: [weight]}\n"
      "  - {fanout: F, x: {size: 3, dims: [gemm_m, C]}, y: 2, multicast: [weight],\n"
      "     spatial_reduction: true, forwarding: false, reduction_energy: 0.7 fJ,\n"
      "     energy_per_hop: 0.7 pJ/word, word: 12 b}\n"
      "  - {compute: MAC, energy: 0.3 pJ, issue_interval: 3, register_reuse: [output],\n"
      "     timing: {model: systolic, overlap: {drain: true}, fold_size: used}}\n",
      "odd.yaml");
  EXPECT_EQ(parse_arch(print_arch(arch), "printed.yaml"), arch) << print_arch(arch);
}

TEST(PrintArch, KeepsWhatLeaksAndCovers) {
  const Arch arch = parse_arch(
      "name: leaky\ntechnology: 7nm\nleakage: false\nnodes:\n"
      "  - {storage: DRAM, capacity: unlimited}\n"
      "  - {storage: A, capacity: 24 B, kind: regfile, area: 3 um2}\n"
      "  - {compute: MAC, format: bfloat, leakage: 0.7 nW, issue_interval: {16x8: 2, 8x8: 1}}\n",
      "leaky.yaml");
  EXPECT_EQ(parse_arch(print_arch(arch), "printed.yaml"), without_sources(arch))
      << print_arch(arch);
}

TEST(PrintWorkload, ReadsBackButForWhatOnlyShorthandsSay) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("configs/workloads"))) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    Workload workload = load_workload(entry.path().string());
    const Workload printed = parse_workload(print_workload(workload), "printed.yaml");
    workload.note.clear();
    workload.bias = false;
    for (Tensor& tensor : workload.tensors) {
      tensor.stored_elements.reset();
    }
    EXPECT_EQ(printed, workload) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 50);
}

}  // namespace
}  // namespace mapsim::print_test
