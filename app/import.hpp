// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/arguments.hpp"
#include "app/command.hpp"
#include "interop/folder_files.hpp"
#include "interop/gpu_table.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim {

// What an import puts into its folder. All of it has been read back once: what is written can be
// used.
struct ImportedFile {
  std::string name;
  std::string text;
};
struct ImportedFiles {
  std::vector<ImportedFile> files;
  std::vector<std::string> notes;
  std::string objective{};  // of the search that may come next; empty: energy
  std::string layer{};      // the first, of files LAYER.workload.yaml ...; empty: workload.yaml ...
  std::string figures{};    // a table for people: what the tool says of the layers, beside ours
};

ImportedFiles import_scalesim(const ImportArguments& arguments);
Unread why_no_scalesim(const std::vector<std::string>& files);
ImportedFiles import_onnx(const ImportArguments& arguments);

// The files of folders among the arguments of `command`, whose messages show commands that end with
// `rest` (" -o DIR"). Throws UsageError where a folder has several files of a kind.
FolderRequest folder_request(const std::string& format, const std::string& command,
                             const std::string& rest);
FolderFiles argument_files(const std::vector<std::string>& arguments, const FolderRequest& request);

// How a Timeloop design is read, and its files with the table of energies that was named apart.
TimeloopOptions timeloop_options(const TimeloopArguments& arguments);
std::vector<std::string> timeloop_files(std::vector<std::string> files,
                                        const TimeloopArguments& arguments);

// `read` throws UsageError, too.
template <class Read>
Unread why_refused(const Read& read) {
  try {
    return why_unread(read);
  } catch (const UsageError& error) {
    return {error.what()};
  }
}

// A mapping that ZigZag found and the proven optimum of its unrolling, both in our cost.
Answer compare_zigzag(const CompareArguments& arguments);

// What a table of GPU timings does not say itself, from the options of that name. Throws
// UsageError.
GpuTableContext table_context(const std::string& path, const std::string& gpu,
                              const std::string& precision, const std::string& problem,
                              const std::string& cache);

// Tables of GPU timings: their rows are added to the measurements file `folder`.
Answer import_gpu_tables(const ImportArguments& arguments);

}  // namespace mapsim
