// SPDX-License-Identifier: Apache-2.0
#include "validate/device/cublas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "validate/device/cublas_api.hpp"
#include "validate/device/library.hpp"

namespace mapsim {
namespace {

const void* address(cuda::Pointer pointer) { return std::bit_cast<const void*>(pointer); }

// Types of operands, result and sums. Nothing: cuBLAS has no such GEMM.
struct Types {
  int operand;
  int result;
  int compute;
  int scale;
};
std::optional<Types> types_of(const GemmProblem& problem) {
  const std::int64_t bytes = problem.output.count();
  switch (problem.precision) {
    case GpuPrecision::kF16:
      return bytes == 2 || bytes == 4
                 ? std::optional{Types{cublas::kReal16,
                                       bytes == 2 ? cublas::kReal16 : cublas::kReal32,
                                       cublas::kCompute32, cublas::kReal32}}
                 : std::nullopt;
    case GpuPrecision::kF16Acc16:
      return bytes == 2 ? std::optional{Types{cublas::kReal16, cublas::kReal16, cublas::kCompute16,
                                              cublas::kReal16}}
                        : std::nullopt;
    case GpuPrecision::kBf16:
      return bytes == 2 || bytes == 4
                 ? std::optional{Types{cublas::kBrain16,
                                       bytes == 2 ? cublas::kBrain16 : cublas::kReal32,
                                       cublas::kCompute32, cublas::kReal32}}
                 : std::nullopt;
    case GpuPrecision::kTf32:
      return bytes == 4 ? std::optional{Types{cublas::kReal32, cublas::kReal32,
                                              cublas::kComputeTf32, cublas::kReal32}}
                        : std::nullopt;
    case GpuPrecision::kF32:
      return bytes == 4 ? std::optional{Types{cublas::kReal32, cublas::kReal32, cublas::kCompute32,
                                              cublas::kReal32}}
                        : std::nullopt;
    case GpuPrecision::kF64:
      return bytes == 8 ? std::optional{Types{cublas::kReal64, cublas::kReal64, cublas::kCompute64,
                                              cublas::kReal64}}
                        : std::nullopt;
    case GpuPrecision::kS8:
      return bytes == 4 ? std::optional{Types{cublas::kInteger8, cublas::kInteger32,
                                              cublas::kComputeInteger, cublas::kInteger32}}
                        : std::nullopt;
    case GpuPrecision::kFp8:
      return std::nullopt;  // only through cuBLASLt
  }
  return std::nullopt;
}

// One and zero in the type of the scaling factors.
struct Factor {
  alignas(8) std::array<unsigned char, 8> bytes{};
};
Factor factor(int type, bool one) {
  Factor result;
  const auto put = [&](const auto value) {
    const auto raw = std::bit_cast<std::array<unsigned char, sizeof(value)>>(value);
    std::copy(raw.begin(), raw.end(), result.bytes.begin());
  };
  if (type == cublas::kReal64) {
    put(one ? 1.0 : 0.0);
  } else if (type == cublas::kReal32) {
    put(one ? 1.0F : 0.0F);
  } else if (type == cublas::kInteger32) {
    put(std::int32_t{one ? 1 : 0});
  } else {
    put(static_cast<std::uint16_t>(one ? 0x3C00 : 0));  // 1 as a half
  }
  return result;
}

}  // namespace

struct Cublas::Api : CublasApi {
  SharedLibrary library;
  cublas::Handle handle = nullptr;
  Api() = default;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  ~Api() {
    if (handle != nullptr) {
      destroy(handle);
    }
  }
  std::string words(int status) const {
    return status_words != nullptr ? status_words(status) : std::to_string(status);
  }
};

std::optional<Cublas> Cublas::open(const std::string& path, std::string& why) {
  auto api = std::make_shared<Api>();
  const std::string toolkit = "/usr/local/cuda/lib64/libcublas.so";
  api->library = SharedLibrary::open(
      path.empty()
          ? std::vector<std::string>{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                     toolkit + ".13", toolkit + ".12", toolkit + ".11"}
          : std::vector<std::string>{path},
      why);
  if (!api->library) {
    return std::nullopt;
  }
  const SharedLibrary& library = api->library;
  if (!library.find(api->create, "cublasCreate_v2") ||
      !library.find(api->destroy, "cublasDestroy_v2") ||
      !library.find(api->version, "cublasGetVersion_v2") ||
      !library.find(api->gemm, "cublasGemmStridedBatchedEx")) {
    why = library.name() + " is no cuBLAS of CUDA 11 or later";
    return std::nullopt;
  }
  library.find(api->status_words, "cublasGetStatusString");
  if (const int status = api->create(&api->handle); status != cublas::kSuccess) {
    api->handle = nullptr;
    why = fmt::format("{}: {}", library.name(), api->words(status));
    return std::nullopt;
  }
  Cublas result;
  result.api_ = std::move(api);
  return result;
}

std::string Cublas::version() const {
  int version = 0;
  api_->version(api_->handle, &version);
  // 130100 is 13.1.0.
  return version >= 100000
             ? fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100)
             : fmt::format("cuBLAS {}", version);
}

std::optional<std::string> Cublas::unsupported(const GemmProblem& problem) {
  if (!types_of(problem)) {
    return fmt::format("cuBLAS has no GEMM of {} with results of {} B",
                       to_string(problem.precision), problem.output.count());
  }
  if (problem.precision == GpuPrecision::kS8 &&
      (run_of_a(problem) % 4 != 0 || run_of_b(problem) % 4 != 0 || problem.n % 4 != 0)) {
    return "cuBLAS wants rows of multiples of 4 elements in s8";
  }
  return std::nullopt;
}

// cuBLAS is column-major: what it calls C is our C transposed, N x M, and C^T = B^T A^T. A
// row-major matrix is what it calls its transpose.
void Cublas::multiply(const GemmProblem& p, cuda::Pointer a, cuda::Pointer b,
                      cuda::Pointer c) const {
  const Types types = types_of(p).value();
  const Factor one = factor(types.scale, true);
  const Factor sum = factor(types.scale, p.adds_to_output);
  const auto whole = [](std::int64_t value) { return static_cast<int>(value); };
  const bool a_by_rows = p.a == MatrixLayout::kRow;
  const bool b_by_rows = p.b == MatrixLayout::kRow;
  const std::int64_t run_a = run_of_a(p);
  const std::int64_t run_b = run_of_b(p);
  const int status = api_->gemm(
      api_->handle, b_by_rows ? cublas::kAsIs : cublas::kTransposed,
      a_by_rows ? cublas::kAsIs : cublas::kTransposed, whole(p.n), whole(p.m), whole(p.k),
      one.bytes.data(), address(b), types.operand, whole(run_b), run_b * (b_by_rows ? p.k : p.n),
      address(a), types.operand, whole(run_a), run_a * (a_by_rows ? p.m : p.k), sum.bytes.data(),
      const_cast<void*>(address(c)), types.result, whole(p.n), p.m * p.n, whole(p.batch),
      types.compute, cublas::kDefaultAlgorithm);
  if (status != cublas::kSuccess) {
    throw DeviceError(fmt::format("cuBLAS: {} ({})", api_->words(status), status));
  }
}

}  // namespace mapsim
