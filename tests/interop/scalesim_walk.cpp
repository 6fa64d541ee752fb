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

std::int64_t write_all(const Matrix& demand, std::int64_t kilobytes, std::int64_t width,
                       ScaleSimTraffic& traffic) {
  const std::int64_t half = 1024 * kilobytes / 2;
  std::vector<std::int64_t> lines;  // words in each
  std::size_t drained = 0;
  std::int64_t open = 0;
  std::int64_t free = 2 * half;
  std::int64_t busy_until = 0;
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t stop = 0;
  const auto drain = [&](std::int64_t cycle) {
    std::int64_t moved = 0;
    std::int64_t last = cycle;
    for (std::int64_t n = 0; n < (half + width - 1) / width && drained < lines.size(); ++n) {
      const bool is_last = n + 1 == (half + width - 1) / width || drained + 1 == lines.size();
      moved += is_last ? lines[drained] : width;
      ++drained;
      last = cycle + n;
    }
    free += moved;
    traffic.dram += moved;
    start = std::min(start, cycle);
    stop = std::max(stop, last);
    busy_until = last;
  };
  for (std::size_t cycle = 0; cycle < demand.size(); ++cycle) {
    for (const std::int64_t word : demand[cycle]) {
      if (word == kNull) {
        continue;
      }
      --free;
      if (++open == width) {
        lines.push_back(std::exchange(open, 0));
      }
      if (static_cast<std::int64_t>(cycle) >= busy_until && free < half) {
        if (open > 0) {
          lines.push_back(std::exchange(open, 0));
        }
        drain(static_cast<std::int64_t>(cycle));
      }
    }
  }
  if (open > 0) {
    lines.push_back(open);
  }
  for (auto cycle = static_cast<std::int64_t>(demand.size()) - 1; drained < lines.size();) {
    drain(cycle);
    cycle = busy_until + 1;
  }
  traffic.dram_start = start;
  return stop;
}

}  // namespace

ScaleSimFigures walk_scalesim(const ScaleSimConfig& config, const ScaleSimLayer& layer) {
  const Operands of = operands(layer);
  const Demands demands = demands_of(config, of);
  ScaleSimFigures figures;
  figures.cycles = static_cast<std::int64_t>(demands.ofmap.size()) - 1;
  // Nulls beyond the ifmap are counted as reads by the tool; what is asked for is less.
  figures.ifmap.sram = requests(demands.ifmap);
  figures.filter.sram = requests(demands.filter);
  figures.ofmap.sram = requests(demands.ofmap);
  read_all(demands.ifmap, config.ifmap_kb, figures.ifmap);
  read_all(demands.filter, config.filter_kb, figures.filter);
  const std::int64_t stop =
      write_all(demands.ofmap, config.ofmap_kb, config.columns, figures.ofmap);
  figures.cycles_with_prefetch =
      stop - std::min(figures.ifmap.dram_start, figures.filter.dram_start);
  return figures;
}

}  // namespace mapsim
