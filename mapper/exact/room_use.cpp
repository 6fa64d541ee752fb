// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/room_use.hpp"

namespace mapsim::exact {

bool occupy_start(const Skeleton& skeleton, std::size_t pointers,
                  std::span<const std::optional<std::size_t>> slots, double* values) {
  const Workload& workload = skeleton.problem().workload();
  const PerDim<std::int64_t> bounds = bounds_of(workload);
  for (std::size_t r = 0; r < skeleton.rooms().size(); ++r) {
    const Room& room = skeleton.rooms()[r];
    double used = 0;
    for (const TensorId t : workload.tensors.ids()) {
      const Tensor& tensor = workload.tensors[t];
      if (room.level == LevelId{0} && (!room.role || *room.role == tensor.role)) {
        const bool narrow = skeleton.stop(pointers, t).narrow;
        used += static_cast<double>(footprint(tensor, bounds)) *
                static_cast<double>((narrow ? tensor.bits : tensor.partial_bits).count());
      }
    }
    if (used > room.bits) {
      return false;
    }
    if (slots[r]) {
      values[*slots[r]] += used;
    }
  }
  return true;
}

RoomUse::RoomUse(Instance& instance, std::optional<std::size_t> measured, std::size_t first)
    : instance_{instance}, width_{first} {
  const auto& rooms = instance.skeleton.rooms();
  for (std::size_t r = 0; r < rooms.size(); ++r) {
    const bool contended = rooms[r].contended && rooms[r].bits < kInfinity;
    const bool carried = contended || measured == r;
    slots_.push_back(carried ? std::optional{width_++} : std::nullopt);
    if (contended && measured != r && rooms[r].level != LevelId{0}) {
      filling_.push_back(r);
    }
  }
  entrants_.resize(rooms.size() * instance.skeleton.phases() * instance.skeleton.pointers());
}

const RoomUse::Entrants& RoomUse::entrants(std::size_t r, const Node& node) {
  const Skeleton& skeleton = instance_.skeleton;
  Entrants& entrants =
      entrants_[(r * skeleton.phases() + node.phase) * skeleton.pointers() + node.pointers];
  if (entrants.known) {
    return entrants;
  }
  entrants.known = true;
  const Room& room = skeleton.rooms()[r];
  const std::size_t crossed = skeleton.crossed(node.phase);
  for (const TensorId t : skeleton.problem().workload().tensors.ids()) {
    const Stop& at = skeleton.stop(node.pointers, t);
    const bool has_role = !room.role || skeleton.problem().workload().tensors[t].role == *room.role;
    if (at.latch || !has_role || index_of(at.level) >= index_of(room.level)) {
      continue;
    }
    // Of a tensor that may be stored in two widths, the wide one.
    const double* widest = nullptr;
    bool enters = false;
    for (std::size_t p = 0; p < skeleton.placings().size(); ++p) {
      const Placing& placing = skeleton.placings()[p];
      if (placing.tensor != t || placing.crossed < crossed || skeleton.room_of(placing) != r ||
          instance_.costs.is_left_out(p)) {
        continue;
      }
      enters = true;
      if (placing.crossed == crossed &&
          (widest == nullptr || !skeleton.stops(t)[placing.to].narrow)) {
        widest = instance_.costs.bits(p).data();
      }
    }
    if (enters && widest != nullptr) {
      entrants.bits.push_back(widest);
    }
    entrants.unbounded = entrants.unbounded || (enters && widest == nullptr);
  }
  return entrants;
}

double RoomUse::most(std::size_t room, const Node& node) {
  const Entrants& all = entrants(room, node);
  double sum = all.unbounded ? kInfinity : 0;
  for (const double* bits : all.bits) {
    sum += bits[node.tile];
  }
  return sum;
}

void RoomUse::forget(const Node& node, double* values) {
  for (const std::size_t r : filling_) {
    double& used = values[*slots_[r]];
    if (used > 0 && used + most(r, node) <= instance_.skeleton.rooms()[r].bits) {
      used = 0;
    }
  }
}

}  // namespace mapsim::exact
