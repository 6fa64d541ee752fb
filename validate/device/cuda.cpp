// SPDX-License-Identifier: Apache-2.0
#include "validate/device/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace mapsim {
namespace {

// Errors after which CUDA does nothing more in this process (cuda.h says so of each).
constexpr std::array kLost{214,   // memory that cannot be corrected
                           220,   // NVLink
                           226,   // the same, contained
                           700,   // illegal address
                           702,   // launch timed out
                           710,   // assert
                           714,   // hardware stack
                           715,   // illegal instruction
                           716,   // misaligned address
                           717,   // invalid address space
                           718,   // invalid program counter
                           719,   // launch failed
                           721,   // tensor memory not given back
                           911,   // external device
                           999};  // unknown: what virtual machines make of the others

template <class Function>
void need(const SharedLibrary& library, Function*& function, const char* name) {
  if (!library.find(function, name)) {
    throw DeviceError(fmt::format("{} has no {}: not a CUDA driver, or one before CUDA 11",
                                  library.name(), name));
  }
}

CudaApi load_api(const SharedLibrary& library) {
  CudaApi api;
  need(library, api.init, "cuInit");
  need(library, api.driver_version, "cuDriverGetVersion");
  need(library, api.error_name, "cuGetErrorName");
  need(library, api.error_string, "cuGetErrorString");
  need(library, api.device_count, "cuDeviceGetCount");
  need(library, api.device_get, "cuDeviceGet");
  need(library, api.device_name, "cuDeviceGetName");
  need(library, api.device_attribute, "cuDeviceGetAttribute");
  need(library, api.device_bus, "cuDeviceGetPCIBusId");
  need(library, api.device_memory, "cuDeviceTotalMem_v2");
  need(library, api.context_retain, "cuDevicePrimaryCtxRetain");
  need(library, api.context_release, "cuDevicePrimaryCtxRelease_v2");
  need(library, api.context_set, "cuCtxSetCurrent");
  need(library, api.synchronize, "cuCtxSynchronize");
  need(library, api.module_load, "cuModuleLoadData");
  need(library, api.module_unload, "cuModuleUnload");
  need(library, api.module_function, "cuModuleGetFunction");
  need(library, api.function_get, "cuFuncGetAttribute");
  need(library, api.function_set, "cuFuncSetAttribute");
  need(library, api.launch, "cuLaunchKernel");
  need(library, api.allocate, "cuMemAlloc_v2");
  need(library, api.free, "cuMemFree_v2");
  need(library, api.upload, "cuMemcpyHtoD_v2");
  need(library, api.download, "cuMemcpyDtoH_v2");
  need(library, api.fill, "cuMemsetD8Async");
  need(library, api.event_create, "cuEventCreate");
  need(library, api.event_record, "cuEventRecord");
  need(library, api.event_query, "cuEventQuery");
  need(library, api.event_synchronize, "cuEventSynchronize");
  need(library, api.event_elapsed, "cuEventElapsedTime");  // in every driver; _v2 only from 12.8 on
  need(library, api.event_destroy, "cuEventDestroy_v2");
  library.find(api.encode_map, "cuTensorMapEncodeTiled");
  return api;
}

int map_type(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kBf16:
      return cuda::kMapBrain;
    case GpuPrecision::kTf32:
      return cuda::kMapTf32;
    case GpuPrecision::kS8:
    case GpuPrecision::kFp8:
      return cuda::kMapBytes;
    default:
      return cuda::kMapHalf;
  }
}

}  // namespace

CudaDevice::CudaDevice(const std::string& library, int ordinal) {
  std::string reasons;
  // The last is where the container runtimes of some hosts mount the driver.
  const std::vector<std::string> names =
      library.empty() ? std::vector<std::string>{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                                 "/usr/local/nvidia/lib64/libcuda.so.1"}
                      : std::vector<std::string>{library};
  library_ = SharedLibrary::open(names, reasons);
  if (!library_) {
    throw DeviceError(fmt::format(
        "no CUDA driver, so no GPU can be used ({}); --device replay=FILE takes measurements that "
        "were made elsewhere",
        reasons));
  }
  api_ = load_api(library_);
  check(api_.init(0), "starting the CUDA driver " + library_.name());
  int count = 0;
  check(api_.device_count(&count), "counting GPUs");
  if (ordinal >= count) {
    throw DeviceError(fmt::format("the CUDA driver {} sees {} GPUs; GPU {} is none of them",
                                  library_.name(), count, ordinal));
  }
  check(api_.device_get(&device_, ordinal), "opening the GPU");
  const auto attribute = [&](int which) {
    int value = 0;
    check(api_.device_attribute(&value, which, device_), fmt::format("attribute {}", which));
    return std::int64_t{value};
  };
  std::array<char, 256> text{};
  check(api_.device_name(text.data(), static_cast<int>(text.size()), device_), "the GPU's name");
  info_.name = text.data();
  text = {};
  check(api_.device_bus(text.data(), static_cast<int>(text.size()), device_), "the GPU's bus id");
  info_.bus = text.data();
  info_.compute_capability =
      10 * attribute(cuda::kCapabilityMajor) + attribute(cuda::kCapabilityMinor);
  info_.sms = attribute(cuda::kMultiprocessors);
  int kilohertz = 0;  // a figure for people; newer drivers may stop telling it
  if (api_.device_attribute(&kilohertz, cuda::kClockRate, device_) == cuda::kSuccess) {
    info_.clock = Hertz{1e3 * kilohertz};
  }
  info_.l2 = Bytes{attribute(cuda::kL2Size)};
  info_.shared_per_block = Bytes{attribute(cuda::kSharedPerBlockOptin)};
  std::size_t memory = 0;
  check(api_.device_memory(&memory, device_), "the GPU's memory");
  info_.memory = Bytes{static_cast<std::int64_t>(memory)};
  int version = 0;
  check(api_.driver_version(&version), "the driver's version");
  info_.cuda_version = version;
  cuda::Context context = nullptr;
  check(api_.context_retain(&context, device_), "a context on " + info_.name);
  retained_ = true;
  check(api_.context_set(context), "a context on " + info_.name);
}

CudaDevice::~CudaDevice() {
  if (retained_) {
    api_.context_release(device_);
  }
}

void CudaDevice::check(cuda::Result result, const std::string& what) const {
  if (result == cuda::kSuccess) {
    return;
  }
  const char* name = nullptr;
  const char* words = nullptr;
  api_.error_name(result, &name);
  api_.error_string(result, &words);
  const bool lost = std::find(kLost.begin(), kLost.end(), result) != kLost.end();
  throw DeviceError(fmt::format("{}: {} ({}): {}", what, name != nullptr ? name : "unknown error",
                                result, words != nullptr ? words : "no more is known"),
                    lost);
}

void CudaDevice::synchronize() const { check(api_.synchronize(), "waiting for the GPU"); }

void CudaDevice::upload(cuda::Pointer to, std::span<const std::byte> bytes) const {
  check(api_.upload(to, bytes.data(), bytes.size()), "copying to the GPU");
}

void CudaDevice::download(std::span<std::byte> bytes, cuda::Pointer from) const {
  check(api_.download(bytes.data(), from, bytes.size()), "copying from the GPU");
}

void CudaDevice::fill(cuda::Pointer to, unsigned char byte, std::int64_t count) const {
  check(api_.fill(to, byte, static_cast<std::size_t>(count), nullptr), "filling memory");
}

TensorMap CudaDevice::tensor_map(const TensorMapPlan& plan, cuda::Pointer matrix) const {
  if (api_.encode_map == nullptr) {
    throw DeviceError(
        library_.name() +
        " has no cuTensorMapEncodeTiled, which kernels of the path wgmma need: take a "
        "driver of CUDA 12 or later");
  }
  std::array<unsigned long long, 3> extents{};
  std::array<unsigned int, 3> box{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents[i] = static_cast<unsigned long long>(plan.extents[i]);
    box[i] = static_cast<unsigned int>(plan.box[i]);
  }
  const std::array strides{static_cast<unsigned long long>(plan.strides[0]),
                           static_cast<unsigned long long>(plan.strides[1])};
  const std::array steps{1U, 1U, 1U};
  TensorMap map;
  check(api_.encode_map(&map, map_type(plan.precision), 3, std::bit_cast<void*>(matrix),
                        extents.data(), strides.data(), box.data(), steps.data(), 0,
                        plan.swizzle == 128  ? cuda::kSwizzle128
                        : plan.swizzle == 64 ? cuda::kSwizzle64
                                             : cuda::kSwizzle32,
                        cuda::kPromoteTo256, 0),
        "encoding a tensor map");
  return map;
}

void CudaDevice::launch(const DeviceKernel& kernel, const std::array<std::int64_t, 3>& grid,
                        std::int64_t threads, Bytes shared, const void* arguments) const {
  // The driver takes the addresses of the arguments and copies what they point to; it does not
  // write there.
  std::array<void*, 1> parameters{const_cast<void*>(arguments)};
  const auto whole = [](std::int64_t value) { return static_cast<unsigned int>(value); };
  check(api_.launch(kernel.function, whole(grid[0]), whole(grid[1]), whole(grid[2]), whole(threads),
                    1, 1, whole(shared.count()), nullptr, parameters.data(), nullptr),
        "launching a kernel");
}

DeviceMemory::DeviceMemory(const CudaDevice& device, Bytes size) : device_{&device}, size_{size} {
  if (size > Bytes{0}) {
    device.check(device.api().allocate(&pointer_, static_cast<std::size_t>(size.count())),
                 fmt::format("{} B of the GPU's memory", size.count()));
  }
}
DeviceMemory::~DeviceMemory() {
  if (pointer_ != 0) {
    device_->api().free(pointer_);
  }
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_{other.device_}, pointer_{std::exchange(other.pointer_, 0)}, size_{other.size_} {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pointer_, other.pointer_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceModule::DeviceModule(const CudaDevice& device, const std::string& image) : device_{&device} {
  device.check(device.api().module_load(&module_, image.data()), "loading a kernel");
}
DeviceModule::~DeviceModule() {
  if (module_ != nullptr) {
    device_->api().module_unload(module_);
  }
}

DeviceKernel DeviceModule::kernel(const std::string& entry, Bytes shared) const {
  const CudaApi& api = device_->api();
  DeviceKernel kernel;
  device_->check(api.module_function(&kernel.function, module_, entry.c_str()),
                 "finding the kernel " + entry);
  int value = 0;
  device_->check(api.function_get(&value, cuda::kRegisters, kernel.function), "its registers");
  kernel.registers = value;
  device_->check(api.function_get(&value, cuda::kLocalSize, kernel.function), "its local memory");
  kernel.local_bytes = value;
  // Without this a launch gets 48 KiB at most.
  device_->check(
      api.function_set(kernel.function, cuda::kMaxDynamicShared, static_cast<int>(shared.count())),
      fmt::format("{} B of shared memory for {}", shared.count(), entry));
  // Else the driver may give the L1 so much that fewer blocks are resident than have room.
  device_->check(
      api.function_set(kernel.function, cuda::kPreferredCarveout, cuda::kCarveoutMaxShared),
      "preferring shared memory for " + entry);
  return kernel;
}

DeviceEvent::DeviceEvent(const CudaDevice& device) : device_{&device} {
  device.check(device.api().event_create(&event_, 0), "creating an event");  // CU_EVENT_DEFAULT
}
DeviceEvent::~DeviceEvent() {
  if (event_ != nullptr) {
    device_->api().event_destroy(event_);
  }
}
void DeviceEvent::record() const {
  device_->check(device_->api().event_record(event_, nullptr), "recording an event");
}
void DeviceEvent::wait() const {
  device_->check(device_->api().event_synchronize(event_), "running a kernel");
}
bool DeviceEvent::passed() const {
  constexpr cuda::Result kNotReady = 600;
  const cuda::Result result = device_->api().event_query(event_);
  if (result != kNotReady) {
    device_->check(result, "running a kernel");
  }
  return result != kNotReady;
}
Seconds DeviceEvent::since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  device_->check(device_->api().event_elapsed(&milliseconds, earlier.event_, event_),
                 "the time between two events");
  return Seconds{1e-3 * static_cast<double>(milliseconds)};
}

}  // namespace mapsim
