// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mapsim {

// An error of bytes that are no message.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A field of a message in the wire format of Protocol Buffers
// (protobuf.dev/programming-guides/encoding). It has a view of the message's bytes.
class WireField {
 public:
  enum class Kind : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  WireField(std::uint32_t number, Kind kind, std::uint64_t bits, std::string_view bytes)
      : number_{number}, kind_{kind}, bits_{bits}, bytes_{bytes} {}

  std::uint32_t number() const { return number_; }
  Kind kind() const { return kind_; }
  std::string_view raw() const { return bytes_; }  // empty unless kBytes

  // Each throws WireError if the field is of another kind.
  std::int64_t integer() const;
  float real() const;
  std::string_view bytes() const;
  std::string text() const { return std::string{bytes()}; }

  // Appends the field's numbers, packed or a single one, until `numbers` holds `most`.
  void append(std::vector<std::int64_t>& numbers, std::size_t most) const;
  void append(std::vector<float>& numbers, std::size_t most) const;
  void append(std::vector<double>& numbers, std::size_t most) const;

 private:
  std::uint32_t number_;
  Kind kind_;
  std::uint64_t bits_;  // of a number
  std::string_view bytes_;
};

// Reads the fields of a message in their order. Throws WireError if the message is cut short, if a
// length exceeds it, or for a group (ONNX has none).
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_{message} {}
  bool at_end() const { return left_.empty(); }
  WireField next();
  std::uint64_t varint();

 private:
  std::string_view take(std::uint64_t count);
  std::string_view left_;
};

}  // namespace mapsim
