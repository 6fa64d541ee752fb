// SPDX-License-Identifier: Apache-2.0
#include "app/watch.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
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

Watch::Watch(WatchWords words) : words_{std::move(words)}, visible_{isatty(STDERR_FILENO) == 1} {
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

void Watch::look(const std::stop_token& finished) {
  using Clock = std::chrono::steady_clock;
  constexpr timespec kPeriod{0, 50'000'000};
  // timeout(1) signals the process and then its group: what follows at once is the same wish.
  constexpr std::chrono::milliseconds kEcho{500};
  sigset_t set = interrupts();
  sigaddset(&set, kWake);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const Clock::time_point start = Clock::now();
  Clock::time_point stopped = start;
  std::int64_t shown = 0;
  while (!finished.stop_requested()) {
    const int signal = sigtimedwait(&set, nullptr, &kPeriod);
    const bool signalled = signal > 0 && signal != kWake;
    if (signalled && stop_ && Clock::now() - stopped > kEcho) {
      _exit(kInterrupted);
    }
    if (signalled && !stop_.exchange(true)) {
      stopped = Clock::now();
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count();
    if (visible_ && seconds > shown) {
      shown = seconds;
      const std::lock_guard lock(mutex_);
      fmt::print(stderr, "\r{}, {} s{} (Ctrl-C: {})\033[K", words_.work, seconds, status_,
                 words_.hint);
      std::fflush(stderr);
    }
  }
  if (shown > 0) {
    fmt::print(stderr, "\r\033[K");
  }
}

}  // namespace mapsim
