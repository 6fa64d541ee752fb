// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/template.hpp"

namespace mapsim {

// Why files cannot be read together; `text` is empty where they can.
struct Unread {
  std::string text;
  bool lacks_names = false;  // templates ask for names without a value
};

std::string first_message(const ConfigError& error);  // with its place
template <class Read>
Unread why_unread(const Read& read) {
  try {
    read();
    return {};
  } catch (const UnsetNames& error) {
    return {first_message(error), true};
  } catch (const ConfigError& error) {
    return {first_message(error)};
  } catch (const std::invalid_argument& error) {
    return {error.what()};
  }
}

// Whose files are told apart, and by whom: a command, or a function of a language.
struct FolderRequest {
  std::string format;    // "timeloop", "zigzag", "accelforge" or "scalesim"
  std::string reader;    // as a message names it: 'import timeloop'
  bool compares{false};  // a mapping that the tool has found is one of the files
  // How files are given to the reader: "mapsim import timeloop arch.yaml map.yaml -o DIR".
  std::function<std::string(const std::vector<std::string>&)> call;
  std::function<Unread(const std::vector<std::string>&)> why_not;  // tries to read files together
  bool has_energies = false;                                       // none are looked for
};
struct FolderFiles {
  std::vector<std::string> files;
  std::vector<std::string> notes;  // which files of a folder were taken
};

// Arguments of which some are folders, those replaced by the files that belong together: a file of
// each kind (architecture, problem ...) that no other argument has given. Where a folder has
// several of a kind, nobody knows which is meant: throws std::invalid_argument, with the files by
// kind and calls that read some of them.
FolderFiles files_of_folders(const std::vector<std::string>& arguments,
                             const FolderRequest& request);

}  // namespace mapsim
