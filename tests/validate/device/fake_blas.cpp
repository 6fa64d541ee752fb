// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuBLASLt of the made-up GPU (fake_cuda.cpp): halves in, halves or floats out.
#include <cstdint>
#include <cstring>
#include <string>

#include "fake_kernel.hpp"

namespace {

using namespace fake;

constexpr double kLibraryLaunch = 2.8e-6;  // seconds of the host: it looks for its kernel first

int instance;  // what handles point to

// As the reference has it: column-major, operations N and T, halves in, halves or floats out.
struct Blas {
  int op_a = 0, op_b = 0, m = 0, n = 0, k = 0;
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  int a_type = 2, c_type = 2;
  long long lda = 0, ldb = 0, ldc = 0, stride_a = 0, stride_b = 0, stride_c = 0;
  int batch = 1;
};
int multiply(const Blas& p, double seconds, const std::string& name) {
  log("cublas");
  if (breaks(name)) {
    return 0;  // the next wait says so
  }
  ask(kLibraryLaunch);
  if (p.a_type != 2) {
    return 15;  // not supported
  }
  const std::string output = p.c_type == 2 ? "half" : "float";
  auto* results = static_cast<unsigned char*>(p.c);
  const bool is_wanted = is_poisoned(results);
  for (long long h = 0; is_wanted && h < p.batch; ++h) {
    for (long long i = 0; i < p.m; ++i) {
      for (long long j = 0; j < p.n; ++j) {
        double sum = 0;
        for (long long l = 0; l < p.k; ++l) {
          const long long at_a = h * p.stride_a + (p.op_a == 0 ? l * p.lda + i : i * p.lda + l);
          const long long at_b = h * p.stride_b + (p.op_b == 0 ? j * p.ldb + l : l * p.ldb + j);
          sum += load(static_cast<const unsigned char*>(p.a) + 2 * at_a, "half") *
                 load(static_cast<const unsigned char*>(p.b) + 2 * at_b, "half");
        }
        store(results + static_cast<std::size_t>(h * p.stride_c + j * p.ldc + i) * size_of(output),
              output, sum);
      }
    }
  }
  pass(seconds + static_cast<double>(p.m) * p.n * p.k * p.batch / 300e12);
  return 0;
}

// Descriptors of cuBLASLt.
struct LtOperation {
  int op_a = 0, op_b = 0;
};
struct LtLayout {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  long long run = 0, stride = 0;
  int batch = 1;
};
struct LtChoice {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  *handle = &instance;
  return 0;
}
int cublasDestroy_v2(void*) { return 0; }
int cublasGetVersion_v2(void*, int* version) {
  *version = 130100;
  return 0;
}
const char* cublasGetStatusString(int) { return "fake status"; }
int cublasGemmStridedBatchedEx(void*, int op_a, int op_b, int m, int n, int k, const void*,
                               const void* a, int a_type, int lda, long long stride_a,
                               const void* b, int, int ldb, long long stride_b, const void*,
                               void* c, int c_type, int ldc, long long stride_c, int batch, int,
                               int) {
  return multiply({op_a, op_b, m, n, k, a, b, c, a_type, c_type, lda, ldb, ldc, stride_a, stride_b,
                   stride_c, batch},
                  4e-6, "cublasGemmStridedBatchedEx");
}
int cublasGemmEx(void*, int op_a, int op_b, int m, int n, int k, const void*, const void* a,
                 int a_type, int lda, const void* b, int, int ldb, const void*, void* c, int c_type,
                 int ldc, int, int) {
  return multiply({op_a, op_b, m, n, k, a, b, c, a_type, c_type, lda, ldb, ldc, 0, 0, 0, 1}, 4e-6,
                  "cublasGemmEx");
}

int cublasLtCreate(void** handle) {
  *handle = &instance;
  return 0;
}
int cublasLtDestroy(void*) { return 0; }
int cublasLtMatmulDescCreate(void** operation, int, int) {
  *operation = new LtOperation;
  return 0;
}
int cublasLtMatmulDescDestroy(void* operation) {
  delete static_cast<LtOperation*>(operation);
  return 0;
}
int cublasLtMatmulDescSetAttribute(void* operation, int attribute, const void* value, std::size_t) {
  auto* of = static_cast<LtOperation*>(operation);
  std::memcpy(attribute == 3 ? &of->op_a : &of->op_b, value, sizeof(int));
  return 0;
}
int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t run) {
  *layout = new LtLayout{type, rows, columns, run};
  return static_cast<std::uint64_t>(run) >= rows ? 0 : 7;  // invalid value
}
int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<LtLayout*>(layout);
  return 0;
}
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                     std::size_t size) {
  auto* of = static_cast<LtLayout*>(layout);
  std::memcpy(attribute == 5 ? static_cast<void*>(&of->batch) : &of->stride, value, size);
  return 0;
}
int cublasLtMatmulPreferenceCreate(void** preference) {
  *preference = new std::size_t{0};
  return 0;
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
  delete static_cast<std::size_t*>(preference);
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void* preference, int, const void* value, std::size_t) {
  std::memcpy(preference, value, sizeof(std::size_t));
  return 0;
}
// Three: the second is the fastest, the third cannot run.
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void* preference, int,
                                   LtChoice* choices, int* found) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    choices[i] = {{i}, *static_cast<std::size_t*>(preference), 0, 1, {}};
  }
  *found = 3;
  return 0;
}
int cublasLtMatmul(void*, void* operation, const void*, const void* a, void* layout_a,
                   const void* b, void* layout_b, const void*, const void*, void*, void* d,
                   void* layout_d, const std::uint64_t* algorithm, void* workspace, std::size_t,
                   void*) {
  const auto* of = static_cast<const LtOperation*>(operation);
  const auto* in_a = static_cast<const LtLayout*>(layout_a);
  const auto* in_b = static_cast<const LtLayout*>(layout_b);
  const auto* out = static_cast<const LtLayout*>(layout_d);
  if (*algorithm == 2 || workspace == nullptr) {
    return 15;
  }
  const std::uint64_t k = of->op_a == 0 ? in_a->columns : in_a->rows;
  return multiply({of->op_a, of->op_b, static_cast<int>(out->rows), static_cast<int>(out->columns),
                   static_cast<int>(k), a, b, d, in_a->type, out->type, in_a->run, in_b->run,
                   out->run, in_a->stride, in_b->stride, out->stride, out->batch},
                  *algorithm == 1 ? 3e-6 : 3.5e-6, "cublasLt " + std::to_string(*algorithm));
}
}
