// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace mapsim {

namespace {

// A field of a protobuf message (protobuf.dev/programming-guides/encoding). What looks like a
// message is one.
struct Field {
  std::uint64_t number = 1;
  std::uint64_t type = 0;  // 0: a number, 1: 8 bytes, 2: bytes or a message, 5: 4 bytes
  std::uint64_t value = 0;
  std::string bytes;
  std::vector<Field> fields;  // of a message; then there are no bytes
};

constexpr int kDeepest = 12;

bool read_number(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

std::optional<std::vector<Field>> read_message(std::string_view bytes, int depth);

bool read_field(std::string_view& bytes, Field& field, int depth) {
  std::uint64_t key = 0;
  if (!read_number(bytes, key)) {
    return false;
  }
  field.number = key >> 3;
  field.type = key & 7;
  std::uint64_t size = field.type == 1 ? 8 : 4;
  if (field.type == 0) {
    return read_number(bytes, field.value);
  }
  if (field.number == 0 || (field.type != 1 && field.type != 2 && field.type != 5) ||
      (field.type == 2 && !read_number(bytes, size)) || size > bytes.size()) {
    return false;
  }
  field.bytes = bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (field.type == 2 && depth < kDeepest) {
    if (auto fields = read_message(field.bytes, depth + 1); fields && !fields->empty()) {
      field.fields = std::move(*fields);
      field.bytes.clear();
    }
  }
  return true;
}

std::optional<std::vector<Field>> read_message(std::string_view bytes, int depth) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    Field field;
    if (!read_field(bytes, field, depth)) {
      return std::nullopt;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

void write_number(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value);
}

std::string write_message(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    write_number((field.number << 3) | field.type, out);
    const std::string bytes = field.fields.empty() ? field.bytes : write_message(field.fields);
    if (field.type == 0) {
      write_number(field.value, out);
    } else if (field.type == 2) {
      write_number(bytes.size(), out);
    }
    out += bytes;
  }
  return out;
}

void list(std::vector<Field>& message, std::vector<std::vector<Field>*>& all) {
  all.push_back(&message);
  for (Field& field : message) {
    if (!field.fields.empty()) {
      list(field.fields, all);
    }
  }
}

void change_value(Field& field, const Field& other, Rng& rng) {
  constexpr std::array<std::uint64_t, 10> kValues{
      0, 1, 2, 3, 127, 1U << 16U, 1U << 31U, 1ULL << 53U, ~0ULL >> 1U, ~0ULL};
  if (field.type == 0) {
    field.value = rng.below(3) == 0 ? other.value : one_of(kValues, rng);
  } else if (field.bytes.empty() || rng.below(2) == 0) {
    field.bytes = other.bytes;
  } else {
    one_of(field.bytes, rng) = static_cast<char>(rng.below(256));
  }
}

}  // namespace

std::string mutate_wire(const std::string& bytes, Rng& rng) {
  std::optional<std::vector<Field>> root = read_message(bytes, 0);
  if (!root || root->empty() || rng.below(16) == 0) {
    return mutate_text(bytes, rng);
  }
  std::vector<std::vector<Field>*> all;
  list(*root, all);
  std::vector<Field>& message = *one_of(all, rng);
  const Field other = one_of(*one_of(all, rng), rng);
  const auto at = message.begin() + static_cast<std::ptrdiff_t>(rng.below(message.size()));
  switch (rng.below(6)) {
    case 0:
      message.erase(at);
      break;
    case 1:
      message.insert(at, other);
      break;
    case 2:
      std::swap(*at, one_of(message, rng));
      break;
    case 3:
      *at = other;
      break;
    default:
      change_value(*at, other, rng);
  }
  return write_message(*root);
}

}  // namespace mapsim
