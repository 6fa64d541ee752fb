// SPDX-License-Identifier: Apache-2.0
// The only file that names MPI: a module that campaign/mpi.cpp loads.
#include <mpi.h>

#include "campaign/mpi_transport.hpp"

namespace {

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool probe(int tag, int* from, int* bytes) {
  int there = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (there != 0) {
    MPI_Get_count(&status, MPI_BYTE, bytes);
    *from = status.MPI_SOURCE;
  }
  return there != 0;
}

void receive(void* data, int bytes, int from, int tag) {
  MPI_Recv(data, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send(const void* data, int bytes, int to, int tag) {
  MPI_Send(data, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

void finish() { MPI_Finalize(); }

constexpr mapsim::MpiTransport kTransport{rank, size, probe, receive, send, finish};

}  // namespace

extern "C" __attribute__((visibility("default"))) const mapsim::MpiTransport* mapsim_join_mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  return &kTransport;
}
