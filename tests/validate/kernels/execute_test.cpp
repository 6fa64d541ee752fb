// SPDX-License-Identifier: Apache-2.0
// Generated kernels, run on the CPU, equal Eigen's result exactly.
#include <gmock/gmock.h>

#include <Eigen/Core>
#include <cstring>
#include <set>

#include "core/rng.hpp"
#include "tests/validate/kernels/cases.hpp"

namespace mapsim {
namespace {

using Matrix = Eigen::MatrixXd;

// An element in memory as a number, and back with the rounding of a conversion from its sums.
struct Type {
  enum Kind { kF16, kBf16, kF32, kS8, kS32, kF64 } kind;
  std::size_t size;
};
template <class T>
double get_as(const char* at) {
  T value;
  std::memcpy(static_cast<void*>(&value), at, sizeof value);
  return static_cast<double>(value);
}
template <class T>
void put_as(char* at, T value) {
  std::memcpy(at, static_cast<const void*>(&value), sizeof value);
}
double get(Type type, const char* at) {
  switch (type.kind) {
    case Type::kF16:
      return get_as<Eigen::half>(at);
    case Type::kBf16:
      return get_as<Eigen::bfloat16>(at);
    case Type::kF32:
      return get_as<float>(at);
    case Type::kS8:
      return get_as<signed char>(at);
    case Type::kS32:
      return get_as<std::int32_t>(at);
    case Type::kF64:
      return get_as<double>(at);
  }
  return 0;
}
void put(Type type, char* at, double value) {
  switch (type.kind) {
    case Type::kF16:
      return put_as(at, Eigen::half(static_cast<float>(value)));
    case Type::kBf16:
      return put_as(at, Eigen::bfloat16(static_cast<float>(value)));
    case Type::kF32:
      return put_as(at, static_cast<float>(value));
    case Type::kS8:
      return put_as(at, static_cast<signed char>(std::clamp(value, -128.0, 127.0)));
    case Type::kS32:
      return put_as(at, static_cast<std::int32_t>(value));
    case Type::kF64:
      return put_as(at, value);
  }
}

struct Types {
  Type operand, sum, output;
};
Types types_of(const GemmProblem& problem) {
  const Type f16{Type::kF16, 2};
  const Type f32{Type::kF32, 4};
  const Type wide = problem.precision == GpuPrecision::kS8 ? Type{Type::kS32, 4} : f32;
  Types types{f16, f32, f16};
  switch (problem.precision) {
    case GpuPrecision::kF16Acc16:
      types.sum = f16;
      break;
    case GpuPrecision::kBf16:
      types.operand = types.output = {Type::kBf16, 2};
      break;
    case GpuPrecision::kTf32:
      types = {f32, f32, f32};
      break;
    case GpuPrecision::kS8:
      types = {{Type::kS8, 1}, wide, {Type::kS8, 1}};
      break;
    case GpuPrecision::kF64:
      types = {{Type::kF64, 8}, {Type::kF64, 8}, {Type::kF64, 8}};
      break;
    default:
      break;
  }
  if (problem.output != Bytes{static_cast<std::int64_t>(types.output.size)}) {
    types.output = wide;
  }
  return types;
}

// Memory that begins at a multiple of 64 B, full of garbage.
struct Buffer {
  explicit Buffer(Bytes bytes)
      : size{static_cast<std::size_t>(bytes.count())}, memory(size + 64, '\xff') {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    data = memory.data() + (64 - address % 64);
  }
  std::size_t size;
  std::vector<char> memory;
  char* data;
};

// Small whole numbers: every sum is exact.
void fill(Type type, Buffer& buffer, Rng& rng) {
  for (std::size_t at = 0; at < buffer.size; at += type.size) {
    put(type, buffer.data + at, static_cast<double>(rng.below(5)) - 2);
  }
}

struct Execution {
  explicit Execution(const KernelCase& of)
      : spec{of.spec},
        source{kernel_source(case_gpu(of.has_async), of.spec)},
        types{types_of(of.spec.problem)},
        sizes{kernel_buffers(of.spec)},
        a{sizes.a},
        b{sizes.b},
        bias{sizes.bias},
        c{sizes.c},
        workspace{sizes.workspace} {
    Rng rng{7};
    fill(types.operand, a, rng);
    fill(types.operand, b, rng);
    fill(types.sum, bias, rng);
    fill(types.output, c, rng);
    poison(a, spec.problem.a == MatrixLayout::kRow ? spec.problem.k : spec.problem.m,
           run_of_a(spec.problem));
    poison(b, spec.problem.b == MatrixLayout::kColumn ? spec.problem.k : spec.problem.n,
           run_of_b(spec.problem));
    for (std::int64_t batch = 0; batch < spec.problem.batch; ++batch) {
      expected.push_back(reference(batch));
    }
  }

  // What lies between padded rows is garbage.
  void poison(Buffer& buffer, std::int64_t row, std::int64_t run) const {
    if (spec.conv || row == run) {
      return;
    }
    const std::size_t size = types.operand.size;
    for (std::size_t at = 0; at < buffer.size / size; ++at) {
      if (static_cast<std::int64_t>(at) % run >= row) {
        std::memset(buffer.data + at * size, 0xff, size);
      }
    }
  }

  double element(Type type, const Buffer& buffer, std::int64_t at) const {
    return get(type, buffer.data + static_cast<std::size_t>(at) * type.size);
  }

  double input(std::int64_t batch, std::int64_t m, std::int64_t k) const {
    const GemmProblem& problem = spec.problem;
    if (!spec.conv) {
      const std::int64_t run = run_of_a(problem);
      const bool row = problem.a == MatrixLayout::kRow;
      return element(
          types.operand, a,
          batch * (row ? problem.m : problem.k) * run + (row ? m * run + k : k * run + m));
    }
    const KernelConvolution& conv = *spec.conv;
    const std::int64_t n = m / (conv.p * conv.q);
    const std::int64_t h = m / conv.q % conv.p * conv.stride[0] - conv.padding[0] +
                           k / conv.c / conv.s * conv.dilation[0];
    const std::int64_t w =
        m % conv.q * conv.stride[1] - conv.padding[1] + k / conv.c % conv.s * conv.dilation[1];
    if (h < 0 || h >= conv.h || w < 0 || w >= conv.w) {
      return 0;
    }
    return element(
        types.operand, a,
        ((n * conv.h + h) * conv.w + w) * conv.groups * conv.c + batch * conv.c + k % conv.c);
  }

  double weight(std::int64_t batch, std::int64_t k, std::int64_t n) const {
    const GemmProblem& problem = spec.problem;
    const bool row = problem.b == MatrixLayout::kRow;
    const std::int64_t run = spec.conv ? problem.k : run_of_b(problem);
    return element(types.operand, b,
                   batch * (row ? problem.k : problem.n) * run + (row ? k * run + n : n * run + k));
  }

  std::int64_t output_place(std::int64_t batch, std::int64_t m, std::int64_t n) const {
    const GemmProblem& problem = spec.problem;
    return spec.conv ? m * problem.batch * problem.n + batch * problem.n + n
                     : (batch * problem.m + m) * problem.n + n;
  }

  Matrix reference(std::int64_t batch) const {
    const GemmProblem& problem = spec.problem;
    const Matrix left = Matrix::NullaryExpr(
        problem.m, problem.k, [&](Eigen::Index m, Eigen::Index k) { return input(batch, m, k); });
    const Matrix right = Matrix::NullaryExpr(
        problem.k, problem.n, [&](Eigen::Index k, Eigen::Index n) { return weight(batch, k, n); });
    Matrix product = left * right;
    for (Eigen::Index m = 0; m < product.rows(); ++m) {
      for (Eigen::Index n = 0; n < product.cols(); ++n) {
        double& sum = product(m, n);
        sum += spec.epilogue.bias ? element(types.sum, bias, batch * problem.n + n) : 0;
        sum += problem.adds_to_output ? element(types.output, c, output_place(batch, m, n)) : 0;
        sum = spec.epilogue.relu ? std::max(sum, 0.0) : sum;
        char rounded[8];
        put(types.output, rounded, sum);
        sum = get(types.output, rounded);
      }
    }
    return product;
  }

  void execute(Launch launch, bool last_warp_first) {
    KernelArguments arguments = sizes.arguments;
    arguments.a = a.data;
    arguments.b = b.data;
    arguments.bias = bias.data;
    arguments.c = c.data;
    arguments.workspace = workspace.data;
    const bool splits = !source.reduce_entry.empty();
    Machine machine{static_cast<int>(source.threads),
                    static_cast<std::size_t>(source.shared.count()), last_warp_first};
    machine.allow(a.data, a.size, false);
    machine.allow(b.data, b.size, false);
    machine.allow(bias.data, bias.size, false);
    machine.allow(splits ? workspace.data : c.data, splits ? workspace.size : c.size, true);
    for (std::int64_t block = 0; block < source.grid[0]; ++block) {
      machine.run_block(block, [&] { launch(arguments, false); });
      first_written.push_back(static_cast<std::int64_t>(machine.first_written()));
    }
    if (!machine.wrote_everything()) {
      throw KernelFault{"some output is not written"};
    }
    if (splits) {
      reduce(launch, arguments);
    }
  }

  void reduce(Launch launch, const KernelArguments& arguments) {
    Machine machine{static_cast<int>(source.reduce_threads), 0, false};
    machine.allow(workspace.data, workspace.size, false);
    machine.allow(bias.data, bias.size, false);
    machine.allow(c.data, c.size, true);
    for (std::int64_t block = 0; block < source.reduce_grid[0]; ++block) {
      machine.run_block(block, [&] { launch(arguments, true); });
    }
    if (!machine.wrote_everything()) {
      throw KernelFault{"some output is not reduced"};
    }
  }

  // The first wrong element; empty: none.
  std::string difference() const {
    for (std::int64_t batch = 0; batch < spec.problem.batch; ++batch) {
      for (std::int64_t m = 0; m < spec.problem.m; ++m) {
        for (std::int64_t n = 0; n < spec.problem.n; ++n) {
          const double found = element(types.output, c, output_place(batch, m, n));
          const double wanted = expected[static_cast<std::size_t>(batch)](m, n);
          if (!(found == wanted)) {
            return "batch " + std::to_string(batch) + ", row " + std::to_string(m) + ", column " +
                   std::to_string(n) + ": " + std::to_string(found) + ", not " +
                   std::to_string(wanted);
          }
        }
      }
    }
    return {};
  }

  KernelSpec spec;
  KernelSource source;
  Types types;
  KernelBuffers sizes;
  Buffer a, b, bias, c, workspace;
  std::vector<Matrix> expected;             // by batch
  std::vector<std::int64_t> first_written;  // offset in the output, by block
};

TEST(GeneratedKernels, EqualEigenOnTheCpu) {
  const auto cases = kernel_cases();
  const auto launches = case_launches();
  ASSERT_EQ(cases.size(), launches.size());
  EXPECT_GE(cases.size(), 60u);
  std::set<std::string> names;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(names.insert(cases[i].name).second) << cases[i].name;
    SCOPED_TRACE(cases[i].name + ": " + to_string(cases[i].spec.kernel));
    Execution run{cases[i]};
    try {
      run.execute(launches[i], i % 2 == 1);
      EXPECT_EQ(run.difference(), "");
    } catch (const KernelFault& fault) {
      ADD_FAILURE() << fault.what();
    }
  }
}

// Blocks run along M within groups of `raster` columns of blocks, the last group narrower; 0: row
// by row. The model's rectangle of a wave rests on it.
TEST(GeneratedKernels, NumberTheirBlocksAsTheModelSays) {
  const auto cases = kernel_cases();
  const auto launches = case_launches();
  int seen = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].name.rfind("raster_", 0) != 0) {
      continue;
    }
    Execution run{cases[i]};
    run.execute(launches[i], false);
    const GemmProblem& problem = run.spec.problem;
    const KernelChoice& kernel = run.spec.kernel;
    const std::int64_t columns = (problem.n + kernel.block.n - 1) / kernel.block.n;
    const std::int64_t group = kernel.raster == 0 ? columns : kernel.raster;
    std::vector<std::int64_t> expected;
    for (std::int64_t first = 0; first < columns; first += group) {
      for (std::int64_t m = 0; m < problem.m; m += kernel.block.m) {
        for (std::int64_t n = first; n < std::min(first + group, columns); ++n) {
          expected.push_back((m * problem.n + n * kernel.block.n) * problem.output.count());
        }
      }
    }
    EXPECT_EQ(run.first_written, expected) << cases[i].name;
    ++seen;
  }
  EXPECT_EQ(seen, 4);
}

// The emulation sees what it is there for: a kernel with one line broken gives a wrong result, or
// does what it may not.
TEST(GeneratedKernels, OneBrokenLineIsFound) {
  const auto mutants = kernel_mutants();
  const auto launches = mutant_launches();
  ASSERT_EQ(mutants.size(), launches.size());
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    Execution run{mutants[i].on};
    std::string found;
    try {
      run.execute(launches[i], false);
      found = run.difference();
    } catch (const KernelFault& fault) {
      found = fault.what();
    }
    EXPECT_NE(found, "") << mutants[i].name;
  }
}

}  // namespace
}  // namespace mapsim
