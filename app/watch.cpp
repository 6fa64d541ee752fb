// SPDX-License-Identifier: Apache-2.0
#include "app/watch.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "app/command.hpp"

namespace mapsim {

namespace {

// Ends the wait for interrupts; whoever does not wait for it ignores it.
constexpr int kWake = SIGURG;

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Watch::Watch(WatchWords words) : visible_{isatty(STDERR_FILENO) == 1}, words_{std::move(words)} {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread{[this](const std::stop_token& finished) { look(finished); }};
}

Watch::~Watch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), kWake);  // or a search of 5 ms would take 50
  thread_.join();
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Watch::say(std::string status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

void Watch::turn_to(WatchWords words) {
  const std::lock_guard lock(mutex_);
  clear();
  words_ = std::move(words);
  status_.clear();
  start_ = Clock::now();
  stop_ = false;
}

void Watch::look(const std::stop_token& finished) {
  constexpr timespec kPeriod{0, 50'000'000};
  // timeout(1) signals the process and then its group: what follows at once is the same wish.
  constexpr std::chrono::milliseconds kEcho{500};
  sigset_t set = interrupts();
  sigaddset(&set, kWake);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Clock::time_point heard;
  while (!finished.stop_requested()) {
    const int signal = sigtimedwait(&set, nullptr, &kPeriod);
    if (signal > 0 && signal != kWake && Clock::now() - heard > kEcho) {
      if (stop_.exchange(true)) {
        _exit(kInterrupted);
      }
      heard = Clock::now();
    }
    show();
  }
  const std::lock_guard lock(mutex_);
  clear();
}

void Watch::show() {
  const std::lock_guard lock(mutex_);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  if (visible_ && seconds > shown_) {
    shown_ = seconds;
    fmt::print(stderr, "\r{}, {} s{} (Ctrl-C: {})\033[K", words_.work, seconds, status_,
               words_.hint);
    std::fflush(stderr);
  }
}

void Watch::clear() {
  if (shown_ > 0) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }
  shown_ = 0;
}

}  // namespace mapsim
