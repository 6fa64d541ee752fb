// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/scalesim_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace mapsim {

namespace {

constexpr std::int64_t kNull = -1;
using Line = std::vector<std::int64_t>;
using Matrix = std::vector<Line>;  // of equally long lines

Matrix nulls(std::int64_t lines, std::int64_t width) {
  return Matrix(static_cast<std::size_t>(lines), Line(static_cast<std::size_t>(width), kNull));
}

void append(Matrix& matrix, const Matrix& more) {
  matrix.insert(matrix.end(), more.begin(), more.end());
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.front().size(), Line(matrix.size()));
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = 0; j < matrix[i].size(); ++j) {
      result[j][i] = matrix[i][j];
    }
  }
  return result;
}

// Lines and columns from a corner on, filled up with nulls.
Matrix part(const Matrix& matrix, std::int64_t line, std::int64_t lines, std::int64_t column,
            std::int64_t columns) {
  Matrix result = nulls(lines, columns);
  for (std::int64_t i = 0; i < lines; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto from = static_cast<std::size_t>(line + i);
      const auto at = static_cast<std::size_t>(column + j);
      if (from < matrix.size() && at < matrix[from].size()) {
        result[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = matrix[from][at];
      }
    }
  }
  return result;
}

// Column c comes c lines later.
Matrix skewed(const Matrix& matrix) {
  const std::size_t width = matrix.front().size();
  Matrix result(matrix.size() + width - 1, Line(width, kNull));
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      result[i + c][c] = matrix[i][c];
    }
  }
  return result;
}

struct Demands {
  Matrix ifmap, filter, ofmap;
};

struct Operands {
  Matrix ifmap;   // M x K
  Matrix filter;  // K x N
  Matrix ofmap;   // M x N
};

Operands operands(const ScaleSimLayer& layer) {
  const auto out = [](std::int64_t size, std::int64_t filter, std::int64_t stride) {
    return static_cast<std::int64_t>(
        std::ceil(static_cast<double>(size - filter + stride) / static_cast<double>(stride)));
  };
  const std::int64_t height = out(layer.ifmap_height, layer.filter_height, layer.stride);
  const std::int64_t width = out(layer.ifmap_width, layer.filter_width, layer.stride);
  Operands found;
  for (std::int64_t p = 0; p < height; ++p) {
    for (std::int64_t q = 0; q < width; ++q) {
      Line line;
      for (std::int64_t r = 0; r < layer.filter_height; ++r) {
        for (std::int64_t s = 0; s < layer.filter_width; ++s) {
          for (std::int64_t c = 0; c < layer.channels; ++c) {
            const std::int64_t y = p * layer.stride + r;
            const std::int64_t x = q * layer.stride + s;
            const bool inside = y < layer.ifmap_height && x < layer.ifmap_width;
            line.push_back(inside ? (y * layer.ifmap_width + x) * layer.channels + c : kNull);
          }
        }
      }
      found.ifmap.push_back(line);
      found.ofmap.push_back(Line(static_cast<std::size_t>(layer.filters), 1));
    }
  }
  const std::size_t taps = found.ifmap.front().size();
  for (std::size_t k = 0; k < taps; ++k) {
    Line line;
    for (std::int64_t n = 0; n < layer.filters; ++n) {
      line.push_back(n * static_cast<std::int64_t>(taps) + static_cast<std::int64_t>(k));
    }
    found.filter.push_back(line);
  }
  return found;
}

// One fold of a machine on which operands pass and sums stay.
void add_output_fold(const Operands& of, std::int64_t rows, std::int64_t columns, std::int64_t row,
                     std::int64_t column, Demands& demands) {
  const auto time = static_cast<std::int64_t>(of.filter.size());
  Matrix ifmap = part(transposed(of.ifmap), 0, time, row, rows);
  append(ifmap, nulls(columns - 1, rows));
  append(demands.ifmap, skewed(ifmap));
  Matrix filter = part(of.filter, 0, time, column, columns);
  append(filter, nulls(rows - 1, columns));
  append(demands.filter, skewed(filter));
  Matrix sums = part(of.ofmap, row, rows, column, columns);
  std::reverse(sums.begin(), sums.end());
  Matrix ofmap = nulls(time - 1, columns);
  append(ofmap, sums);
  append(demands.ofmap, skewed(ofmap));
}

// One fold of a machine on which `stays` (rows x columns) is shifted in and `moves` (time x rows)
// passes.
void add_operand_fold(const Matrix& stays, const Matrix& moves, const Matrix& sums,
                      std::int64_t rows, std::int64_t columns, std::int64_t row,
                      std::int64_t column, Matrix& stays_demand, Matrix& moves_demand,
                      Matrix& sums_demand) {
  const auto time = static_cast<std::int64_t>(moves.size());
  Matrix tile = part(stays, row, rows, column, columns);
  std::reverse(tile.begin(), tile.end());
  append(tile, nulls(rows + columns + time - 2, columns));
  append(stays_demand, tile);
  Matrix moving = nulls(rows, rows);
  append(moving, part(moves, 0, time, row, rows));
  append(moving, nulls(columns - 1, rows));
  append(moves_demand, skewed(moving));
  Matrix leaving = nulls(2 * rows - 1, columns);
  append(leaving, part(sums, 0, time, column, columns));
  append(sums_demand, skewed(leaving));
}

Demands demands_of(const ScaleSimConfig& config, const Operands& of) {
  Demands demands;
  const bool weights = config.dataflow == ScaleSimDataflow::kWeight;
  const Matrix stays = weights ? of.filter : transposed(of.ifmap);
  const Matrix moves = weights ? of.ifmap : transposed(of.filter);
  const Matrix sums = weights ? of.ofmap : transposed(of.ofmap);
  const bool output = config.dataflow == ScaleSimDataflow::kOutput;
  const std::size_t all_rows = output ? of.ifmap.size() : stays.size();
  const std::size_t all_columns = output ? of.filter.front().size() : stays.front().size();
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(all_columns); c += config.columns) {
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(all_rows); r += config.rows) {
      if (output) {
        add_output_fold(of, config.rows, config.columns, r, c, demands);
      } else {
        add_operand_fold(stays, moves, sums, config.rows, config.columns, r, c,
                         weights ? demands.filter : demands.ifmap,
                         weights ? demands.ifmap : demands.filter, demands.ofmap);
      }
    }
  }
  return demands;
}

std::int64_t requests(const Matrix& demand) {
  std::int64_t count = 0;
  for (const Line& line : demand) {
    count += std::count_if(line.begin(), line.end(), [](std::int64_t w) { return w != kNull; });
  }
  return count;
}

void read_all(const Matrix& demand, std::int64_t kilobytes, ScaleSimTraffic& traffic) {
  const std::size_t set_size = static_cast<std::size_t>(1024 * kilobytes / 100);
  std::set<std::int64_t> held;
  std::int64_t first_request = kNull;
  bool flushed = false;
  for (std::size_t cycle = 0; cycle < demand.size(); ++cycle) {
    for (const std::int64_t word : demand[cycle]) {
      if (word == kNull) {
        continue;
      }
      first_request = first_request == kNull ? static_cast<std::int64_t>(cycle) : first_request;
      traffic.dram += held.insert(word).second ? 1 : 0;
      if (held.size() == 50 * set_size) {
        held.clear();
        flushed = true;
      }
    }
  }
  const auto tenth = [](std::size_t words) { return static_cast<std::int64_t>((words + 9) / 10); };
  const std::size_t sets = (static_cast<std::size_t>(traffic.dram) + set_size - 1) / set_size;
  traffic.dram_start = flushed ? first_request - tenth(50 * set_size) : -tenth(sets * set_size);
}

// Takes words one by one; those that find it full wait.
class WriteBuffer {
 public:
  WriteBuffer(std::int64_t kilobytes, std::int64_t width)
      : half_{1024 * kilobytes / 2}, width_{width}, free_{2 * half_} {}

  std::int64_t write(std::int64_t cycle, const Line& words) {
    for (const std::int64_t word : words) {
      if (word == kNull) {
        continue;
      }
      --free_;
      if (++open_ == width_) {
        lines_.push_back(std::exchange(open_, 0));
      }
      if (cycle < busy_until_) {
        cycle = free_ > 0 ? cycle : busy_until_;
      } else if (free_ < half_) {
        if (open_ > 0) {
          lines_.push_back(std::exchange(open_, 0));
        }
        drain(cycle);
      }
    }
    return cycle;
  }
  void finish(std::int64_t cycle) {
    if (open_ > 0) {
      lines_.push_back(open_);
    }
    while (drained_ < lines_.size()) {
      drain(cycle);
      cycle = busy_until_ + 1;
    }
  }
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t stop = 0;
  std::int64_t written = 0;

 private:
  void drain(std::int64_t cycle) {
    std::int64_t moved = 0;
    const std::int64_t batch = (half_ + width_ - 1) / width_;
    for (std::int64_t n = 0; n < batch && drained_ < lines_.size(); ++n) {
      const bool is_last = n + 1 == batch || drained_ + 1 == lines_.size();
      moved += is_last ? lines_[drained_] : width_;
      ++drained_;
      busy_until_ = cycle + n;
    }
    free_ += moved;
    written += moved;
    start = std::min(start, cycle);
    stop = std::max(stop, busy_until_);
  }
  std::int64_t half_;
  std::int64_t width_;
  std::int64_t free_;
  std::vector<std::int64_t> lines_;  // words in each
  std::size_t drained_ = 0;
  std::int64_t open_ = 0;
  std::int64_t busy_until_ = 0;
};

// At a given bandwidth: what `order` fetches, word for word, in sets of which a window is there.
class ReadBuffer {
 public:
  ReadBuffer(const Line& order, std::int64_t kilobytes, std::int64_t port)
      : half_{512 * kilobytes}, port_{port} {
    const auto set_size = static_cast<std::size_t>((1024 * kilobytes + 99) / 100);
    sets_.emplace_back();
    std::size_t words = 0;
    for (const std::int64_t word : order) {
      if (word == kNull) {
        continue;
      }
      sets_.back().insert(word);
      if (++words % set_size == 0) {
        sets_.emplace_back();
      }
    }
    const auto most = (static_cast<std::size_t>(half_) + set_size - 1) / set_size;
    const std::size_t active = std::min(most, sets_.size());
    for (std::size_t set = 0; set < active; ++set) {
      window_.push_back(set);
    }
    step_ = std::min(most, sets_.size() - active);
    const auto all = (static_cast<std::int64_t>(order.size()) + port - 1) / port;
    const std::int64_t first = std::min((half_ + port - 1) / port, all);
    start = -first;
    words_read = first * port;
  }

  // By how many cycles the words of a line are late.
  std::int64_t read(std::int64_t cycle, const Line& words) {
    std::int64_t late = 0;
    for (const std::int64_t word : words) {
      while (word != kNull && !holds(word)) {
        for (std::size_t& set : window_) {
          set = (set + step_) % sets_.size();
        }
        const std::int64_t lines = (half_ + port_ - 1) / port_;
        words_read += lines * port_;
        last_fetch_ += lines + 1;
        const std::int64_t wait = last_fetch_ - (cycle + 1 + late);
        late += wait;
        late += std::max<std::int64_t>(wait, 0);
      }
    }
    return late;
  }
  std::int64_t start = 0;
  std::int64_t words_read = 0;

 private:
  bool holds(std::int64_t word) const {
    return std::any_of(window_.begin(), window_.end(),
                       [&](std::size_t set) { return sets_[set].count(word) > 0; });
  }
  std::int64_t half_;
  std::int64_t port_;
  std::vector<std::set<std::int64_t>> sets_;
  std::vector<std::size_t> window_;
  std::size_t step_ = 0;
  std::int64_t last_fetch_ = -1;
};

// Parts of `of` of `width` columns, one below the other.
Matrix stacked(const Matrix& of, std::int64_t width) {
  Matrix result;
  for (std::int64_t c = 0; c < static_cast<std::int64_t>(of.front().size()); c += width) {
    append(result, part(of, 0, static_cast<std::int64_t>(of.size()), c, width));
  }
  return result;
}

// Line after line, or diagonal after diagonal with what lies highest in it last.
Line in_order(const Matrix& of, bool diagonals) {
  Line result;
  const std::size_t width = of.front().size();
  for (std::size_t d = 0; d < of.size() + width; ++d) {
    for (std::size_t c = 0; c < width; ++c) {
      if (!diagonals && d < of.size()) {
        result.push_back(of[d][c]);
      } else if (diagonals && c <= d && d - c < of.size()) {
        result.push_back(of[d - c][c]);
      }
    }
  }
  return result;
}

// What is fetched ahead of each operand.
std::pair<Line, Line> fetch_orders(const ScaleSimConfig& config, const Operands& of) {
  switch (config.dataflow) {
    case ScaleSimDataflow::kOutput:
      return {in_order(stacked(transposed(of.ifmap), config.rows), true),
              in_order(stacked(of.filter, config.columns), true)};
    case ScaleSimDataflow::kWeight:
      return {in_order(stacked(of.ifmap, config.rows), true),
              in_order(stacked(of.filter, config.columns), false)};
    default:
      return {in_order(stacked(transposed(of.ifmap), config.columns), false),
              in_order(stacked(transposed(of.filter), config.rows), true)};
  }
}

// Cycle by cycle.
void run_given(const ScaleSimConfig& config, const Operands& of, const Demands& demands,
               WriteBuffer& ofmap, ScaleSimFigures& figures) {
  const auto [ifmap_order, filter_order] = fetch_orders(config, of);
  ReadBuffer ifmap{ifmap_order, config.ifmap_kb, config.bandwidth->ifmap};
  ReadBuffer filter{filter_order, config.filter_kb, config.bandwidth->filter};
  for (std::size_t i = 0; i < demands.ofmap.size(); ++i) {
    const std::int64_t cycle = static_cast<std::int64_t>(i) + figures.stall_cycles;
    const std::int64_t ifmap_late = ifmap.read(cycle, demands.ifmap[i]);
    const std::int64_t filter_late = filter.read(cycle, demands.filter[i]);
    figures.cycles = ofmap.write(cycle, demands.ofmap[i]);
    figures.stall_cycles += std::max({ifmap_late, filter_late, figures.cycles - cycle});
  }
  figures.ifmap.dram = ifmap.words_read;
  figures.ifmap.dram_start = ifmap.start;
  figures.filter.dram = filter.words_read;
  figures.filter.dram_start = filter.start;
}

}  // namespace

ScaleSimFigures walk_scalesim(const ScaleSimConfig& config, const ScaleSimLayer& layer) {
  const Operands of = operands(layer);
  const Demands demands = demands_of(config, of);
  ScaleSimFigures figures;
  // Nulls beyond the ifmap are counted as reads by the tool; what is asked for is less.
  figures.ifmap.sram = requests(demands.ifmap);
  figures.filter.sram = requests(demands.filter);
  figures.ofmap.sram = requests(demands.ofmap);
  WriteBuffer ofmap{config.ofmap_kb, config.bandwidth ? config.bandwidth->ofmap : config.columns};
  if (config.bandwidth) {
    run_given(config, of, demands, ofmap, figures);
  } else {
    read_all(demands.ifmap, config.ifmap_kb, figures.ifmap);
    read_all(demands.filter, config.filter_kb, figures.filter);
    for (std::size_t i = 0; i < demands.ofmap.size(); ++i) {
      figures.cycles = ofmap.write(static_cast<std::int64_t>(i), demands.ofmap[i]);
    }
  }
  ofmap.finish(figures.cycles);
  figures.ofmap.dram = ofmap.written;
  figures.ofmap.dram_start = ofmap.start;
  figures.cycles_with_prefetch =
      ofmap.stop - std::min(figures.ifmap.dram_start, figures.filter.dram_start);
  return figures;
}

}  // namespace mapsim
