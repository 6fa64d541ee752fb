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

// A failure of the device, its driver or one of its libraries. The message names what was tried and
// the driver's answer.
class DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& what, bool lost = false)
      : std::runtime_error{what}, lost_{lost} {}
  // Is the device unusable for this process from now on? So it is after an illegal address or a
  // failed launch: CUDA's documentation has "must be terminated and relaunched".
  bool lost() const { return lost_; }

 private:
  bool lost_;
};

// The properties of a device.
struct DeviceInfo {
  std::string name;                     // the driver's name: "NVIDIA H200"
  std::string bus;                      // PCI bus id, by which NVML finds the device
  std::int64_t compute_capability = 0;  // 90 is 9.0
  std::int64_t sms = 0;
  std::int64_t cuda_version = 0;  // the newest that the driver supports: 13000 is 13.0
  Hertz clock{0};                 // highest clock of the SMs
  Bytes l2{0};
  Bytes shared_per_block{0};  // opt-in
  Bytes memory{0};
};

// A kernel in a loaded module.
struct DeviceKernel {
  cuda::Function function = nullptr;
  std::int64_t registers = 0;    // per thread, by the driver
  std::int64_t local_bytes = 0;  // per thread
};

// A GPU and its primary context, which is current in the thread that created it. All work goes to
// the default stream and so runs in the order of the calls. Not copyable. Memory, modules and
// events must not outlive it. Functions throw DeviceError.
class CudaDevice {
 public:
  // `library`: the driver; empty: libcuda.so.1, by the loader's rules and where containers put it.
  explicit CudaDevice(const std::string& library = "", int ordinal = 0);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const { return info_; }
  const CudaApi& api() const { return api_; }
  // Throws DeviceError unless `result` is a success: "what: CUDA_ERROR_...: words".
  void check(cuda::Result result, const std::string& what) const;

  // Waits until all work is done.
  void synchronize() const;
  void upload(cuda::Pointer to, std::span<const std::byte> bytes) const;
  void download(std::span<std::byte> bytes, cuda::Pointer from) const;
  void fill(cuda::Pointer to, unsigned char byte, std::int64_t count) const;  // asynchronous
  // A tensor map of `matrix` in device memory. Throws also if the driver knows no TMA.
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

// Memory on the device, freed when this ends; aligned to 256 B (cuMemAlloc).
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
  // A kernel of the module, which may use `shared` bytes of dynamic shared memory.
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
  void wait() const;    // until the device has passed it
  bool passed() const;  // has the device passed it?
  // Time from `earlier` to this; the device must have passed both.
  Seconds since(const DeviceEvent& earlier) const;

 private:
  const CudaDevice* device_;
  cuda::Event event_ = nullptr;
};

}  // namespace mapsim
