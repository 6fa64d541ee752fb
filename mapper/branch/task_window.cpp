// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/task_window.hpp"

#include <algorithm>
#include <utility>

namespace mapsim {

namespace {

constexpr std::size_t kFewestBeside = 2;
constexpr std::size_t kMostBeside = 64;
constexpr std::size_t kMostBesideOfFront = 8;
constexpr std::size_t kOneOf = 4;  // one in so many of the tasks that have begun is not known yet

std::int64_t share_of(std::int64_t labels, std::size_t shares) {
  return labels > 0 ? std::max<std::int64_t>(1, labels / static_cast<std::int64_t>(shares)) : 0;
}

TaskWindow::Labels operator+(const TaskWindow::Labels& a, const TaskWindow::Labels& b) {
  return {a.expanded + b.expanded, a.budget + b.budget};
}
TaskWindow::Labels operator-(const TaskWindow::Labels& a, const TaskWindow::Labels& b) {
  return {a.expanded - b.expanded, a.budget - b.budget};
}

std::size_t beside(std::size_t index, bool is_front) {
  const std::size_t most = is_front ? kMostBesideOfFront : kMostBeside;
  return std::clamp(index / kOneOf, kFewestBeside, most);
}

}  // namespace

TaskWindow::TaskWindow(std::size_t count, exact::Incumbent known, const Labels& labels)
    : count_{count}, incumbent_{std::move(known)}, left_{labels} {}

std::size_t TaskWindow::known(std::size_t index, bool is_front) {
  const std::size_t width = beside(index, is_front);
  return index == 0 ? 0 : std::max<std::size_t>(index + 1, 1 + width) - width;
}

std::optional<TaskWindow::Start> TaskWindow::next() {
  if (begun_ < count_ && known(begun_, incumbent_.is_front()) <= ended_) {
    return begin();
  }
  return std::nullopt;
}

TaskWindow::Start TaskWindow::begin() {
  const bool is_front = incumbent_.is_front();
  for (; known_ < known(begun_, is_front); ++known_) {
    const Task& task = tasks_[known_];
    for (const exact::ObjectiveKey& key : task.outcome.found) {
      incumbent_.insert(key);
    }
    is_hard_ = is_hard_ || task.outcome.is_hard;
    left_ = left_ - task.outcome.taken;
    granted_ = granted_ - task.granted;
  }
  const Labels left = left_ - granted_;
  const std::size_t shares = std::min(beside(begun_, is_front), count_ - begun_);
  Task& task = tasks_.emplace_back();
  task.granted = {share_of(std::min(left.expanded, left.budget), shares),
                  share_of(left.budget, shares)};
  granted_ = granted_ + task.granted;
  const bool is_last = std::min(left_.expanded, left_.budget) <= 0;
  return {begun_++, incumbent_, task.granted, is_hard_, is_last};
}

void TaskWindow::end(const Start& start, Outcome outcome) {
  Task& task = tasks_[start.index];
  task.outcome = std::move(outcome);
  task.ended = true;
  while (ended_ < tasks_.size() && tasks_[ended_].ended) {
    ++ended_;
  }
}

}  // namespace mapsim
