// SPDX-License-Identifier: Apache-2.0
#include "arch/timing_text.hpp"

#include <algorithm>

namespace mapsim {

namespace {

// Of the variant's models, in their order.
template <class... Models>
std::vector<TimingText> texts_of(const std::variant<std::monostate, Models...>&) {
  return {text_of(Models{})...};
}

std::string print(std::monostate, const Arch&) { return ""; }

}  // namespace

FanoutId read_array(Reader& reader, const Fields& fields, const Arch& arch) {
  if (arch.fanouts.empty()) {
    reader.error(fields.node(), "expected a fanout as the array, but the machine has no fanout");
    return FanoutId{};
  }
  Words names;
  for (const Fanout& fanout : arch.fanouts) {
    names.push_back(fanout.name);
  }
  const auto i = reader.choice(fields.find("array"), names, "fanout");
  return static_cast<FanoutId>(i.value_or(names.size() - 1));
}

Timing read_timing(Reader& reader, const Node& node, const Arch& arch) {
  const std::vector<TimingText> texts = texts_of(Timing{});
  Words names;
  const TimingText* named = &texts.front();
  for (const TimingText& text : texts) {
    names.emplace_back(text.name);
    const bool is_named =
        std::any_of(node.entries.begin(), node.entries.end(), [&](const Entry& entry) {
          return entry.key.text == "model" && entry.value.text == text.name;
        });
    named = is_named ? &text : named;
  }
  Words keys{"model"};
  keys.insert(keys.end(), named->keys.begin(), named->keys.end());
  const Fields fields = reader.fields(node, keys);
  const auto model = reader.choice(fields.require("model"), names, "timing model");
  return model ? texts[*model].read(reader, fields, arch) : Timing{};
}

std::string print_timing(const Timing& timing, const Arch& arch) {
  return std::visit([&](const auto& model) { return print(model, arch); }, timing);
}

}  // namespace mapsim
