// SPDX-License-Identifier: Apache-2.0
#include "workloads/chain.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/bad_inputs.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::chain_test {
namespace {

EinsumChain read_chain(const std::string& text) { return parse_chain(text, "chain.yaml"); }

const std::string kChain =
    "name: two\n"
    "chain:\n"
    "  - {name: up, gemm: {m: 4, n: 8, k: 2}, in: {A: x}, out: h}\n"
    "  - {name: down, gemm: {m: 4, n: 2, k: 8}, in: {A: h}}\n";

TEST(EinsumChain, NamesWhatIsPassedOn) {
  const EinsumChain chain = read_chain(kChain);
  EXPECT_EQ(chain.name, "two");
  ASSERT_EQ(chain.einsums.size(), 2U);
  EXPECT_EQ(chain.einsums[0], gemm("up", {4, 8, 2, {}, false}));
  EXPECT_EQ(chain.intermediates, (std::vector<Intermediate>{{"h", 0, {{1, TensorId{0}}}}}));
  EXPECT_EQ(chain.names[0][TensorId{0}], "x");
  EXPECT_EQ(chain.names[0][TensorId{1}], "up.B");
  EXPECT_EQ(chain.names[1][TensorId{2}], "down.Z");
  EXPECT_EQ(chain.intermediate_of({0, TensorId{2}}), 0U);
  EXPECT_EQ(chain.intermediate_of({0, TensorId{1}}), std::nullopt);
  EXPECT_EQ(chain.find_einsum("down"), 1U);
}

// A tensor with two readers, and one that nobody reads.
TEST(EinsumChain, IsAGraph) {
  const EinsumChain chain =
      read_chain(kChain + "  - {name: more, gemm: {m: 4, n: 3, k: 8}, in: {A: h}, out: z}\n");
  ASSERT_EQ(chain.intermediates.size(), 1U);
  EXPECT_EQ(chain.intermediates[0].readers.size(), 2U);
  EXPECT_EQ(chain.names[2][TensorId{2}], "z");
}

TEST(EinsumChain, TellsAllThatIsWrong) {
  expect_errors("workloads/bad_chains.txt", 10, read_chain);
}

TEST(EinsumChain, SurvivesDamagedFiles) { expect_survival(kChain, read_chain); }

}  // namespace
}  // namespace mapsim::chain_test
