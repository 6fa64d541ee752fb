// SPDX-License-Identifier: Apache-2.0
#include "interop/wire.hpp"

#include <bit>

namespace mapsim {

namespace {

// Little endian, whatever this machine is.
std::uint64_t fixed(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return bits;
}

float real32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// Numbers of a fixed size, one behind the other.
template <class Number, class Convert>
void append_fixed(std::string_view bytes, std::size_t size, std::size_t most,
                  std::vector<Number>& numbers, const Convert& convert) {
  if (bytes.size() % size != 0) {
    throw WireError{"a list of numbers is cut short"};
  }
  for (; !bytes.empty() && numbers.size() < most; bytes.remove_prefix(size)) {
    numbers.push_back(convert(fixed(bytes.substr(0, size))));
  }
}

}  // namespace

std::int64_t WireField::integer() const {
  if (kind_ != Kind::kVarint) {
    throw WireError{"a field is not a whole number"};
  }
  return static_cast<std::int64_t>(bits_);
}

float WireField::real() const {
  if (kind_ != Kind::kFixed32) {
    throw WireError{"a field is not a real number"};
  }
  return real32(bits_);
}

std::string_view WireField::bytes() const {
  if (kind_ != Kind::kBytes) {
    throw WireError{"a field is neither text nor a message"};
  }
  return bytes_;
}

void WireField::append(std::vector<std::int64_t>& numbers, std::size_t most) const {
  if (kind_ != Kind::kBytes) {
    if (numbers.size() < most) {
      numbers.push_back(integer());
    }
    return;
  }
  for (WireReader packed{bytes_}; !packed.at_end() && numbers.size() < most;) {
    numbers.push_back(static_cast<std::int64_t>(packed.varint()));
  }
}

void WireField::append(std::vector<float>& numbers, std::size_t most) const {
  if (kind_ == Kind::kBytes) {
    append_fixed(bytes_, sizeof(float), most, numbers, real32);
  } else if (numbers.size() < most) {
    numbers.push_back(real());
  }
}

void WireField::append(std::vector<double>& numbers, std::size_t most) const {
  const auto real64 = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
  if (kind_ == Kind::kBytes) {
    append_fixed(bytes_, sizeof(double), most, numbers, real64);
  } else if (kind_ != Kind::kFixed64) {
    throw WireError{"a field is not a real number"};
  } else if (numbers.size() < most) {
    numbers.push_back(real64(bits_));
  }
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  throw WireError{"a number of more than 64 bits"};
}

std::string_view WireReader::take(std::uint64_t count) {
  if (count > left_.size()) {
    throw WireError{"a field reaches beyond its message"};
  }
  const std::string_view taken = left_.substr(0, static_cast<std::size_t>(count));
  left_.remove_prefix(taken.size());
  return taken;
}

WireField WireReader::next() {
  const std::uint64_t tag = varint();
  const auto number = static_cast<std::uint32_t>(tag >> 3);
  if (number == 0 || tag >> 32 != 0) {
    throw WireError{"a field without a number"};
  }
  const auto kind = static_cast<WireField::Kind>(tag & 7);
  switch (kind) {
    case WireField::Kind::kVarint:
      return {number, kind, varint(), {}};
    case WireField::Kind::kFixed64:
      return {number, kind, fixed(take(8)), {}};
    case WireField::Kind::kBytes:
      return {number, kind, 0, take(varint())};
    case WireField::Kind::kFixed32:
      return {number, kind, fixed(take(4)), {}};
  }
  throw WireError{"a field of no known kind"};
}

}  // namespace mapsim
