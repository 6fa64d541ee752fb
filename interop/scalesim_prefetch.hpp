// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "interop/scalesim_stream.hpp"

namespace mapsim {

// SCALE-Sim's read buffer at a given bandwidth (InterfaceBandwidth: USER).
//
// The words of a stream, line by line, form sets of a hundredth of the buffer. Half of the sets
// that fit are in use, as a window over all sets; the other half is fetched meanwhile. A request
// for a word outside of the window advances it, cyclically, by the half that was fetched until the
// word is inside. Each advance fetches the next half, whether its words are needed or not.
class ScaleSimPrefetch {
 public:
  // `port`: words/cycle. `ifmap`, with its tables made: for the stream of an ifmap whose windows
  // overlap or that has nulls; else nullptr. nullopt: this takes more than `steps`, which is
  // reduced by those taken.
  static std::optional<ScaleSimPrefetch> make(const ScaleSimStream& stream, std::int64_t kilobytes,
                                              std::int64_t port, const ScaleSimIfmap* ifmap,
                                              std::int64_t& steps);

  // The array requests the words of a run in `cycle`. Returns by how many cycles they are late,
  // which is negative if they are early (a slip of the tool: being early makes up for no other
  // stall).
  std::int64_t ask(std::int64_t cycle, const ScaleSimStream::Run& run, std::int64_t& steps);
  std::int64_t words() const { return fetches_; }  // from DRAM
  std::int64_t start() const { return start_; }    // cycle of the first of them

 private:
  struct Key {  // of the first word of a set
    std::int64_t line, port;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  explicit ScaleSimPrefetch(const ScaleSimStream& stream) : stream_{stream} {}
  bool lay_out(std::int64_t set_words, std::int64_t& steps);
  std::size_t set_of(const Key& key) const;
  std::size_t moves_to(std::size_t set) const;
  std::size_t moves_to_duplicate(const Key& key, std::int64_t& steps);
  void move(std::size_t times, std::int64_t cycle, std::int64_t& offset);

  ScaleSimStream stream_;
  const ScaleSimIfmap* ifmap_ = nullptr;
  std::vector<Key> sets_;
  std::size_t count_ = 0;   // of sets; the last one may be empty
  std::size_t active_ = 0;  // of these, the window
  std::size_t next_ = 0;    // by which it moves
  std::size_t begin_ = 0;
  std::int64_t batch_ = 0;        // cycles of a fetch
  std::int64_t batch_words_ = 0;  // whole lines of the port
  std::int64_t fetches_ = 0;
  std::int64_t start_ = 0;
  std::int64_t fetched_at_ = -1;  // cycle of the last fetch's last line
  mutable std::size_t hint_ = 0;
  std::vector<ScaleSimStream::Place> duplicates_;
};

}  // namespace mapsim
