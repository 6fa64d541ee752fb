// SPDX-License-Identifier: Apache-2.0
#include "arch/sparsity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mapsim {

const char* to_string(RankFormat format) {
  switch (format) {
    case RankFormat::kDense:
      return "dense";
    case RankFormat::kBitmask:
      return "bitmask";
    case RankFormat::kCoordinates:
      return "coordinates";
    case RankFormat::kRuns:
      return "runs";
    case RankFormat::kOffsets:
      return "offsets";
  }
  return "";
}

const char* to_string(ZeroAct act) {
  return act == ZeroAct::kGate ? "gate" : act == ZeroAct::kSkip ? "skip" : "nothing";
}

const char* to_string(Balance balance) {
  return balance == Balance::kBarrier  ? "barrier"
         : balance == Balance::kIdeal  ? "ideal"
         : balance == Balance::kPacked ? "packed"
                                       : "end";
}

std::string to_string(const TensorFormat& format) {
  if (format.ideal || format.ranks.empty()) {
    return format.ideal ? "ideal" : "dense";
  }
  std::vector<std::string> codes;
  for (const RankCode& code : format.ranks) {
    codes.emplace_back(to_string(code.format));
    if (code.bits > 0) {
      codes.back() += fmt::format(" {} b", code.bits);
    }
  }
  if (format.columns) {
    codes.emplace_back("by columns");
  }
  return codes.size() == 1 ? codes.front() : fmt::format("[{}]", fmt::join(codes, ", "));
}

std::string to_string(const Fits& fits) {
  return fits.when == FitsWhen::kWorst      ? "worst"
         : fits.when == FitsWhen::kExpected ? "expected"
                                            : fmt::format("{} %", fits.share * 100);
}

}  // namespace mapsim
