// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

// How many of `wanted` threads may work at once, the calling one included: 1 to `wanted`. They are
// started, and ended again. A limit on processes, tasks of a control group or addresses may allow
// fewer. OpenMP's runtime would end the program where it cannot start a thread.
int startable_threads(int wanted);

}  // namespace mapsim
