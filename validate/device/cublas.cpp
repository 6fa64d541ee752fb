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
  SharedLibrary lt_library;
  CublasLtApi lt;
  cublas_lt::Handle lt_handle = nullptr;  // null: there is no cuBLASLt
  Api() = default;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  ~Api() {
    if (lt_handle != nullptr) {
      lt.destroy(lt_handle);
    }
    if (handle != nullptr) {
      destroy(handle);
    }
  }
  std::string words(int status) const {
    return status_words != nullptr ? status_words(status) : std::to_string(status);
  }
};

// A GEMM as cuBLASLt has it described, and one way to do it.
struct Cublas::Algorithm::Plan {
  std::shared_ptr<const Api> api;
  Types types;
  bool adds = false;
  cublas_lt::Operation operation = nullptr;
  cublas_lt::Layout a = nullptr, b = nullptr, c = nullptr;
  cublas_lt::Algorithm algorithm{};
  Plan(std::shared_ptr<const Api> of, const GemmProblem& problem)
      : api{std::move(of)}, types{types_of(problem).value()}, adds{problem.adds_to_output} {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (const cublas_lt::Layout layout : {a, b, c}) {
      if (layout != nullptr) {
        api->lt.layout_destroy(layout);
      }
    }
    if (operation != nullptr) {
      api->lt.operation_destroy(operation);
    }
  }
  // Column-major, as in multiply(): B first. False: cuBLASLt does not want it.
  bool describe(const GemmProblem& p) {
    const CublasLtApi& lt = api->lt;
    const bool a_by_rows = p.a == MatrixLayout::kRow;
    const bool b_by_rows = p.b == MatrixLayout::kRow;
    const int of_b = b_by_rows ? cublas::kAsIs : cublas::kTransposed;
    const int of_a = a_by_rows ? cublas::kAsIs : cublas::kTransposed;
    return lt.operation_create(&operation, types.compute, types.scale) == 0 &&
           lt.operation_set(operation, cublas_lt::kOperationA, &of_b, sizeof of_b) == 0 &&
           lt.operation_set(operation, cublas_lt::kOperationB, &of_a, sizeof of_a) == 0 &&
           lay(b, types.operand, b_by_rows ? p.n : p.k, b_by_rows ? p.k : p.n, run_of_b(p), p) &&
           lay(a, types.operand, a_by_rows ? p.k : p.m, a_by_rows ? p.m : p.k, run_of_a(p), p) &&
           lay(c, types.result, p.n, p.m, p.n, p);
  }

 private:
  bool lay(cublas_lt::Layout& layout, int type, std::int64_t rows, std::int64_t columns,
           std::int64_t run, const GemmProblem& p) const {
    const CublasLtApi& lt = api->lt;
    const auto batches = static_cast<std::int32_t>(p.batch);
    const std::int64_t stride = run * columns;
    return lt.layout_create(&layout, type, static_cast<std::uint64_t>(rows),
                            static_cast<std::uint64_t>(columns), run) == 0 &&
           (batches == 1 ||
            (lt.layout_set(layout, cublas_lt::kBatchCount, &batches, sizeof batches) == 0 &&
             lt.layout_set(layout, cublas_lt::kBatchStride, &stride, sizeof stride) == 0));
  }
};

namespace {

// libcublasLt.so.12 beside libcublas.so.12; what is no name of that kind holds both itself.
void open_lt(const std::string& cublas, SharedLibrary& library, CublasLtApi& lt,
             cublas_lt::Handle& handle) {
  std::string name = cublas;
  if (const std::size_t at = name.rfind("libcublas.so"); at != std::string::npos) {
    name.insert(at + std::string{"libcublas"}.size(), "Lt");
  }
  std::string why;
  library = SharedLibrary::open({name}, why);
  const bool is_whole = library && library.find(lt.create, "cublasLtCreate") &&
                        library.find(lt.destroy, "cublasLtDestroy") &&
                        library.find(lt.operation_create, "cublasLtMatmulDescCreate") &&
                        library.find(lt.operation_destroy, "cublasLtMatmulDescDestroy") &&
                        library.find(lt.operation_set, "cublasLtMatmulDescSetAttribute") &&
                        library.find(lt.layout_create, "cublasLtMatrixLayoutCreate") &&
                        library.find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
                        library.find(lt.layout_set, "cublasLtMatrixLayoutSetAttribute") &&
                        library.find(lt.preference_create, "cublasLtMatmulPreferenceCreate") &&
                        library.find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
                        library.find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
                        library.find(lt.choose, "cublasLtMatmulAlgoGetHeuristic") &&
                        library.find(lt.multiply, "cublasLtMatmul");
  if (!is_whole || lt.create(&handle) != cublas::kSuccess) {
    handle = nullptr;
  }
}

}  // namespace

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
      !library.find(api->gemm, "cublasGemmStridedBatchedEx") ||
      !library.find(api->gemm_single, "cublasGemmEx")) {
    why = library.name() + " is no cuBLAS of CUDA 11 or later";
    return std::nullopt;
  }
  library.find(api->status_words, "cublasGetStatusString");
  if (const int status = api->create(&api->handle); status != cublas::kSuccess) {
    api->handle = nullptr;
    why = fmt::format("{}: {}", library.name(), api->words(status));
    return std::nullopt;
  }
  open_lt(library.name(), api->lt_library, api->lt, api->lt_handle);
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
  const int of_b = b_by_rows ? cublas::kAsIs : cublas::kTransposed;
  const int of_a = a_by_rows ? cublas::kAsIs : cublas::kTransposed;
  void* const result = const_cast<void*>(address(c));
  const int status =
      p.batch == 1
          ? api_->gemm_single(api_->handle, of_b, of_a, whole(p.n), whole(p.m), whole(p.k),
                              one.bytes.data(), address(b), types.operand, whole(run_b), address(a),
                              types.operand, whole(run_a), sum.bytes.data(), result, types.result,
                              whole(p.n), types.compute, cublas::kDefaultAlgorithm)
          : api_->gemm(api_->handle, of_b, of_a, whole(p.n), whole(p.m), whole(p.k),
                       one.bytes.data(), address(b), types.operand, whole(run_b),
                       run_b * (b_by_rows ? p.k : p.n), address(a), types.operand, whole(run_a),
                       run_a * (a_by_rows ? p.m : p.k), sum.bytes.data(), result, types.result,
                       whole(p.n), p.m * p.n, whole(p.batch), types.compute,
                       cublas::kDefaultAlgorithm);
  if (status != cublas::kSuccess) {
    throw DeviceError(fmt::format("cuBLAS: {} ({})", api_->words(status), status));
  }
}

std::vector<Cublas::Algorithm> Cublas::algorithms(const GemmProblem& problem, int most,
                                                  Bytes workspace) const {
  std::vector<Algorithm> result;
  const CublasLtApi& lt = api_->lt;
  cublas_lt::Preference preference = nullptr;
  if (api_->lt_handle == nullptr || lt.preference_create(&preference) != cublas::kSuccess) {
    return result;
  }
  const auto bytes = static_cast<std::size_t>(workspace.count());
  lt.preference_set(preference, cublas_lt::kMostWorkspace, &bytes, sizeof bytes);
  std::vector<cublas_lt::Choice> choices(static_cast<std::size_t>(most));
  int found = 0;
  Algorithm::Plan question{api_, problem};
  if (!question.describe(problem) ||
      lt.choose(api_->lt_handle, question.operation, question.b, question.a, question.c, question.c,
                preference, most, choices.data(), &found) != cublas::kSuccess) {
    found = 0;
  }
  lt.preference_destroy(preference);
  for (int i = 0; i < found; ++i) {
    const cublas_lt::Choice& choice = choices[static_cast<std::size_t>(i)];
    auto plan = std::make_shared<Algorithm::Plan>(api_, problem);
    if (choice.state != cublas::kSuccess || !plan->describe(problem)) {
      continue;
    }
    plan->algorithm = choice.algorithm;
    Algorithm algorithm;
    algorithm.plan_ = std::move(plan);
    algorithm.name_ = fmt::format("cuBLASLt {} of {}", i + 1, found);
    algorithm.workspace_ = Bytes{static_cast<std::int64_t>(choice.workspace)};
    result.push_back(std::move(algorithm));
  }
  return result;
}

void Cublas::multiply(const Algorithm& algorithm, cuda::Pointer a, cuda::Pointer b, cuda::Pointer c,
                      cuda::Pointer workspace) const {
  const Algorithm::Plan& plan = *algorithm.plan_;
  const Factor one = factor(plan.types.scale, true);
  const Factor sum = factor(plan.types.scale, plan.adds);
  void* const result = const_cast<void*>(address(c));
  const int status =
      api_->lt.multiply(api_->lt_handle, plan.operation, one.bytes.data(), address(b), plan.b,
                        address(a), plan.a, sum.bytes.data(), result, plan.c, result, plan.c,
                        &plan.algorithm, const_cast<void*>(address(workspace)),
                        static_cast<std::size_t>(algorithm.workspace().count()), nullptr);
  if (status != cublas::kSuccess) {
    throw DeviceError(fmt::format("{}: {} ({})", algorithm.name(), api_->words(status), status));
  }
}

}  // namespace mapsim
