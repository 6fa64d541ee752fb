// SPDX-License-Identifier: Apache-2.0
#include "core/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/document.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

// One row per kind, in the order of FileKind.
struct Row {
  const char* name;
  const char* folder;
  const char* use;   // what to do with such a file
  const char* keys;  // between spaces; of a map at the root, any of which tells the kind
};
constexpr std::array kRows{
    Row{"an architecture", "arch", "it is the ARCH of mapsim search and others", " nodes gpu "},
    Row{"a workload", "workloads", "it is the WORKLOAD of mapsim search and others",
        " conv2d gemm batched_gemm einsum "},
    Row{"a mapping", "mappings", "mapsim eval and mapsim simulate read it", " mapping "},
    Row{"a kernel", "", "mapsim eval and mapsim export cuda read it", " kernel "},
    Row{"a file of constraints", "constraints", "hand it in with --constraints", " mapspace "},
    Row{"a network", "networks", "mapsim network reads it", " layers streams graph "},
    Row{"a chain of einsums", "chains", "mapsim search, eval and simulate read it", " chain "},
    Row{"a campaign", "campaigns", "mapsim sweep reads it", " architectures "},
    Row{"a certificate", "", "mapsim check reads it",
        " certificate chain_certificate network_certificate "},
    Row{"a result that --json wrote", "", "mapsim report reads it", ""},
    Row{"a results database", "", "mapsim results and mapsim report read it", ""},
    Row{"a measurements file", "", "mapsim calibrate reads it", ""},
    Row{"a Timeloop design", "", "mapsim import timeloop reads it",
        " architecture arch problem mapper compound_components architecture_constraints"
        " mapspace_constraints "},
    Row{"an Accelergy table", "", "an architecture names it as ert or art", " ERT ART "},
    Row{"an ONNX model", "", "mapsim network reads it where its name ends in .onnx", ""},
    Row{"a SCALE-Sim configuration", "", "mapsim import scalesim reads it", ""},
    Row{"a SCALE-Sim topology", "", "mapsim import scalesim reads it", ""},
    Row{"an AccelForge file", "", "mapsim import accelforge reads it", " workload renames "},
    Row{"a ZigZag accelerator", "", "mapsim import zigzag reads it",
        " operational_array core_connectivity "},
    Row{"a chip", "soc", "it is the SOC of mapsim plan", " soc "},
    Row{"a table of measured kernels", "", "mapsim import gpu-table reads it", ""},
    Row{"the text that a command printed", "",
        "--save-mapping FILE of mapsim search writes the mapping, and --json a result", ""}};
static_assert(kRows.size() == static_cast<std::size_t>(FileKind::kText) + 1);

const Row& row_of(FileKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The key that a line of YAML begins with in column 1; empty: none.
std::string_view key_of(std::string_view line) {
  const auto* const end = std::find_if_not(line.begin(), line.end(), is_word);
  const std::string_view word = line.substr(0, static_cast<std::size_t>(end - line.begin()));
  const std::string_view rest = line.substr(word.size());
  return rest.starts_with(':') && (rest.size() == 1 || rest[1] == ' ' || rest[1] == '\r')
             ? word
             : std::string_view{};
}

std::optional<FileKind> kind_of_key(std::string_view key) {
  const std::string between = fmt::format(" {} ", key);
  for (std::size_t i = 0; i < kRows.size() && !key.empty(); ++i) {
    if (std::string_view{kRows[i].keys}.find(between) != std::string_view::npos) {
      return static_cast<FileKind>(i);
    }
  }
  return std::nullopt;
}

// By a line that is no key.
std::optional<FileKind> kind_of_line(std::string_view line, bool first) {
  if (first && line.starts_with("# mapsim measurements")) {
    return FileKind::kMeasurements;
  }
  if (line.starts_with("[architecture_presets]") || line.starts_with("[general]")) {
    return FileKind::kScaleSim;
  }
  return first && (line.starts_with("Layer name,") || line.starts_with("Layer,"))
             ? std::optional{FileKind::kTopology}
             : std::nullopt;
}

std::optional<FileKind> kind_of_bytes(std::string_view text) {
  if (text.starts_with(std::string_view{"SQLite format 3\0", 16})) {
    return FileKind::kDatabase;
  }
  // The tag of a model's first field, ir_version, and its value; no text begins so.
  if (text.size() > 1 && text[0] == '\x08' && text[1] > 0 && text[1] < ' ') {
    return FileKind::kOnnx;
  }
  // "LAYER on ARCH", and below it a nest.
  const std::string_view title = text.substr(0, text.find('\n'));
  if (title.find(" on ") != std::string_view::npos && title.find(':') == std::string_view::npos &&
      text.find("\nmapping:\n") != std::string_view::npos) {
    return FileKind::kText;
  }
  const std::string_view head = text.substr(0, 200);
  return head.starts_with('{') && head.find("\"schema\":") != std::string_view::npos &&
                 head.find("\"name\": \"mapsim\"") != std::string_view::npos
             ? std::optional{FileKind::kResult}
             : std::nullopt;
}

// May the line stand in YAML outside of a text? Prose in column 1 may not, and what comes after it
// is no key, such as an example in a document.
bool is_yaml(std::string_view line) {
  constexpr std::string_view kBegins = " \t\r#-%.{}[]\"'&!?";
  return line.empty() || kBegins.find(line.front()) != std::string_view::npos ||
         line.find(':') != std::string_view::npos;
}

// Keys that no file of another tool has.
bool is_campaign(std::string_view text) {
  return text.find("\nworkloads:") != std::string_view::npos ||
         text.find("\nnetworks:") != std::string_view::npos;
}

// The kinds of a file in the order of its signs.
std::vector<Recognised> signs_of(std::string_view text) {
  std::vector<Recognised> found;
  if (const auto kind = kind_of_bytes(text)) {
    return {{*kind, 1}};
  }
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    auto by_key = kind_of_key(key_of(line));
    if (by_key == FileKind::kTimeloop && is_campaign(text)) {
      by_key = std::nullopt;  // a misspelt `architectures`
    }
    if (auto kind = by_key ? by_key : kind_of_line(line, number == 1)) {
      // Both have `arch` and `mapper`; the nodes of AccelForge have tags of their own.
      const bool either = key_of(line) == "arch" || key_of(line) == "mapper";
      if (*kind == FileKind::kTimeloop && text.find("- !Memory") != std::string_view::npos) {
        kind = FileKind::kAccelForge;
      } else if (either) {
        found.push_back({FileKind::kTimeloop, number});
        kind = FileKind::kAccelForge;
      }
      if (*kind == FileKind::kCertificate) {
        return {{*kind, number}};  // it has keys of what it is about, too
      }
      found.push_back({*kind, number});
    } else if (found.empty() && !is_yaml(line)) {
      break;
    }
    begin = end + 1;
  }
  return found;
}

// The files of a folder by their names.
Words files_in(const fs::path& folder) {
  Words names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{folder, error}) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "; did you mean 'configs/arch/eyeriss.yaml'?"
std::string nearest_file(const std::string& path, const std::vector<std::string>& folders) {
  const fs::path wanted{path};
  const fs::path folder = wanted.parent_path();
  if (const auto name = nearest_word(wanted.filename().string(),
                                     files_in(folder.empty() ? fs::path{"."} : folder))) {
    return fmt::format("; did you mean '{}'?", (folder / *name).string());
  }
  for (const std::string& root : folders) {
    Words names;
    std::vector<fs::path> paths;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator{root, error}) {
      if (entry.is_regular_file(error)) {
        paths.push_back(entry.path());
      }
    }
    // Of equal names the one that is less deep comes first.
    const auto place = [](const fs::path& each) {
      return std::pair{std::distance(each.begin(), each.end()), each};
    };
    std::sort(paths.begin(), paths.end(),
              [&place](const fs::path& a, const fs::path& b) { return place(a) < place(b); });
    for (const fs::path& each : paths) {
      names.push_back(each.stem().string());
    }
    if (const auto name = nearest_word(wanted.stem().string(), names)) {
      const auto at = std::find(names.begin(), names.end(), *name);
      return fmt::format("; did you mean '{}'?",
                         paths[static_cast<std::size_t>(at - names.begin())].string());
    }
  }
  return "";
}

}  // namespace

const char* name_of(FileKind kind) { return row_of(kind).name; }
const char* folder_of(FileKind kind) { return row_of(kind).folder; }

std::optional<Recognised> recognise(std::string_view beginning) {
  const std::vector<Recognised> signs = signs_of(beginning);
  return signs.empty() ? std::nullopt : std::optional{signs.front()};
}

std::optional<Diagnostic> wrong_kind(const std::string& path, std::string_view beginning,
                                     const FileKinds& wanted, const std::string& advice) {
  const std::vector<Recognised> signs = signs_of(beginning);
  const bool fits = std::any_of(signs.begin(), signs.end(), [&wanted](const Recognised& sign) {
    return std::find(wanted.begin(), wanted.end(), sign.kind) != wanted.end();
  });
  if (signs.empty() || fits || wanted.empty()) {
    return std::nullopt;
  }
  const Recognised& found = signs.front();
  const bool text = found.kind != FileKind::kDatabase && found.kind != FileKind::kOnnx;
  const std::string message =
      fmt::format("this is {}, not {}; {}", row_of(found.kind).name, row_of(wanted.front()).name,
                  advice.empty() ? row_of(found.kind).use : advice);
  return Diagnostic{path,    text ? found.line : 0,
                    text,    "",
                    message, text ? line_of(std::string{beginning}, found.line) : ""};
}

std::string beginning_of(const std::string& path, const std::vector<std::string>& folders) {
  std::error_code error;
  if (fs::status(path, error).type() == fs::file_type::not_found) {
    throw ConfigError{
        {{path, 0, 0, "",
          "cannot be opened: No such file or directory" + nearest_file(path, folders), ""}}};
  }
  constexpr std::size_t kBeginning = std::size_t{64} << 10;
  std::string text(fs::is_regular_file(path, error) ? kBeginning : 0, '\0');
  if (!text.empty()) {
    std::ifstream file{path, std::ios::binary};
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  return text;
}

const std::string& checked_file(const std::string& path, const FileKinds& wanted) {
  if (auto wrong = wrong_kind(path, beginning_of(path), wanted)) {
    throw ConfigError{{std::move(*wrong)}};
  }
  return path;
}

}  // namespace mapsim
