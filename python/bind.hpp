// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the sources of the compiled part share.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <string>

#include "mapsim/mapsim.hpp"

namespace mapsim {

// Works on a thread of its own, without the interpreter's lock, while this one looks for signals:
// Ctrl-C sets the flag, and its exception is raised as soon as the work has stopped.
template <class Work>
auto interruptible(const Work& work) {
  constexpr std::chrono::milliseconds kPeriod{20};
  std::atomic<bool> stop{false};
  auto answer = std::async(std::launch::async, [&] { return work(stop); });
  bool interrupted = false;
  {
    const pybind11::gil_scoped_release unlocked;
    while (!interrupted && answer.wait_for(kPeriod) != std::future_status::ready) {
      const pybind11::gil_scoped_acquire locked;
      interrupted = PyErr_CheckSignals() != 0;
    }
    stop = interrupted;
    answer.wait();
  }
  if (interrupted) {
    throw pybind11::error_already_set();
  }
  return answer.get();
}

// How a model is read. `operand_bits` 0: its own widths.
inline OnnxOptions model_options(const std::map<std::string, std::int64_t>& dims,
                                 std::int64_t batch, std::int64_t operand_bits = 0) {
  return {dims, {}, batch, operand_bits > 0 ? std::optional{Bits{operand_bits}} : std::nullopt};
}

// What a search is asked, by its names in Python.
SearchRequest request_of(const Arch& arch, const pybind11::dict& asked);
// The time that it may take [s]; infinite: no limit.
double budget_seconds(const pybind11::dict& asked);

void bind_gpus(pybind11::module_& m);      // kernels, and predictions of measured ones
void bind_systems(pybind11::module_& m);   // fused layers, plans, designs
void bind_timeloop(pybind11::module_& m);  // designs of Timeloop

}  // namespace mapsim
