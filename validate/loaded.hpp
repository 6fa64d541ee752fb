// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "validate/candidates.hpp"
#include "validate/device/cuda.hpp"
#include "validate/operands.hpp"
#include "validate/rounded_check.hpp"

namespace mapsim {

inline constexpr unsigned char kPoison = 0xFF;    // NaN in every floating format, -1 in integers
inline constexpr std::uint64_t kOperandSeed = 1;  // of random operands

// The operands, output and workspace [B] on the device that all kernels of a problem share.
// Functions throw DeviceError.
class Operands {
 public:
  Operands(const CudaDevice& device, const KernelSpec& spec, Bytes workspace)
      : device_{&device},
        buffers_{kernel_buffers(spec)},
        a_{device, buffers_.a},
        b_{device, buffers_.b},
        c_{device, buffers_.c},
        workspace_{device, workspace} {}

  void upload(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
    device_->upload(a_.at(), a);
    device_->upload(b_.at(), b);
  }
  // Uploads the random numbers on which kernels are timed.
  RandomOperands upload_random(GpuPrecision precision) const {
    const std::int64_t size = operand_size(precision).count();
    RandomOperands random{random_operand(buffers_.a.count() / size, precision, kOperandSeed),
                          random_operand(buffers_.b.count() / size, precision, kOperandSeed + 1)};
    upload(random.a, random.b);
    return random;
  }
  KernelArguments arguments(const KernelSpec& spec) const {
    KernelArguments arguments = kernel_buffers(spec).arguments;
    arguments.a = std::bit_cast<const void*>(a_.at());
    arguments.b = std::bit_cast<const void*>(b_.at());
    arguments.c = std::bit_cast<void*>(c_.at());
    arguments.residual = arguments.c;  // of problems that add to their output
    arguments.workspace = std::bit_cast<void*>(workspace_.at());
    if (const auto plans = tensor_maps(spec)) {
      arguments.map_a = device_->tensor_map((*plans)[0], a_.at());
      arguments.map_b = device_->tensor_map((*plans)[1], b_.at());
    }
    return arguments;
  }
  // Overwrites output and workspace, so that no kernel passes by what an earlier one wrote.
  void poison() const {
    device_->fill(c_.at(), kPoison, c_.size().count());
    if (workspace_.size() > Bytes{0}) {
      device_->fill(workspace_.at(), kPoison, workspace_.size().count());
    }
  }
  std::vector<std::byte> result() const {
    std::vector<std::byte> bytes;
    bytes.resize(static_cast<std::size_t>(c_.size().count()));
    device_->download(bytes, c_.at());
    return bytes;
  }
  const DeviceMemory& a() const { return a_; }
  const DeviceMemory& b() const { return b_; }
  const DeviceMemory& c() const { return c_; }

 private:
  const CudaDevice* device_;
  KernelBuffers buffers_;
  DeviceMemory a_, b_, c_, workspace_;
};

// A generated kernel on the device. Functions throw DeviceError.
class Loaded {
 public:
  Loaded(const CudaDevice& device, const BuiltKernel& built, const KernelArguments& arguments)
      : device_{&device}, built_{&built}, module_{device, built.image}, arguments_{arguments} {
    main_ = module_.kernel(built.source.entry, built.source.shared);
    if (!built.source.reduce_entry.empty()) {
      reduce_ = module_.kernel(built.source.reduce_entry, Bytes{0});
    }
  }
  void launch() const {
    const KernelSource& source = built_->source;
    device_->launch(main_, source.grid, source.threads, source.shared, &arguments_);
    if (!source.reduce_entry.empty()) {
      device_->launch(reduce_, source.reduce_grid, source.reduce_threads, Bytes{0}, &arguments_);
    }
  }

 private:
  const CudaDevice* device_;
  const BuiltKernel* built_;
  DeviceModule module_;
  KernelArguments arguments_;
  DeviceKernel main_, reduce_;
};

}  // namespace mapsim
