// SPDX-License-Identifier: Apache-2.0
#include "report/design_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "report/figures.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

std::string unit_of(const check::DesignCertificate& certificate) {
  return certificate.function.unit("pJ", "s", " ");
}

std::vector<std::string> limits_of(const check::DesignCertificate& certificate) {
  std::vector<std::string> limits;
  const auto add = [&](const std::optional<double>& limit, const char* unit) {
    if (limit) {
      limits.push_back(fmt::format("at most {:g} {}", *limit, unit));
    }
  };
  add(certificate.max_area, "mm2");
  add(certificate.max_energy, "pJ");
  add(certificate.max_latency, "s");
  add(certificate.max_power, "mW");
  return limits;
}

// The axes with the number of their values, so that the reader sees what space it is.
std::string space_text(const check::DesignGrid& space) {
  std::vector<std::string> axes;
  for (const check::GridAxis& axis : space.axes()) {
    axes.push_back(fmt::format("{} ({} values)", axis.name, axis.values.size()));
  }
  return fmt::format("  {}: {}\n", space.name(),
                     axes.empty() ? "one design" : fmt::format("{}", fmt::join(axes, ", ")));
}

double occurrences(const check::DesignCertificate& certificate) {
  double count = 0;
  for (const check::DesignLayer& layer : certificate.layers) {
    count += layer.count;
  }
  return count;
}

std::string claim_text(const check::DesignCertificate& certificate) {
  const bool is_limited =
      certificate.max_energy || certificate.max_latency || certificate.max_power;
  const std::string none = is_limited ? "none that keeps the limits" : "none";
  const std::string gap =
      certificate.gap > 0 ? fmt::format(" by more than {:.3g} %", 100 * certificate.gap) : "";
  if (certificate.is_front) {
    return fmt::format("{} is better{} in {} and area than one of those named", none, gap,
                       certificate.objective);
  }
  if (certificate.top == 1) {
    return certificate.claims.empty()
               ? "none has mappings of every layer that keep the limits"
               : fmt::format("{} has less {} than {:.10g} {}{}", none, certificate.objective,
                             certificate.claims.front().value, unit_of(certificate), gap);
  }
  return fmt::format("{} has less {} than those named{}", none, certificate.objective, gap);
}

std::string answers_text(const check::DesignCertificate& certificate) {
  std::string text;
  for (const check::DesignClaim& claim : certificate.claims) {
    std::vector<std::string> values;
    const auto& axes = certificate.spaces[claim.space].axes();
    for (std::size_t a = 0; a < axes.size(); ++a) {
      values.push_back(fmt::format("{} = {}", axes[a].name, axes[a].text(claim.values[a])));
    }
    text += fmt::format("  {:.10g} {}: {}{}{}\n", claim.value, unit_of(certificate),
                        certificate.spaces[claim.space].name(), values.empty() ? "" : ", ",
                        fmt::join(values, ", "));
  }
  return text;
}

// What was examined and is true; nothing where the proof does not hold.
std::vector<std::string> verified_of(const check::DesignCertificate& certificate,
                                     const check::DesignVerdict& verdict) {
  if (!verdict.problems.empty()) {
    return {};
  }
  const auto number = [](std::size_t count) { return grouped(static_cast<std::int64_t>(count)); };
  return {
      fmt::format("{} boxes have each design once; each is beyond a limit or bounded",
                  number(verdict.leaves)),
      fmt::format("{} mappings of {} designs fit, and cost what is claimed",
                  number(verdict.mappings), number(certificate.claims.size())),
      fmt::format("{} designs have the nodes that boxes were bounded by", number(verdict.compared)),
      fmt::format("{} of the {} bounds of layers that this takes were proven again",
                  number(verdict.reproved), number(verdict.bounds))};
}

// What --sample left out.
std::vector<std::string> unverified_of(const check::DesignVerdict& verdict) {
  if (verdict.reproved == verdict.bounds || !verdict.problems.empty()) {
    return {};
  }
  return {fmt::format("the other {} bounds of layers",
                      grouped(static_cast<std::int64_t>(verdict.bounds - verdict.reproved)))};
}

std::string holds_text(const check::DesignVerdict& verdict) {
  return !verdict.problems.empty()            ? "does not hold"
         : verdict.reproved == verdict.bounds ? "holds"
                                              : "holds if the bounds that were not checked do";
}

}  // namespace

std::string design_check_text(const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict) {
  const std::vector<std::string> limits = limits_of(certificate);
  std::string text = fmt::format(
      "best machine of {} designs: the proof {}\n"
      "claimed of all designs{}{}: {}\n{}the space:\n",
      grouped(static_cast<std::int64_t>(verdict.designs)), holds_text(verdict),
      limits.empty() ? "" : " of ", fmt::join(limits, ", "), claim_text(certificate),
      answers_text(certificate));
  for (const check::DesignGrid& space : certificate.spaces) {
    text += space_text(space);
  }
  text += fmt::format("the work: {} distinct layers, {:g} in all\n", certificate.layers.size(),
                      occurrences(certificate));
  if (!verdict.problems.empty()) {
    text += "what is wrong:\n";
    for (const std::string& wrong : verdict.problems) {
      text += fmt::format("  {}\n", wrong);
    }
    return text;
  }
  text += "\nhow it was checked:\n";
  for (const std::string& line : verified_of(certificate, verdict)) {
    text += "  " + line + "\n";
  }
  for (const std::string& line : unverified_of(verdict)) {
    text += "not verified: " + line + "\n";
  }
  return text + fmt::format("checked in {}\n", scaled(verdict.seconds, "s"));
}

std::string design_check_json(const Provenance& origin, const check::DesignCertificate& certificate,
                              const check::DesignVerdict& verdict) {
  nlohmann::ordered_json json = provenance_json(origin);
  json["objective"] = certificate.objective;
  json["claim"] = claim_text(certificate);
  json["holds"] = verdict.problems.empty();
  json["verified"] = verified_of(certificate, verdict);
  json["unverified"] = unverified_of(verdict);
  json["problems"] = verdict.problems;
  json["designs"] = verdict.designs;
  json["boxes"] = verdict.leaves;
  json["mappings"] = verdict.mappings;
  json["bounds"] = verdict.bounds;
  json["bounds_checked"] = verdict.reproved;
  json["statistics"] = {{"seconds", verdict.seconds}};
  return json.dump(2) + '\n';
}

}  // namespace mapsim
