// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

inline constexpr const char* kLimitsOfThreads =
    " on processes (ulimit -u), on tasks of a control group, or on memory (ulimit -v)";

// How many of `wanted` threads a command may use, 1 to `wanted`, beside the one that watches for
// signals (app/watch.hpp), which is not there yet. Threads are started, and ended again. A limit on
// processes, tasks of a control group or addresses may allow fewer, which it says on standard
// error. OpenMP's runtime would end the program where it cannot start a thread.
int threads_to_use(int wanted);

}  // namespace mapsim
