// SPDX-License-Identifier: Apache-2.0
// Checks and times kernels of run-time arguments against each other, in a program that nvcc builds
// alone. Behind the kernels; behind it, where kernels need tensor maps, harness_maps.cuh.
// docs/kernels.md
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace mapsim_harness {

using mapsim_kernel::RunArguments;

// What TmaArguments is; kernels of the path mma take the first part of it.
struct alignas(64) Map {
  unsigned long long words[16];
};
struct Arguments : RunArguments {
  Map map_a, map_b;
};

struct Kernel {
  const char* name;
  const void* main;
  const void* reduce;                // may be null
  void (*encode)(Arguments& to);     // its tensor maps, once a and b are known; may be null
  unsigned blocks, threads, shared, reduce_blocks, reduce_threads;
  double predicted;  // s, of a launch of many in a row
  Arguments arguments;
};

// Of all kernels.
struct Problem {
  long long elements_a, elements_b, elements_bias, elements_c;
  long long bytes_workspace;
  double operations;
  bool along_a, along_b, conv, exact;
};

inline void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}

// What a reference sums in.
template <class Sum>
struct Wide {
  using Type = float;
};
template <>
struct Wide<int> {
  using Type = int;
};
template <>
struct Wide<double> {
  using Type = double;
};

// Whole numbers from -2 to 2, so that sums are exact; or any between -1 and 1 (bytes: any), as few
// distinct bits draw less power and so run at a higher clock.
template <class T>
__global__ void fill(T* to, long long count, unsigned seed, bool whole) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    x ^= x >> 16;
    const float value = whole            ? static_cast<float>(x % 5) - 2.0f
                        : sizeof(T) == 1 ? static_cast<float>(x % 255) - 127.0f
                                         : static_cast<float>(x % 65536) / 32768.0f - 1.0f;
    to[i] = static_cast<T>(value);
  }
}

// One thread per element of C: what it should be.
template <class S>
__global__ void reference(const RunArguments p, bool along_a, bool along_b, bool conv,
                          typename S::Output* to) {
  using Sum = typename S::Sum;
  using Wide = typename Wide<Sum>::Type;
  using T = typename S::Operand;
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= static_cast<long long>(p.batch) * p.m * p.n) {
    return;
  }
  const int n = static_cast<int>(index % p.n), m = static_cast<int>(index / p.n % p.m);
  const int batch = static_cast<int>(index / p.n / p.m);
  const T* a = static_cast<const T*>(p.a) + batch * p.batch_a;
  const T* b = static_cast<const T*>(p.b) + batch * p.batch_b;
  const int q = conv ? m % p.outputs_w : 0, rest = conv ? m / p.outputs_w : 0;
  Wide sum = 0;
  for (int k = 0; k < p.k; ++k) {
    long long at = along_a ? m * p.row_a + k : k * p.row_a + m;
    if (conv) {
      const int tap = k / p.channels;
      const int h = rest % p.outputs_h * p.stride_h - p.pad_h + tap / p.taps_w * p.dilation_h;
      const int w = q * p.stride_w - p.pad_w + tap % p.taps_w * p.dilation_w;
      if (h < 0 || h >= p.h || w < 0 || w >= p.w) {
        continue;
      }
      at = ((rest / p.outputs_h * static_cast<long long>(p.h) + h) * p.w + w) * p.row_a +
           k % p.channels;
    }
    sum += static_cast<Wide>(a[at]) *
           static_cast<Wide>(b[along_b ? n * p.row_b + k : k * p.row_b + n]);
  }
  RunArguments own = p;
  own.c = to;
  const mapsim_kernel::Values<Sum, 1> one{{static_cast<Sum>(sum)}};
  mapsim_kernel::finish<S, 1>(own, one, batch, m, n);
}

template <class Output>
__global__ void compare(const Output* a, const Output* b, long long count, bool exact,
                        unsigned long long* wrong) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const double x = static_cast<double>(static_cast<float>(a[i]));
    const double y = static_cast<double>(static_cast<float>(b[i]));
    if (!(fabs(x - y) <= (exact ? 0.0 : 0.02 * fabs(y) + 1.0))) {
      atomicAdd(wrong, 1ull);
    }
  }
}

template <class T>
T* allocate(long long count) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, static_cast<std::size_t>(std::max(count, 1ll)) * sizeof(T)), "memory");
  return static_cast<T*>(memory);
}

inline void launch(const Kernel& kernel) {
  void* arguments[] = {const_cast<Arguments*>(&kernel.arguments)};
  must(cudaLaunchKernel(kernel.main, dim3(kernel.blocks), dim3(kernel.threads), arguments,
                        kernel.shared, nullptr),
       kernel.name);
  if (kernel.reduce != nullptr) {
    must(cudaLaunchKernel(kernel.reduce, dim3(kernel.reduce_blocks), dim3(kernel.reduce_threads),
                          arguments, 0, nullptr),
         kernel.name);
  }
}

// Seconds of one launch, `runs` in a row.
inline double seconds(const Kernel& kernel, int runs, cudaEvent_t begin, cudaEvent_t end) {
  must(cudaEventRecord(begin), "event");
  for (int i = 0; i < runs; ++i) {
    launch(kernel);
  }
  must(cudaEventRecord(end), "event");
  must(cudaEventSynchronize(end), kernel.name);
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, begin, end), "event");
  return milliseconds * 1e-3 / runs;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Times all kernels, in rounds of another order each, and prints a line per kernel.
inline void time_all(const Problem& problem, const std::vector<Kernel>& kernels,
                     const std::vector<bool>& right, int rounds) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin), "event");
  must(cudaEventCreate(&end), "event");
  std::vector<std::vector<double>> times(kernels.size());
  std::vector<int> runs;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(1)) {
    seconds(kernels.front(), 10, begin, end);  // clocks rise
  }
  for (const Kernel& kernel : kernels) {
    runs.push_back(static_cast<int>(std::ceil(2e-3 / seconds(kernel, 3, begin, end))));
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::size_t which =
          (i * (round % 2 == 0 ? 1 : kernels.size() - 1) + round) % kernels.size();
      times[which].push_back(seconds(kernels[which], runs[which], begin, end));
    }
  }
  std::printf("%10s %10s %10s %9s  kernel\n", "predicted", "median", "least", "TFLOP/s");
  std::size_t best = kernels.size();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double middle = median(times[i]);
    std::printf("%8.2fus %8.2fus %8.2fus %9.1f  %s%s\n", kernels[i].predicted * 1e6, middle * 1e6,
                *std::min_element(times[i].begin(), times[i].end()) * 1e6,
                problem.operations / middle * 1e-12, kernels[i].name,
                right[i] ? "" : "  WRONG RESULT");
    if (right[i] && (best == kernels.size() || middle < median(times[best]))) {
      best = i;
    }
  }
  if (best < kernels.size()) {
    std::printf("best: %s\n", kernels[best].name);
  }
}

// usage: program [ROUNDS]; 1 if a result is wrong.
template <class S>
int run(const Problem& problem, std::vector<Kernel> kernels, int argc, char** argv) {
  using T = typename S::Operand;
  using Output = typename S::Output;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  T* const a = allocate<T>(problem.elements_a);
  T* const b = allocate<T>(problem.elements_b);
  auto* const bias = allocate<typename S::Sum>(problem.elements_bias);
  Output* const c = allocate<Output>(problem.elements_c);
  Output* const residual = allocate<Output>(problem.elements_c);
  Output* const expected = allocate<Output>(problem.elements_c);
  auto* const workspace = allocate<char>(problem.bytes_workspace);
  auto* const wrong = allocate<unsigned long long>(1);
  for (Kernel& kernel : kernels) {
    RunArguments& p = kernel.arguments;
    p.a = a, p.b = b, p.bias = bias, p.c = c, p.residual = residual, p.workspace = workspace;
    if (kernel.encode != nullptr) {
      kernel.encode(kernel.arguments);
    }
    must(cudaFuncSetAttribute(kernel.main, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(kernel.shared)),
         kernel.name);
    must(cudaFuncSetAttribute(kernel.main, cudaFuncAttributePreferredSharedMemoryCarveout, 100),
         kernel.name);
  }
  const auto prepare = [&](bool whole) {
    fill<<<1024, 256>>>(a, problem.elements_a, 1u, whole);
    fill<<<1024, 256>>>(b, problem.elements_b, 2u, whole);
    fill<<<1024, 256>>>(bias, problem.elements_bias, 3u, whole);
    fill<<<1024, 256>>>(residual, problem.elements_c, 4u, whole);
  };
  prepare(true);
  reference<S><<<static_cast<unsigned>((problem.elements_c + 255) / 256), 256>>>(
      kernels.front().arguments, problem.along_a, problem.along_b, problem.conv, expected);
  must(cudaDeviceSynchronize(), "the reference");
  std::vector<bool> right;
  for (const Kernel& kernel : kernels) {
    must(cudaMemset(c, 0xff, static_cast<std::size_t>(problem.elements_c) * sizeof(Output)), "c");
    must(cudaMemset(wrong, 0, sizeof *wrong), "count");
    launch(kernel);
    compare<<<1024, 256>>>(c, expected, problem.elements_c, problem.exact, wrong);
    unsigned long long count = 0;
    must(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost), kernel.name);
    right.push_back(count == 0);
  }
  prepare(false);
  time_all(problem, kernels, right, rounds);
  return std::count(right.begin(), right.end(), false) > 0 ? 1 : 0;
}

}  // namespace mapsim_harness
