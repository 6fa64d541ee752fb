// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "costmodel/reference/nonzeros.hpp"
#include "costmodel/reference/transfer.hpp"

namespace mapsim {

namespace {

void add(SparseTensor::Accesses& accesses, Access access, double elements, const MovedShare& share,
         ZeroAct act) {
  SparseAccess& at = accesses[static_cast<std::size_t>(access)];
  double& count = act == ZeroAct::kSkip ? at.skipped : act == ZeroAct::kGate ? at.gated : at.actual;
  count += elements * share.elements;
  at.format_bits += act == ZeroAct::kNothing ? elements * share.format_bits : 0;
}

}  // namespace

// Children of a stream that are served together: those that differ in loops which give both the
// same elements, or tiles of one window.
std::vector<Transfer::Stream> Transfer::parts_of(const Stream& stream) const {
  const Tensor& tensor = problem_.workload().tensors[tensor_];
  const auto is_apart = [&](DimId d) {
    return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [d](const Rank& rank) {
      return rank.terms.size() == 1 && rank.terms.front().dim == d;
    });
  };
  std::map<LoopIndices, Stream> parts;
  for (const std::size_t i : stream.children) {
    LoopIndices key = child_.instances[i];
    for (std::size_t k = 0; k < key.size(); ++k) {
      key[k] = is_apart(walk_.loops()[k].dim) ? key[k] : 0;
    }
    Stream& part = parts[key];
    part.parent = stream.parent;
    part.children.push_back(i);
  }
  std::vector<Stream> list;
  for (auto& [key, part] : parts) {
    list.push_back(std::move(part));
  }
  return list;
}

// Decides about every part of a stream, then counts what the dense walk moves under that decision.
// What leaves a child was decided when it came.
void Transfer::count_nonzeros() {
  for (std::size_t s = 0; s < stages_.back().streams.size(); ++s) {
    const Stream& stream = stages_.back().streams[s];
    for (const std::size_t i : stream.children) {
      count_leaving(i);
    }
    for (const Stream& part : parts_of(stream)) {
      std::vector<LoopIndices> instances;
      for (const std::size_t i : part.children) {
        instances.push_back(child_.instances[i]);
      }
      const Nonzeros::Acts& above = parent_.acts[part.parent];
      Nonzeros::Acts act =
          nonzeros_->act(*parent_.level, tensor_, instances, child_.depth, moving_, forgets_);
      act = {stronger(above.transfer, act.transfer), stronger(above.operations, act.operations)};
      for (const std::size_t i : part.children) {
        child_.acts[i] = act;
        child_.shares[i] = child_.level && !changes_[i].next.empty()
                               ? nonzeros_->share(*child_.level, tensor_, changes_[i].next)
                               : MovedShare{};
        const PointSet& down = is_output_ ? changes_[i].returning : changes_[i].entering;
        add(child_.nonzeros[i], Access::kFill, static_cast<double>(down.size()), child_.shares[i],
            act.transfer);
      }
    }
    count_at_parent(stream, flows_[s]);
  }
}

void Transfer::count_leaving(std::size_t child) {
  if (is_output_) {
    add(child_.nonzeros[child], Access::kDrain, static_cast<double>(changes_[child].leaving.size()),
        child_.shares[child], child_.acts[child].transfer);
  }
}

// Each point comes as a part of the tile of the first child that takes it.
void Transfer::count_at_parent(const Stream& stream, const StreamFlow& flow) {
  PointSet left = flow.points;
  PointSet again = flow.returning;
  for (const std::size_t i : stream.children) {
    const PointSet& tile = changes_[i].next;
    if (tile.empty()) {
      continue;
    }
    const ZeroAct act = child_.acts[i].transfer;
    const MovedShare share = nonzeros_->share(*parent_.level, tensor_, tile, !child_.level);
    const auto part = [&](PointSet& points) {
      const PointSet others = without(points, tile);
      const auto size = static_cast<double>(points.size() - others.size());
      points = others;
      return size;
    };
    add(parent_.nonzeros[stream.parent], is_output_ ? Access::kUpdate : Access::kRead, part(left),
        share, act);
    if (is_output_) {
      add(parent_.nonzeros[stream.parent], Access::kReadback, part(again), share, act);
    }
  }
}

}  // namespace mapsim
