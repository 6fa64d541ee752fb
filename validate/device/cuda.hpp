// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "core/bytes.hpp"
#include "core/units.hpp"
#include "validate/device/cuda_api.hpp"
#include "validate/device/library.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// The device, its driver or a library of theirs cannot do what it was asked. Its words say what was
// tried and what the driver answered.
class DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& what, bool lost = false)
      : std::runtime_error{what}, lost_{lost} {}
  // After an error of this kind the process can do no more on the device (an illegal address, a
  // failed launch): CUDA documents it as "must be terminated and relaunched".
  bool lost() const { return lost_; }

 private:
  bool lost_;
};

struct DeviceInfo {
  std::string name;                     // as the driver calls it: "NVIDIA H200"
  std::string bus;                      // PCI bus id: NVML knows the device by it
  std::int64_t compute_capability = 0;  // 90 is 9.0
  std::int64_t sms = 0;
  std::int64_t cuda_version = 0;  // that the driver supports: 13000 is 13.0
  Hertz clock{0};                 // the most that the SMs may run at
  Bytes l2{0};
  Bytes shared_per_block{0};  // opt-in
  Bytes memory{0};
};

// A kernel in a loaded module.
struct DeviceKernel {
  cuda::Function function = nullptr;
  std::int64_t registers = 0;    // as the driver sees them
  std::int64_t local_bytes = 0;  // per thread
};

// One GPU and its primary context, which is current in the thread that made it. All work goes to
// the default stream, so that it runs in the order in which it was asked for. Not copied; memory,
// modules and events must not outlive it.
class CudaDevice {
 public:
  // `library`: the driver; empty: libcuda.so.1 by the loader's rules and where containers put it.
  // Throws DeviceError: no driver, no device, and which.
  explicit CudaDevice(const std::string& library = "", int ordinal = 0);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const { return info_; }
  const CudaApi& api() const { return api_; }
  // Throws DeviceError unless `result` is a success: "what: CUDA_ERROR_...: words".
  void check(cuda::Result result, const std::string& what) const;

  // Waits for everything that was asked for.
  void synchronize() const;
  void upload(cuda::Pointer to, std::span<const std::byte> bytes) const;
  void download(std::span<std::byte> bytes, cuda::Pointer from) const;
  void fill(cuda::Pointer to, unsigned char byte, std::int64_t count) const;  // asynchronous
  // For `matrix` in device memory; throws DeviceError where the driver has no TMA.
  TensorMap tensor_map(const TensorMapPlan& plan, cuda::Pointer matrix) const;
  // One launch; `arguments` is passed by value as the kernel's only argument.
  void launch(const DeviceKernel& kernel, const std::array<std::int64_t, 3>& grid,
              std::int64_t threads, Bytes shared, const void* arguments) const;

 private:
  SharedLibrary library_;
  CudaApi api_;
  DeviceInfo info_;
  cuda::Device device_ = 0;
  bool retained_ = false;
};

// Memory on the device; 256 B aligned, as cuMemAlloc says.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const CudaDevice& device, Bytes size);  // of 0 B: none
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  cuda::Pointer at() const { return pointer_; }
  Bytes size() const { return size_; }

 private:
  const CudaDevice* device_ = nullptr;
  cuda::Pointer pointer_ = 0;
  Bytes size_{0};
};

// A cubin on the device.
class DeviceModule {
 public:
  DeviceModule(const CudaDevice& device, const std::string& image);
  ~DeviceModule();
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;
  // With the right to `shared` dynamic bytes.
  DeviceKernel kernel(const std::string& entry, Bytes shared) const;

 private:
  const CudaDevice* device_;
  cuda::Module module_ = nullptr;
};

// A point in the stream of work.
class DeviceEvent {
 public:
  explicit DeviceEvent(const CudaDevice& device);
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  void record() const;
  void wait() const;    // until the device is past it
  bool passed() const;  // whether it is
  // Since `earlier`; both must have passed.
  Seconds since(const DeviceEvent& earlier) const;

 private:
  const CudaDevice* device_;
  cuda::Event event_ = nullptr;
};

}  // namespace mapsim
