// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/expression.hpp"

namespace mapsim {

// A line of a file.
struct LinePlace {
  std::string file;
  int line = 0;  // 1-based
  std::string text;
};

// A text that consists of parts of files, and the origin of each of its lines.
struct AssembledText {
  std::string text;
  std::vector<LinePlace> lines;
};
// A file without templates.
AssembledText as_it_is(std::string text, const std::string& file);

using TemplateValues = std::map<std::string, ExpressionValue>;

// The functions that a template may call: those of the front end that it is written for.
struct TemplateFunctions {
  // The last: what names stand for where it is called.
  std::function<ExpressionValue(const std::string&, const std::vector<ExpressionValue>&,
                                const TemplateValues&)>
      call;
  // What stands for a text with places of its own, as `call` has returned it between two \x01.
  std::function<const AssembledText&(const std::string&)> text_of;
  // Called with each name that is looked up, and its value; may be empty.
  std::function<void(const std::string&, const ExpressionValue&)> asked;
};

// A template asks for names that have no value: all of them.
class UnsetNames : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

// Does the text have {{ }}, {% %} or {# #} outside of comments of YAML?
bool is_template(const std::string& text);

// The text that a Jinja template stands for: {{ expressions }}, set, if, elif, else, for, assert,
// raw and comments, as interop/expression.hpp computes. Expressions in comments of YAML are left
// alone. Throws UnsetNames at the places that have no value, and ConfigError at what is not known
// here.
AssembledText render_template(const std::string& text, const std::string& file,
                              TemplateValues values, const TemplateFunctions& functions);

}  // namespace mapsim
