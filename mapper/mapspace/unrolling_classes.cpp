// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/unrolling_classes.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "costmodel/nest.hpp"

namespace mapsim {

UnrollingClasses::UnrollingClasses(const Problem& problem, const UnrollingLimits& limits)
    : problem_{&problem},
      given_{limits.given},
      rules_{limits.rules},
      remainders_{limits.remainders},
      one_axis_{limits.one_axis},
      is_by_way_{problem.places_matter()},
      primes_{bounds_of(problem.workload())} {
  const PerDim<Dim>& dims = problem.workload().dims;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    std::vector<FanoutChoice> choices = choices_of(problem, f, limits);
    std::vector<PackedFactors> packed;
    if (!limits.remainders) {
      // A given unrolling must divide the bounds
      std::erase_if(choices, [&](const FanoutChoice& choice) {
        bool divides = true;
        for (const DimId d : dims.ids()) {
          divides = divides && dims[d].bound % choice.factors[d] == 0;
        }
        return !divides;
      });
      for (const FanoutChoice& choice : choices) {
        packed.push_back(primes_.pack(choice.factors));
      }
    }
    choices_.push_back(std::move(choices));
    packed_.push_back(std::move(packed));
  }
}

UnrollingClass UnrollingClasses::unrolling_class(const Tuple& tuple,
                                                 PerFanout<RecentWays>& recent) const {
  recent.resize(choices_.size());
  UnrollingClass unrolling_class{{}, 1, {}};
  for (const FanoutId f : choices_.ids()) {
    const std::uint32_t index = tuple.choices[index_of(f)];
    const FanoutChoice& choice = choices_[f][index];
    auto& [known, ways] = recent[f];
    if (ways.empty() || known != index) {
      known = index;
      ways = is_by_way_
                 ? axis_assignments(*problem_, limits(), f, choice.factors)
                 : std::vector<Unrolling>{first_assignment(*problem_, limits(), f, choice.factors)};
    }
    const Unrolling& here = ways[tuple.ways[index_of(f)]];
    unrolling_class.factors.push_back(choice.factors);
    unrolling_class.assignments *= is_by_way_ ? 1 : choice.assignments;
    unrolling_class.first.insert(unrolling_class.first.end(), here.begin(), here.end());
  }
  return unrolling_class;
}

bool UnrollingClasses::comes_before(const Tuple& a, const Tuple& b) const {
  const auto instances = [&](const Tuple& tuple) {
    std::int64_t product = 1;
    for (const FanoutId f : choices_.ids()) {
      product *= choices_[f][tuple.choices[index_of(f)]].instances;
    }
    return product;
  };
  return std::tuple(instances(a), a) < std::tuple(instances(b), b);
}

std::vector<UnrollingClass> UnrollingClasses::list() const {
  struct Partial {
    Tuple tuple;
    PackedFactors product;
  };
  std::vector<Partial> all{{}};
  for (const FanoutId f : choices_.ids()) {
    std::vector<Partial> longer;
    for (const Partial& above : all) {
      for (std::size_t c = 0; c < choices_[f].size(); ++c) {
        Partial next = above;
        next.tuple.choices[index_of(f)] = static_cast<std::uint32_t>(c);
        if (!packed_[f].empty() && !primes_.multiply(next.product, packed_[f][c])) {
          continue;
        }
        const std::int64_t ways = is_by_way_ ? choices_[f][c].assignments : 1;
        for (std::int64_t way = 0; way < ways; ++way) {
          next.tuple.ways[index_of(f)] = static_cast<std::uint32_t>(way);
          longer.push_back(next);
        }
      }
    }
    all = std::move(longer);
  }
  std::sort(all.begin(), all.end(),
            [this](const Partial& a, const Partial& b) { return comes_before(a.tuple, b.tuple); });
  std::vector<UnrollingClass> classes;
  classes.reserve(all.size());
  PerFanout<RecentWays> recent;
  for (const Partial& each : all) {
    classes.push_back(unrolling_class(each.tuple, recent));
  }
  return classes;
}

namespace {

// The number of classes per product of factors, in a hash table with open addressing: a million
// products are added up.
class ProductTable {
 public:
  struct Entry {
    PackedFactors product;
    std::uint32_t used = 0;  // fanouts in use, as bits; the highest bit marks an occupied entry
    std::int64_t classes = 0;
    std::int64_t unrollings = 0;
  };
  ProductTable() : entries_(1U << 8U) {}

  void add(const Entry& entry) {
    if (2 * ++count_ > entries_.size()) {
      grow();
    }
    Entry& found = at(entry.product, entry.used | kTaken);
    count_ -= found.used != 0 ? 1 : 0;
    found.product = entry.product;
    found.used = entry.used | kTaken;
    found.classes += entry.classes;
    found.unrollings += entry.unrollings;
  }
  // In an order that depends on the products alone.
  std::vector<Entry> sorted() const {
    std::vector<Entry> all;
    for (const Entry& entry : entries_) {
      if (entry.used != 0) {
        all.push_back(entry);
        all.back().used &= ~kTaken;
      }
    }
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.used, a.product.high, a.product.low) <
             std::tie(b.used, b.product.high, b.product.low);
    });
    return all;
  }

 private:
  static constexpr std::uint32_t kTaken = 1U << 31U;

  Entry& at(const PackedFactors& product, std::uint32_t used) {
    std::uint64_t hash = (product.low ^ (product.high + used) * 0xBF58476D1CE4E5B9U) *
                         0x9E3779B97F4A7C15U;  // golden ratio
    hash ^= hash >> 32U;
    std::size_t slot = hash & (entries_.size() - 1);
    while (entries_[slot].used != 0 &&
           !(entries_[slot].product == product && entries_[slot].used == used)) {
      slot = (slot + 1) & (entries_.size() - 1);
    }
    return entries_[slot];
  }
  void grow() {
    std::vector<Entry> before(4 * entries_.size());
    std::swap(before, entries_);
    for (const Entry& entry : before) {
      if (entry.used != 0) {
        at(entry.product, entry.used) = entry;
      }
    }
  }

  std::vector<Entry> entries_;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace

std::optional<std::vector<UnrollingClasses::Product>> UnrollingClasses::products(
    const std::function<bool(std::int64_t steps)>& stop) const {
  std::int64_t steps = 0;
  std::vector<ProductTable::Entry> all{{{}, 0, 1, 1}};
  for (const FanoutId f : choices_.ids()) {
    ProductTable table;
    for (const ProductTable::Entry& above : all) {
      steps += std::ssize(choices_[f]);
      if (stop(steps)) {
        return std::nullopt;
      }
      for (std::size_t c = 0; c < choices_[f].size(); ++c) {
        ProductTable::Entry entry = above;
        if (primes_.multiply(entry.product, packed_[f][c])) {
          const FanoutChoice& choice = choices_[f][c];
          entry.used |= choice.instances > 1 ? 1U << index_of(f) : 0U;
          entry.classes *= is_by_way_ ? choice.assignments : 1;
          entry.unrollings *= choice.assignments;
          table.add(entry);
        }
      }
    }
    all = table.sorted();
  }
  std::vector<Product> products;
  products.reserve(all.size());
  for (const ProductTable::Entry& entry : all) {
    Product& product = products.emplace_back(
        Product{{}, primes_.left(entry.product), entry.classes, entry.unrollings});
    for (const FanoutId f : choices_.ids()) {
      if ((entry.used >> index_of(f) & 1U) != 0) {
        product.used.push_back(f);
      }
    }
  }
  return products;
}

std::vector<UnrollingClass> list_unrolling_classes(const Problem& problem,
                                                   const UnrollingLimits& limits) {
  return UnrollingClasses(problem, limits).list();
}

}  // namespace mapsim
