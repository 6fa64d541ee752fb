// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/shortest_path.hpp"

namespace mapsim {

using PlaceMask = std::uint32_t;

// What of a plan stands between what has run and what has not. All sorted.
struct Frontier {
  using Index = std::uint32_t;
  struct Live {
    Index tensor = 0;
    PlaceMask places = 0;  // that can read it
    friend auto operator<=>(const Live&, const Live&) = default;
  };
  std::vector<Index> deferred;  // before the place of the frontier, not covered
  std::vector<Index> ahead;     // behind it, covered
  std::vector<Live> live;       // still to be read
  friend auto operator<=>(const Frontier&, const Frontier&) = default;
};

// What may happen at an operation, and what is behind it: a group runs there, or nothing does.
struct FrontierStep {
  // A tensor that the group reads and its place does not have, and the places that do.
  struct Fetch {
    std::size_t tensor = 0;
    PlaceMask from = 0;
  };
  Frontier after;
  std::optional<std::size_t> choice{};
  std::size_t place = 0;
  std::vector<Fetch> fetched{};
};

// How plans go on from a frontier.
class Frontiers {
 public:
  explicit Frontiers(const PlanProblem& problem);
  // From a frontier in front of operation i. Whether there is a way for what is fetched is not
  // asked.
  std::vector<FrontierStep> steps(std::size_t i, const Frontier& frontier) const;

 private:
  void run(std::size_t i, std::size_t c, std::size_t place, const Frontier& frontier,
           std::vector<FrontierStep>& steps) const;
  double least(const FrontierStep& step) const;  // before it
  double alive(const Frontier& frontier, const PlanProblem::Choice& choice,
               std::size_t place) const;
  void keep(std::size_t i, FrontierStep&& step, std::vector<FrontierStep>& steps) const;

  const PlanProblem& problem_;
  std::vector<std::vector<std::size_t>> anchored_;  // choices, by operation
  std::vector<std::vector<std::size_t>> contains_;
  std::vector<std::size_t> last_anchor_;
};

}  // namespace mapsim
