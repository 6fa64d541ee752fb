// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interop/front_end.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// A class of Accelergy's that is put together of other components.
struct TimeloopCompound {
  std::string name;
  std::string place;                                       // "components.yaml:12"
  std::string section;                                     // place of the section with the class
  std::vector<std::pair<std::string, std::string>> parts;  // name and class
  std::vector<std::string> read;  // names of the parts that the action `read` acts on
};

// The classes of a section `compound_components` or `components`. What is of another form is no
// class of it: the section is Accelergy's.
std::vector<TimeloopCompound> read_timeloop_compounds(const FrontEndDocument& source,
                                                      const Entry& section);

// For our own tables: a storage of a compound class is made as the one storage among its parts that
// a read acts on, and the parts of an arithmetic one say what its numbers are. The other parts cost
// nothing, which a note says with the place of the class. Places of the sections of which a class
// was taken.
std::set<std::string> take_compounds(const std::vector<TimeloopCompound>& compounds,
                                     TimeloopArchSection& arch, ImportNotes& notes);

}  // namespace mapsim
