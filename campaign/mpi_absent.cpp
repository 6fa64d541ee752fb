// SPDX-License-Identifier: Apache-2.0
// In place of mpi.cpp where there is no MPI.
#include "campaign/mpi.hpp"

namespace mapsim {

bool has_mpi() { return false; }

MpiJob::MpiJob() = default;
MpiJob::~MpiJob() = default;
Remote MpiJob::remote() { return {}; }
void MpiJob::work(const std::string& /*campaign*/, const std::atomic<bool>& /*stop*/) {}

}  // namespace mapsim
