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

// The module that speaks to MPI is not there, or MPI's libraries are not. what(): why.
class MpiUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A sweep over the processes ("ranks") that mpirun started together. Rank 0 owns the database and
// hands out points, one at a time, to whoever asks; the others ask, and send answers. Every rank
// reads the campaign and what it names by itself, so they need the same files. A rank that dies
// takes the job with it, by mpirun; what was written stays.
class MpiJob {
 public:
  // Joins the others, by the module in this file. Throws MpiUnavailable.
  explicit MpiJob(const std::string& module);
  // Rank 0 tells everybody who still asks that nothing is left, the others tell rank 0 that they
  // ask no more; also where one of them fails.
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  Remote remote();  // of rank 0: outlived by the job
  // Of the others: asks for points and solves them until nothing is left. The campaign is read when
  // the first point has come, so that rank 0 alone complains of a bad one. Of the budget the memory
  // counts.
  void work(const std::string& campaign, const std::vector<std::string>& configs,
            const ReadChip& read_chip, const Budget& budget, const std::atomic<bool>& stop);

 private:
  bool serve(PointQueue& queue, bool stopping);
  void reply(int rank, const std::optional<Asked>& asked);

  const MpiTransport* mpi_;
  int rank_;
  int size_;
  int gone_ = 0;                  // of rank 0: how many ask no more
  std::vector<int> waiting_;      // of rank 0: who asks, while no point is there
  bool finished_ = false;         // of the others: rank 0 knows that this one asks no more
  std::optional<Asked> asked_{};  // of the others: what this one owes an answer to
};

}  // namespace mapsim
