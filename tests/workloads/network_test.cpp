// SPDX-License-Identifier: Apache-2.0
#include "workloads/network.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/bad_inputs.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

const std::string kWorkloads = MAPSIM_SOURCE_DIR "/configs/workloads/";

TEST(LoadNetwork, ReadsLayersBesideItsFile) {
  const Network network = parse_network(
      "name: n\nlayers:\n  - {workload: teaching/conv.yaml, count: 3}\n"
      "  - {name: twin, workload: teaching/conv.yaml}\n",
      kWorkloads + "n.yaml");
  const Workload conv = load_workload(kWorkloads + "teaching/conv.yaml");
  const std::string file = kWorkloads + "teaching/conv.yaml";
  EXPECT_EQ(network, (Network{"n", {{"conv", conv, 3, file}, {"twin", conv, 1, file}}}));
  EXPECT_EQ(network.macs(), 4 * conv.macs());
}

TEST(LoadNetwork, TellsAllThatIsWrong) {
  expect_errors("workloads/bad_networks.txt", 5,
                [](const std::string& text) { return parse_network(text, "n.yaml"); });
}

TEST(LoadNetwork, SurvivesDamagedFiles) {
  expect_survival(
      "name: n\nlayers:\n  - {workload: teaching/conv.yaml, count: 3}\n",
      [](const std::string& text) { return parse_network(text, kWorkloads + "n.yaml"); });
}

}  // namespace
}  // namespace mapsim
