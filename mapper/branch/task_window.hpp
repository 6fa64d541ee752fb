// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "mapper/bounds/incumbent.hpp"

namespace mapsim {

// Tasks in a fixed order, of which the later ones profit from what the earlier ones have found. A
// task begins when all before it but the last few have ended, and knows what those have found and
// nothing else, so that neither results nor statistics depend on the number of threads; unlike in
// batches, no thread waits for the last of many. docs/decisions/0041-windows-of-classes.md.
// Not for threads at once: whoever shares it locks it.
class TaskWindow {
 public:
  struct Labels {
    std::int64_t expanded = 0;
    std::int64_t budget = 0;  // these and what else counts for labels
  };
  // What a task may know and do when its turn comes.
  struct Turn {
    std::size_t index = 0;
    exact::Incumbent known;
    Labels labels;         // that it may take; none are left: 0
    bool is_hard = false;  // so says one that has ended
    bool is_last = false;  // no labels are left, whatever those that have begun give back
  };

  // Of so many tasks at most: what is known before the first one, and labels for all of them.
  TaskWindow(std::size_t count, exact::Incumbent known, const Labels& labels);
  // So many of the first tasks have ended when one begins. The first one is searched alone, then
  // there are two side by side, a quarter of those that have begun, at last 64; of a front 8, as
  // every point that is known rules out some of what the others would find.
  static std::size_t known(std::size_t index, bool is_front = false);
  // One that may begin now, each of which is named once.
  std::optional<Turn> next();
  // There is no such task as the one that has begun last, nor any after it.
  void close() { count_ = begun_ - 1; }
  // There is none after it.
  void close_behind() { count_ = begun_; }
  // What a task that has ended tells those that know it.
  struct Outcome {
    std::vector<exact::Key> found;  // by mappings of it
    Labels taken;
    bool is_hard = false;  // it took many labels
  };
  void end(const Turn& turn, Outcome outcome);

 private:
  struct Task {
    Outcome outcome;
    Labels granted;
    bool ended = false;
  };
  Turn begin();

  std::size_t count_;
  std::deque<Task> tasks_;  // that have begun
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;  // all of the first ones so far
  std::size_t known_ = 0;  // those of them that `incumbent_` and `left_` are after
  exact::Incumbent incumbent_;
  bool is_hard_ = false;
  Labels left_;
  Labels granted_;  // to those that have begun and are not known
};

}  // namespace mapsim
