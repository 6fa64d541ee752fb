// SPDX-License-Identifier: Apache-2.0
#include "validate/device/flush.hpp"

#include <bit>

namespace mapsim {
namespace {

constexpr std::int64_t kThreads = 512;

// As the text has it.
struct FlushArguments {
  const void* in = nullptr;
  void* out = nullptr;
  long long pieces = 0;
};

constexpr const char* kText = R"(
struct Arguments { const void* in; void* out; long long pieces; };
extern "C" __global__ void __launch_bounds__(512) mapsim_flush(Arguments arguments) {
  const char* in = static_cast<const char*>(arguments.in);
  unsigned sum = 0;
  for (long long at = 512ll * blockIdx.x + threadIdx.x; at < arguments.pieces;
       at += 512ll * gridDim.x) {
    unsigned x, y, z, w;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(in + at * 16));
    sum += x ^ y ^ z ^ w;
  }
  if (sum == 0x9E3779B9u) static_cast<unsigned*>(arguments.out)[0] = sum;  // keeps the loads
}
)";

}  // namespace

KernelSource flush_source() {
  KernelSource source;
  source.entry = "mapsim_flush";
  source.text = kText;
  source.threads = kThreads;
  return source;
}

CacheFlush::CacheFlush(const CudaDevice& device, const std::string& image)
    : device_{&device},
      module_{device, image},
      memory_{device, device.info().l2 * 2},
      kernel_{module_.kernel(flush_source().entry, Bytes{0})} {
  device.fill(memory_.at(), 0, memory_.size().count());
}

void CacheFlush::operator()() const {
  // What is stored is stored never, or harmless: the sum of zeros is zero.
  const FlushArguments arguments{std::bit_cast<const void*>(memory_.at()),
                                 std::bit_cast<void*>(memory_.at()), memory_.size().count() / 16};
  device_->launch(kernel_, {4 * device_->info().sms, 1, 1}, kThreads, Bytes{0}, &arguments);
}

}  // namespace mapsim
