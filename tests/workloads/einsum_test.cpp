// SPDX-License-Identifier: Apache-2.0
#include "workloads/einsum.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "workloads/gemm.hpp"

namespace mapsim::einsum_test {
namespace {

const std::vector<Dim> kDims{{"n", 1}, {"k", 64}, {"c", 3}, {"p", 112}, {"r", 7}};

TEST(Einsum, ReadsIndicesRolesAndDims) {
  const Workload workload = einsum("e", "O[n][k][p] += I[n][c][2*p+r] * W[k][c][r]", kDims);
  ASSERT_EQ(workload.tensors.size(), 3U);
  const Tensor& input = workload.tensors[TensorId{0}];
  EXPECT_EQ(input.name, "I");
  EXPECT_EQ(input.role, Role::kInput);
  EXPECT_EQ(input.ranks[2], (Rank{{{DimId{3}, 2}, {DimId{4}, 1}}}));
  EXPECT_EQ(workload.tensors[TensorId{1}].role, Role::kWeight);
  EXPECT_EQ(workload.tensors[workload.output()].name, "O");
  EXPECT_EQ(workload.tensors[workload.output()].role, Role::kOutput);
  EXPECT_EQ(workload.macs(), 64 * 3 * 112 * 7);
  EXPECT_EQ(workload.gemm_axis(DimId{4}), GemmAxis::kK);
}

TEST(Einsum, ReadsBackItsOwnEquation) {
  for (const char* equation :
       {"O[n][k][p] += I[n][c][2*p+r] * W[k][c][r]", "Z += A[n][k][c] * B[p][r]",
        "O[p+r] += I[p][n] * W[r][k][c]", "Z[n][k][c][p] += A[n][k][c][p+3*r]"}) {
    const Workload once = einsum("e", equation, kDims);
    EXPECT_EQ(once.equation(), equation);
    EXPECT_EQ(einsum("e", once.equation(), kDims), once);
  }
}

TEST(Einsum, TakesAnyBlanks) {
  EXPECT_EQ(einsum("e", "Z[n][k][c][p]+=A[n][k][c][p+3*r]", kDims),
            einsum("e", " Z [ n ][k][c] [p]  +=\n A[n][k][c][ p + 3 * r ] ", kDims));
}

TEST(Einsum, TakesCommasBetweenIndices) {
  EXPECT_EQ(einsum("e", "Z[n, k][c, p] += A[n, k, c, p+3*r]", kDims),
            einsum("e", "Z[n][k][c][p] += A[n][k][c][p+3*r]", kDims));
  const auto parsed = parse_equation("Z[n,] += A[k]", kDims);
  EXPECT_EQ(std::get<std::vector<EquationProblem>>(parsed).front().what,
            "expected the name of a dim, not ']'");
}

TEST(Einsum, TakesTheNotationOfNumpy) {
  const std::vector<Dim> dims{{"i", 2}, {"j", 3}, {"k", 4}};
  for (const auto& [subscripts, equation] :
       {std::pair{"ik,kj->ij", "Z[i][j] += A[i][k] * B[k][j]"},
        {" ijk -> ", "Z += A[i][j][k]"},
        {"i k, j, kj -> ji", "Z[j][i] += A[i][k] * B[j] * C[k][j]"}}) {
    EXPECT_EQ(einsum("e", subscripts, dims), einsum("e", equation, dims)) << subscripts;
  }
}

TEST(Einsum, TellsProblemsInTheNotationOfNumpy) {
  const std::vector<Dim> dims{{"i", 2}, {"j", 3}, {"k", 4}};
  const auto problem = [&dims](const char* subscripts) {
    const auto parsed = parse_equation(subscripts, dims);
    const auto& first = std::get<std::vector<EquationProblem>>(parsed).front();
    return std::pair{first.offset, first.what};
  };
  using Problem = std::pair<std::size_t, std::string>;
  EXPECT_EQ(problem("ik,kj"),
            (Problem{5, "expected '->' before the indices of the result, not the end"}));
  EXPECT_EQ(problem("ik,kx->ij"), (Problem{4, "dim 'x' has no bound in 'dims'"}));
  EXPECT_EQ(problem("ii,kj->ij"), (Problem{1, "dim 'i' indexes operand 1 twice"}));
  EXPECT_EQ(problem("ik,kj->ii"), (Problem{8, "dim 'i' indexes the result twice"}));
  EXPECT_EQ(problem("...k,kj->ij"),
            (Problem{0, "expected '->' before the indices of the result, not '.'"}));
  EXPECT_EQ(problem("ik,kj->i,j"), (Problem{8, "expected a letter, or the end, not ','"}));
  EXPECT_EQ(problem("i1,k->i"), (Problem{1,
                                         "in this notation a dim is one letter, not '1'; "
                                         "O[m1] += A[m1][k] names dims as you like"}));
  EXPECT_EQ(problem("ik,k->i"), (Problem{0, "dim 'j' indexes no tensor"}));
}

TEST(Einsum, TellsEveryProblemAtItsPlace) {
  const auto parsed = parse_equation("O[n][k][p] += I[n][c][x+0*p] * O[k][k]", kDims);
  const auto& problems = std::get<std::vector<EquationProblem>>(parsed);
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0].offset, 22U);
  EXPECT_EQ(problems[0].what, "dim 'x' has no bound in 'dims'");
  EXPECT_EQ(problems[1].offset, 24U);
  EXPECT_EQ(problems[1].what, "a coefficient is at least 1");
  EXPECT_EQ(problems[2].offset, 31U);
  EXPECT_EQ(problems[3].what, "dim 'k' indexes O twice");
}

TEST(Einsum, HoldsItsLimits) {
  const std::int64_t limit = std::int64_t{1} << 53;
  EXPECT_EQ(einsum("e", "Z[n] += A[n]", {{"n", limit}}).macs(), limit);
  EXPECT_THROW(einsum("e", "Z[n] += A[n]", {{"n", limit + 1}}), std::invalid_argument);
  EXPECT_THROW(einsum("e", "Z[n] += A[n] * B[k]", {{"n", limit}, {"k", 2}}), std::invalid_argument);
  EXPECT_THROW(einsum("e", "Z[n] += A[n]", {{"n", 0}}), std::invalid_argument);
  EXPECT_THROW(einsum("e", "Z += A", {}), std::invalid_argument);
  EXPECT_EQ(einsum("e", "Z[2*n] += A[n]", {{"n", limit / 2}}).macs(), limit / 2);
  EXPECT_THROW(einsum("e", "Z[3*n] += A[n]", {{"n", limit / 2}}), std::invalid_argument);
}

TEST(Gemm, IsAnEinsum) {
  EXPECT_EQ(gemm("g", {2, 3, 4, {}, false}).equation(), "Z[M][N] += A[M][K] * B[K][N]");
  const Workload batched = gemm("g", {2, 3, 4, 5, false});
  EXPECT_EQ(batched.equation(), "Z[H][M][N] += A[H][M][K] * B[H][K][N]");
  EXPECT_EQ(batched.gemm_axis(*batched.find_dim("H")), GemmAxis::kBatch);
  EXPECT_EQ(batched.gemm_axis(*batched.find_dim("M")), GemmAxis::kM);
  EXPECT_EQ(batched.gemm_axis(*batched.find_dim("N")), GemmAxis::kN);
  EXPECT_THROW(gemm("g", {0, 3, 4, {}, false}), std::invalid_argument);
}

TEST(Precision, RefusesPartialSumsNarrowerThanTheOutput) {
  Precision precision;
  precision.roles[Role::kOutput] = Bits{16};
  precision.partial = Bits{8};
  EXPECT_THROW(gemm("g", {2, 3, 4, {}, false}, precision), std::invalid_argument);
  precision.partial = Bits{16};
  const Workload workload = gemm("g", {2, 3, 4, {}, false}, precision);
  EXPECT_EQ(workload.tensors[workload.output()].partial_bits, Bits{16});
}

}  // namespace
}  // namespace mapsim::einsum_test
