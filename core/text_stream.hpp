// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace mapsim {

// A stream over a text. It throws std::bad_alloc if memory ends. By default the text would seem to
// end where memory does, since streams catch what is thrown while they read.
inline std::istringstream stream_of(std::string text) {
  std::istringstream stream{std::move(text)};
  stream.exceptions(std::ios::badbit);
  return stream;
}

// Throws std::bad_alloc if that is what kept a folder from being listed. Other errors are the
// caller's: it may do without a folder.
inline void require_memory(const std::error_code& error) {
  if (error == std::errc::not_enough_memory) {
    throw std::bad_alloc{};
  }
}

}  // namespace mapsim
