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

// A kind of notes: attributes without a part in a dense design.
inline constexpr const char* kOfFormats =
    "no part in a dense run, attributes of formats of sparse tensors";
// Whether one of them says how wide the words of formats are, or how many of them there are.
bool describes_words(const std::string& key);

// The attributes of one component, those around it included. As for Timeloop, block-size is
// block_size. Of several words for one thing the component's own count before those around it, then
// the first; a note names one that says another thing and does not count. An attribute without a
// value (null, {}, []) says nothing.
class TimeloopAttributes {
 public:
  TimeloopAttributes(Reader& reader, const TimeloopComponent& component)
      : reader_{reader}, component_{component} {}

  using Spellings = std::initializer_list<const char*>;  // with underscores
  const Node* find(Spellings spellings);
  std::optional<std::int64_t> whole(Spellings spellings, std::int64_t least = 1);
  std::optional<double> number(Spellings spellings);  // above zero

  // After all else: what nothing has asked for. What only estimators of energy and area read is a
  // note; what would change counts, cycles or energies is an error unless its value changes
  // nothing; and so is every attribute that is not known. `seen`: what has been reported, since
  // components share the attributes around them.
  void finish(bool compute, ImportNotes& notes, std::set<const Entry*>& seen);

 private:
  void check(const Entry& entry, bool compute, ImportNotes& notes);
  void ignore(const Entry& entry, const Entry& counts);

  Reader& reader_;
  const TimeloopComponent& component_;
  std::set<std::string> asked_;
  std::vector<std::string> ignored_;  // lines of notes
};

}  // namespace mapsim
