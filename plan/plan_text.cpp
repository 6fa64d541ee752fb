// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "plan/plan.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostRows = 30;  // of the timeline, without --why
constexpr std::size_t kMostNames = 3;  // of operations in a row

std::string bytes_of(double bytes) {
  return bytes_text(Bits{static_cast<std::int64_t>(bytes * kBitsPerByte)});
}

std::string value_text(const PlanOptions& options, const Load& load) {
  return options.objective == PlanObjective::kLatency ? scaled(load.latency, "s")
                                                      : energy_text(Picojoules{load.energy});
}

std::string names_of(const PlanAnswer& answer, const Group& group, const char* between) {
  std::string text;
  for (std::size_t i = 0; i < group.operations.size() && i < kMostNames; ++i) {
    text += (i > 0 ? between : "") + answer.operations.node(group.operations[i]).name;
  }
  return group.operations.size() > kMostNames
             ? fmt::format("{} and {} more", text, group.operations.size() - kMostNames)
             : text;
}

std::string group_name(const PlanAnswer& answer, const Group& group) {
  return names_of(answer, group, group.by == Fusion::kHorizontal ? " | " : " + ");
}

std::string at_once_text(const PlanAnswer& answer) {
  const AtOnceAnswer& found = *answer.at_once;
  constexpr double kRound = 1e-9;
  const double gap = found.latency / found.bound - 1;
  std::string text = fmt::format(
      "  engines at once: {} ({}, groups one after the other: {})\n", scaled(found.latency, "s"),
      found.latency < answer.in_turn * (1 - kRound)
          ? fmt::format("{} less", percent(1 - found.latency / answer.in_turn))
          : "no gain",
      scaled(answer.in_turn, "s"));
  text += gap < kRound ? fmt::format("  no schedule of these groups at these prices is faster")
                       : fmt::format(
                             "  no schedule of these groups at these prices is faster than {} "
                             "(gap {})",
                             scaled(found.bound, "s"), percent(gap));
  return text + fmt::format("; {} blocks between cut tensors, {} nodes\n", found.blocks,
                            grouped(static_cast<std::int64_t>(found.nodes)));
}

// The mean power, where a limit on it is asked for, has made the plan another one, or is not kept.
std::string power_text(const Soc& soc, const PlanOptions& options, const PlanAnswer& answer) {
  constexpr double kPicojoules = 1e12;  // in a joule
  const auto most = power_limit(soc, options);
  const double mean = answer.plan.total.energy / kPicojoules / answer.plan.total.latency;
  // The limit on power is the last one.
  const bool binds = !answer.multipliers.empty() && answer.multipliers.back() > 0;
  const bool is_lower = answer.clock_share < 1;
  if (!most || (!options.max_power && !binds && !is_lower && mean <= *most)) {
    return "";
  }
  const std::string by = options.max_power == most ? "--max-power" : soc.name;
  const std::string clock =
      is_lower
          ? fmt::format("  at {} of the full clock; at all of it the best plan would draw {}\n",
                        percent(answer.clock_share), scaled(answer.full_clock_power, "W"))
          : "";
  return mean <= *most ? fmt::format("{}  mean power {}; {} allows {}\n", clock, scaled(mean, "W"),
                                     by, scaled(*most, "W"))
                       : fmt::format(
                             "  mean power {}, more than the {} that {} allows: engines "
                             "at once are not planned within it\n",
                             scaled(mean, "W"), scaled(*most, "W"), by);
}

std::string headline(const Soc& soc, const Network& network, const PlanOptions& options,
                     const PlanAnswer& answer) {
  const Load& total = answer.plan.total;
  std::string text = fmt::format("{} on {}, batch {}, {}\n", network.name, soc.name, network.batch,
                                 to_string(options.objective));
  const double frames = static_cast<double>(network.batch);
  const bool is_part = !answer.unpriced.empty();
  const char* const least = is_part ? "at least " : "";
  text += fmt::format(
      "  {0}{1}; {0}{2} a frame; {3}{4} frames/s, one batch after the other; {0}{5} through "
      "memory\n",
      least, scaled(total.latency, "s"), energy_text(Picojoules{total.energy / frames}),
      is_part ? "at most " : "", count_text(std::round(frames / total.latency)),
      bytes_of(total.bytes));
  text += power_text(soc, options, answer);
  if (answer.at_once) {
    return text + at_once_text(answer);
  }
  const double value = options.objective == PlanObjective::kEnergy ? total.energy : total.latency;
  constexpr double kRound = 1e-9;
  const char* const limits =
      answer.limits.empty() && !answer.is_within_memory ? "" : " that keeps the limits";
  if (answer.bound < value * (1 - kRound)) {
    text += fmt::format(
        "  no plan of these groups at these prices{} has a lower {} than {} (gap {})\n", limits,
        to_string(options.objective), value_text(options, {answer.bound, answer.bound, 0, {}, 0}),
        percent(value / answer.bound - 1));
    return text;
  }
  text += fmt::format(
      "  no plan of these groups at these prices{} has a lower {} ({} partial plans "
      "examined)\n",
      limits, to_string(options.objective), grouped(static_cast<std::int64_t>(answer.plan.labels)));
  return text;
}

std::string what_if_text(const Soc& soc, const PlanOptions& options, const PlanAnswer& answer) {
  const std::size_t left_out = options.what_if ? count_what_ifs(soc) - answer.what_if.size() : 0;
  const std::string short_of_time =
      left_out > 0 ? fmt::format("\ntime was over (--budget) for {} what-ifs\n", left_out) : "";
  if (answer.what_if.empty()) {
    return short_of_time;
  }
  Row head{"what if", to_string(options.objective), "of now"};
  for (const Engine& engine : soc.engines) {
    head.push_back(engine.name);
  }
  std::vector<Row> rows{head};
  const bool energy = options.objective == PlanObjective::kEnergy;
  for (const WhatIf& each : answer.what_if) {
    const Load& now = answer.plan.total;
    Row row{each.what, value_text(options, each.total),
            percent(energy ? each.total.energy / now.energy : each.total.latency / now.latency)};
    for (const double busy : each.busy) {
      row.push_back(scaled(busy, "s"));
    }
    rows.push_back(std::move(row));
  }
  return fmt::format("\n{}{}", table(rows), short_of_time);
}

std::string given_text(const PlanOptions& options, const PlanAnswer& answer) {
  if (!answer.given) {
    return "";
  }
  const Load& given = answer.given->total;
  const Load& best = answer.plan.total;
  return fmt::format(
      "\nthe plan that was given: {}, {} a batch, {} through memory; {:.3f} times the {} of the "
      "best one\n",
      scaled(given.latency, "s"), energy_text(Picojoules{given.energy}), bytes_of(given.bytes),
      options.objective == PlanObjective::kEnergy ? given.energy / best.energy
                                                  : given.latency / best.latency,
      to_string(options.objective));
}

std::string passes_text(const PlanOptions& options, const PlanAnswer& answer) {
  constexpr std::array<const char*, kFusions> kWhat{"every node by itself",
                                                    "+ epilogues, sums and chains",
                                                    "+ siblings merged", "+ concats elided"};
  std::string text = "\nwhat fusion gains:\n";
  std::vector<Row> rows;
  for (const PlanPass& pass : answer.passes) {
    rows.push_back({kWhat[static_cast<std::size_t>(pass.fusion)], value_text(options, pass.total)});
  }
  return text + table(rows);
}

std::string engines_text(const Soc& soc, const PlanOptions& options, const PlanAnswer& answer) {
  std::vector<Row> rows{{"engine", "groups", "busy", "share", "alone"}};
  std::string notes;
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    const auto groups = std::count_if(
        answer.plan.groups.begin(), answer.plan.groups.end(), [&](const PlannedGroup& each) {
          return answer.places[each.place].engine == e && !answer.groups.all[each.group].elided;
        });
    const EngineAlone& alone = answer.alone[e];
    rows.push_back({soc.engines[e].name, grouped(groups), scaled(answer.plan.busy[e], "s"),
                    percent(answer.plan.busy[e] / answer.plan.total.latency),
                    alone.total ? value_text(options, *alone.total) : "-"});
    if (!alone.problem.empty()) {
      notes += fmt::format("  alone impossible: {}\n", alone.problem);
    }
  }
  std::string text = fmt::format("\n{}{}", table(rows), notes);
  if (answer.greedy && soc.engines.size() > 1) {
    text += fmt::format("  each group on its best engine, whatever its neighbours: {}\n",
                        value_text(options, *answer.greedy));
  }
  if (soc.engines.size() > 1) {
    const Load free{answer.free_moves, answer.free_moves, 0, {}, 0};
    text += fmt::format("  if changing engines took nothing: {}\n", value_text(options, free));
  }
  const auto moves = [&] {
    std::size_t count = 0;
    for (const PlannedGroup& group : answer.plan.groups) {
      count += group.moves.size();
    }
    return count;
  }();
  if (moves > 0) {
    text += fmt::format("  {} tensor{} change{} engines: {}\n", moves, moves == 1 ? "" : "s",
                        moves == 1 ? "s" : "", scaled(answer.plan.moves_latency, "s"));
  }
  return text;
}

std::string front_text(const Soc& soc, const PlanAnswer& answer) {
  Row head{"latency", "energy"};
  for (const Engine& engine : soc.engines) {
    head.push_back(engine.name);
  }
  std::vector<Row> rows{head};
  for (const Plan& plan : answer.front) {
    Row row{scaled(plan.total.latency, "s"), energy_text(Picojoules{plan.total.energy})};
    for (const double busy : plan.busy) {
      row.push_back(scaled(busy, "s"));
    }
    if (row != rows.back()) {  // corners may be closer than four digits tell
      rows.push_back(std::move(row));
    }
  }
  return fmt::format(
      "\nlatency against energy, and time of each engine; no plan of these groups at "
      "these prices lies below the lines from one to the next:\n{}",
      table(rows));
}

std::string memory_text(const PlanAnswer& answer) {
  const MemoryMap& memory = answer.memory;
  const auto size = [](std::int64_t bytes) { return bytes_text(Bits{8 * bytes}); };
  const std::string bound = memory.peak == memory.bound
                                ? "as much as is alive at once, so that no offsets need less"
                                : fmt::format("{} are alive at once", size(memory.bound));
  return fmt::format("\ntensors in memory: {}, {}; {} without sharing; weights take {} more\n",
                     size(memory.peak), bound, size(memory.naive), size(answer.weights));
}

// "dla", "dla 2": the second one.
std::string place_text(const Soc& soc, const PlanAnswer& answer, const PlannedGroup& group) {
  const std::string name = name_of(soc, answer.places, group.place);
  const bool several = answer.at_once && soc.engines[answer.places[group.place].engine].count > 1;
  return several ? fmt::format("{} {}", name, group.copy + 1) : name;
}

std::string timeline_text(const Soc& soc, const PlanAnswer& answer) {
  std::vector<Row> rows{{"group", "start", "time", "engine", "bytes", "how"}};
  std::size_t left = 0;
  double left_time = 0;
  for (const PlannedGroup& each : answer.plan.groups) {
    const Group& group = answer.groups.all[each.group];
    if (rows.size() > kMostRows) {
      ++left;
      left_time += each.price.load.latency;
      continue;
    }
    for (const PlannedMove& move : each.moves) {
      rows.push_back({"  " + answer.operations.graph->tensors[move.move.tensor].name,
                      scaled(move.start, "s"), scaled(move.load.latency, "s"),
                      fmt::format("{} to {}", name_of(soc, answer.places, move.move.from),
                                  name_of(soc, answer.places, move.move.to)),
                      bytes_of(move.load.bytes)});
    }
    rows.push_back({table_name(group_name(answer, group)), scaled(each.start, "s"),
                    group.elided ? "elided" : scaled(each.price.load.latency, "s"),
                    place_text(soc, answer, each), bytes_of(each.price.load.bytes),
                    each.price.how.substr(0, each.price.how.find(" warp"))});
  }
  std::string text = "\ntimeline:\n" + table(rows);
  if (left > 0) {
    text += fmt::format("  {} more groups: {} (--json has all)\n", left, scaled(left_time, "s"));
  }
  return text;
}

// Where an operation runs and why, and what else there was.
std::string why_text(const Soc& soc, const PlanAnswer& answer, const std::string& name) {
  std::string text = fmt::format("\nwhy {}:\n", name);
  for (std::size_t g = 0; g < answer.groups.all.size(); ++g) {
    const Group& group = answer.groups.all[g];
    const bool concerns =
        std::any_of(group.operations.begin(), group.operations.end(),
                    [&](std::size_t i) { return answer.operations.node(i).name == name; });
    if (!concerns) {
      continue;
    }
    const auto chosen = std::find_if(answer.plan.groups.begin(), answer.plan.groups.end(),
                                     [g](const PlannedGroup& each) { return each.group == g; });
    text += fmt::format("  {}{}\n", group_name(answer, group),
                        group.reason.empty() ? "" : ": " + group.reason);
    for (std::size_t p = 0; p < answer.places.size(); ++p) {
      const Price& price = answer.prices[g][p];
      const bool taken = chosen != answer.plan.groups.end() && chosen->place == p;
      text += price.problem.empty()
                  ? fmt::format("    {}: {}, {}, {}{}\n", name_of(soc, answer.places, p),
                                scaled(price.load.latency, "s"),
                                energy_text(Picojoules{price.load.energy}),
                                bytes_of(price.load.bytes), taken ? "  <- the plan" : "")
                  : fmt::format("    {}\n", price.problem);
      for (const std::string& note : price.notes) {
        text += fmt::format("      {}\n", note);
      }
    }
  }
  for (const FusionObstacle& obstacle : answer.groups.obstacles) {
    if (answer.operations.node(obstacle.operation).name == name) {
      text += fmt::format("  {}\n", obstacle.what);
    }
  }
  return text;
}

}  // namespace

std::string plan_text(const Soc& soc, const Network& network, const PlanOptions& options,
                      const PlanAnswer& answer) {
  std::string text = headline(soc, network, options, answer) + ended_early_text(answer.searches) +
                     given_text(options, answer) + passes_text(options, answer) +
                     engines_text(soc, options, answer) + what_if_text(soc, options, answer) +
                     memory_text(answer) + timeline_text(soc, answer);
  text += answer.front.empty() ? "" : front_text(soc, answer);
  if (options.why) {
    text += why_text(soc, answer, *options.why);
  }
  if (!answer.unpriced.empty()) {
    text += fmt::format("\nNot priced, in no sum: {}\n", fmt::join(answer.unpriced, ", "));
  }
  return text;
}

}  // namespace mapsim
