// SPDX-License-Identifier: Apache-2.0
#include "interop/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim::wire_test {
namespace {

using std::string_literals::operator""s;

// Examples of protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2, the
// packed numbers 3, 270 and 86942 in field 6.
TEST(Wire, ReadsTheExamplesOfItsSpecification) {
  const std::string message = "\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05"s;
  WireReader reader{message};
  const WireField first = reader.next();
  EXPECT_EQ(first.number(), 1);
  EXPECT_EQ(first.integer(), 150);
  const WireField second = reader.next();
  EXPECT_EQ(second.number(), 2);
  EXPECT_EQ(second.text(), "testing");
  const WireField third = reader.next();
  std::vector<std::int64_t> numbers;
  third.append(numbers, 10);
  EXPECT_EQ(third.number(), 6);
  EXPECT_THAT(numbers, testing::ElementsAre(3, 270, 86942));
  EXPECT_TRUE(reader.at_end());
}

TEST(Wire, ReadsNegativeAndRealNumbers) {
  const std::string message = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x15\x00\x00\x20\xc0"s;
  WireReader reader{message};
  EXPECT_EQ(reader.next().integer(), -1);
  EXPECT_EQ(reader.next().real(), -2.5F);
}

TEST(Wire, KeepsAsManyNumbersAsItMay) {
  std::vector<std::int64_t> numbers;
  WireReader{"\x0a\x03\x01\x02\x03"}.next().append(numbers, 2);
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2));
}

TEST(Wire, RefusesWhatIsNoMessage) {
  const auto read = [](const std::string& bytes) {
    for (WireReader reader{bytes}; !reader.at_end();) {
      reader.next();
    }
  };
  EXPECT_THROW(read("\x08"s), WireError) << "no value";
  EXPECT_THROW(read("\x12\x05"s
                    "abc"),
               WireError)
      << "a length beyond the end";
  EXPECT_THROW(read("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), WireError) << "2^64 - 1 bytes";
  EXPECT_THROW(read("\x0b\x0c"s), WireError) << "a group";
  EXPECT_THROW(read("\x00\x01"s), WireError) << "field 0";
  EXPECT_THROW(read("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s), WireError) << "70 bits";
  EXPECT_THROW(WireReader{"\x08\x01"}.next().bytes(), WireError);
  EXPECT_THROW(WireReader{"\x0a\x01z"}.next().integer(), WireError);
}

// With its length in front.
std::string framed(const std::string& message) {
  std::string length;
  for (std::size_t left = message.size(); length.empty() || left > 0; left >>= 7) {
    length += static_cast<char>((left & 0x7F) | (left >= 0x80 ? 0x80 : 0));
  }
  return length + message;
}

// Graphs within graphs.
std::string nested(int depth) {
  std::string inner;
  for (int i = 0; i < depth; ++i) {
    for (const char* tag : {"\x32", "\x2a", "\x0a"}) {  // g of an attribute of a node of a graph
      inner = tag + framed(inner);
    }
  }
  return inner;
}

TEST(Wire, BoundsHowDeepModelsAreNested) {
  const auto model = [](int depth) { return "\x08\x08\x3a" + framed(nested(depth)); };
  EXPECT_NO_THROW(parse_model(model(5)));
  EXPECT_THROW(parse_model(model(100)), WireError);
  EXPECT_THROW(parse_model(model(10'000)), WireError);
}

}  // namespace
}  // namespace mapsim::wire_test
