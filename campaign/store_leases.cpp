// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <utility>

#include "campaign/results_version.hpp"
#include "campaign/store.hpp"

namespace mapsim {

namespace {

// All sweeps of a database are on one machine, as its log is in shared memory: they have one clock.
double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double end_of(std::chrono::milliseconds term) {
  return now_seconds() + std::chrono::duration<double>(term).count();
}

}  // namespace

// A lease that ends later than one that begins now was taken before the clock was set back.
Store::Leasing::Leasing(Store& store, std::string holder, std::chrono::milliseconds term)
    : store_{store},
      holder_{std::move(holder)},
      end_{end_of(term)},
      transaction_{store.database_},
      insert_{store.database_, "INSERT OR IGNORE INTO leases VALUES (?, ?, ?, ?, ?, ?)"},
      find_{store.database_,
            "SELECT holder FROM leases WHERE design = ? AND workload = ? AND question = ? AND"
            " tool = ?"},
      remove_{store.database_,
              "DELETE FROM leases WHERE design = ? AND workload = ? AND question = ? AND tool = ?"
              " AND holder = ?"} {
  constexpr double kLongest = 3600;  // whatever terms others have
  Statement{store.database_, "DELETE FROM leases WHERE until < ? OR until > ?"}.run(
      {now_seconds(), now_seconds() + kLongest});
}

Store::Lease Store::Leasing::take(const PointKey& key) {
  if (store_.has_result(key)) {
    return Lease::kAnswered;
  }
  insert_.run({key.design, key.workload, key.question, results_version(), holder_, end_});
  find_.bind({key.design, key.workload, key.question, results_version()}).step();
  const bool is_ours = find_.text(0) == holder_;
  while (find_.step()) {
  }
  return is_ours ? Lease::kOurs : Lease::kTheirs;
}

void Store::Leasing::give_back(const PointKey& key) {
  remove_.run({key.design, key.workload, key.question, results_version(), holder_});
}

void Store::renew_leases(const std::string& holder, std::chrono::milliseconds term) {
  Statement{database_, "UPDATE leases SET until = ? WHERE holder = ?"}.run({end_of(term), holder});
}

void Store::release_leases(const std::string& holder) {
  Statement{database_, "DELETE FROM leases WHERE holder = ?"}.run({holder});
}

}  // namespace mapsim
