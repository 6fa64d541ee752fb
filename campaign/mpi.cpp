// SPDX-License-Identifier: Apache-2.0
#include "campaign/mpi.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

namespace mapsim {

namespace {

using Json = nlohmann::json;

constexpr int kAskTag = 1;    // to rank 0: an answer or nothing, as CBOR; and another point, please
constexpr int kPointTag = 2;  // from rank 0: the number of a point, or kNothingLeft
constexpr std::int64_t kNothingLeft = -1;
// MPI waits by asking the network without a break; this often is enough for points of milliseconds.
constexpr std::chrono::milliseconds kPatience{1};

// The cells' types survive: CBOR tells whole numbers from others and keeps every bit of a double.
std::vector<std::uint8_t> packed(const Solved& solved) {
  Json json{{"number", solved.number},
            {"key", {solved.key.design, solved.key.workload, solved.key.question}},
            {"failure", solved.failure}};
  if (solved.figures) {
    json["figures"] = Json::array();
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
  return Json::to_cbor(json);
}

Cell cell_of(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  return value.is_number() ? Cell{value.get<double>()} : Cell{};
}

Solved unpacked(const std::vector<std::uint8_t>& bytes) {
  const Json json = Json::from_cbor(bytes);
  Solved solved;
  solved.number = json["number"];
  solved.key = {json["key"][0], json["key"][1], json["key"][2]};
  solved.failure = json["failure"];
  if (json.contains("figures")) {
    solved.figures.emplace();
    for (const Json& value : json["figures"]) {
      solved.figures->push_back(cell_of(value));
    }
  }
  return solved;
}

// The next message with this tag, if it has come.
std::optional<std::pair<int, std::vector<std::uint8_t>>> receive(int tag) {
  int there = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) {
    return std::nullopt;
  }
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return std::pair{status.MPI_SOURCE, std::move(bytes)};
}

void send(const std::vector<std::uint8_t>& bytes, int to, int tag) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

std::vector<std::uint8_t> packed_number(std::int64_t number) { return Json::to_cbor(number); }

// Asks rank 0, with an answer or without one; what it gives.
std::int64_t ask(const std::vector<std::uint8_t>& answer) {
  send(answer, 0, kAskTag);
  for (;;) {
    if (const auto message = receive(kPointTag)) {
      return Json::from_cbor(message->second).get<std::int64_t>();
    }
    std::this_thread::sleep_for(kPatience);
  }
}

}  // namespace

bool has_mpi() { return true; }

MpiJob::MpiJob() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiJob::~MpiJob() {
  PointQueue nothing{{}};
  while (rank_ == 0 && serve(nothing, true)) {
    std::this_thread::sleep_for(kPatience);
  }
  if (rank_ != 0 && !finished_) {
    ask(packed({}));  // as if interrupted: no answer, and nothing more, please
  }
  MPI_Finalize();
}

Remote MpiJob::remote() {
  return {[this](PointQueue& queue, bool stopping) { return serve(queue, stopping); }};
}

bool MpiJob::serve(PointQueue& queue, bool stopping) {
  while (const auto message = receive(kAskTag)) {
    const auto& [from, answer] = *message;
    bool stopped = stopping;
    if (!answer.empty()) {
      Solved solved = unpacked(answer);
      stopped = stopped || (!solved.figures && solved.failure.empty());
      queue.put(std::move(solved));
    }
    const auto number = stopped ? std::nullopt : queue.take();
    send(packed_number(number ? static_cast<std::int64_t>(*number) : kNothingLeft), from,
         kPointTag);
    gone_ += number ? 0 : 1;
  }
  return gone_ < size_ - 1;
}

void MpiJob::work(const std::string& campaign_path, const std::atomic<bool>& stop) {
  std::int64_t number = ask({});
  if (number != kNothingLeft) {
    const Campaign campaign = load_campaign(campaign_path);
    Sharing sharing{campaign};
    PointSolver solver{campaign, stop, sharing};
    while (number != kNothingLeft) {
      number = ask(packed(solver.solve(static_cast<std::size_t>(number))));
    }
  }
  finished_ = true;
}

}  // namespace mapsim
