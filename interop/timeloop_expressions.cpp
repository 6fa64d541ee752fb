// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_expressions.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "interop/expression.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

using Scope = std::map<std::string, ExpressionValue>;

Node* child_of(Node& map, const std::string& key) {
  for (Entry& entry : map.entries) {
    if (entry.key.text == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

// What a scalar says without any name.
std::optional<ExpressionValue> constant(const Node& node) {
  try {
    const ExpressionValue value = evaluate_expression(node.text, {});
    return value.defined() ? std::optional{value} : std::nullopt;
  } catch (const ExpressionError&) {
    return std::nullopt;  // it needs names, or it is a word
  }
}

ExpressionValue value_of_tree(const Node& node) {
  ExpressionValue value;
  if (node.kind == Node::Kind::kMap) {
    value.kind = ExpressionValue::Kind::kMap;
    for (const Entry& entry : node.entries) {
      value.keys.push_back(entry.key.text);
      value.items.push_back(value_of_tree(entry.value));
    }
  } else if (node.kind == Node::Kind::kSequence) {
    value.kind = ExpressionValue::Kind::kList;
    for (const Node& item : node.items) {
      value.items.push_back(value_of_tree(item));
    }
  } else if (node.kind == Node::Kind::kScalar) {
    return constant(node).value_or(text_value(node.text));
  } else {
    value.kind = ExpressionValue::Kind::kNone;
  }
  return value;
}

class Resolver {
 public:
  Resolver(const std::vector<Node*>& variables, const FrontEndSettings& settings,
           const Node* problem, std::set<std::string>& asked)
      : asked_{asked} {
    for (const auto& [name, text] : settings) {
      Node value;
      value.kind = Node::Kind::kScalar;
      value.text = text;
      global_[name] = value_of_tree(value);
    }
    settings_ = global_;
    if (problem != nullptr) {
      spec_.kind = ExpressionValue::Kind::kMap;
      spec_.keys = {"problem"};
      spec_.items = {value_of_tree(*problem)};
    }
    resolve_variables(variables);
  }

  // Sizes stand under `instance`, or beside `shape`.
  void sizes(Node& problem) {
    Scope scope = global_;
    Node* instance = child_of(problem, "instance");
    Node& map = instance != nullptr ? *instance : problem;
    if (map.kind == Node::Kind::kMap) {
      resolve_map(map, scope);
    }
    if (Node* densities = child_of(map, "densities")) {
      resolve_tree(*densities, scope);
    }
    Node* shape = child_of(problem, "shape");
    Node* coefficients = shape == nullptr ? nullptr : child_of(*shape, "coefficients");
    for (std::size_t i = 0; coefficients != nullptr && i < coefficients->items.size(); ++i) {
      if (Node* value = child_of(coefficients->items[i], "default")) {
        resolve(*value, scope);
      }
    }
  }

  void loops(Node& section) { resolve_loops(section, global_); }

  void architecture(Node& section) {
    Scope scope = global_;
    if (Node* nodes = child_of(section, "nodes")) {
      walk_nodes(*nodes, scope);
    }
    walk_subtree(section, scope);
  }

 private:
  void walk_nodes(Node& list, Scope& scope) {
    for (Node& node : list.items) {
      if (Node* nodes = child_of(node, "nodes")) {
        Scope branch = scope;
        walk_nodes(*nodes, node.tag == "!Parallel" ? branch : scope);
        continue;
      }
      Scope own = scope;
      walk_component(node, own);
      if (node.tag != "!Component") {
        scope = own;  // what stands in a container is around all that follows
      }
    }
  }

  void walk_subtree(Node& node, Scope scope) {
    if (Node* attributes = child_of(node, "attributes")) {
      resolve_map(*attributes, scope);
    }
    for (const char* key : {"local", "subtree"}) {
      Node* list = child_of(node, key);
      for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
        Scope own = scope;
        if (key[0] == 'l') {
          walk_component(list->items[i], own);
        } else {
          walk_subtree(list->items[i], scope);
        }
      }
    }
  }

  void walk_component(Node& node, Scope& scope) {
    if (Node* attributes = child_of(node, "attributes")) {
      resolve_map(*attributes, scope);
    }
    if (Node* spatial = child_of(node, "spatial")) {
      resolve_tree(*spatial, scope);
    }
    if (Node* constraints = child_of(node, "constraints")) {
      resolve_loops(*constraints, scope);
    }
  }

  // Names of dims and data spaces stay names, whatever variables are called.
  void resolve_loops(Node& section, const Scope& scope) {
    for (Node& item : section.items) {
      resolve_loops(item, scope);
    }
    for (Entry& entry : section.entries) {
      const std::string& key = entry.key.text;
      if (key == "factors" || key == "factors_only" || key == "split") {
        resolve_tree(entry.value, scope);
      } else {
        resolve_loops(entry.value, scope);
      }
    }
  }

  // Whatever the file and the item of a list: they may refer to each other.
  void resolve_variables(const std::vector<Node*>& sections) {
    std::vector<Entry*> places;
    const auto add = [&](Node& map) {
      for (Entry& entry : map.entries) {
        places.push_back(&entry);
      }
    };
    for (Node* section : sections) {
      add(*section);
      for (Node& item : section->items) {
        add(item);
      }
    }
    Node all;
    all.kind = Node::Kind::kMap;
    for (const Entry* place : places) {
      all.entries.push_back(*place);
    }
    resolve_map(all, global_);
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i]->value = all.entries[i].value;
    }
  }

  // Its values may refer to each other in any order, and hide what stands around them: the `width`
  // of `width: width * 2` is the one around.
  void resolve_map(Node& map, Scope& scope) {
    std::vector<Entry*> open;
    for (Entry& entry : map.entries) {
      if (entry.value.kind == Node::Kind::kScalar && !is_literal(entry.value.text)) {
        if (mentions(entry.value.text, entry.key.text)) {
          resolve(entry.value, scope);
        } else {
          open.push_back(&entry);
        }
      }
    }
    for (Entry& entry : map.entries) {
      scope[entry.key.text] = value_of_tree(entry.value);
    }
    for (const Entry* entry : open) {
      scope.erase(entry->key.text);
    }
    const auto settle = [&](Entry* entry) {
      const bool known = resolve(entry->value, scope);
      if (known) {
        scope[entry->key.text] = value_of_tree(entry->value);
      }
      return known;
    };
    for (std::size_t before = open.size() + 1; before > open.size();) {
      before = open.size();
      std::erase_if(open, settle);
    }
    for (const Entry* entry : open) {
      scope[entry->key.text] = text_value(entry->value.text);  // a word
    }
  }

  static bool mentions(const std::string& text, const std::string& name) {
    const auto is_letter = [&](std::size_t at) {
      return at < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size())) {
        return true;
      }
    }
    return false;
  }

  void resolve_tree(Node& node, const Scope& scope) {
    for (Node& item : node.items) {
      resolve_tree(item, scope);
    }
    for (Entry& entry : node.entries) {
      resolve_tree(entry.value, scope);
    }
    if (node.kind != Node::Kind::kScalar || resolve(node, scope)) {
      return;
    }
    resolve_factors(node.text, scope);
  }

  // C=SPLIT of a list of factors, or several in one text, apart by blanks or commas.
  bool resolve_factors(std::string& text, const Scope& scope) const {
    std::string whole;
    bool resolved = false;
    for (std::size_t begin = 0; begin < text.size();) {
      // One factor ends where the name of the next begins.
      const std::size_t equals = text.find('=', begin);
      const std::size_t next = equals == std::string::npos ? equals : text.find('=', equals + 1);
      const std::size_t apart = next == std::string::npos ? next : text.find_last_of(" ,", next);
      if (equals == std::string::npos ||
          (next != std::string::npos && (apart == std::string::npos || apart <= equals))) {
        return false;
      }
      const std::size_t end = apart == std::string::npos ? text.size() : apart + 1;
      std::string factor = text.substr(begin, end - begin);
      resolved = resolve_factor(factor, equals - begin, scope) || resolved;
      whole += factor;
      begin = end;
    }
    text = whole;
    return resolved;
  }

  // The value behind `equals` of one factor, which blanks or commas may follow.
  bool resolve_factor(std::string& text, std::size_t equals, const Scope& scope) const {
    Node factor;
    factor.kind = Node::Kind::kScalar;
    factor.text = text.substr(equals + 1);
    const std::size_t end = factor.text.find_last_not_of(" ,") + 1;
    const std::string behind = factor.text.substr(end);
    factor.text.resize(end);
    if (factor.text.empty() || is_literal(factor.text) || !resolve(factor, scope)) {
      return false;
    }
    text = text.substr(0, equals + 1) + factor.text + behind;
    return true;
  }

  // Has it a value now?
  bool resolve(Node& node, const Scope& scope) const {
    if (node.kind != Node::Kind::kScalar || is_literal(node.text)) {
      return true;
    }
    ExpressionNames names;
    names.find = [&](const std::string& name) {
      const auto known = scope.find(name);
      const auto setting = settings_.find(name);
      if (known != scope.end() && setting != settings_.end() && setting->second == known->second) {
        asked_.insert(name);
      }
      return known != scope.end() ? known->second : name == "spec" ? spec_ : ExpressionValue{};
    };
    try {
      const ExpressionValue value = evaluate_expression(node.text, names);
      const bool scalar = value.kind == ExpressionValue::Kind::kNumber ||
                          value.kind == ExpressionValue::Kind::kBoolean ||
                          value.kind == ExpressionValue::Kind::kText;
      if (scalar) {
        const bool integral = value.kind == ExpressionValue::Kind::kNumber &&
                              value.number == std::floor(value.number) &&
                              std::abs(value.number) < 1e15;
        node.text = to_text(integral ? number_value(value.number, true) : value);
        node.plain = true;
      }
      return scalar;
    } catch (const ExpressionError&) {
      return false;  // not yet, or no expression
    }
  }

  // A number or a truth as it stands. INF and NAN are names.
  static bool is_literal(const std::string& text) {
    char* end = nullptr;
    const bool finite = std::isfinite(std::strtod(text.c_str(), &end));
    return (finite && end != text.c_str() && *end == '\0') || foreign_boolean(text).has_value();
  }

  Scope global_;
  Scope settings_;
  std::set<std::string>& asked_;
  ExpressionValue spec_;
};

}  // namespace

void resolve_expressions(Node& architecture, const std::vector<Node*>& variables,
                         const FrontEndSettings& settings, const Node* problem,
                         std::set<std::string>& asked) {
  Resolver{variables, settings, problem, asked}.architecture(architecture);
}

void resolve_sizes(Node& problem, const std::vector<Node*>& variables,
                   const FrontEndSettings& settings, std::set<std::string>& asked) {
  Resolver{variables, settings, nullptr, asked}.sizes(problem);
}

void resolve_loops(Node& section, const std::vector<Node*>& variables,
                   const FrontEndSettings& settings, std::set<std::string>& asked) {
  Resolver{variables, settings, nullptr, asked}.loops(section);
}

}  // namespace mapsim
