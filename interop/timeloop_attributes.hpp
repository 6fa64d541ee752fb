// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop_components.hpp"

namespace mapsim {

// The kind of notes about attributes that a dense design does not use.
inline constexpr const char* kOfFormats =
    "no part in a dense run, attributes of formats of sparse tensors";
// Is it an attribute of the width or number of a format's words?
bool describes_words(const std::string& key);

// The attributes of one component, in version 0.4 including those of the containers around it; the
// clock may stand around it in any version. As in Timeloop, block-size is block_size. If a quantity
// has several spellings, the component's own attributes come before those around it, and the first
// spelling counts; a note names an ignored one with another value. An attribute without a value
// (null, {}, []) is absent.
class TimeloopAttributes {
 public:
  TimeloopAttributes(Reader& reader, const TimeloopComponent& component)
      : reader_{reader}, component_{component} {}

  using Spellings = std::initializer_list<const char*>;  // with underscores
  const Node* find(Spellings spellings);
  std::optional<std::int64_t> whole(Spellings spellings, std::int64_t least = 1);
  std::optional<double> number(Spellings spellings);  // above zero

  // What stands around it and would be read in version 0.4.
  const std::vector<const Entry*>& unread() const { return unread_; }

  // Called last: reports the attributes that were not read. Those that only estimators of energy
  // and area use get a note. Those that would change counts, cycles or energies are errors, unless
  // their values change nothing; unknown ones are errors, too. `seen`: the attributes reported so
  // far, because components share those around them.
  void finish(bool compute, ImportNotes& notes, std::set<const Entry*>& seen);

 private:
  void check(const Entry& entry, bool compute, ImportNotes& notes);
  void ignore(const Entry& entry, const Entry& counts);
  bool may_inherit(const Entry& entry) const;

  Reader& reader_;
  const TimeloopComponent& component_;
  std::set<std::string> asked_;
  std::vector<std::string> ignored_;  // lines of notes
  std::vector<const Entry*> unread_;
};

}  // namespace mapsim
