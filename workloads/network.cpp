// SPDX-License-Identifier: Apache-2.0
#include "workloads/network.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "core/shipped.hpp"
#include "workloads/graph_load.hpp"
#include "workloads/limits.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 20;

WorkbookRow read_workbook(Reader& reader, const Node* node) {
  WorkbookRow row;
  if (node == nullptr) {
    return row;
  }
  const Fields fields =
      reader.fields(*node, {"addition", "pooled", "extra_lines", "winograd_weights", "dram",
                            "reads_memory", "writes_memory", "dram_weights", "memory_weights"});
  row.addition = reader.boolean(fields.find("addition")).value_or(false);
  row.extra_lines = reader.integer(fields.find("extra_lines"), 0, kMaxCount).value_or(0);
  row.winograd_weights = reader.boolean(fields.find("winograd_weights")).value_or(true);
  row.reads_memory = reader.boolean(fields.find("reads_memory")).value_or(true);
  row.writes_memory = reader.boolean(fields.find("writes_memory")).value_or(true);
  row.dram_weights = reader.integer(fields.find("dram_weights"), 0, kMaxCount);
  row.memory_weights = reader.integer(fields.find("memory_weights"), 0, kMaxCount).value_or(0);
  if (const Node* pooled = fields.find("pooled")) {
    const auto sizes = reader.items(*pooled, "two sizes, [rows, columns]");
    if (sizes.size() != 2) {
      reader.error(*pooled, "two sizes are needed, [rows, columns]");
    } else {
      row.pooled = {reader.integer(sizes[0], 1, kMaxCount).value_or(1),
                    reader.integer(sizes[1], 1, kMaxCount).value_or(1)};
    }
  }
  if (const Node* dram = fields.find("dram")) {
    const auto role = reader.choice(dram, {"input", "output"}, "tensor");
    row.dram = role ? std::optional{*role == 0 ? Role::kInput : Role::kOutput} : std::nullopt;
  }
  return row;
}

// Without its workload, which is read when the list itself is known to be right.
std::optional<NetworkLayer> read_layer(Reader& reader, const Node& node,
                                       const std::filesystem::path& folder, const Words& configs) {
  const Fields fields = reader.fields(node, {"workload", "name", "count", "workbook"});
  const auto file = reader.text(fields.require("workload"), "the file of a workload");
  const auto name = reader.name(fields.find("name"));
  const std::int64_t count = reader.integer(fields.find("count"), 1, kMaxCount).value_or(1);
  if (!file) {
    return std::nullopt;
  }
  const std::filesystem::path path =
      find_named(folder.string(), *file, FileKind::kWorkload, configs);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    reader.error(fields.place("workload"), fmt::format("no such file: {}", quoted(path.string())));
  }
  return NetworkLayer{name.value_or(path.stem().string()),
                      {},
                      count,
                      path.string(),
                      read_workbook(reader, fields.find("workbook"))};
}

void read_streams(Reader& reader, const Node* list, Network& network) {
  if (list == nullptr) {
    return;
  }
  for (const Node* item : reader.items(*list, "a list of streams")) {
    const Fields fields = reader.fields(*item, {"name", "kind", "in", "out", "count"});
    Stream stream;
    stream.name = reader.name(fields.require("name")).value_or("");
    stream.kind = reader.name(fields.require("kind")).value_or("");
    stream.in = reader.quantity(fields.find("in"), parse_size).value_or(Bits{0});
    stream.out = reader.quantity(fields.find("out"), parse_size).value_or(Bits{0});
    if (!fields.has("in") && !fields.has("out")) {
      reader.error(*item, "missing key 'in' (or 'out')");
    }
    stream.count = reader.integer(fields.find("count"), 1, kMaxCount).value_or(1);
    network.streams.push_back(std::move(stream));
  }
}

void read_unpriced(Reader& reader, const Node* map, Network& network) {
  if (map == nullptr) {
    return;
  }
  for (const Entry* entry : reader.entries(*map, "a map of operators to how many there are")) {
    const auto kind = reader.name(&entry->key);
    const auto count = reader.integer(&entry->value, 1, kMaxCount);
    if (kind && count) {
      network.unpriced[*kind] = *count;
    }
  }
}

// A graph says all that a list does.
Network read_as_graph(Reader& reader, const Document& document, const Fields& fields,
                      const Words& configs) {
  for (const char* key : {"layers", "streams", "unpriced"}) {
    if (fields.has(key)) {
      reader.error(fields.place(key), fmt::format("'{}' or 'graph', not both", key));
    }
  }
  const std::string name = reader.name(fields.require("name")).value_or("");
  NetworkGraph graph = read_graph(reader, document, fields, configs);
  reader.finish();
  return network_of(name, std::move(graph));
}

Network read_network(const Document& document, const Words& configs) {
  Reader reader{document};
  Words keys{"name", "layers", "streams", "unpriced"};
  const Words more = graph_keys();
  keys.insert(keys.end(), more.begin(), more.end());
  const Fields fields = reader.fields(reader.root(), keys);
  if (fields.has("graph")) {
    return read_as_graph(reader, document, fields, configs);
  }
  for (const char* key : {"inputs", "outputs", "precision"}) {
    if (fields.has(key)) {
      reader.error(fields.place(key), fmt::format("'{}' is for a network with 'graph'", key));
    }
  }
  Network network;
  network.name = reader.name(fields.require("name")).value_or("");
  const Node* list = fields.has("streams") ? fields.find("layers") : fields.require("layers");
  const auto items =
      list == nullptr ? std::vector<const Node*>{} : reader.items(*list, "a list of layers");
  std::set<std::string> names;
  for (const Node* item : items) {
    auto layer =
        read_layer(reader, *item, std::filesystem::path{document.file}.parent_path(), configs);
    if (layer && !names.insert(layer->name).second) {
      reader.error(*item, fmt::format("a second layer '{}'; give it a name of its own, or a count "
                                      "to the first",
                                      layer->name));
    } else if (layer) {
      network.layers.push_back(*std::move(layer));
    }
  }
  read_streams(reader, fields.find("streams"), network);
  read_unpriced(reader, fields.find("unpriced"), network);
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

// ", workbook: {addition: true}", or nothing where it says nothing.
std::string workbook_text(const WorkbookRow& row) {
  std::string text;
  const auto add = [&text](const std::string& entry) {
    text += (text.empty() ? "" : ", ") + entry;
  };
  if (row.addition) {
    add("addition: true");
  }
  if (row.pooled) {
    add(fmt::format("pooled: [{}, {}]", (*row.pooled)[0], (*row.pooled)[1]));
  }
  if (row.extra_lines != 0) {
    add(fmt::format("extra_lines: {}", row.extra_lines));
  }
  if (!row.winograd_weights) {
    add("winograd_weights: false");
  }
  if (row.dram) {
    add(fmt::format("dram: {}", *row.dram == Role::kInput ? "input" : "output"));
  }
  if (row.dram_weights) {
    add(fmt::format("dram_weights: {}", *row.dram_weights));
  }
  if (!row.reads_memory) {
    add("reads_memory: false");
  }
  if (row.memory_weights != 0) {
    add(fmt::format("memory_weights: {}", row.memory_weights));
  }
  if (!row.writes_memory) {
    add("writes_memory: false");
  }
  return text.empty() ? "" : fmt::format(", workbook: {{{}}}", text);
}

}  // namespace

std::int64_t Network::macs() const {
  std::int64_t sum = 0;
  for (const NetworkLayer& layer : layers) {
    sum += layer.count * layer.workload.macs();
  }
  return sum;
}

Network load_network(const std::string& path, const std::vector<std::string>& configs) {
  return read_network(read_yaml(checked_file(path, {FileKind::kNetwork})), configs);
}

Network parse_network(const std::string& text, const std::string& filename) {
  return read_network(parse_yaml(text, filename), {});
}

std::string print_network(const Network& network, const std::string& folder) {
  const auto times = [](std::int64_t count) {
    return count > 1 ? fmt::format(", count: {}", count) : "";
  };
  const auto size = [](const char* key, Bits bits) {
    return bits > Bits{0} ? fmt::format(", {}: {} b", key, bits.count()) : "";
  };
  std::string text = fmt::format("name: {}\n", network.name);
  text += network.layers.empty() ? "" : "layers:\n";
  for (const NetworkLayer& layer : network.layers) {
    const std::string usual = layer.name + ".yaml";
    const std::string file = layer.file.empty() ? usual : layer.file;
    text += fmt::format("  - {{{}workload: {}/{}{}{}}}\n",
                        file == usual ? "" : fmt::format("name: {}, ", layer.name), folder, file,
                        times(layer.count), workbook_text(layer.workbook));
  }
  text += network.streams.empty() ? "" : "streams:\n";
  for (const Stream& stream : network.streams) {
    text += fmt::format("  - {{name: {}, kind: {}{}{}{}}}\n", stream.name, stream.kind,
                        size("in", stream.in), size("out", stream.out), times(stream.count));
  }
  text += network.unpriced.empty() ? "" : "unpriced:\n";
  for (const auto& [kind, count] : network.unpriced) {
    text += fmt::format("  {}: {}\n", kind, count);
  }
  return text;
}

}  // namespace mapsim
