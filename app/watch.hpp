// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace mapsim {

// From now on SIGINT and SIGTERM end the process with kInterrupted, unless whoever started it had
// them ignored, while nothing below holds them off. Nothing has to be tidied up then.
// A file that grows beyond what the process may write is an error of that write, and no signal.
void exit_when_interrupted();

// While it lives, SIGINT and SIGTERM wait: for what must be done whole, and is soon done.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  sigset_t before_;
};

// Says on standard error that others keep a database from being written.
void say_waiting(const std::string& database);

// The text that a terminal shows after the time: "searching, 12 s, ... (Ctrl-C: stop and ...)".
struct WatchWords {
  std::string work = "searching";
  std::string hint = "stop and show the best so far";
};

// While it lives: SIGINT and SIGTERM set a flag instead of ending the process (one more, later,
// ends it, unless other work has begun since), and after a second a terminal on standard error
// shows how long the work has been going on. Signals are taken by a thread of its own, so there is
// no handler and nothing global; threads started before do not get them.
class Watch {
 public:
  explicit Watch(WatchWords words = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  const std::atomic<bool>& stop() const { return stop_; }
  // Is there a terminal to show things on?
  bool visible() const { return visible_; }
  // Sets the text after the time; any thread may call it.
  void say(std::string status);
  // Other work begins, and nobody wants that stopped yet: takes back the flag, and what is shown.
  void turn_to(WatchWords words);

 private:
  using Clock = std::chrono::steady_clock;
  void look(const std::stop_token& finished);
  void show();
  void clear();

  Uninterrupted held_off_;  // in all threads but its own
  std::atomic<bool> stop_{false};
  bool visible_;
  std::mutex mutex_;  // of what follows
  WatchWords words_;
  std::string status_;
  Clock::time_point start_ = Clock::now();  // of the work
  std::int64_t shown_ = 0;                  // its last second that was shown
  std::jthread thread_;
};

}  // namespace mapsim
