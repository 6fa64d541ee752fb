// SPDX-License-Identifier: Apache-2.0
#include "app/watch.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "app/command.hpp"
#include "core/diagnostic.hpp"

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

// Of the other threads none knows whether the first one is writing a file, and holds signals off.
void leave(int signal) {
  if (gettid() == getpid()) {
    _exit(kInterrupted);
  }
  tgkill(getpid(), getpid(), signal);
}

}  // namespace

void exit_when_interrupted() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before{};
    struct sigaction now{};
    now.sa_handler = leave;
    now.sa_flags = SA_RESTART;
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(signal, &now, nullptr);
    }
  }
}

Uninterrupted::Uninterrupted() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

Uninterrupted::~Uninterrupted() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void say_waiting(const std::string& database) {
  fmt::print(stderr, "mapsim: {}: waiting for another process that writes to it\n",
             printable(database));
}

Watch::Watch(WatchWords words) : visible_{isatty(STDERR_FILENO) == 1}, words_{std::move(words)} {
  thread_ = std::jthread{[this](const std::stop_token& finished) { look(finished); }};
}

Watch::~Watch() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), kWake);  // or a search of 5 ms would take 50
  thread_.join();
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
