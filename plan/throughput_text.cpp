// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "plan/throughput.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

std::string rate_text(double rate) { return rate > 0 ? count_text(std::round(rate)) : "-"; }

// "+ 9.5 frames/s", or nothing where more is of no use.
std::string gain_text(const StreamLimit& limit) {
  return limit.gain > 0 ? fmt::format("+ {:.4g}", limit.gain) : "nothing";
}

std::string limits_text(const Soc& soc, const StreamAnswer& answer) {
  std::vector<Row> rows{{"", "available", "used", "gain of one more", "batch", "alone"}};
  for (std::size_t r = 0; r < answer.limits.size(); ++r) {
    const StreamLimit& limit = answer.limits[r];
    Row row{limit.name,
            fmt::format("{:.5g}{}{}", limit.capacity, limit.unit.empty() ? "" : " ", limit.unit),
            percent(limit.used), gain_text(limit)};
    if (r < soc.engines.size()) {
      row.push_back(grouped(answer.batches[r]));
      row.push_back(rate_text(answer.alone[r]));
    }
    rows.push_back(std::move(row));
  }
  return fmt::format("\n{}", table(rows));
}

std::string mix_text(const Soc& soc, const StreamAnswer& answer) {
  Row head{"plan", "frames/s", "share", "energy"};
  for (const Engine& engine : soc.engines) {
    head.push_back(engine.name);
  }
  std::vector<Row> rows{head};
  for (std::size_t p = 0; p < answer.mix.size(); ++p) {
    const PlanShare& share = answer.mix[p];
    Row row{fmt::format("{}", p + 1), rate_text(share.rate), percent(share.rate / answer.rate),
            energy_text(Picojoules{share.plan.total.energy})};
    for (const double busy : share.plan.busy) {
      row.push_back(scaled(busy, "s"));
    }
    rows.push_back(std::move(row));
  }
  return fmt::format("\nplans that frames take; time of each engine by the frame:\n{}",
                     table(rows));
}

}  // namespace

std::string stream_text(const Soc& soc, const Network& network, const StreamAnswer& answer) {
  std::string text = fmt::format("{} on {}, a stream of frames\n", network.name, soc.name);
  text += fmt::format("  {} frames/s{}\n", rate_text(answer.rate),
                      answer.unpriced.empty() ? "" : " at most");
  if (answer.clock_share < 1) {
    text += fmt::format("  at {} of the full clock; at all of it the best plans would draw {}\n",
                        percent(answer.clock_share), scaled(answer.full_clock_power, "W"));
  }
  text += fmt::format(
      "  no plans of these groups at these prices give more than {} (linear program, "
      "{} rounds)\n",
      rate_text(answer.bound), answer.rounds);
  text += ended_early_text(answer.searches);
  text += limits_text(soc, answer) + mix_text(soc, answer);
  if (!answer.unpriced.empty()) {
    text += fmt::format("\nNot priced, in no sum: {}\n", fmt::join(answer.unpriced, ", "));
  }
  return text;
}

}  // namespace mapsim
