// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "core/diagnostic.hpp"
#include "plan/needs.hpp"
#include "plan/priced.hpp"

namespace mapsim {

namespace {

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw ConfigError{{{file, 0, 0, "", message, ""}}};
}

void scale(Load& load, double by) {
  load.latency *= by;
  load.energy *= by;
  load.bytes *= by;
  load.busy *= by;
}

// Why a place is not for a group: a node in it has a width of its own; empty: it is.
std::string no_width(const Operations& operations, const Group& group, const Place& place,
                     const PlanOptions& options) {
  for (const std::size_t i : group.operations) {
    const auto at = options.node_widths.find(operations.node(i).name);
    if (at != options.node_widths.end() && at->second != place.width) {
      return fmt::format("{} is to be {}", at->first, width_name(at->second));
    }
  }
  return "";
}

// Why nothing runs a group; empty: something does.
std::string no_engine(const Soc& soc, const std::vector<Place>& places,
                      const std::vector<Price>& prices) {
  std::string why;
  for (std::size_t p = 0; p < prices.size(); ++p) {
    if (prices[p].problem.empty()) {
      return "";
    }
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", name_of(soc, places, p),
                       prices[p].problem);
  }
  return why;
}

// In memory, in the layout of a place.
double bytes_at(const Place& place, const Operations& operations, std::size_t tensor) {
  return bytes_of(operations, tensor) * padding_of(operations.graph->tensors[tensor], place.format);
}

// No plan adds up more of a figure: it covers an operation once, and moves a tensor to a place
// once.
double most_of(const PlanProblem& problem, double Load::* figure) {
  std::vector<double> most(problem.operations, 0);
  for (const PlanProblem::Choice& choice : problem.choices) {
    for (const std::optional<Load>& load : choice.on) {
      for (const std::size_t i : choice.operations) {
        most[i] = load ? std::max(most[i], (*load).*figure) : most[i];
      }
    }
  }
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    const std::size_t first = most.size();
    most.resize(first + problem.places, 0);
    for (std::size_t m = 0; m < tensor.moves.size(); ++m) {
      double& to = most[first + m % problem.places];
      to = tensor.moves[m] ? std::max(to, (*tensor.moves[m]).*figure) : to;
    }
  }
  return std::accumulate(most.begin(), most.end(), 0.0);
}

// Rounds a figure of all costs to multiples of a power of two, so large that sums of plans are
// exact in whatever order they are added. So plans that take the same are equal, and the figure
// that breaks ties decides.
void make_sums_exact(PlanProblem& problem, double Load::* figure) {
  const double most = most_of(problem, figure);
  if (most == 0) {
    return;
  }
  const double unit = std::ldexp(1, std::ilogb(most) + 2 - std::numeric_limits<double>::digits);
  const auto round = [&](std::optional<Load>& load) {
    if (load) {
      (*load).*figure = std::round((*load).*figure / unit) * unit;
    }
  };
  for (PlanProblem::Choice& choice : problem.choices) {
    std::for_each(choice.on.begin(), choice.on.end(), round);
  }
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    std::for_each(tensor.moves.begin(), tensor.moves.end(), round);
  }
}

}  // namespace

Offer offer_of(const std::vector<Place>& places, const Versions& versions, Pricing& pricing,
               const PlanOptions& options, Fusion fusion,
               const std::vector<std::int64_t>& batches) {
  // With its text, and in the numbers that the search is given.
  constexpr std::size_t kPrice = sizeof(Price) + sizeof(std::optional<Load>) + 100;
  constexpr std::size_t kLeast = 4 << 20;  // [B]; less is not worth counting
  Offer offer;
  std::map<const NetworkGraph*, Groups> groups;  // one for all places with the same network
  for (std::size_t p = 0; p < places.size(); ++p) {
    const Operations& operations = versions.operations[p];
    const auto [at, is_new] = groups.try_emplace(operations.graph);
    if (is_new) {
      at->second = groups_of(operations, fusion,
                             {std::max(kLeast, options.bytes / 2), kPrice * places.size()});
    }
    for (const Group& group : at->second.all) {
      if (no_width(operations, group, places[p], options).empty()) {
        pricing.expect(operations, group, places[p]);
      }
    }
  }
  for (std::size_t p = 0; p < places.size(); ++p) {
    const Operations& operations = versions.operations[p];
    const std::vector<Group>& all = groups.at(operations.graph).all;
    offer.prices.resize(all.size());
    for (std::size_t g = 0; g < all.size(); ++g) {
      Price price;
      price.problem = no_width(operations, all[g], places[p], options);
      if (price.problem.empty()) {
        price = pricing.price(operations, all[g], places[p]);
      }
      scale(price.load, 1 / static_cast<double>(batches[places[p].engine]));
      offer.prices[g].push_back(std::move(price));
    }
  }
  offer.groups = std::move(groups.at(versions.operations.front().graph));
  return offer;
}

PlanProblem problem_of(const Soc& soc, const std::vector<Place>& places, const Versions& versions,
                       const Offer& offer, const Pricing& pricing,
                       const std::vector<std::int64_t>& batches) {
  const Operations& operations = versions.operations.front();
  PlanProblem problem;
  problem.operations = operations.all.size();
  problem.engines = soc.engines.size();
  problem.places = places.size();
  for (const Place& place : places) {  // one width and layout: the same bytes
    const auto same = std::find_if(places.begin(), places.end(), [&](const Place& other) {
      return other.width == place.width && other.format == place.format;
    });
    problem.storage.push_back(static_cast<std::size_t>(same - places.begin()));
  }
  for (std::size_t t = 0; t < operations.readers.size(); ++t) {
    PlanProblem::Tensor& tensor = problem.tensors.emplace_back();
    tensor.readers = operations.readers[t];
    for (std::size_t p = 0; p < places.size(); ++p) {
      tensor.bytes.push_back(bytes_at(places[p], versions.operations[p], t));
    }
    for (std::size_t from = 0; from < places.size() && !tensor.readers.empty(); ++from) {
      for (std::size_t to = 0; to < places.size(); ++to) {
        // Tensors go in the smaller one of the two batches.
        const std::size_t of =
            batches[places[from].engine] < batches[places[to].engine] ? from : to;
        const double share = static_cast<double>(batches[places[of].engine]);
        const auto bytes = [&](std::size_t p) {
          return bytes_at(places[p], versions.operations[p], t) * share /
                 static_cast<double>(batches[places[p].engine]);
        };
        auto load = pricing.move(places[from], places[to], bytes(from), bytes(to));
        if (load) {
          scale(*load, 1 / share);
        }
        tensor.moves.push_back(load);
      }
    }
  }
  for (std::size_t g = 0; g < offer.groups.all.size(); ++g) {
    const Group& group = offer.groups.all[g];
    PlanProblem::Choice choice{group.operations, group.anchor, group.reads, group.writes, {}};
    for (const Price& price : offer.prices[g]) {
      choice.on.push_back(price.problem.empty() ? std::optional{price.load} : std::nullopt);
    }
    problem.choices.push_back(std::move(choice));
  }
  set_least(places, versions, offer.groups, problem);
  make_sums_exact(problem, &Load::latency);
  make_sums_exact(problem, &Load::energy);
  return problem;
}

PlanProblem only_on(PlanProblem problem, const std::vector<Place>& places, std::size_t engine) {
  for (PlanProblem::Choice& choice : problem.choices) {
    for (std::size_t p = 0; p < problem.places; ++p) {
      if (places[p].engine != engine) {
        choice.on[p] = std::nullopt;
      }
    }
  }
  return problem;
}

void check_engines(const Soc& soc, const std::vector<Place>& places, const Operations& operations,
                   const Offer& offer, const std::string& file) {
  if (unpriced_of(operations).size() == operations.all.size()) {
    fail(file, "no node has a price: there is nothing to plan");
  }
  for (std::size_t g = 0; g < offer.groups.all.size(); ++g) {
    const Group& group = offer.groups.all[g];
    const std::string why = no_engine(soc, places, offer.prices[g]);
    if (group.operations.size() == 1 && !group.elided && !why.empty()) {
      const GraphNode& node = operations.node(group.operations.front());
      fail(file, fmt::format("node {}: {} runs on no engine of {} ({})", node.name, node.op,
                             soc.name, why));
    }
  }
}

std::vector<std::string> unpriced_of(const Operations& operations) {
  std::vector<std::string> unpriced;
  for (std::size_t i = 0; i < operations.all.size(); ++i) {
    const GraphNode& node = operations.node(i);
    if (!node.unpriced.empty()) {
      unpriced.push_back(fmt::format("{} ({})", node.name, node.unpriced));
    }
  }
  return unpriced;
}

}  // namespace mapsim
