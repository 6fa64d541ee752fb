// SPDX-License-Identifier: Apache-2.0
#include "interop/front_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>

#include "core/text_stream.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/libconfig.hpp"
#include "interop/merge_keys.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepestInclude = 16;      // files that include each other
constexpr std::size_t kMostFiles = 512;  // that one design includes
const std::string kMark = "__mapsim_included_";

ExpressionValue setting_value(const std::string& text) {
  try {
    const ExpressionValue value = evaluate_expression(text, {});
    return value.defined() ? value : text_value(text);
  } catch (const ExpressionError&) {
    return text_value(text);  // of no form that an expression has: a word or a path
  }
}

ConfigError relocated(const ConfigError& error, const std::string& file,
                      const std::vector<LinePlace>& lines) {
  std::vector<Diagnostic> found;
  for (Diagnostic each : error.diagnostics()) {
    if (each.file == file && each.line > 0 && static_cast<std::size_t>(each.line) <= lines.size()) {
      const LinePlace& place = lines[static_cast<std::size_t>(each.line) - 1];
      const bool as_written = place.text == each.source || each.source.empty();
      const std::size_t first = place.text.find_first_not_of(" \t");
      each.column =
          as_written ? each.column : static_cast<int>(first == std::string::npos ? 0 : first) + 1;
      each.file = place.file;
      each.line = place.line;
      each.source = as_written ? each.source : place.text;
    }
    found.push_back(std::move(each));
  }
  return ConfigError{std::move(found)};
}

class FrontEnd {
 public:
  FrontEnd(std::string name, const FrontEndSettings& settings, Includes includes)
      : name_{std::move(name)}, includes_{includes} {
    for (const auto& [key, text] : settings) {
      values_[key] = setting_value(text);
    }
  }

  FrontEndDocument run(const std::string& text) {
    Node root = load(text, name_, values_);
    all_.document.file = name_;
    all_.document.root = std::move(root);
    return std::move(all_);
  }

 private:
  // The tree of a file, its lines behind those of the files before.
  Node load(const std::string& text, const std::string& path, const TemplateValues& values) {
    if (++depth_ > kDeepestInclude || ++files_ > kMostFiles) {
      throw ConfigError{{{path, 0, 0, "", "too many files include each other", ""}}};
    }
    AssembledText assembled = is_template(text) ? render(text, path, values) : as_it_is(text, path);
    Document document;
    try {
      document = path.ends_with(".cfg") ? parse_libconfig(assembled.text, path)
                                        : parse_yaml(assembled.text, path, Tags::kKept);
    } catch (const ConfigError& error) {
      throw relocated(error, path, assembled.lines);
    }
    if (assembled.text.empty() || assembled.text.back() != '\n') {
      assembled.text += '\n';
    }
    const auto count =
        static_cast<std::size_t>(std::count(assembled.text.begin(), assembled.text.end(), '\n'));
    assembled.lines.resize(
        count, assembled.lines.empty() ? LinePlace{path, 1, ""} : assembled.lines.back());
    const int base = static_cast<int>(all_.lines.size());
    all_.document.text += assembled.text;
    all_.lines.insert(all_.lines.end(), assembled.lines.begin(), assembled.lines.end());
    finish(document.root, base, path);
    merge_keys(document.root);
    --depth_;
    return std::move(document.root);
  }

  // Lines of the whole, and what has been included in its place.
  void finish(Node& node, int base, const std::string& path) {
    node.line += base;
    if (node.kind == Node::Kind::kScalar && node.tag == "!include") {
      try {
        node = included(node.text, "", path, values_);
      } catch (const ExpressionError& error) {
        complain(node.line, error.what());
      }
      return;
    }
    if (const std::size_t mark = node.text.find(kMark); mark != std::string::npos) {
      const std::size_t dot = std::min(node.text.find('.'), node.text.size());
      const auto found = nodes_.find(node.text.substr(0, dot));
      if (found == nodes_.end()) {
        complain(node.line, "a file that is included must stand alone: as a value, or as an item");
      }
      const std::string key = node.text.substr(dot);
      const Node* part = part_of(found->second, key);
      if (part == nullptr) {
        complain(node.line, fmt::format("what is included has no '{}'", key.substr(1)));
      }
      node = Node{*part};
      return;
    }
    for (Node& item : node.items) {
      finish(item, base, path);
    }
    for (Entry& entry : node.entries) {
      entry.key.line += base;
      finish(entry.value, base, path);
    }
    drop_repetitions(node);
  }

  // A key that stands twice with one value says one thing; with two values it stays, as an error.
  static void drop_repetitions(Node& node) {
    std::set<std::array<std::string, 3>> seen;
    std::erase_if(node.entries, [&](const Entry& entry) {
      return entry.value.kind == Node::Kind::kScalar &&
             !seen.insert({entry.key.text, entry.value.tag, entry.value.text}).second;
    });
  }

  // What a path of keys leads to: problem.instance.
  static const Node* part_of(const Node& node, const std::string& key) {
    const Node* part = &node;
    for (const TextPiece& each : pieces(key, ".")) {
      part = part == nullptr ? nullptr : value_of(*part, each.text);
    }
    return part;
  }

  [[noreturn]] void complain(int line, const std::string& message) const {
    const LinePlace& place = all_.lines[static_cast<std::size_t>(line) - 1];
    throw ConfigError{{{place.file, place.line, 1, "", message, place.text}}};
  }

  AssembledText render(const std::string& text, const std::string& path,
                       const TemplateValues& values) {
    TemplateFunctions functions;
    functions.call = [this, path](const std::string& name,
                                  const std::vector<ExpressionValue>& arguments,
                                  const TemplateValues& here) {
      return call(name, arguments, path, includes_ == Includes::kInherit ? here : values_);
    };
    functions.text_of = [this](const std::string& mark) -> const AssembledText& {
      return texts_.at(mark);
    };
    functions.asked = [this](const std::string& asked, const ExpressionValue& value) {
      const auto setting = values_.find(asked);
      if (setting != values_.end() && setting->second == value) {  // no template has set it anew
        all_.asked.insert(asked);
      }
    };
    return render_template(text, path, values, functions);
  }

  ExpressionValue call(const std::string& name, const std::vector<ExpressionValue>& arguments,
                       const std::string& from, const TemplateValues& known) {
    const auto folder = [&] { return text_value(folder_of_file(from).string()); };
    const std::string first = arguments.empty() ? "" : to_text(arguments[0]);
    const std::string second = arguments.size() < 2 ? "" : to_text(arguments[1]);
    if (name == "cwd") {
      return folder();
    }
    if (name == "add_to_path") {
      paths_.push_back(fs::path{first}.is_absolute() ? fs::path{first}
                                                     : folder_of_file(from) / first);
      return text_value("");
    }
    if (name == "path_exists") {
      return boolean_value(find(first, from).has_value());
    }
    if (name == "find_path") {
      return text_value(must_find(first, from).string());
    }
    if (name == "include_text") {
      const std::string path = as_given(must_find(first, from));
      const std::string text = read_yaml_text(path);
      if (depth_ >= kDeepestInclude) {
        throw ExpressionError{0, "too many files include each other"};
      }
      ++depth_;
      const std::string mark = std::to_string(texts_.size());
      AssembledText assembled =
          is_template(text) ? render(text, path, known) : as_it_is(text, path);
      --depth_;
      texts_.emplace(mark, std::move(assembled));
      return text_value("\x01" + mark + "\x01");
    }
    if (name == "include") {
      return mark_of(included(first, second, from, known));
    }
    return name == "include_all" ? mark_of(all_of(first, second, from, known)) : ExpressionValue{};
  }

  ExpressionValue mark_of(Node node) {
    const std::string mark = fmt::format("{}{}", kMark, nodes_.size());
    nodes_.emplace(mark, std::move(node));
    return text_value(mark);
  }

  static fs::path folder_of_file(const std::string& file) {
    return fs::absolute(file).parent_path();
  }

  std::optional<fs::path> find(const std::string& name, const std::string& from) const {
    std::vector<fs::path> folders{folder_of_file(from)};
    folders.insert(folders.end(), paths_.begin(), paths_.end());
    for (const fs::path& folder : folders) {
      std::error_code error;
      if (fs::exists(folder / name, error)) {  // an absolute name stays as it is
        return (folder / name).lexically_normal();
      }
    }
    return std::nullopt;
  }

  fs::path must_find(const std::string& name, const std::string& from) const {
    const auto found = find(name, from);
    if (!found) {
      throw ExpressionError{0,
                            fmt::format("there is no file '{}', neither beside this one nor where "
                                        "add_to_path() points",
                                        fs::path{name}.is_absolute() ? as_given(name) : name)};
    }
    return *found;
  }

  // Seen from the working directory if the user's own file is: what messages name.
  std::string as_given(const fs::path& file) const {
    std::error_code failure;
    const fs::path here = fs::current_path(failure);
    const bool absolute = failure || fs::path{name_}.is_absolute();
    return (absolute ? file : file.lexically_relative(here)).string();
  }

  // A file, or what a key of it leads to: problem.instance.
  Node included(const std::string& name, const std::string& key, const std::string& from,
                const TemplateValues& known) {
    const std::string path = as_given(must_find(name, from));
    const Node node = load(read_yaml_text(path), path, known);
    const Node* part = part_of(node, key);
    if (part == nullptr) {
      throw ExpressionError{0, fmt::format("'{}' has no '{}'", path, key)};
    }
    return *part;
  }

  // Of files that a pattern like folder/*.yaml names, in the order of their names: their lists as
  // one.
  Node all_of(const std::string& pattern, const std::string& key, const std::string& from,
              const TemplateValues& known) {
    const fs::path whole{pattern};
    const fs::path folder =
        must_find(whole.has_parent_path() ? whole.parent_path().string() : ".", from);
    const std::string file = whole.filename().string();
    const std::size_t star = std::min(file.find('*'), file.size());
    const std::string head = file.substr(0, star),
                      tail = star < file.size() ? file.substr(star + 1) : "";
    std::vector<std::string> names;
    std::error_code error;  // no folder: no file of this name
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (name.size() >= head.size() + tail.size() && name.starts_with(head) &&
          name.ends_with(tail) && (star < file.size() || name == file)) {
        names.push_back(entry.path().string());
      }
    }
    require_memory(error);
    if (names.empty()) {
      throw ExpressionError{0, fmt::format("no file is called '{}'; one * stands for any part of "
                                           "a name",
                                           pattern)};
    }
    std::sort(names.begin(), names.end());
    Node list;
    list.kind = Node::Kind::kSequence;
    list.line = 1;
    for (const std::string& name : names) {
      Node node = included(name, key, from, known);
      if (node.kind == Node::Kind::kSequence) {
        list.items.insert(list.items.end(), node.items.begin(), node.items.end());
      } else {
        list.items.push_back(std::move(node));
      }
    }
    return list;
  }

  std::string name_;
  Includes includes_;
  TemplateValues values_;  // the settings
  std::vector<fs::path> paths_;
  std::map<std::string, Node> nodes_;           // by their marks
  std::map<std::string, AssembledText> texts_;  // likewise
  FrontEndDocument all_;
  int depth_ = 0;
  std::size_t files_ = 0;
};

}  // namespace

FrontEndDocument parse_front_end(const std::string& text, const std::string& path,
                                 const FrontEndSettings& settings, Includes includes) {
  return FrontEnd{path, settings, includes}.run(text);
}

FrontEndDocument read_front_end(const std::string& path, const FrontEndSettings& settings,
                                Includes includes) {
  return parse_front_end(read_yaml_text(path), path, settings, includes);
}

std::vector<std::string> notes_on_settings(const FrontEndSettings& settings,
                                           const std::set<std::string>& asked) {
  std::vector<std::string> notes;
  for (const auto& [name, value] : settings) {
    if (!asked.contains(name)) {
      notes.push_back(fmt::format(
          "--set {0}={1} has no effect here: nothing asks for {0}, or a file sets it itself", name,
          value));
    }
  }
  return notes;
}

std::string place_of(const FrontEndDocument& source, const Node& node) {
  const auto line = static_cast<std::size_t>(node.line);
  return line > 0 && line <= source.lines.size()
             ? fmt::format("{}:{}", source.lines[line - 1].file, source.lines[line - 1].line)
             : fmt::format("{}:{}", source.document.file, node.line);
}

ConfigError at_its_place(const ConfigError& error, const FrontEndDocument& source) {
  return relocated(error, source.document.file, source.lines);
}

}  // namespace mapsim
