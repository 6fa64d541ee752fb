// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "campaign/mpi_transport.hpp"
#include "campaign/sweep.hpp"

namespace mapsim {

// The MPI module or MPI's libraries are missing; what() says which.
class MpiUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A sweep over the processes ("ranks") that mpirun started together. Rank 0 owns the database and
// hands out points, one at a time, to whoever asks; the others ask, and send answers. Every rank
// reads the campaign and what it names by itself, so they need the same files. If a rank dies,
// mpirun ends the job; rows that were written stay.
class MpiJob {
 public:
  // Joins the others through the module in this file. Throws MpiUnavailable.
  explicit MpiJob(const std::string& module);
  // Rank 0 answers ranks that still ask for points that there are none; the others tell rank 0 that
  // they will not ask again. This happens after a failure, too.
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Remote remote();  // of rank 0: the job outlives it
  // The other ranks: ask for points and solve them until nothing is left. They read the campaign
  // when the first point has come, so that only rank 0 reports its errors. Only the budget's memory
  // is used.
  void work(const std::string& campaign, const std::vector<std::string>& configs,
            const ReadChip& read_chip, const Budget& budget, const std::atomic<bool>& stop);

 private:
  bool serve(PointQueue& queue, bool stopping);
  void reply(int rank, const std::optional<Asked>& asked);

  const MpiTransport* mpi_;
  int rank_;
  int size_;
  int gone_ = 0;                  // rank 0: ranks that will not ask again
  std::vector<int> waiting_;      // rank 0: ranks that wait for a point
  bool finished_ = false;         // others: rank 0 knows that this one is done
  std::optional<Asked> asked_{};  // others: the point that this one computes
};

}  // namespace mapsim
