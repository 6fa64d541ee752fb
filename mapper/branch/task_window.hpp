// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "mapper/bounds/incumbent.hpp"

namespace mapsim {

// A sequence of tasks in which later ones profit from results of earlier ones. A task begins when
// all but the last few before it have ended. It knows the results of exactly those, whatever else
// has ended. So neither results nor statistics depend on the number of threads. Unlike with
// batches, no thread waits for the slowest task of a batch.
// docs/decisions/0041-windows-of-classes.md. Not thread-safe: the caller locks.
class TaskWindow {
 public:
  struct Labels {
    std::int64_t expanded = 0;
    std::int64_t budget = 0;  // labels, and work that counts as labels
  };
  // The knowledge and the labels of a task when it begins.
  struct Start {
    std::size_t index = 0;
    exact::Incumbent known;
    Labels labels;         // that it may use; 0: none are left
    bool is_hard = false;  // a task that has ended took many labels
    bool is_last = false;  // no labels will be left, whatever running tasks return
  };

  // `count`: most tasks. `known`: the incumbent before the first one. `labels`: of all tasks
  // together.
  TaskWindow(std::size_t count, exact::Incumbent known, const Labels& labels);
  // How many of the first tasks have ended when task `index` begins. The first task runs alone,
  // then two run at once, then a quarter of those that have begun, at most 64. For a front at most
  // 8 run at once, because every known point rules out part of the others.
  static std::size_t known(std::size_t index, bool is_front = false);
  // A task that may begin now; each is returned once.
  std::optional<Start> next();
  // The task that began last does not exist, nor does any after it.
  void close() { count_ = begun_ - 1; }
  // The task that began last is the last one.
  void close_behind() { count_ = begun_; }
  // The results of a task for later tasks.
  struct Outcome {
    std::vector<exact::ObjectiveKey> found;  // objective keys of its mappings
    Labels taken;
    bool is_hard = false;  // it took many labels
  };
  void end(const Start& start, Outcome outcome);

 private:
  struct Task {
    Outcome outcome;
    Labels granted;
    bool ended = false;
  };
  Start begin();

  // Always known_ <= ended_ <= begun_
  std::size_t count_;
  std::deque<Task> tasks_;  // those that have begun
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;  // this many first tasks have all ended
  std::size_t known_ = 0;  // this many first results are in `incumbent_` and `left_`
  exact::Incumbent incumbent_;
  bool is_hard_ = false;
  Labels left_;
  Labels granted_;  // to tasks that have begun and whose results are not in `left_` yet
};

}  // namespace mapsim
