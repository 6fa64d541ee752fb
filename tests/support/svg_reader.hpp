// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/utf8.hpp"
#include "report/svg.hpp"

namespace mapsim {

// An element of an SVG file with its attributes, and the text right behind its tag.
struct SvgElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::string title;  // of the title within it
  double number(const std::string& key) const {
    const auto at = attributes.find(key);
    return at == attributes.end() ? 0 : std::atof(at->second.c_str());
  }
};

// What is wrong with it as XML, or the elements.
struct SvgFile {
  std::string problem;
  std::vector<SvgElement> elements;
};

// An `&` that begins none of the entities of XML.
inline bool has_bare_ampersand(std::string_view words) {
  for (std::size_t at = 0; (at = words.find('&', at)) != std::string_view::npos; ++at) {
    const std::string_view rest = words.substr(at);
    if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") &&
        !rest.starts_with("&quot;") && !rest.starts_with("&apos;")) {
      return true;
    }
  }
  return false;
}

// The element of a tag `<name key="value" ...`, read up to its end; nothing: it is none.
inline std::optional<SvgElement> read_tag(std::string_view text, std::size_t& at) {
  SvgElement element;
  const auto word = [&] {
    const std::size_t from = at;
    while (at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '-' || text[at] == ':')) {
      ++at;
    }
    return std::string{text.substr(from, at - from)};
  };
  element.name = word();
  while (at < text.size() && text[at] == ' ') {
    ++at;
    const std::string key = word();
    if (text.substr(at, 2) != "=\"") {
      return std::nullopt;
    }
    const std::size_t end = text.find('"', at + 2);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string value{text.substr(at + 2, end - at - 2)};
    if (key.empty() || value.find('<') != std::string::npos || has_bare_ampersand(value) ||
        !element.attributes.emplace(key, value).second) {
      return std::nullopt;
    }
    at = end + 1;
  }
  return element.name.empty() ? std::nullopt : std::optional{element};
}

// Enough of XML for what mapsim writes.
inline SvgFile read_svg(const std::string& text) {
  if (const auto bad = first_non_text_byte(text)) {
    return {"no text at byte " + std::to_string(*bad), {}};
  }
  SvgFile file;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find('<', at), text.size());
    const std::string words = text.substr(at, next - at);
    if (has_bare_ampersand(words)) {
      return {"a bare & in: " + words.substr(0, 80), {}};
    }
    if (!open.empty() && file.elements[open.back()].text.empty()) {
      file.elements[open.back()].text = words;
    }
    if (next == text.size()) {
      break;
    }
    const bool closes = text.compare(next, 2, "</") == 0;
    at = next + (closes ? 2 : 1);
    const std::optional<SvgElement> element = read_tag(text, at);
    const bool alone = text.compare(at, 2, "/>") == 0;
    if (!element || (!alone && text.compare(at, 1, ">") != 0)) {
      return {"no tag: " + text.substr(next, 80), {}};
    }
    at += alone ? 2 : 1;
    if (!closes) {
      file.elements.push_back(*element);
      if (!alone) {
        open.push_back(file.elements.size() - 1);
      }
      continue;
    }
    if (open.empty() || file.elements[open.back()].name != element->name) {
      return {"closes " + element->name + ", which is not open", {}};
    }
    if (element->name == "title" && open.size() > 1) {
      file.elements[open[open.size() - 2]].title = file.elements[open.back()].text;
    }
    open.pop_back();
  }
  return open.empty() ? file : SvgFile{"not closed: " + file.elements[open.back()].name, {}};
}

// The place of words that are not turned.
inline std::optional<Box> words_box(const SvgElement& element) {
  if (element.name != "text" || element.attributes.contains("transform") ||
      element.attributes.contains("aria-hidden")) {
    return std::nullopt;
  }
  const double size = element.attributes.contains("font-size") ? element.number("font-size") : 11;
  std::string words = element.text;
  for (const auto& [entity, letter] : std::array<std::pair<const char*, const char*>, 3>{
           {{"&lt;", "<"}, {"&quot;", "\""}, {"&amp;", "&"}}}) {
    for (std::size_t at = 0; (at = words.find(entity, at)) != std::string::npos; ++at) {
      words.replace(at, std::string_view{entity}.size(), letter);
    }
  }
  const double width = text_width(words, size);
  const auto anchor = element.attributes.find("text-anchor");
  const double left = anchor == element.attributes.end() ? 0
                      : anchor->second == "middle"       ? width / 2
                                                         : width;
  return Box{element.number("x") - left, element.number("y") - size * 0.75, width, size * 0.9};
}

}  // namespace mapsim
