// SPDX-License-Identifier: Apache-2.0
#include "campaign/mpi.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mapsim {

namespace {

using PlainJson = nlohmann::json;

constexpr int kAskTag = 1;    // to rank 0: an answer or nothing, as CBOR; and another point, please
constexpr int kPointTag = 2;  // from rank 0: a point's number and weight, or null: nothing is left
// MPI waits by asking the network without a break; this often is enough for points of milliseconds.
constexpr std::chrono::milliseconds kPoll{1};

PlainJson json_of(const Asked& asked) {
  return PlainJson::array({asked.number, asked.weight ? PlainJson(*asked.weight) : PlainJson()});
}

Asked asked_of(const PlainJson& json) {
  Asked asked{json[0]};
  if (!json[1].is_null()) {
    asked.weight = json[1].get<double>();
  }
  return asked;
}

// The cells' types survive: CBOR tells whole numbers from others and keeps every bit of a double.
std::vector<std::uint8_t> packed(const Solved& solved) {
  PlainJson json{{"asked", json_of(solved.asked)},
                 {"key", {solved.key.design, solved.key.workload, solved.key.question}},
                 {"failure", solved.failure},
                 {"needed_bytes", solved.needed_bytes}};
  if (solved.figures) {
    json["figures"] = PlainJson::array();
    for (const Cell& cell : *solved.figures) {
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              json["figures"].push_back(nullptr);
            } else {
              json["figures"].push_back(value);
            }
          },
          cell);
    }
  }
  return PlainJson::to_cbor(json);
}

Cell cell_of(const PlainJson& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  return value.is_number() ? Cell{value.get<double>()} : Cell{};
}

Solved unpacked(const std::vector<std::uint8_t>& bytes) {
  const PlainJson json = PlainJson::from_cbor(bytes);
  Solved solved;
  solved.asked = asked_of(json["asked"]);
  solved.key = {json["key"][0], json["key"][1], json["key"][2]};
  solved.failure = json["failure"];
  solved.needed_bytes = json["needed_bytes"];
  if (json.contains("figures")) {
    solved.figures.emplace();
    for (const PlainJson& value : json["figures"]) {
      solved.figures->push_back(cell_of(value));
    }
  }
  return solved;
}

// The next message with this tag, if it has come.
std::optional<std::pair<int, std::vector<std::uint8_t>>> receive(const MpiTransport& mpi, int tag) {
  int from = 0;
  int size = 0;
  if (!mpi.probe(tag, &from, &size)) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  mpi.receive(bytes.data(), size, from, tag);
  return std::pair{from, std::move(bytes)};
}

void send(const MpiTransport& mpi, const std::vector<std::uint8_t>& bytes, int to, int tag) {
  mpi.send(bytes.data(), static_cast<int>(bytes.size()), to, tag);
}

// Asks rank 0, with an answer or without one; what it gives.
std::optional<Asked> ask(const MpiTransport& mpi, const std::vector<std::uint8_t>& answer) {
  send(mpi, answer, 0, kAskTag);
  for (;;) {
    if (const auto message = receive(mpi, kPointTag)) {
      const PlainJson json = PlainJson::from_cbor(message->second);
      return json.is_null() ? std::nullopt : std::optional{asked_of(json)};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// Never unloaded: MPI's own threads and handlers outlive MPI_Finalize.
const MpiTransport& join(const std::string& module) {
  void* const loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const symbol = loaded == nullptr ? nullptr : dlsym(loaded, kJoinMpi);
  if (symbol == nullptr) {
    const char* const reason = dlerror();
    throw MpiUnavailable(reason == nullptr ? module : reason);
  }
  return *reinterpret_cast<JoinMpi>(symbol)();
}

}  // namespace

MpiJob::MpiJob(const std::string& module)
    : mpi_{&join(module)}, rank_{mpi_->rank()}, size_{mpi_->size()} {}

MpiJob::~MpiJob() {
  PointQueue nothing;
  while (rank_ == 0 && serve(nothing, true)) {
    std::this_thread::sleep_for(kPoll);
  }
  if (rank_ != 0 && !finished_) {
    ask(*mpi_, packed({asked_.value_or(Asked{}), {}, {}, {}}));  // as if interrupted
  }
  mpi_->finish();
}

Remote MpiJob::remote() {
  return {[this](PointQueue& queue, bool stopping) { return serve(queue, stopping); }};
}

void MpiJob::reply(int rank, const std::optional<Asked>& asked) {
  send(*mpi_, PlainJson::to_cbor(asked ? json_of(*asked) : PlainJson()), rank, kPointTag);
  gone_ += asked ? 0 : 1;
}

bool MpiJob::serve(PointQueue& queue, bool stopping) {
  while (const auto message = receive(*mpi_, kAskTag)) {
    const auto& [from, answer] = *message;
    bool stopped = stopping;
    if (!answer.empty()) {
      Solved solved = unpacked(answer);
      stopped = stopped || (!solved.figures && solved.failure.empty());
      queue.put(std::move(solved));
    }
    if (stopped) {
      reply(from, std::nullopt);
    } else {
      waiting_.push_back(from);
    }
  }
  while (!waiting_.empty()) {
    const bool is_last = stopping || queue.is_closed();  // nothing is added after that
    const auto asked = stopping ? std::nullopt : queue.take_now();
    if (!asked && !is_last) {
      break;
    }
    reply(waiting_.back(), asked);
    waiting_.pop_back();
  }
  return gone_ < size_ - 1;
}

void MpiJob::work(const std::string& campaign_path, const std::vector<std::string>& configs,
                  const ReadChip& read_chip, const Budget& budget, const std::atomic<bool>& stop) {
  asked_ = ask(*mpi_, {});
  if (asked_) {
    Campaign campaign = load_campaign(campaign_path, configs, read_chip);
    campaign.budget.bytes = budget.bytes;
    PointSolver solver{campaign, stop};
    while (asked_) {
      asked_ = ask(*mpi_, packed(solver.solve(*asked_)));
    }
  }
  finished_ = true;
}

}  // namespace mapsim
