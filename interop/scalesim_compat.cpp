// SPDX-License-Identifier: Apache-2.0
// Everything in which SCALE-Sim (scalesim-project/SCALE-Sim 1d62b68) differs from the machine that
// it describes. docs/validation.md has the list.
#include "interop/scalesim_compat.hpp"

#include <algorithm>
#include <vector>

#include "costmodel/timing/systolic.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kPrefetchBandwidth = 10;  // words/cycle, whatever the machine has

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Slip: the tool rounds up where a window that does not fit has no place: pixels of the last row
// and column may reach beyond the ifmap. It drops those requests, but counts them.
std::int64_t outputs(std::int64_t ifmap, std::int64_t filter, std::int64_t stride) {
  return divide_up(ifmap - filter + stride, stride);
}

// Slip: a read buffer is a hundred sets of words, the half that is read fifty of them. A word that
// is in none of them is fetched and joins; when all are full, all are emptied.
class FlushSet {
 public:
  FlushSet(std::int64_t kilobytes, std::int64_t addresses)
      : words_{1024 * kilobytes / 100},
        capacity_{50 * words_},
        seen_(static_cast<std::size_t>(addresses), 0) {}

  void read(std::int64_t address) {
    std::uint32_t& seen = seen_[static_cast<std::size_t>(address)];
    if (seen == generation_) {
      return;
    }
    seen = generation_;
    ++misses_;
    if (++held_ == capacity_) {
      held_ = 0;
      ++generation_;
    }
  }
  std::int64_t misses() const { return misses_; }
  // Slip: prefetched at a bandwidth of its own, from so many cycles before the first request (or
  // before cycle 0, if it never gets full).
  std::int64_t start(std::int64_t first_request) const {
    return generation_ > 1 ? first_request - divide_up(capacity_, kPrefetchBandwidth)
                           : -divide_up(divide_up(misses_, words_) * words_, kPrefetchBandwidth);
  }

 private:
  std::int64_t words_;  // of a set
  std::int64_t capacity_;
  std::vector<std::uint32_t> seen_;  // generation in which an address was read last
  std::uint32_t generation_ = 1;
  std::int64_t held_ = 0;
  std::int64_t misses_ = 0;
};

// Slip: the write buffer drains half of itself, line by line of as many words as the array has
// columns, when it is half full, and pads the line that it breaks off.
class DrainBuffer {
 public:
  DrainBuffer(std::int64_t kilobytes, std::int64_t line)
      : half_{1024 * kilobytes / 2}, line_{line}, batch_{divide_up(half_, line)} {}

  void write(std::int64_t cycle, std::int64_t words) {
    while (words > 0) {
      const std::int64_t until_full = std::max<std::int64_t>(half_ + 1 - held_, 1);
      if (cycle < drained_at_ || words < until_full) {
        fill(words);
        return;
      }
      fill(until_full);
      words -= until_full;
      break_line();
      drain(cycle);
    }
  }
  void finish(std::int64_t cycle) {
    break_line();
    while (next_ < lines_.size()) {
      drain(cycle);
      cycle = drained_at_ + 1;
    }
  }
  std::int64_t written() const { return written_; }
  std::int64_t start() const { return start_; }
  std::int64_t stop() const { return stop_; }

 private:
  void fill(std::int64_t words) {
    held_ += words;
    open_ += words;
    for (; open_ >= line_; open_ -= line_) {
      lines_.push_back(line_);
    }
  }
  void break_line() {
    if (open_ > 0) {
      lines_.push_back(open_);
      open_ = 0;
    }
  }
  void drain(std::int64_t cycle) {
    const auto lines = std::min(batch_, static_cast<std::int64_t>(lines_.size() - next_));
    next_ += static_cast<std::size_t>(lines);
    const std::int64_t words = (lines - 1) * line_ + lines_[next_ - 1];
    start_ = written_ == 0 ? cycle : start_;
    written_ += words;
    held_ -= words;
    drained_at_ = cycle + lines - 1;
    stop_ = std::max(stop_, drained_at_);
  }

  std::int64_t half_;
  std::int64_t line_;
  std::int64_t batch_;               // lines of half a buffer
  std::vector<std::int64_t> lines_;  // words of each; the padding of the last one is not drained
  std::size_t next_ = 0;             // to drain
  std::int64_t open_ = 0;            // words of the line that is being filled
  std::int64_t held_ = 0;
  std::int64_t written_ = 0;
  std::int64_t start_ = 0;
  std::int64_t drained_at_ = 0;
  std::int64_t stop_ = 0;
};

// Addresses of the unfolded ifmap: height, width, channel; -1: beyond the ifmap.
class IfmapAddresses {
 public:
  IfmapAddresses(const ScaleSimLayer& layer, const ScaleSimGemm& gemm) : layer_{layer} {
    const std::int64_t width = outputs(layer.ifmap_width, layer.filter_width, layer.stride);
    for (std::int64_t m = 0; m < gemm.m; ++m) {
      pixels_.push_back(at(m / width * layer.stride, m % width * layer.stride, 0));
    }
    for (std::int64_t k = 0; k < gemm.k; ++k) {
      const std::int64_t pixel = k / layer.channels;
      taps_.push_back(
          at(pixel / layer.filter_width, pixel % layer.filter_width, k % layer.channels));
    }
  }
  std::int64_t operator()(std::int64_t m, std::int64_t k) const {
    const Place& pixel = pixels_[static_cast<std::size_t>(m)];
    const Place& tap = taps_[static_cast<std::size_t>(k)];
    const bool inside =
        pixel.row + tap.row < layer_.ifmap_height && pixel.column + tap.column < layer_.ifmap_width;
    return inside ? pixel.address + tap.address : -1;
  }

 private:
  struct Place {
    std::int64_t row, column, address;
  };
  Place at(std::int64_t row, std::int64_t column, std::int64_t channel) const {
    return {row, column, (row * layer_.ifmap_width + column) * layer_.channels + channel};
  }
  const ScaleSimLayer& layer_;
  std::vector<Place> pixels_, taps_;
};

struct Range {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

// Folds in the order of the tool, columns outside: use(rows, columns) for each.
template <class Use>
void for_each_fold(const ScaleSimConfig& config, const ScaleSimFolding& folding, const Use& use) {
  for (std::int64_t column = 0; column < folding.columns; column += config.columns) {
    for (std::int64_t row = 0; row < folding.rows; row += config.rows) {
      use(Range{row, std::min(config.rows, folding.rows - row)},
          Range{column, std::min(config.columns, folding.columns - column)});
    }
  }
}

template <class Address>
void request(FlushSet& buffer, const Address& address, std::int64_t i, std::int64_t j) {
  if (const std::int64_t word = address(i, j); word >= 0) {
    buffer.read(word);
  }
}

// A moving operand: port i takes its word of time t at cycle t + i. address(port, time).
template <class Address>
void stream(FlushSet& buffer, Range ports, std::int64_t time, const Address& address) {
  for (std::int64_t cycle = 0; cycle < time + ports.size - 1; ++cycle) {
    const std::int64_t last = std::min(cycle, ports.size - 1);
    for (std::int64_t i = std::max<std::int64_t>(0, cycle - time + 1); i <= last; ++i) {
      request(buffer, address, ports.first + i, cycle - i);
    }
  }
}

// What stays, shifted in from the last row to the first. address(row, column).
template <class Address>
void shift_in(FlushSet& buffer, Range rows, Range columns, const Address& address) {
  for (std::int64_t i = rows.size; i-- > 0;) {
    for (std::int64_t j = 0; j < columns.size; ++j) {
      request(buffer, address, rows.first + i, columns.first + j);
    }
  }
}

// Reads of both operands, in the order in which the array asks for them.
void read_operands(const ScaleSimConfig& config, const ScaleSimFolding& folding,
                   const ScaleSimGemm& gemm, const IfmapAddresses& ifmap, FlushSet& ifmap_buffer,
                   FlushSet& filter_buffer) {
  const auto filter = [&gemm](std::int64_t k, std::int64_t n) { return n * gemm.k + k; };
  const auto transposed = [](const auto& address) {
    return [&address](std::int64_t i, std::int64_t j) { return address(j, i); };
  };
  for_each_fold(config, folding, [&](Range rows, Range columns) {
    switch (config.dataflow) {
      case ScaleSimDataflow::kOutput:
        stream(ifmap_buffer, rows, folding.time, ifmap);
        stream(filter_buffer, columns, folding.time, transposed(filter));
        break;
      case ScaleSimDataflow::kWeight:
        stream(ifmap_buffer, rows, folding.time, transposed(ifmap));
        shift_in(filter_buffer, rows, columns, filter);
        break;
      case ScaleSimDataflow::kInput:
        shift_in(ifmap_buffer, rows, columns, transposed(ifmap));
        stream(filter_buffer, rows, folding.time, filter);
        break;
    }
  });
}

// Slip: every fold takes as long as one that fills the array.
std::int64_t fold_cycles(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  const bool loads = config.dataflow != ScaleSimDataflow::kOutput;
  return folding.time + config.rows + config.columns - 2 + (loads ? config.rows : 0);
}

// Sums leave column after column, a cycle apart: a wave per fold.
void write_sums(const ScaleSimConfig& config, const ScaleSimFolding& folding, DrainBuffer& buffer) {
  const bool stays = config.dataflow == ScaleSimDataflow::kOutput;
  std::int64_t begin = 0;
  for_each_fold(config, folding, [&](Range rows, Range columns) {
    const std::int64_t first =
        begin + (stays ? folding.time - 1 + config.rows - rows.size : 2 * config.rows - 1);
    const std::int64_t length = stays ? rows.size : folding.time;
    for (std::int64_t x = 0; x < length + columns.size - 1; ++x) {
      buffer.write(first + x,
                   std::min(x, columns.size - 1) - std::max<std::int64_t>(0, x - length + 1) + 1);
    }
    begin += fold_cycles(config, folding);
  });
  buffer.finish(begin - 1);
}

void add_sram(const ScaleSimConfig& config, const ScaleSimFolding& folding,
              const ScaleSimGemm& gemm, ScaleSimFigures& figures) {
  const std::int64_t by_column = folding.column_folds;
  const std::int64_t by_row = folding.row_folds;
  switch (config.dataflow) {
    case ScaleSimDataflow::kOutput:
      figures.ifmap.sram = gemm.m * gemm.k * by_column;
      figures.filter.sram = gemm.k * gemm.n * by_row;
      // Slip: rows + columns are added once more for every fold.
      figures.ofmap.sram = gemm.m * gemm.n + folding.folds() * (config.rows + config.columns);
      break;
    case ScaleSimDataflow::kWeight:
      figures.ifmap.sram = gemm.m * gemm.k * by_column;
      figures.filter.sram = gemm.k * gemm.n;
      figures.ofmap.sram = gemm.m * gemm.n * by_row;  // read back: never
      break;
    case ScaleSimDataflow::kInput:
      figures.ifmap.sram = gemm.m * gemm.k;
      figures.filter.sram = gemm.k * gemm.n * by_column;
      figures.ofmap.sram = gemm.m * gemm.n * by_row;
      break;
  }
}

void add_utilizations(const ScaleSimConfig& config, const ScaleSimFolding& folding,
                      const ScaleSimGemm& gemm, ScaleSimFigures& figures) {
  const auto units = static_cast<double>(config.rows * config.columns);
  const auto folds = static_cast<double>(folding.folds());
  const auto used = static_cast<double>(folding.rows * folding.columns);
  // Slip: not the cycles of a fold where an operand stays, but columns - 1 more.
  const bool loads = config.dataflow != ScaleSimDataflow::kOutput;
  const std::int64_t cycles = fold_cycles(config, folding) + (loads ? config.columns - 1 : 0);
  figures.mapping_efficiency = 100 * used / (folds * units);
  figures.compute_utilization = 100 * used * static_cast<double>(folding.time) /
                                (folds * units * static_cast<double>(cycles));
  figures.overall_utilization = 100 * static_cast<double>(gemm.m * gemm.n * gemm.k) /
                                (static_cast<double>(figures.cycles) * units);
}

void add_dram(const ScaleSimConfig& config, const ScaleSimFolding& folding,
              const ScaleSimGemm& gemm, const ScaleSimLayer& layer, ScaleSimFigures& figures) {
  FlushSet ifmap(config.ifmap_kb, layer.ifmap_height * layer.ifmap_width * layer.channels);
  FlushSet filter(config.filter_kb, gemm.k * gemm.n);
  read_operands(config, folding, gemm, IfmapAddresses{layer, gemm}, ifmap, filter);
  DrainBuffer ofmap(config.ofmap_kb, config.columns);
  write_sums(config, folding, ofmap);
  const std::int64_t shifted = config.rows - std::min(config.rows, folding.rows);
  const auto first_request = [&](ScaleSimDataflow stays) {
    return config.dataflow == ScaleSimDataflow::kOutput ? 0
           : config.dataflow == stays                   ? shifted
                                                        : config.rows;
  };
  figures.ifmap.dram = ifmap.misses();
  figures.ifmap.dram_start = ifmap.start(first_request(ScaleSimDataflow::kInput));
  figures.filter.dram = filter.misses();
  figures.filter.dram_start = filter.start(first_request(ScaleSimDataflow::kWeight));
  figures.ofmap.dram = ofmap.written();
  figures.ofmap.dram_start = ofmap.start();
  figures.cycles_with_prefetch =
      ofmap.stop() - std::min(figures.ifmap.dram_start, figures.filter.dram_start);
}

}  // namespace

ScaleSimGemm scalesim_gemm(const ScaleSimLayer& layer) {
  return {outputs(layer.ifmap_height, layer.filter_height, layer.stride) *
              outputs(layer.ifmap_width, layer.filter_width, layer.stride),
          layer.filters, layer.filter_height * layer.filter_width * layer.channels};
}

ScaleSimFolding scalesim_folding(const ScaleSimConfig& config, const ScaleSimGemm& gemm) {
  ScaleSimFolding folding;
  const bool stays = config.dataflow == ScaleSimDataflow::kOutput;
  folding.rows = stays ? gemm.m : gemm.k;
  folding.columns = config.dataflow == ScaleSimDataflow::kInput ? gemm.m : gemm.n;
  folding.time = stays ? gemm.k : config.dataflow == ScaleSimDataflow::kWeight ? gemm.m : gemm.n;
  folding.row_folds = divide_up(folding.rows, config.rows);
  folding.column_folds = divide_up(folding.columns, config.columns);
  return folding;
}

ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer) {
  const ScaleSimGemm gemm = scalesim_gemm(layer);
  const ScaleSimFolding folding = scalesim_folding(config, gemm);
  ScaleSimFigures figures;
  // Slip: the number of the last cycle, not how many there are.
  SystolicTiming compat;
  compat.scalesim = true;
  figures.cycles = folding.folds() * fold_cycles(config, folding) - slip(compat);
  add_sram(config, folding, gemm, figures);
  add_utilizations(config, folding, gemm, figures);
  add_dram(config, folding, gemm, layer, figures);
  return figures;
}

}  // namespace mapsim
