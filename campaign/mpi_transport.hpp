// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

// The part of MPI that a sweep needs. It is a module of its own (campaign/mpi_module.cpp), loaded
// only under mpirun: MPI's libraries take longer to load than most searches.
struct MpiTransport {
  int (*rank)();
  int (*size)();
  // The next message with this tag, if it has come: its sender and its number of bytes.
  bool (*probe)(int tag, int* from, int* bytes);
  void (*receive)(void* data, int bytes, int from, int tag);
  void (*send)(const void* data, int bytes, int to, int tag);
  void (*finish)();
};

// The module's only symbol; joins the other processes.
using JoinMpi = const MpiTransport* (*)();
inline constexpr const char* kJoinMpi = "mapsim_join_mpi";

}  // namespace mapsim
