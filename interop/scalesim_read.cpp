// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/arithmetic.hpp"
#include "core/ascii.hpp"
#include "core/diagnostic.hpp"
#include "core/edit_distance.hpp"
#include "core/text_stream.hpp"
#include "interop/scalesim.hpp"
#include "workloads/limits.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostMacs = std::int64_t{1} << 53;  // and words of an operand

// A part of a line, and where it stands.
struct Cell {
  std::string text;
  int line = 1;
  int column = 1;
};

class LineReader {
 public:
  LineReader(const std::string& text, const std::string& filename) : filename_{filename} {
    std::istringstream stream = stream_of(text);
    for (std::string line; std::getline(stream, line);) {
      lines_.push_back(line);
    }
  }

  void error(const Cell& at, const std::string& message) {
    diagnostics_.push_back({filename_, at.line, at.column, "", message, line(at.line)});
  }
  void error(const std::string& message) {
    diagnostics_.push_back({filename_, 0, 0, "", message, ""});
  }
  void finish() const {
    if (!diagnostics_.empty()) {
      throw ConfigError{diagnostics_};
    }
  }

  std::int64_t number(const Cell& cell, const std::string& what) {
    std::int64_t value = 0;
    const char* end = cell.text.data() + cell.text.size();
    const auto [stop, problem] = std::from_chars(cell.text.data(), end, value);
    if (problem != std::errc{} || stop != end || value < 1 || value > kMaxExtent) {
      error(cell, fmt::format("{} is {}, not a whole number from 1 to {}", what, quoted(cell.text),
                              kMaxExtent));
      return 1;
    }
    return value;
  }

  // The line from byte `begin` to `end`, without white space around it.
  static Cell cell(std::string_view line, int number, std::size_t begin, std::size_t end) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (begin < end && blank(line[begin])) {
      ++begin;
    }
    while (end > begin && blank(line[end - 1])) {
      --end;
    }
    return {std::string{line.substr(begin, end - begin)}, number, static_cast<int>(begin) + 1};
  }

  int lines() const { return static_cast<int>(lines_.size()); }
  const std::string& line(int number) const { return lines_[static_cast<std::size_t>(number) - 1]; }

 private:
  std::vector<std::string> lines_;
  const std::string& filename_;
  std::vector<Diagnostic> diagnostics_;
};

struct Setting {
  Cell key, value;
};

// Keys of all sections, as the tool's own reader has it: in lower case, `key: value` or `key =
// value`.
std::map<std::string, Setting> read_keys(LineReader& reader) {
  std::map<std::string, Setting> keys;
  for (int number = 1; number <= reader.lines(); ++number) {
    const std::string line = reader.line(number);
    const Cell whole = LineReader::cell(line, number, 0, line.size());
    if (whole.text.empty() || whole.text[0] == '#' || whole.text[0] == ';' ||
        whole.text[0] == '[') {
      continue;
    }
    const std::size_t separator = line.find_first_of(":=");
    if (separator == std::string::npos) {
      reader.error(whole, "expected 'KEY: VALUE'");
      continue;
    }
    const Cell key = LineReader::cell(line, number, 0, separator);
    const Cell value = LineReader::cell(line, number, separator + 1, line.size());
    if (!keys.emplace(lower_case(key.text), Setting{key, value}).second) {
      reader.error(key, fmt::format("{} appears twice", quoted(key.text)));
    }
  }
  return keys;
}

class ConfigReader {
 public:
  explicit ConfigReader(LineReader& reader) : reader_{reader}, keys_{read_keys(reader)} {}

  ScaleSimConfig read() {
    ScaleSimConfig config;
    const Cell* name = find({"run_name"});
    config.name = name != nullptr ? name->text : "scalesim";
    config.rows = size({"ArrayHeight"});
    config.columns = size({"ArrayWidth"});
    config.ifmap_kb = size({"IfmapSramSzkB", "IfmapSramSz"});  // the second one in version 1
    config.filter_kb = size({"FilterSramSzkB", "FilterSramSz"});
    config.ofmap_kb = size({"OfmapSramSzkB", "OfmapSramSz"});
    if (const Cell* dataflow = require({"Dataflow"})) {
      const auto i = one_of(*dataflow, {"os", "ws", "is"});
      config.dataflow = static_cast<ScaleSimDataflow>(i);
    }
    const Cell* mode = find({"InterfaceBandwidth"});
    if (mode != nullptr && one_of(*mode, {"calc", "user"}) == 1) {
      read_bandwidth(config);
      read_beside(config);
    }
    config.sparse = is_on("SparsitySupport");
    const bool by_rows = is_on("OptimizedMapping");
    const Cell* block = find({"BlockSize"});
    if (config.sparse && by_rows) {
      config.sparse_block = block != nullptr ? reader_.number(*block, "BlockSize") : 1;
      if (block == nullptr || config.sparse_block % 2 != 0) {
        reader_.error(block != nullptr ? *block : *find({"OptimizedMapping"}),
                      "OptimizedMapping has an even BlockSize, such as 8");
      }
    }
    add_left_out(config);
    return config;
  }

 private:
  const Cell* find(const Words& names) const {
    for (const std::string& name : names) {
      asked_.insert(lower_case(name));
      if (const auto found = keys_.find(lower_case(name)); found != keys_.end()) {
        return &found->second.value;
      }
    }
    return nullptr;
  }

  // A key may be a slip of one that counts: all that nothing has asked for are named, in the order
  // of the file.
  void add_left_out(ScaleSimConfig& config) const {
    std::map<int, std::string> lines;
    for (const auto& [name, setting] : keys_) {
      if (!asked_.contains(name)) {
        lines[setting.key.line] = setting.key.text;
      }
    }
    std::string list;
    for (const auto& [line, key] : lines) {
      list += fmt::format("{}{} (line {})", list.empty() ? "" : ", ", key, line);
    }
    if (!list.empty()) {
      config.left_out.push_back("ignored keys: " + list);
    }
  }

  // As Python's configparser reads a truth.
  bool is_on(const char* name) const {
    const Cell* found = find({name});
    const Words yes{"true", "yes", "on", "1"};
    return found != nullptr &&
           std::find(yes.begin(), yes.end(), lower_case(found->text)) != yes.end();
  }
  const Cell* require(const Words& names) {
    const Cell* found = find(names);
    if (found == nullptr) {
      const std::string missing = fmt::format("{} is missing", quoted(names.front()));
      if (const Cell* slip = slip_of(names.front())) {
        reader_.error(*slip, missing + "; this may be a slip of it");
      } else {
        reader_.error(missing);
      }
    }
    return found;
  }

  // The key of the file that is nearly this one, and not another that counts; or nullptr.
  const Cell* slip_of(const std::string& wanted) const {
    const Words others{"arrayheight",    "arraywidth",   "ifmapsramszkb", "ifmapsramsz",
                       "filtersramszkb", "filtersramsz", "ofmapsramszkb", "ofmapsramsz"};
    Words unknown;
    for (const auto& [name, setting] : keys_) {
      if (std::find(others.begin(), others.end(), name) == others.end()) {
        unknown.push_back(name);
      }
    }
    const auto nearest = nearest_word(lower_case(wanted), unknown);
    return nearest ? &keys_.at(*nearest).key : nullptr;
  }

  std::int64_t size(const Words& names) {
    const Cell* found = require(names);
    return found != nullptr ? reader_.number(*found, names.front()) : 1;
  }
  std::size_t one_of(const Cell& cell, const Words& words) {
    const auto found = std::find(words.begin(), words.end(), lower_case(cell.text));
    if (found == words.end()) {
      reader_.error(cell, fmt::format("unknown word {}{}", quoted(cell.text),
                                      suggestion(lower_case(cell.text), words)));
      return 0;
    }
    return static_cast<std::size_t>(found - words.begin());
  }
  // Of the list the tool uses the first entry: version 2 for all three ports, version 3 for the
  // ofmap only; those of ifmap and filter are the bandwidths of their banks, in the section
  // [layout] (scalesim/single_layer_sim.py of both).
  void read_bandwidth(ScaleSimConfig& config) {
    const Cell* list = require({"Bandwidth"});
    if (list == nullptr) {
      return;
    }
    std::vector<std::int64_t> words;
    for (std::size_t begin = 0; begin <= list->text.size();) {
      const std::size_t end = std::min(list->text.find(',', begin), list->text.size());
      Cell item = LineReader::cell(list->text, list->line, begin, end);
      item.column += list->column - 1;
      words.push_back(reader_.number(item, "Bandwidth"));
      begin = end + 1;
    }
    const auto bank = [&](const char* name) {
      const Cell* found = find({name});
      return found != nullptr ? reader_.number(*found, name) : words.front();
    };
    config.bandwidth = {bank("IfmapSRAMBankBandwidth"), bank("FilterSRAMBankBandwidth"),
                        words.front()};
  }

  // What the tool does at a given bandwidth that its figures here leave out.
  void read_beside(ScaleSimConfig& config) {
    if (is_on("IfmapCustomLayout") || is_on("FilterCustomLayout")) {
      config.not_modelled = "a layout of operands in banks (IfmapCustomLayout, FilterCustomLayout)";
    } else if (is_on("UseRamulatorTrace")) {
      config.not_modelled = "latencies from a file (UseRamulatorTrace)";
    }
  }

  LineReader& reader_;
  std::map<std::string, Setting> keys_;
  mutable std::set<std::string> asked_;
};

const Words kConvColumns{"IFMAP height", "IFMAP width",       "filter height", "filter width",
                         "channels",     "number of filters", "stride"};
const Words kGemmColumns{"M", "N", "K"};

bool is_ratio(const std::string& text) {
  return text.find(':') != std::string::npos &&
         text.find_first_not_of("0123456789: ") == std::string::npos;
}

// Words, no number: where a ratio may stand.
bool is_comment(const std::string& text) {
  return text.find_first_not_of("0123456789:. ") != std::string::npos;
}

// The tool drops what stands behind the last comma of a row: nothing, or a comment, whose own last
// cell may be empty. A row that ends in its last number is taken as it is, and so is a ratio, which
// somebody meant.
std::vector<Cell> cells_of(const std::string& line, int number) {
  std::vector<Cell> cells;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(LineReader::cell(line, number, begin, end));
    begin = end + 1;
  }
  if (cells.size() > kGemmColumns.size() + 1 && cells.size() != kConvColumns.size() + 1 &&
      !is_ratio(cells.back().text)) {
    cells.pop_back();
  }
  while (!cells.empty() && cells.back().text.empty()) {
    cells.pop_back();
  }
  const bool surplus =
      cells.size() == kConvColumns.size() + 2 || cells.size() == kGemmColumns.size() + 2;
  if (surplus && is_comment(cells.back().text)) {
    cells.pop_back();
  }
  return cells;
}

void check_size(LineReader& reader, const Cell& at, const ScaleSimLayer& layer) {
  if (layer.filter_height > layer.ifmap_height || layer.filter_width > layer.ifmap_width) {
    reader.error(at, "the filter is larger than the ifmap");
    return;
  }
  // Windows at most, and words of each.
  const std::int64_t windows =
      layer.gemm ? layer.ifmap_height : layer.ifmap_height * layer.ifmap_width;
  const std::int64_t taps = layer.filter_height * layer.filter_width;
  const bool small = windows <= kMaxExtent && taps <= kMaxExtent / layer.channels &&
                     windows <= kMostMacs / (taps * layer.channels) / layer.filters;
  if (!small) {
    reader.error(at,
                 "the layer is too large: 2^30 pixels, 2^30 words a window and 2^53 MACs at most");
  }
}

ScaleSimLayer read_layer(LineReader& reader, const std::vector<Cell>& cells) {
  const bool gemm = cells.size() <= kGemmColumns.size() + 2;
  const Words& columns = gemm ? kGemmColumns : kConvColumns;
  ScaleSimLayer layer;
  layer.name = cells[0].text;
  layer.gemm = gemm;
  if (cells.size() < columns.size() + 1 || cells.size() > columns.size() + 2) {
    reader.error(cells[0], fmt::format("a row is a name, then M, N, K, or {} numbers of a "
                                       "convolution; this one has {} cells",
                                       kConvColumns.size(), cells.size()));
    return layer;
  }
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    values.push_back(reader.number(cells[i + 1], columns[i]));
  }
  layer.line = cells[0].line;
  if (cells.size() == columns.size() + 2) {
    if (!is_ratio(cells.back().text)) {
      reader.error(cells.back(), "expected a ratio of non-zero weights, such as 2:4");
    }
    const std::string& ratio = cells.back().text;
    layer.ratio = ratio == "1:1" ? "" : ratio;
    layer.kept = std::strtoll(ratio.c_str(), nullptr, 10);
    layer.block = std::strtoll(ratio.c_str() + ratio.find(':') + 1, nullptr, 10);
    if (is_ratio(ratio) && !(layer.kept >= 1 && layer.kept <= layer.block)) {
      reader.error(cells.back(), "expected a ratio of non-zero weights, such as 2:4");
    }
  }
  if (gemm) {
    layer.ifmap_height = values[0];
    layer.ifmap_width = layer.filter_width = values[2];
    layer.filters = values[1];
  } else {
    layer.ifmap_height = values[0];
    layer.ifmap_width = values[1];
    layer.filter_height = values[2];
    layer.filter_width = values[3];
    layer.channels = values[4];
    layer.filters = values[5];
    layer.stride = values[6];
    if (layer.name.find("DP") != std::string::npos) {
      layer.copies = std::exchange(layer.channels, 1);
    }
  }
  check_size(reader, cells[0], layer);
  return layer;
}

}  // namespace

std::int64_t scalesim_kept(const ScaleSimConfig& config, const ScaleSimLayer& layer) {
  const std::int64_t words = layer.filter_height * layer.filter_width * layer.channels;
  if (!config.sparse) {
    return words;
  }
  const std::int64_t pair = 2 * config.sparse_block;
  return pair > 0 ? ceil_div(words, pair) * config.sparse_block
                  : words / layer.block * layer.kept + std::min(words % layer.block, layer.kept);
}

ScaleSimConfig parse_scalesim_config(const std::string& text, const std::string& filename) {
  LineReader reader{text, filename};
  const ScaleSimConfig config = ConfigReader{reader}.read();
  reader.finish();
  return config;
}

std::vector<ScaleSimLayer> parse_scalesim_topology(const std::string& text,
                                                   const std::string& filename) {
  LineReader reader{text, filename};
  std::vector<ScaleSimLayer> layers;
  for (int number = 2; number <= reader.lines(); ++number) {  // the first line is a heading
    const std::vector<Cell> cells = cells_of(reader.line(number), number);
    if (!cells.empty()) {
      layers.push_back(read_layer(reader, cells));
    }
  }
  if (layers.empty()) {
    reader.error("no layers; the first line is a heading, each further one a layer");
  }
  reader.finish();
  return layers;
}

}  // namespace mapsim
