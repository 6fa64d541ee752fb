// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMaxFactor = std::int64_t{1} << 30;

class FactorReader {
 public:
  // `ignored`: of rules; nullptr: factors of a mapping.
  FactorReader(Reader& reader, const Workload& workload, std::vector<IgnoredFactor>* ignored)
      : reader_{reader},
        workload_{workload},
        rules_{ignored != nullptr},
        ignored_{ignored},
        dims_{names_of(workload.dims)},
        factors_(workload.dims.size()) {}

  const PerDim<TimeloopFactor>& factors() const { return factors_; }

  void read(const Node& node) {
    if (node.kind == Node::Kind::kSequence) {
      for (const Node& item : node.items) {
        read(item);
      }
      return;
    }
    std::string text = reader_.text(&node, "factors like 'R=3 S=1'").value_or("");
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      // R=1,S=1: only a comma before a digit belongs to a factor.
      if (text[i] == ',' && std::isdigit(static_cast<unsigned char>(text[i + 1])) == 0) {
        text[i] = ' ';
      }
    }
    for (const TextPiece& piece : pieces(text, " ")) {
      read_one(node, piece);
    }
  }

 private:
  void read_one(const Node& node, const TextPiece& piece) {
    const std::size_t equals = piece.text.find('=');
    const bool at_most =
        rules_ && equals != std::string::npos && equals > 0 && piece.text[equals - 1] == '<';
    const std::size_t name_end =
        std::min(equals != std::string::npos ? equals - (at_most ? 1 : 0)
                                             : piece.text.find_first_of("0123456789"),
                 piece.text.size());
    const std::string name = piece.text.substr(0, name_end);
    if (name.ends_with('>') || name.ends_with('<')) {
      reader_.error(
          node, piece.offset + name_end - 1,
          fmt::format("{}: expected the sign '=' or, in constraints, '<='; {}", quoted(piece.text),
                      name.ends_with('>') ? "a least factor has no counterpart"
                      : rules_            ? "'<' is '<=' and one less"
                                          : "a mapping says the factor itself"));
      return;
    }
    const auto dim = reader_.choice_in(node, piece.offset, name, dims_, "dimension");
    if (!dim) {
      return;
    }
    TimeloopFactor& factor = factors_[static_cast<DimId>(*dim)];
    if (std::exchange(factor.given, true)) {
      reader_.error(node, piece.offset, fmt::format("a second factor for {}", quoted(name)));
      return;
    }
    const std::size_t value =
        equals != std::string::npos ? equals + 1 : std::min(name_end, piece.text.size());
    const std::vector<TextPiece> numbers = pieces(piece.text.substr(value), ",");
    if (numbers.empty() || numbers.size() > 2) {
      reader_.error(
          node, piece.offset,
          fmt::format("expected '{0}=5' or '{0}=5,3', not {1}", name, quoted(piece.text)));
      return;
    }
    const auto number = [&](const TextPiece& at) {
      return reader_.integer_in(node, piece.offset + value + at.offset, at.text, 0, kMaxFactor)
          .value_or(1);
    };
    factor.bound = number(numbers[0]);
    factor.residual = numbers.size() == 2 ? number(numbers[1]) : factor.bound;
    factor.at_most = at_most;
    if (rules_) {
      check_rule(node, piece, static_cast<DimId>(*dim), factor);
      return;
    }
    if (factor.bound == 0) {
      factor.bound = workload_.dims[static_cast<DimId>(*dim)].bound;
      factor.residual = numbers.size() == 2 ? factor.residual : factor.bound;
    }
    if (factor.residual == 0 || factor.residual > factor.bound) {
      reader_.error(node, piece.offset,
                    fmt::format("{}: the last iteration's factor, {}, is not from 1 to {}, the "
                                "factor of the others",
                                piece.text, factor.residual, factor.bound));
    }
  }

  void check_rule(const Node& node, const TextPiece& piece, DimId d, TimeloopFactor& factor) {
    const Dim& dim = workload_.dims[d];
    factor.bound = factor.bound == 0 ? dim.bound : factor.bound;
    if (!factor.at_most && factor.bound > dim.bound) {
      factor.given = false;
      ignored_->push_back({d, piece.text});
    } else if (factor.residual != factor.bound && factor.residual != 0) {
      reader_.error(node, piece.offset, "a remainder has no place in a constraint");
    } else if (!factor.at_most && dim.bound % factor.bound != 0) {
      reader_.error(
          node, piece.offset,
          fmt::format("{} does not divide the bound {} of {}", factor.bound, dim.bound, dim.name));
    }
  }

  Reader& reader_;
  const Workload& workload_;
  bool rules_;
  std::vector<IgnoredFactor>* ignored_;
  Words dims_;
  PerDim<TimeloopFactor> factors_;
};

}  // namespace

PerDim<TimeloopFactor> read_timeloop_factors(Reader& reader, const Node* node,
                                             const Workload& workload) {
  FactorReader factors{reader, workload, nullptr};
  if (node != nullptr) {
    factors.read(*node);
  }
  return factors.factors();
}

TimeloopFactorRules read_timeloop_factor_rules(Reader& reader, const Node* node,
                                               const Workload& workload,
                                               std::vector<IgnoredFactor>& ignored) {
  FactorReader factors{reader, workload, &ignored};
  if (node != nullptr) {
    factors.read(*node);
  }
  TimeloopFactorRules rules(workload.dims.size());
  for (const DimId d : rules.ids()) {
    const TimeloopFactor& factor = factors.factors()[d];
    if (factor.given) {
      rules[d] = {factor.bound, factor.at_most};
    }
  }
  return rules;
}

bool asks_for_nothing(const Node& node) {
  return node.kind == Node::Kind::kNull ||
         (node.kind == Node::Kind::kSequence && node.items.empty()) ||
         (node.kind == Node::Kind::kMap && node.entries.empty());
}

TensorSet read_timeloop_tensors(Reader& reader, const Node& list, const Words& tensors) {
  TensorSet named;
  if (asks_for_nothing(list)) {
    return named;
  }
  if (std::any_of(list.items.begin(), list.items.end(),
                  [](const Node& item) { return item.text == "*"; })) {
    return TensorSet::from_bits((1U << tensors.size()) - 1);
  }
  for (const std::size_t t : reader.choice_list(&list, tensors, "data space")) {
    named.insert(static_cast<TensorId>(t));
  }
  return named;
}

TimeloopOrder read_timeloop_order(Reader& reader, const Node* node, const Workload& workload) {
  const Words dims = names_of(workload.dims);
  TimeloopOrder order;
  DimSet named;
  const auto take = [&](const Node& at, const TextPiece& word) {
    const auto dim = reader.choice_in(at, word.offset, word.text, dims, "dimension");
    if (!dim) {
      return;
    }
    if (named.contains(static_cast<DimId>(*dim))) {
      reader.error(at, word.offset, fmt::format("{} stands twice", quoted(word.text)));
    }
    named.insert(static_cast<DimId>(*dim));
    order.dims.push_back(static_cast<DimId>(*dim));
  };
  std::vector<const Node*> texts;
  if (node != nullptr && node->kind == Node::Kind::kSequence) {
    for (const Node& item : node->items) {
      texts.push_back(&item);
    }
  } else if (node != nullptr) {
    texts.push_back(node);
  }
  for (const Node* at : texts) {
    for (const TextPiece& piece : pieces(reader.text(at, "dimensions").value_or(""), " ,")) {
      const bool one = std::find(dims.begin(), dims.end(), piece.text) != dims.end();
      for (std::size_t i = 0; i < (one ? 1 : piece.text.size()); ++i) {
        take(*at, one ? piece : TextPiece{piece.text.substr(i, 1), piece.offset + i});
      }
    }
  }
  order.given = order.dims.size();
  for (const DimId d : workload.dims.ids()) {
    if (!named.contains(d)) {
      order.dims.push_back(d);
    }
  }
  return order;
}

}  // namespace mapsim
