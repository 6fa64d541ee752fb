// SPDX-License-Identifier: Apache-2.0
#include "mapper/baselines/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "mapper/counting/counting.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/builder.hpp"

namespace mapsim {
namespace {

std::vector<double> to_doubles(const std::vector<mpz_class>& counts) {
  std::vector<double> doubles;
  for (const mpz_class& count : counts) {
    doubles.push_back(count.get_d());
  }
  return doubles;
}

double at_or_zero(const std::vector<double>& counts, std::size_t i) {
  return i < counts.size() ? counts[i] : 0.0;
}

}  // namespace

Sampler::Sampler(const Mapspace& space, const std::function<bool()>& stop)
    : space_{&space}, loop_words_{space.problem().workload()} {
  if (space.constraints().factors.imperfect && space.is_ruled()) {
    add_ruled_imperfect(stop);
  } else if (space.constraints().factors.imperfect) {
    add_imperfect(stop);
  } else if (space.is_ruled()) {
    add_ruled(stop);
  } else {
    add_free();
  }
}

void Sampler::weigh_classes(const std::function<bool()>& stop,
                            const std::function<std::optional<double>(std::size_t)>& weigh) {
  const std::size_t count = space_->unrolling_classes().size();
  // Visits classes far apart in turn, because the list goes from few instances to many.
  std::size_t step = std::max<std::size_t>(1, count * 5 / 8);
  while (std::gcd(step, count) > 1) {
    ++step;
  }
  std::vector<double> weights(count, 0.0);
  for (std::size_t i = 0; i < count && !partial_; ++i) {
    const std::size_t unrolling_class = i * step % count;
    const std::optional<double> weight = stop() ? std::nullopt : weigh(unrolling_class);
    partial_ = !weight;
    weights[unrolling_class] = weight.value_or(0);
  }
  double sum = 0;
  for (const double weight : weights) {
    cumulative_.push_back(sum += weight);
  }
}

void Sampler::add_imperfect(const std::function<bool()>& stop) {
  const std::vector<UnrollingClass>& classes = space_->unrolling_classes();
  extent_nests_.resize(classes.size());
  weigh_classes(stop, [&](std::size_t g) {
    extent_nests_[g] = std::make_unique<nests::ExtentNests>(*space_, classes[g]);
    return std::optional(extent_nests_[g]->count().get_d());
  });
}

void Sampler::add_ruled_imperfect(const std::function<bool()>& stop) {
  const std::vector<UnrollingClass>& classes = space_->unrolling_classes();
  nests::RuledExtentTables tables{*space_};
  ruled_extents_.resize(classes.size());
  weigh_classes(stop, [&](std::size_t g) {
    ruled_extents_[g] = tables.of(classes[g]);
    const auto nests = ruled_extents_[g]->count(stop);
    if (!nests && !stop()) {
      throw UnsupportedSearch(
          "the imperfect mappings under these rules are too many to draw from; limit their pieces");
    }
    return nests ? std::optional(nests->get_d()) : std::nullopt;
  });
}

void Sampler::add_ruled(const std::function<bool()>& stop) {
  const std::vector<UnrollingClass>& classes = space_->unrolling_classes();
  nests::RuledTables tables{*space_};
  ruled_.resize(classes.size());
  weigh_classes(stop, [&](std::size_t g) {
    ruled_[g] = tables.of(classes[g]);
    const auto nests =
        ruled_[g]->count(temporal_bounds(space_->problem().workload(), classes[g]), stop);
    return nests ? std::optional(nests->get_d() * static_cast<double>(classes[g].assignments))
                 : std::nullopt;
  });
}

void Sampler::add_free() {
  nests::MappingCounter counter{*space_};
  double sum = 0;
  for (const UnrollingClass& unrolling_class : space_->unrolling_classes()) {
    sum +=
        counter.count(unrolling_class).get_d() * static_cast<double>(unrolling_class.assignments);
    cumulative_.push_back(sum);
    const Member member{counter.arrangement_class(unrolling_class),
                        counter.word_class(unrolling_class)};
    members_.push_back(member);
    if (member.arrangements == arrangements_.size()) {
      arrangements_.push_back({nests::Placements{*space_, unrolling_class},
                               to_doubles(counter.arrangements(member.arrangements)),
                               {}});
      fill_ways(arrangements_.back(), nests::Cursor{});
    }
    if (member.words == words_.size()) {
      words_.push_back(to_doubles(counter.words(member.words)));
    }
  }
}

const std::vector<double>& Sampler::fill_ways(Arrangements& table, const nests::Cursor& cursor) {
  const auto known = table.ways.find(cursor.key());
  if (known != table.ways.end()) {
    return known->second;
  }
  std::vector<double> ways(table.counts.size(), 0.0);
  ways[0] = table.placements.is_complete(cursor) ? 1.0 : 0.0;
  table.placements.for_each_point(cursor, [&](const nests::Point&, const nests::Cursor& next) {
    const std::vector<double>& below = fill_ways(table, next);
    for (std::size_t k = 1; k < ways.size(); ++k) {
      ways[k] += below[k - 1];
    }
  });
  return table.ways.emplace(cursor.key(), std::move(ways)).first->second;
}

Sampler::Shape Sampler::draw_shape(const Member& member, Rng& rng) const {
  const std::vector<double>& words = words_[member.words];
  const std::vector<double>& counts = arrangements_[member.arrangements].counts;
  if (words.empty()) {
    const double without = at_or_zero(counts, 0);
    const bool occupied = rng.uniform() * (without + at_or_zero(counts, 1)) >= without;
    return {occupied ? 1U : 0U, occupied, false};
  }
  std::vector<Shape> shapes;
  std::vector<double> cumulative;
  double sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::size_t ends = 0; ends < 4; ++ends) {
      const Shape shape{k, ends % 2 == 1, ends / 2 == 1};
      const std::size_t at_ends = (shape.first ? 1U : 0U) + (shape.last ? 1U : 0U);
      const double weight = at_ends <= k ? counts[k] * at_or_zero(words, k - at_ends) : 0.0;
      if (weight > 0) {
        sum += weight;
        shapes.push_back(shape);
        cumulative.push_back(sum);
      }
    }
  }
  const double at = rng.uniform() * sum;
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end() - 1, at);
  return shapes[static_cast<std::size_t>(found - cumulative.begin())];
}

std::vector<nests::Point> Sampler::draw_points(const Arrangements& table, std::size_t count,
                                               Rng& rng) const {
  std::vector<nests::Point> points;
  nests::Cursor cursor;
  for (std::size_t left = count; left > 0; --left) {
    double rest = rng.uniform() * table.ways.at(cursor.key())[left];
    nests::Point drawn;
    nests::Cursor behind;
    bool is_drawn = false;
    table.placements.for_each_point(
        cursor, [&](const nests::Point& point, const nests::Cursor& next) {
          const double weight = is_drawn ? 0.0 : table.ways.at(next.key())[left - 1];
          if (weight > 0) {
            drawn = point;  // the last possible one, if rounding leaves a rest
            behind = next;
            is_drawn = rest < weight;
            rest -= weight;
          }
        });
    points.push_back(drawn);
    cursor = behind;
  }
  return points;
}

Mapping Sampler::sample(Rng& rng) const {
  const double at = rng.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, at);
  const auto index = static_cast<std::size_t>(found - cumulative_.begin());
  if (!extent_nests_.empty()) {
    return extent_nests_[index]->sample(rng);
  }
  const UnrollingClass& unrolling_class = space_->unrolling_classes()[index];
  if (!ruled_extents_.empty()) {
    return ruled_extents_[index]->sample(unrolling_class, rng);
  }
  const std::vector<Unrolling> unrollings = space_->assignments(unrolling_class);
  const Unrolling& unrolling = unrollings[rng.below(unrollings.size())];

  if (!ruled_.empty()) {
    return nests::draw_ruled(*space_, *ruled_[index], unrolling,
                             temporal_bounds(space_->problem().workload(), unrolling_class), rng);
  }
  const Member& member = members_[index];
  const Arrangements& table = arrangements_[member.arrangements];
  const Shape shape = draw_shape(member, rng);
  const std::vector<nests::Point> points = draw_points(table, shape.points, rng);
  std::vector<nests::Block> blocks;
  if (!words_[member.words].empty()) {
    const std::size_t inside = shape.points - (shape.first ? 1U : 0U) - (shape.last ? 1U : 0U);
    blocks = loop_words_.draw(temporal_bounds(space_->problem().workload(), unrolling_class),
                              inside + 1, rng);
  }

  nests::NestBuilder nest{*space_, table.placements, unrolling};
  auto point = points.begin();
  if (shape.first) {
    nest.add_point(*point++);
  }
  for (const nests::Block& block : blocks) {
    for (const nests::Loop& loop : block) {
      nest.add_loop(loop.dim, loop.factor);
    }
    if (point != points.end()) {
      nest.add_point(*point++);
    }
  }
  return nest.mapping();
}

}  // namespace mapsim
