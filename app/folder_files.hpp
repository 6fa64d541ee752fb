// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace mapsim {

// Why files cannot be read together; `text` is empty where they can.
struct Unread {
  std::string text;
  bool lacks_names = false;  // templates ask for names without a value
};

// Whose files are told apart: "timeloop", "zigzag", "accelforge" or "scalesim".
struct FolderRequest {
  std::string command;  // "import timeloop", for the commands that a message shows
  std::string format;
  std::string rest;  // what follows the files in these commands: "-o DIR"
  std::function<Unread(const std::vector<std::string>&)> why_not;  // tries to read files together
  bool has_energies = false;                                       // none are looked for
};
struct FolderFiles {
  std::vector<std::string> files;
  std::vector<std::string> notes;  // which files of a folder were taken
};

// Arguments of which some are folders, those replaced by the files that belong together: a file of
// each kind (architecture, problem ...) that no other argument has given. Where a folder has
// several of a kind, nobody knows which is meant: throws UsageError, with the files by kind and
// commands that read some of them.
FolderFiles files_of_folders(const std::vector<std::string>& arguments,
                             const FolderRequest& request);

}  // namespace mapsim
