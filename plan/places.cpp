// SPDX-License-Identifier: Apache-2.0
#include "plan/places.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <utility>

namespace mapsim {

namespace {

constexpr std::int64_t kInt8 = 8;
constexpr std::int64_t kFloat16 = 16;
constexpr std::array<std::pair<const char*, std::int64_t>, 3> kNames{
    {{"s8", kInt8}, {"f16", kFloat16}, {"f32", 32}}};
constexpr std::size_t kChannels = 1;  // axis of an image

// The width that a format is for; 0: any.
std::int64_t width_of_format(const std::string& format) {
  static const std::map<std::string, std::int64_t> kFormatWidths{
      {"chw4", kInt8}, {"chw32", kInt8}, {"chw16", kFloat16}, {"hwc8", kFloat16}};
  const auto at = kFormatWidths.find(format);
  return at == kFormatWidths.end() ? 0 : at->second;
}

}  // namespace

std::vector<Place> places_of(const Soc& soc, const std::vector<std::int64_t>& widths) {
  std::vector<Place> places;
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    const Engine& engine = soc.engines[e];
    std::vector<std::int64_t> taken;
    std::copy_if(widths.begin(), widths.end(), std::back_inserter(taken), [&](std::int64_t width) {
      return engine.widths.empty() ||
             std::find(engine.widths.begin(), engine.widths.end(), width) != engine.widths.end();
    });
    if (taken.empty()) {
      taken.push_back(widths.front());
    }
    for (const std::int64_t width : taken) {
      const std::size_t before = places.size();
      for (const std::string& format : engine.formats) {
        const std::int64_t only = width_of_format(format);
        if (only == 0 || only == width) {
          places.push_back({e, width, format});
        }
      }
      if (places.size() == before) {
        places.push_back({e, width, ""});
      }
    }
  }
  return places;
}

std::string width_name(std::int64_t width) {
  for (const auto& [name, bits] : kNames) {
    if (bits == width) {
      return name;
    }
  }
  return std::to_string(width) + "b";
}

std::optional<std::int64_t> width_named(const std::string& name) {
  for (const auto& [each, bits] : kNames) {
    if (each == name) {
      return bits;
    }
  }
  return std::nullopt;
}

std::string name_of(const Soc& soc, const std::vector<Place>& places, std::size_t place) {
  const Place& at = places[place];
  std::string name = soc.engines[at.engine].name;
  const auto differs = [&](auto same) {
    return std::any_of(places.begin(), places.end(), [&](const Place& other) {
      return other.engine == at.engine && !same(other);
    });
  };
  if (differs([&](const Place& other) { return other.width == at.width; })) {
    name.append(" ").append(width_name(at.width));
  }
  if (differs([&](const Place& other) {
        return other.format == at.format || other.width != at.width;
      })) {
    name.append(" ").append(at.format);
  }
  return name;
}

std::int64_t channels_of(const std::string& format) {
  const auto digits = std::find_if(format.begin(), format.end(),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits == format.end() ? 1 : std::stoll(std::string{digits, format.end()});
}

double padding_of(const GraphTensor& tensor, const std::string& format) {
  const std::int64_t together = channels_of(format);
  if (together <= 1 || !tensor.shape || tensor.shape->size() != 4) {
    return 1;
  }
  const std::int64_t channels = (*tensor.shape)[kChannels];
  return channels == 0 ? 1
                       : static_cast<double>((channels + together - 1) / together * together) /
                             static_cast<double>(channels);
}

Versions versions_of(const std::vector<Place>& places,
                     const std::vector<const Network*>& networks) {
  Versions versions;
  std::map<std::pair<const Network*, std::int64_t>, std::size_t> known;
  std::vector<std::size_t> graph;
  for (const Place& place : places) {
    const auto [at, is_new] =
        known.try_emplace({networks[place.engine], place.width}, versions.graphs.size());
    if (is_new) {
      auto version = std::make_shared<NetworkGraph>(*networks[place.engine]->graph);
      if (place.width != width_of(*version)) {
        set_width(*version, Bits{place.width});
      }
      versions.graphs.push_back(std::move(version));
    }
    graph.push_back(at->second);
  }
  for (const std::size_t g : graph) {
    versions.operations.push_back(operations_of(*versions.graphs[g]));
  }
  return versions;
}

}  // namespace mapsim
