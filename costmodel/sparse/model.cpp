// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "core/arithmetic.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/sparse/known_zeros.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw ConfigError({{file, 0, 0, "", message, ""}});
}

// Whole tiles move at some steps and parts of them at others.
bool slides(const Workload& workload, TensorId t) {
  const Tensor& tensor = workload.tensors[t];
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [&](const Rank& rank) {
    return std::count_if(rank.terms.begin(), rank.terms.end(),
                         [&](const Term& term) { return workload.dims[term.dim].bound > 1; }) > 1;
  });
}

// Blocks of other sizes are others, even where all their zeros would do: 1:4 stores two of four.
bool has_structure(const BlockStructure& structure, const Workload& workload,
                   const Tensor& tensor) {
  const Pattern* pattern = tensor.pattern ? &*tensor.pattern : nullptr;
  return structure.block == 0 ||
         (pattern != nullptr && pattern->kind == PatternKind::kStructured &&
          pattern->kept == structure.kept && pattern->block == structure.block &&
          !workload.tensors[workload.output()].dims().contains(pattern->dim));
}

}  // namespace

struct SparseModel::ReadTiles {
  using Key = std::tuple<LevelId, TensorId, TileShape, std::int64_t>;  // and width; none: the mean
  std::mutex mutex;
  std::map<Key, StoredTile> tiles;
};

SparseModel::SparseModel(const Arch& arch, const Workload& workload)
    : machine_{*arch.sparsity}, read_{std::make_shared<ReadTiles>()} {
  if (!std::holds_alternative<std::monostate>(arch.compute.timing)) {
    refuse(arch.name, "formats and conditions are for machines whose compute has no 'timing'");
  }
  for (const Fanout& fanout : arch.fanouts) {
    if (fanout.energy_per_hop) {
      refuse(arch.name, fanout.name +
                            ": what formats move over a network with an energy per hop "
                            "is not counted yet; leave out energy_per_hop");
    }
  }
  for (const TensorId t : workload.tensors.ids()) {
    occupancies_.emplace_back(workload, t);
    least_moved_.push_back(1);
    least_stored_.push_back(1);
  }
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    if (t != workload.output() && machine_.zeros_of.contains(tensor.role) &&
        has_structure(machine_.structure, workload, tensor)) {
      looked_at_.insert(t);
    }
  }
  for (const LevelId l : arch.levels.ids()) {
    bind(arch, workload, l);
  }
  check_seen(arch, workload);
  effectual_ = share_of_nonzeros(workload, looked_at_);
  // A tile is empty no more often than any one of its elements is zero. An operation of nonzeros
  // alone is made, and takes its time.
  const IdSet<TensorId> none;
  IdSet<TensorId> acting = machine_.when_zero == ZeroAct::kNothing ? none : looked_at_;
  IdSet<TensorId> skipping = machine_.when_zero == ZeroAct::kSkip ? looked_at_ : none;
  for (const TensorId t : workload.tensors.ids()) {
    IdSet<TensorId> leaders;
    for (const LevelId l : arch.levels.ids()) {
      for (const BoundCondition& condition : conditions_[l][t]) {
        leaders.insert(condition.leader);
        acting.insert(condition.leader);
        if (condition.act == ZeroAct::kSkip) {
          skipping.insert(condition.leader);
        }
      }
    }
    least_moved_[t] *= share_of_nonzeros(workload, leaders);
  }
  least_operated_ = share_of_nonzeros(workload, acting);
  least_stepped_ = share_of_nonzeros(workload, skipping);
}

void SparseModel::bind(const Arch& arch, const Workload& workload, LevelId level) {
  formats_.push_back({});
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    const auto given = machine_.levels[level].formats.find(tensor.role);
    const bool is_dense =
        given == machine_.levels[level].formats.end() || lacks_structure(workload, t);
    const TensorFormat format = is_dense ? TensorFormat{} : given->second;
    formats_[level].push_back(format);
    if (format.ranks.size() > tensor.ranks.size()) {
      refuse(arch.name,
             fmt::format("{}: {} has {} ranks, the format {} has {}", arch.levels[level].name,
                         tensor.name, tensor.ranks.size(), to_string(format), format.ranks.size()));
    }
    const DensityModel& occupancy = occupancies_[index_of(t)];
    if (!counts_runs(format, occupancy)) {
      refuse(arch.name,
             fmt::format("{}: runs of a tensor with n:m structure ({}) are counted in the "
                         "last of as many codes as ranks, along which the blocks lie, "
                         "and if they hold the zeros of two blocks; a bitmask or "
                         "coordinates are, too",
                         arch.levels[level].name, tensor.name));
    }
    if (is_compressed(format)) {
      least_moved_[t] = occupancy.density();
      const bool worst = machine_.levels[level].fits.when == FitsWhen::kWorst;
      const bool whole = format.ideal || (worst && occupancy.is_uniform());
      // Of data and structure a tile may hold few of the nonzeros.
      least_stored_[t] = whole ? least_stored_[t] : 0;
    }
  }
  bind_conditions(workload, level);
}

void SparseModel::bind_conditions(const Workload& workload, LevelId level) {
  conditions_.push_back({});
  for (const TensorId t : workload.tensors.ids()) {
    conditions_[level].push_back({});
    for (const Condition& condition : machine_.levels[level].when_empty) {
      for (const TensorId leader : workload.tensors.ids()) {
        if (condition.target == workload.tensors[t].role && leader != workload.output() &&
            condition.leaders.contains(workload.tensors[leader].role) &&
            !lacks_structure(workload, leader)) {
          conditions_[level][t].push_back({condition.act, leader});
          has_conditions_ = true;
        }
      }
    }
  }
}

// Whoever acts on zeros has to see them. Of tiles, a format says so at that level or further in
// (count_sparse.cpp). Of elements that go to the compute units any format of the leader does, or
// the elements themselves, if they come first.
void SparseModel::check_seen(const Arch& arch, const Workload& workload) const {
  const auto is_stated = [&](TensorId leader) {
    return occupancies_[index_of(leader)].is_dense() ||
           std::any_of(formats_.begin(), formats_.end(),
                       [&](const auto& level) { return is_compressed(level[leader]); });
  };
  const auto waits = [&](TensorId t) {
    return std::any_of(conditions_.begin(), conditions_.end(),
                       [&](const auto& level) { return !level[t].empty(); });
  };
  for (const LevelId l : arch.levels.ids()) {
    for (const TensorId t : workload.tensors.ids()) {
      const bool has_data = occupancies_[index_of(t)].is_data();
      for (const BoundCondition& condition : conditions_[l][t]) {
        const std::string& name = workload.tensors[condition.leader].name;
        if (!is_stated(condition.leader) && waits(condition.leader)) {
          refuse(arch.name, fmt::format("{}: when_empty waits for tiles of {}, but neither there "
                                        "nor further in a format says where its zeros are",
                                        arch.levels[l].name, name));
        }
        const bool is_data = occupancies_[index_of(condition.leader)].is_data();
        if (is_data && slides(workload, t)) {
          refuse(arch.name,
                 fmt::format("{}: a condition on {}, whose zeros are given as data, is not counted "
                             "for {}, which has a sliding window",
                             arch.levels[l].name, name, workload.tensors[t].name));
        }
        bool is_counted = true;  // of both tensors together
        for (std::size_t i = index_of(l); i < arch.levels.size(); ++i) {
          const auto inner = static_cast<LevelId>(i);
          const bool by_place = !format(inner, t).ranks.empty();  // a bitmask: also of zeros
          is_counted =
              is_counted && is_constant(inner, t) && !(by_place && condition.act == ZeroAct::kGate);
        }
        if (has_data && is_data && !is_counted) {
          refuse(arch.name,
                 fmt::format("{}: a condition of {} on {}, both of whose zeros are given as data, "
                             "is counted where {} is dense or ideal there and further in, and "
                             "skipped also where it is a bitmask or has coordinates of a width "
                             "that is enough",
                             arch.levels[l].name, workload.tensors[t].name, name,
                             workload.tensors[t].name));
        }
      }
    }
  }
}

double SparseModel::share_of_nonzeros(const Workload& workload,
                                      const IdSet<TensorId>& tensors) const {
  KnownZeros known{workload};
  double share = 1;
  for (const TensorId t : workload.tensors.ids()) {
    const DensityModel& of = occupancies_[index_of(t)];
    if (tensors.contains(t) && of.is_data()) {
      known.require(t, of, TileShape(workload.tensors[t].ranks.size(), 1));
    } else if (tensors.contains(t)) {
      share *= of.density();
    }
  }
  return share * known.share();
}

// On average, or (`at_most`: of elements as wide) what the machine says must fit.
StoredTile SparseModel::stored(LevelId level, TensorId t, const TileShape& tile,
                               std::optional<Bits> at_most) const {
  const TensorFormat& of = format(level, t);
  const auto read = [&] {
    return at_most ? stored_at_most(of, occupancy(t), tile, machine_.levels[level].fits.share,
                                    real(at_most->count()))
                   : stored_on_average(of, occupancy(t), tile);
  };
  if (!occupancy(t).is_data()) {
    return read();
  }
  const ReadTiles::Key key{level, t, tile, at_most ? at_most->count() : 0};
  {
    const std::lock_guard lock{read_->mutex};
    if (const auto known = read_->tiles.find(key); known != read_->tiles.end()) {
      return known->second;
    }
  }
  const StoredTile found = read();
  const std::lock_guard lock{read_->mutex};
  return read_->tiles.emplace(key, found).first->second;
}

MovedShare SparseModel::moved(LevelId level, TensorId t, const TileShape& tile) const {
  const TensorFormat& of = format(level, t);
  if (is_constant(level, t)) {  // and of data, each tile's share is that of the whole
    const double density = occupancy(t).density();
    if (of.ideal || of.ranks.empty()) {
      return {of.ideal ? density : 1, 0};
    }
    const bool mask = of.ranks[0].format == RankFormat::kBitmask;
    return {density, mask ? 1 : density * real(of.ranks[0].bits)};
  }
  const StoredTile found = stored(level, t, tile, std::nullopt);
  const double points = real(points_of(tile));
  return {found.elements / points, found.format_bits / points};
}

MovedShare SparseModel::taken(LevelId level, TensorId t) const {
  if (is_constant(level, t)) {
    return moved(level, t, {});
  }
  const TileShape one(occupancy(t).box().size(), 1);
  const StoredTile found =
      stored_on_average(format(level, t), occupancy(t), one, occupancy(t).box());
  return {found.elements, found.format_bits};
}

double SparseModel::stored_bits(LevelId level, TensorId t, const TileShape& tile,
                                Bits width) const {
  const Fits& fits = machine_.levels[level].fits;
  const TensorFormat& of = format(level, t);
  const bool mean = fits.when == FitsWhen::kExpected && !of.ideal;
  const StoredTile found = stored(level, t, tile, mean ? std::nullopt : std::optional{width});
  return found.elements * real(width.count()) + found.format_bits;
}

}  // namespace mapsim
