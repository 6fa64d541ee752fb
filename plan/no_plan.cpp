// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/diagnostic.hpp"
#include "plan/frontier.hpp"
#include "plan/priced.hpp"

namespace mapsim {

namespace {

// Where an operation can run if what others choose were of no concern, step by step: what is in no
// such place is in no plan.
class Reach {
 public:
  explicit Reach(const PlanProblem& problem)
      : problem_{problem}, there_(problem.tensors.size(), 0), runs_(problem.operations, false) {
    for (bool grows = true; grows;) {
      grows = false;
      for (const PlanProblem::Choice& choice : problem.choices) {
        for (std::size_t place = 0; place < problem.places; ++place) {
          if (choice.on[place] && std::all_of(choice.reads.begin(), choice.reads.end(),
                                              [&](std::size_t t) { return reads(t, place); })) {
            grows = run(choice, place) || grows;
          }
        }
      }
    }
  }

  bool runs(std::size_t operation) const { return runs_[operation]; }
  // A tensor that is made, and that a group cannot get at any place where it would run.
  std::optional<std::size_t> out_of_reach(const PlanProblem::Choice& choice) const {
    for (const std::size_t t : choice.reads) {
      bool is_read = false;
      for (std::size_t place = 0; place < problem_.places; ++place) {
        is_read = is_read || (choice.on[place] && reads(t, place));
      }
      if (there_[t] != 0 && !is_read) {
        return t;
      }
    }
    return std::nullopt;
  }
  bool has(std::size_t tensor, std::size_t place) const {
    return (there_[tensor] >> place & 1) != 0;
  }

 private:
  bool reads(std::size_t tensor, std::size_t place) const {
    const auto& moves = problem_.tensors[tensor].moves;
    bool reads = has(tensor, place);
    for (std::size_t from = 0; from < problem_.places && !moves.empty(); ++from) {
      reads = reads || (has(tensor, from) && moves[from * problem_.places + place]);
    }
    return reads;
  }

  // Whether that is new.
  bool run(const PlanProblem::Choice& choice, std::size_t place) {
    bool grows = false;
    for (const std::size_t i : choice.operations) {
      grows = grows || !runs_[i];
      runs_[i] = true;
    }
    const auto bring = [&](std::size_t tensor) {
      grows = grows || !has(tensor, place);
      there_[tensor] |= PlaceMask{1} << place;
    };
    std::for_each(choice.reads.begin(), choice.reads.end(), bring);
    std::for_each(choice.writes.begin(), choice.writes.end(), bring);
    return grows;
  }

  const PlanProblem& problem_;
  std::vector<PlaceMask> there_;  // by tensor: places that may have it
  std::vector<bool> runs_;
};

template <class Is>
std::string engines_where(const Soc& soc, const std::vector<Place>& places, const Is& is) {
  Words names;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (is(p)) {
      names.push_back(name_of(soc, places, p));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The tensor that has no way, and between which engines.
std::string obstacle(const Soc& soc, const std::vector<Place>& places, const Operations& operations,
                     const PlanProblem& problem) {
  const Reach reach{problem};
  for (const PlanProblem::Choice& choice : problem.choices) {
    if (choice.operations.size() > 1 || reach.runs(choice.operations.front())) {
      continue;
    }
    if (const auto tensor = reach.out_of_reach(choice)) {
      const GraphNode& maker = operations.node(*operations.producer[*tensor]);
      return fmt::format(
          "{} makes {} on {}, {} reads it on {}, and no transition leads there", maker.name,
          operations.graph->tensors[*tensor].name,
          engines_where(soc, places, [&](std::size_t p) { return reach.has(*tensor, p); }),
          operations.node(choice.operations.front()).name,
          engines_where(soc, places, [&](std::size_t p) { return choice.on[p].has_value(); }));
    }
  }
  return "its operations need several engines, and transitions do not lead from one to the other "
         "for all of its tensors";
}

}  // namespace

void fail_without_plan(const Soc& soc, const Network& network, const std::vector<Place>& places,
                       const Operations& operations, const PlanProblem& problem,
                       const std::string& soc_file) {
  throw ConfigError{
      {{soc_file, soc.line, soc.column, "soc.transitions",
        fmt::format("no plan of {}: {}", network.name, obstacle(soc, places, operations, problem)),
        ""}}};
}

}  // namespace mapsim
