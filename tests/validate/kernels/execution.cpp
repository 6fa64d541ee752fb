// SPDX-License-Identifier: Apache-2.0
#include "tests/validate/kernels/execution.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "core/rng.hpp"
#include "tests/validate/kernels/tma_units.hpp"

namespace mapsim {
namespace {

using Matrix = Eigen::MatrixXd;
using Type = ElementType;
using Types = ElementTypes;

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

Types types_of(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
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
  if (spec.epilogue.quantise) {
    types.output = {Type::kS8, 1};
  }
  return types;
}

// Small whole numbers: every sum is exact.
void fill(Type type, AlignedMemory& buffer, Rng& rng) {
  for (std::size_t at = 0; at < buffer.size; at += type.size) {
    put(type, buffer.data + at, static_cast<double>(rng.below(5)) - 2);
  }
}

}  // namespace

Execution::Execution(const KernelCase& of)
    : spec{of.spec},
      source_{kernel_source(case_gpu(of), of.spec)},
      types_{types_of(of.spec)},
      sizes_{kernel_buffers(of.spec)},
      a_{sizes_.a},
      b_{sizes_.b},
      bias_{sizes_.bias},
      c_{sizes_.c},
      workspace_{sizes_.workspace},
      residual_{sizes_.residual},
      alpha_{of.alpha},
      beta_{of.beta},
      scale_{of.scale} {
  Rng rng{7};
  fill(types_.operand, a_, rng);
  fill(types_.operand, b_, rng);
  fill(types_.sum, bias_, rng);
  fill(types_.output, c_, rng);
  fill(types_.output, residual_, rng);
  poison(a_, spec.problem.a == MatrixLayout::kRow ? spec.problem.k : spec.problem.m,
         run_of_a(spec.problem));
  poison(b_, spec.problem.b == MatrixLayout::kColumn ? spec.problem.k : spec.problem.n,
         run_of_b(spec.problem));
  for (std::int64_t batch = 0; batch < spec.problem.batch; ++batch) {
    expected_.push_back(reference(batch));
  }
}

// What lies between padded rows is garbage.
void Execution::poison(AlignedMemory& buffer, std::int64_t row, std::int64_t run) const {
  if (spec.conv || row == run) {
    return;
  }
  const std::size_t size = types_.operand.size;
  for (std::size_t at = 0; at < buffer.size / size; ++at) {
    if (static_cast<std::int64_t>(at) % run >= row) {
      std::memset(buffer.data + at * size, 0xff, size);
    }
  }
}

double Execution::element(Type type, const AlignedMemory& buffer, std::int64_t at) const {
  return get(type, buffer.data + static_cast<std::size_t>(at) * type.size);
}

double Execution::input(std::int64_t batch, std::int64_t m, std::int64_t k) const {
  const GemmProblem& problem = spec.problem;
  if (!spec.conv) {
    const std::int64_t run = run_of_a(problem);
    const bool row = problem.a == MatrixLayout::kRow;
    return element(types_.operand, a_,
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
      types_.operand, a_,
      ((n * conv.h + h) * conv.w + w) * conv.groups * conv.c + batch * conv.c + k % conv.c);
}

double Execution::weight(std::int64_t batch, std::int64_t k, std::int64_t n) const {
  const GemmProblem& problem = spec.problem;
  const bool row = problem.b == MatrixLayout::kRow;
  const std::int64_t run = spec.conv ? problem.k : run_of_b(problem);
  return element(types_.operand, b_,
                 batch * (row ? problem.k : problem.n) * run + (row ? k * run + n : n * run + k));
}

std::int64_t Execution::output_place(std::int64_t batch, std::int64_t m, std::int64_t n) const {
  const GemmProblem& problem = spec.problem;
  return spec.conv ? m * problem.batch * problem.n + batch * problem.n + n
                   : (batch * problem.m + m) * problem.n + n;
}

double Execution::finished(std::int64_t batch, std::int64_t m, std::int64_t n, double sum) const {
  const GemmProblem& problem = spec.problem;
  const Epilogue& epilogue = spec.epilogue;
  double x = alpha_ * sum;
  x += epilogue.bias ? element(types_.sum, bias_, batch * problem.n + n) : 0;
  if (problem.adds_to_output || epilogue.residual) {
    const AlignedMemory& old = epilogue.residual ? residual_ : c_;
    x += beta_ * element(types_.output, old, output_place(batch, m, n));
  }
  switch (epilogue.relu ? Activation::kRelu : epilogue.activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      x = std::max(x, 0.0);
      break;
    case Activation::kGelu:
      x *= 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
      break;
    case Activation::kSilu:
      x /= 1 + std::exp(-x);
      break;
  }
  return epilogue.quantise ? std::nearbyint(x * scale_) : x;
}

Matrix Execution::reference(std::int64_t batch) const {
  const GemmProblem& problem = spec.problem;
  const Matrix left = Matrix::NullaryExpr(
      problem.m, problem.k, [&](Eigen::Index m, Eigen::Index k) { return input(batch, m, k); });
  const Matrix right = Matrix::NullaryExpr(
      problem.k, problem.n, [&](Eigen::Index k, Eigen::Index n) { return weight(batch, k, n); });
  Matrix product = left * right;
  for (Eigen::Index m = 0; m < product.rows(); ++m) {
    for (Eigen::Index n = 0; n < product.cols(); ++n) {
      double& sum = product(m, n);
      sum = finished(batch, m, n, sum);
      char rounded[8];
      put(types_.output, rounded, sum);
      sum = get(types_.output, rounded);
    }
  }
  return product;
}

void Execution::execute(Launch launch, bool last_warp_first) {
  KernelArguments arguments = sizes_.arguments;
  arguments.a = a_.data;
  arguments.b = b_.data;
  arguments.bias = bias_.data;
  arguments.c = c_.data;
  arguments.workspace = workspace_.data;
  arguments.residual = spec.problem.adds_to_output ? c_.data : residual_.data;
  arguments.alpha = alpha_;
  arguments.beta = beta_;
  arguments.scale = scale_;
  const bool splits = !source_.reduce_entry.empty();
  std::array<EmulatedMap, 2> maps;
  if (const auto plans = tensor_maps(spec)) {
    maps = {EmulatedMap{(*plans)[0], a_.data}, EmulatedMap{(*plans)[1], b_.data}};
    arguments.map_a.words[0] = std::bit_cast<std::uint64_t>(&maps[0]);
    arguments.map_b.words[0] = std::bit_cast<std::uint64_t>(&maps[1]);
  }
  const int cluster = static_cast<int>(spec.kernel.cluster);
  BlockMachine machine{static_cast<int>(source_.threads),
                       static_cast<std::size_t>(source_.shared.count()), last_warp_first, cluster};
  machine.allow(a_.data, a_.size, false);
  machine.allow(b_.data, b_.size, false);
  machine.allow(bias_.data, bias_.size, false);
  machine.allow(residual_.data, residual_.size, false);
  machine.allow(splits ? workspace_.data : c_.data, splits ? workspace_.size : c_.size, true);
  machine.count_conflicts();
  for (std::int64_t block = 0; block < source_.grid[0]; block += cluster) {
    TmaUnits units{machine, last_warp_first};
    machine.units() = &units;
    machine.run_block(block, [&] { launch(arguments, false); });
    if (!units.is_idle()) {
      throw KernelFault{"a block ends with products under way"};
    }
    first_written_.push_back(static_cast<std::int64_t>(machine.first_written()));
  }
  if (!machine.wrote_everything()) {
    throw KernelFault{"some output is not written"};
  }
  conflicts_ = machine.conflicts();
  if (splits) {
    reduce(launch, arguments);
  }
}

void Execution::reduce(Launch launch, const KernelArguments& arguments) {
  BlockMachine machine{static_cast<int>(source_.reduce_threads), 0, false};
  machine.allow(workspace_.data, workspace_.size, false);
  machine.allow(bias_.data, bias_.size, false);
  machine.allow(residual_.data, residual_.size, false);
  machine.allow(c_.data, c_.size, true);
  for (std::int64_t block = 0; block < source_.reduce_grid[0]; ++block) {
    machine.run_block(block, [&] { launch(arguments, true); });
  }
  if (!machine.wrote_everything()) {
    throw KernelFault{"some output is not reduced"};
  }
}

std::string Execution::difference() const {
  for (std::int64_t batch = 0; batch < spec.problem.batch; ++batch) {
    for (std::int64_t m = 0; m < spec.problem.m; ++m) {
      for (std::int64_t n = 0; n < spec.problem.n; ++n) {
        const double found = element(types_.output, c_, output_place(batch, m, n));
        const double wanted = expected_[static_cast<std::size_t>(batch)](m, n);
        // The functions in fp32 and the rounding of the output may each be off by a half unit.
        const bool is_smooth = spec.epilogue.activation == Activation::kGelu ||
                               spec.epilogue.activation == Activation::kSilu;
        const double allowed = is_smooth ? std::abs(wanted) / 512 + 1e-6 : 0;
        if (!(std::abs(found - wanted) <= allowed)) {
          return "batch " + std::to_string(batch) + ", row " + std::to_string(m) + ", column " +
                 std::to_string(n) + ": " + std::to_string(found) + ", not " +
                 std::to_string(wanted);
        }
      }
    }
  }
  return {};
}

}  // namespace mapsim
