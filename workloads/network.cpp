// SPDX-License-Identifier: Apache-2.0
#include "workloads/network.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "core/reader.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 20;
constexpr std::int64_t kMaxMacs = std::int64_t{1} << 62;

// Without its workload, which is read when the list itself is known to be right.
std::optional<NetworkLayer> read_layer(Reader& reader, const Node& node,
                                       const std::filesystem::path& folder) {
  const Fields fields = reader.fields(node, {"workload", "name", "count"});
  const auto file = reader.text(fields.require("workload"), "the file of a workload");
  const auto name = reader.name(fields.find("name"));
  const std::int64_t count = reader.integer(fields.find("count"), 1, kMaxCount).value_or(1);
  if (!file) {
    return std::nullopt;
  }
  const std::filesystem::path path = folder / *file;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.error(fields.place("workload"), fmt::format("no such file: {}", quoted(path.string())));
  }
  return NetworkLayer{name.value_or(path.stem().string()), {}, count, path.string()};
}

Network read_network(const Document& document) {
  Reader reader{document};
  const Fields fields = reader.fields(reader.root(), {"name", "layers"});
  Network network;
  network.name = reader.name(fields.require("name")).value_or("");
  const Node* list = fields.require("layers");
  const auto items =
      list == nullptr ? std::vector<const Node*>{} : reader.items(*list, "a list of layers");
  std::set<std::string> names;
  for (const Node* item : items) {
    auto layer = read_layer(reader, *item, std::filesystem::path{document.file}.parent_path());
    if (layer && !names.insert(layer->name).second) {
      reader.error(*item, fmt::format("a second layer '{}'; give it a name of its own, or a count "
                                      "to the first",
                                      layer->name));
    } else if (layer) {
      network.layers.push_back(*std::move(layer));
    }
  }
  reader.finish();
  std::int64_t room = kMaxMacs;
  for (NetworkLayer& layer : network.layers) {
    layer.workload = load_workload(layer.file);
    if (layer.workload.macs() > room / layer.count) {
      reader.error(*list, "more than 2^62 MACs");
      reader.finish();
    }
    room -= layer.count * layer.workload.macs();
  }
  return network;
}

}  // namespace

std::int64_t Network::macs() const {
  std::int64_t sum = 0;
  for (const NetworkLayer& layer : layers) {
    sum += layer.count * layer.workload.macs();
  }
  return sum;
}

Network load_network(const std::string& path) { return read_network(read_yaml(path)); }

Network parse_network(const std::string& text, const std::string& filename) {
  return read_network(parse_yaml(text, filename));
}

}  // namespace mapsim
