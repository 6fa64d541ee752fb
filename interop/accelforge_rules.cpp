// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

struct ForgeRules::Limit {
  std::int64_t least = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool is_any() const { return *this == Limit{}; }
  friend bool operator==(const Limit&, const Limit&) = default;
};

namespace {

// The largest product of divisors of these bounds that is at most `most`.
std::int64_t fullest(const std::vector<std::int64_t>& bounds, std::int64_t most) {
  std::set<std::int64_t> products{1};
  for (const std::int64_t bound : bounds) {
    const std::set<std::int64_t> before = products;
    for (std::int64_t factor = 2; factor <= std::min(bound, most); ++factor) {
      for (const std::int64_t product : before) {
        if (bound % factor == 0 && product * factor <= most) {
          products.insert(product * factor);
        }
      }
    }
  }
  return *products.rbegin();
}

// Which operands a GEMM axis indexes.
struct AxisRoles {
  GemmAxis axis;
  RoleSet roles;
};
constexpr std::array kAxes{AxisRoles{GemmAxis::kM, {Role::kInput, Role::kOutput}},
                           AxisRoles{GemmAxis::kN, {Role::kWeight, Role::kOutput}},
                           AxisRoles{GemmAxis::kK, {Role::kInput, Role::kWeight}}};

}  // namespace

void restrict_forge_fanout(Fanout& fanout, RoleSet reused) {
  if (reused.empty()) {
    return;
  }
  for (const AxisRoles& each : kAxes) {
    if ((each.roles & reused).empty()) {
      fanout.x_dims.gemm_axes.push_back(each.axis);
    }
  }
  if (fanout.x_dims.gemm_axes.empty()) {
    fanout.x_dims.dims.push_back("no_dim");  // which no layer has: it stays unused
  }
}

// As Workload::gemm_axis() has it.
GemmAxis ForgeRules::axis_of(std::size_t dim) const {
  RoleSet roles;
  for (std::size_t t = 0; t < einsum_.tensors.size(); ++t) {
    if (((names_.dims_of[t] >> dim) & 1U) != 0) {
      roles.insert(einsum_.role_of(t));
    }
  }
  const bool input = roles.contains(Role::kInput), weight = roles.contains(Role::kWeight);
  return !roles.contains(Role::kOutput) ? GemmAxis::kK
         : input && weight              ? GemmAxis::kBatch
         : weight                       ? GemmAxis::kN
                                        : GemmAxis::kM;
}

std::vector<ForgeRules::Limit> ForgeRules::limits(const Node* comparisons,
                                                  const std::string& whose) {
  std::vector<Limit> found(einsum_.dims.size());
  for (const Node* comparison : read_forge_list(reader_, comparisons, "a list of comparisons")) {
    limit_by(*comparison, whose, found);
  }
  return found;
}

// ==, <= ... of each of several dims; `product` of several has no counterpart.
void ForgeRules::limit_by(const Node& comparison, const std::string& whose,
                          std::vector<Limit>& limits) {
  const Fields fields = reader_.fields(comparison, {"expression", "operator", "value"});
  const Node *expression = fields.require("expression"), *sign = fields.require("operator"),
             *value = fields.require("value");
  if (expression == nullptr || sign == nullptr || value == nullptr) {
    return;
  }
  const ForgeSet dims = read_forge_set(reader_, *expression, names_, {0, 0, true});
  if (!dims.is_known()) {
    notes_.add(comparison,
               fmt::format("{}: a limit of rank variables that depend on what memories keep is "
                           "left out; the space is wider without it",
                           whose));
    return;
  }
  const bool product = sign->text.starts_with("product");
  if (product && std::popcount(dims.surely) > 1) {
    notes_.add(
        comparison,
        fmt::format("{}: {} of several rank variables is left out; the space is wider without it",
                    whose, sign->text));
    return;
  }
  const std::string compare = sign->text.substr(product ? 7 : 0);
  if (compare != "==" && compare != ">=" && compare != ">" && compare != "<=" && compare != "<") {
    reader_.error(*sign, fmt::format("an operator {} is not known here", quoted(sign->text)));
    return;
  }
  const auto bound = forge_count(read_forge_number(reader_, *value, names_));
  for (std::size_t d = 0; d < limits.size(); ++d) {
    if (((dims.surely >> d) & 1U) == 0) {
      continue;
    }
    if (compare[0] != '<') {
      limits[d].least = std::max(limits[d].least, bound + (compare == ">" ? 1 : 0));
    }
    if (compare[0] != '>') {
      limits[d].most = std::min(limits[d].most, bound - (compare == "<" ? 1 : 0));
    }
  }
}

std::string ForgeRules::limit_text(const Limit& limit) {
  if (limit.least == limit.most) {
    return fmt::format("{}", limit.least);
  }
  std::vector<std::string> ends;
  if (limit.least > 1) {
    ends.push_back(fmt::format("min: {}", limit.least));
  }
  if (limit.most != Limit{}.most) {
    ends.push_back(fmt::format("max: {}", limit.most));
  }
  return fmt::format("{{{}}}", joined(ends, ", "));
}

std::string ForgeRules::unrolling(const Fields& fields, const Fanout& fanout, std::uint32_t reuse) {
  std::uint32_t indexed = 0;
  for (std::size_t t = 0; t < names_.dims_of.size(); ++t) {
    indexed |= ((reuse >> t) & 1U) != 0 ? names_.dims_of[t] : 0;
  }
  const std::vector<Limit> limit = limits(fields.find("loop_bounds"), fanout.name);
  std::vector<std::string> dims, factors;
  std::vector<std::int64_t> bounds;
  const auto& axes = fanout.x_dims.gemm_axes;
  for (std::size_t d = 0; d < limit.size(); ++d) {
    const std::string& name = einsum_.dims[d].name;
    const bool here = fanout.x_dims.unconstrained() ||
                      std::find(axes.begin(), axes.end(), axis_of(d)) != axes.end();
    if (((indexed >> d) & 1U) != 0 || limit[d].most <= 1) {
      continue;
    }
    if (!here) {
      notes_.add(*fields.require("fanout"),
                 fmt::format("{}: {} may be unrolled along {} in AccelForge, and not here",
                             einsum_.name, name, fanout.name));
      continue;
    }
    dims.push_back(name);
    bounds.push_back(einsum_.dims[d].bound);
    if (!limit[d].is_any()) {
      factors.push_back(fmt::format("{}: {}", name, limit_text(limit[d])));
    }
  }
  std::vector<std::string> rules;
  if (const std::string share = usage(fields, fanout, bounds); !share.empty()) {
    rules.push_back(share);
  }
  if (dims.empty()) {
    rules.push_back(
        fmt::format("X: {{dims: [{0}], factors: {{{0}: 1}}}}", einsum_.dims.front().name));
  } else if (dims.size() < einsum_.dims.size() || !factors.empty()) {
    rules.push_back(fmt::format(
        "X: {{dims: [{}]{}}}", joined(dims, ", "),
        factors.empty() ? "" : fmt::format(", factors: {{{}}}", joined(factors, ", "))));
  }
  return rules.empty() ? "" : fmt::format("    {}: {{{}}}\n", fanout.name, joined(rules, ", "));
}

// At most what perfect factors of the layer reach: where none reaches it, the fullest count there.
std::string ForgeRules::usage(const Fields& fields, const Fanout& fanout,
                              const std::vector<std::int64_t>& bounds) {
  const Node* usage = fields.find("min_usage");
  const double wanted = usage == nullptr ? 0 : read_forge_number(reader_, *usage, names_);
  const double reached =
      static_cast<double>(fullest(bounds, fanout.x)) / static_cast<double>(fanout.x);
  return wanted > 0 ? fmt::format("min_utilization: {}", std::min(wanted, reached)) : "";
}

std::string ForgeRules::extents(const Node& memory, const std::string& level) {
  const Node* held = value_of(memory, "tensors");
  const std::vector<Limit> limit =
      limits(held == nullptr ? nullptr : value_of(*held, "tile_shape"), level);
  std::vector<std::string> rules;
  for (std::size_t d = 0; d < limit.size(); ++d) {
    if (!limit[d].is_any()) {
      rules.push_back(fmt::format("{}: {}", einsum_.dims[d].name, limit_text(limit[d])));
    }
  }
  return rules.empty() ? "" : fmt::format("    {}: {{{}}}\n", level, joined(rules, ", "));
}

}  // namespace mapsim
