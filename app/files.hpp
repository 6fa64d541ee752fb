// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/watch.hpp"
#include "arch/arch.hpp"
#include "report/json.hpp"

namespace mapsim {

// A file that appears whole or not at all: written beside its place and renamed over it. Fails at
// once where the place cannot be written (UsageError), so that nobody searches in vain. Nothing
// stands beside the place but while it is written, and signals wait meanwhile, so that nothing is
// left by whoever is ended.
class OutputFile {
 public:
  // "": none, and write() does nothing; "-", elsewhere a sign for standard output, is refused.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // drops what was not written whole
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(const std::string& text);  // all of it; throws UsageError
  // The same in parts. What is not finished is no file.
  void append(std::string_view text);
  void finish();
  void remove() const;  // what stands in its place, of an earlier run

 private:
  void open_beside();
  void drop();  // what is written beside the place

  std::string path_;
  std::optional<Uninterrupted> whole_;
  std::string temporary_;  // while it is there
  int descriptor_ = -1;
};

// Throws UsageError if `output` is, or names, the same file as `other`; "" is no file.
void refuse_same_file(const std::string& output, const std::string& other);

// Throws UsageError where `what` ("the page is HTML") would go to a terminal: `file` is empty and
// standard output is one.
void refuse_terminal(const std::string& file, const std::string& what);

// All of a file. Throws UsageError if it cannot be read.
std::string read_text(const std::string& path);

// The file's name and hash, for the record. Call it after a loader has found the file readable.
InputFile input_file(const std::string& role, const std::string& path);
// Files of one role: "design", "design 2" ...
std::vector<InputFile> input_files(const std::string& role, const std::vector<std::string>& paths);
// Those of a problem: the architecture, the tables that were read with it, the workload.
std::vector<InputFile> input_files(const std::string& arch_path, const Arch& arch,
                                   const std::string& workload_path);
// With the masks that the workload names, as "mask A".
std::vector<InputFile> input_files(const std::string& arch_path, const Problem& problem,
                                   const std::string& workload_path);
// Those, of a layer of a network as "mask LAYER A".
void add_masks(const Workload& workload, const std::string& layer, std::vector<InputFile>& files);

}  // namespace mapsim
