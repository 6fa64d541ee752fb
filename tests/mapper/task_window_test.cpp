// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/task_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace mapsim::task_window_test {
namespace {

using exact::ObjectiveKey;

// What a task that knows `start` finds, and the labels that it takes: no more than it may.
ObjectiveKey found(const TaskWindow::Start& start) {
  return {static_cast<double>((start.index * 7919 + 13) % 101), 0};
}
TaskWindow::Labels taken(const TaskWindow::Start& start) {
  const auto some = static_cast<std::int64_t>(start.index % 5);
  return {std::min(start.labels.expanded, some), std::min(start.labels.budget, 2 * some)};
}

std::vector<TaskWindow::Start> all_next(TaskWindow& task_window) {
  std::vector<TaskWindow::Start> all;
  for (std::optional<TaskWindow::Start> next = task_window.next(); next;
       next = task_window.next()) {
    all.push_back(*next);
  }
  return all;
}

// All task_window in the order of their tasks; of those that have begun, `choose` says which ends
// next.
template <class Choose>
std::vector<TaskWindow::Start> run(std::size_t count, std::int64_t labels, const Choose& choose) {
  TaskWindow task_window(count, ObjectiveKey{1000, 0}, {labels, 2 * labels});
  std::vector<TaskWindow::Start> begun = all_next(task_window);
  std::vector<TaskWindow::Start> open = begun;
  while (!open.empty()) {
    const std::size_t i = choose(open.size());
    const TaskWindow::Start start = open[i];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    task_window.end(start, {{found(start)}, taken(start)});
    for (const TaskWindow::Start& next : all_next(task_window)) {
      begun.push_back(next);
      open.push_back(next);
    }
  }
  return begun;
}

TEST(TaskWindow, DependOnNoOrderOfEnding) {
  std::mt19937 random{7};
  for (const std::size_t count : {1U, 2U, 3U, 9U, 100U, 700U}) {
    for (const std::int64_t labels : {3, 50, 100'000}) {
      const auto in_order = run(count, labels, [](std::size_t) { return std::size_t{0}; });
      const auto newest = run(count, labels, [](std::size_t open) { return open - 1; });
      const auto any = run(count, labels, [&](std::size_t open) { return random() % open; });
      ASSERT_EQ(in_order.size(), count);
      for (const auto& other : {newest, any}) {
        ASSERT_EQ(other.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(other[i].index, i);
          EXPECT_EQ(other[i].known.limit(), in_order[i].known.limit());
          EXPECT_EQ(other[i].labels.expanded, in_order[i].labels.expanded);
          EXPECT_EQ(other[i].labels.budget, in_order[i].labels.budget);
        }
      }
    }
  }
}

TEST(TaskWindow, KnowWhatAllButTheLastFewHaveFound) {
  const auto task_window = run(300, 1'000'000, [](std::size_t open) { return open / 2; });
  ObjectiveKey least{1000, 0};
  std::size_t known = 0;
  for (const TaskWindow::Start& start : task_window) {
    for (; known < TaskWindow::known(start.index); ++known) {
      least = std::min(least, found(task_window[known]));
    }
    EXPECT_EQ(start.known.limit(), least);
  }
  EXPECT_EQ(TaskWindow::known(1), 1U);  // what the first finds is what the others have to beat
  EXPECT_EQ(TaskWindow::known(2), 1U);
  EXPECT_EQ(TaskWindow::known(3), 2U);
  EXPECT_EQ(TaskWindow::known(1000), 1001U - 64);
}

// Of a front a start knows all points of the tasks before it, whichever ended first.
TEST(TaskWindow, KnowTheFrontOfWhatWasFound) {
  TaskWindow task_window(4, exact::Incumbent::front(false), {100, 100});
  const TaskWindow::Start first = *task_window.next();
  EXPECT_TRUE(first.known.points().empty());
  task_window.end(first, {{{3, 10}, {1, 30}, {4, 20}}, {}});
  const TaskWindow::Start second = *task_window.next();
  const TaskWindow::Start third = *task_window.next();
  EXPECT_TRUE(second.known.dominates({3, 10}));
  EXPECT_TRUE(second.known.dominates({1, 30}));
  EXPECT_FALSE(second.known.dominates({2, 20}));
  ASSERT_EQ(third.known.points().size(), 2U);
  task_window.end(third, {{{1.5, 5}}, {}});
  EXPECT_FALSE(task_window.next());  // the second one may find more
  task_window.end(second, {{{2, 20}}, {}});
  const TaskWindow::Start fourth = *task_window.next();
  EXPECT_TRUE(fourth.known.dominates({2, 20}));
  EXPECT_FALSE(fourth.known.dominates({1.5, 5}));  // of the third, which is beside it
  EXPECT_EQ(fourth.known.points().size(), 3U);
}

TEST(TaskWindow, GrantNoMoreLabelsThanThereAre) {
  for (const std::int64_t labels : {1, 7, 64, 5000}) {
    TaskWindow task_window(400, ObjectiveKey{}, {labels, 3 * labels});
    std::vector<TaskWindow::Start> open = all_next(task_window);
    EXPECT_EQ(open.front().labels.expanded, std::max<std::int64_t>(1, labels / 2));
    EXPECT_EQ(open.front().labels.budget, std::max<std::int64_t>(1, 3 * labels / 2));
    std::int64_t expanded = 0;
    std::int64_t budget = 0;
    while (!open.empty()) {
      const TaskWindow::Start start = open.back();
      open.pop_back();
      expanded += start.labels.expanded;
      budget += start.labels.budget;
      task_window.end(start, {{}, start.labels});
      const auto next = all_next(task_window);
      open.insert(open.end(), next.begin(), next.end());
    }
    EXPECT_EQ(expanded, labels);
    EXPECT_EQ(budget, 3 * labels);
  }
  TaskWindow one(1, ObjectiveKey{}, {1000, 700});
  const TaskWindow::Start start = *one.next();
  EXPECT_EQ(start.labels.expanded, 700);
  EXPECT_EQ(start.labels.budget, 700);
}

}  // namespace
}  // namespace mapsim::task_window_test
