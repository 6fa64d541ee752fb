// SPDX-License-Identifier: Apache-2.0
#include "validate/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/csv.hpp"
#include "core/diagnostic.hpp"
#include "core/text_stream.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "validate/kernels/source.hpp"
#include "validate/measurements.hpp"

namespace mapsim {
namespace {

constexpr double kSector = 32;  // bytes, of L2

std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = error == std::errc{} && stop == end && !text.empty() && std::isfinite(value);
  return whole ? std::optional{value} : std::nullopt;
}

// Of a unit to its base unit, by its prefix: "Gbyte", "usecond", "msecond".
double scale_of(const std::string& unit) {
  constexpr std::array kUnits{
      std::pair{"nsecond", 1e-9}, std::pair{"ns", 1e-9},      std::pair{"usecond", 1e-6},
      std::pair{"us", 1e-6},      std::pair{"msecond", 1e-3}, std::pair{"ms", 1e-3},
      std::pair{"Kbyte", 1e3},    std::pair{"Mbyte", 1e6},    std::pair{"Gbyte", 1e9}};
  for (const auto& [name, scale] : kUnits) {
    if (unit == name) {
      return scale;
    }
  }
  return 1;
}

std::string joined(const CsvRow& row) {
  std::string text;
  for (const CsvCell& cell : row.cells) {
    text += cell.text + "\n";
  }
  return text;
}

// The table within ncu's own lines and those of the program that it profiles. ncu puts every cell
// between quotes, so that other lines are none of its rows. Columns need not differ.
CsvTable read_table(const std::string& text, const std::string& filename) {
  CsvTable table{filename, {}, {}, {}, {}};
  const auto fail = [&](int line, const std::string& message) {
    throw ConfigError{{{filename, line, 1, "", message, table.lines.back()}}};
  };
  bool is_quoted = false;
  std::istringstream stream = stream_of(text);
  for (std::string line; std::getline(stream, line);) {
    table.lines.push_back(line);
    const int number = static_cast<int>(table.lines.size());
    const bool is_row =
        is_quoted ? line.starts_with('"') : !line.empty() && !line.starts_with("==");
    const std::optional<CsvRow> row = is_row ? parse_csv_row(line, number) : std::nullopt;
    if (table.header.line == 0) {
      table.header = row.value_or(CsvRow{});
      const CsvReader cells{table};
      table.header.line = cells.find("ID") && cells.find("Kernel Name") ? number : 0;
      is_quoted = table.header.line > 0 && line.starts_with('"');
    } else if (is_row && !row) {
      fail(number, "a quote is not closed on this line");
    } else if (row && row->cells.size() != table.header.cells.size()) {
      fail(number, fmt::format("{} cells; the header has {}", row->cells.size(),
                               table.header.cells.size()));
    } else if (row) {
      table.rows.push_back(*row);
    }
  }
  if (table.header.line == 0) {
    throw ConfigError{{{filename, 1, 1, "",
                        "no table of ncu: its header has ID and Kernel Name; write it with 'ncu "
                        "--csv --page raw'",
                        text.substr(0, text.find('\n'))}}};
  }
  return table;
}

// One row per metric: rows of one ID are one kernel.
std::vector<ProfiledKernel> read_details(const CsvTable& table) {
  CsvReader cells{table};
  const CsvReader::Column id = cells.require({"ID"});
  const CsvReader::Column name = cells.require({"Metric Name"});
  const CsvReader::Column value = cells.require({"Metric Value"});
  const CsvReader::Column unit = cells.find("Metric Unit");
  cells.finish();
  std::vector<ProfiledKernel> kernels;
  std::map<std::string, std::size_t> numbers;
  for (const CsvRow& row : table.rows) {
    const auto [place, is_new] = numbers.try_emplace(cells.text(row, id), kernels.size());
    if (is_new) {
      kernels.push_back({joined(row), {}});
    }
    if (const auto figure = number(cells.text(row, value))) {
      kernels[place->second].metrics[cells.text(row, name)] =
          *figure * scale_of(cells.text(row, unit));
    }
  }
  return kernels;
}

// One row per kernel, units in the row below the header.
std::vector<ProfiledKernel> read_raw(const CsvTable& table) {
  const CsvReader cells{table};
  std::vector<ProfiledKernel> kernels;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    ProfiledKernel kernel{joined(table.rows[i]), {}};
    for (std::size_t j = 0; j < table.header.cells.size(); ++j) {
      const std::string& metric = cells.text(table.header, j);
      const auto figure = number(cells.text(table.rows[i], j));
      if (figure && metric.find("__") != std::string::npos) {  // unit__what
        kernel.metrics[metric] = *figure * scale_of(cells.text(table.rows[0], j));
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

template <class Do>
void for_each_kernel(ValidationVerdict& verdict, const Do& act) {
  for (ProblemVerdict& problem : verdict.problems) {
    for (KernelVerdict& kernel : problem.kernels) {
      act(kernel);
    }
  }
}

std::string entry_of(const KernelVerdict& kernel) {
  const GpuMeasurement& row = kernel.measurement;
  KernelSpec spec{row.problem, *row.kernel};
  if (!row.convolution.empty()) {
    spec.conv.emplace();
  }
  return kernel_entry(spec);
}

// Whether `name` stands there, and no longer word that begins with it.
bool names(const ProfiledKernel& kernel, const std::string& name) {
  for (std::size_t at = kernel.names.find(name); at != std::string::npos;
       at = kernel.names.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const auto next = static_cast<unsigned char>(end < kernel.names.size() ? kernel.names[end] : 0);
    if (std::isalnum(next) == 0) {
      return true;
    }
  }
  return false;
}

// The metrics of the kernels with this name. A split K has two launches in one range: what they sum
// adds up, the rest is the first's.
bool attach(const std::vector<ProfiledKernel>& profiled, const std::string& name,
            KernelVerdict& kernel) {
  for (const ProfiledKernel& candidate : profiled) {
    if (!names(candidate, name)) {
      continue;
    }
    for (const auto& [metric, value] : candidate.metrics) {
      const auto [place, is_new] = kernel.counters.try_emplace(metric, value);
      place->second += !is_new && metric.ends_with(".sum") ? value : 0;
    }
  }
  return !kernel.counters.empty();
}

}  // namespace

std::vector<ProfiledKernel> parse_counters(const std::string& text, const std::string& filename) {
  const CsvTable table = read_table(text, filename);
  return CsvReader{table}.find("Metric Name") ? read_details(table) : read_raw(table);
}

std::int64_t attach_counters(const std::vector<ProfiledKernel>& profiled,
                             ValidationVerdict& verdict) {
  // Kernels of the same entry differ by their problem, which only a range tells.
  std::map<std::string, int> entries;
  for_each_kernel(verdict, [&](KernelVerdict& kernel) { ++entries[entry_of(kernel)]; });
  bool has_ranges = false;
  for_each_kernel(verdict, [&](KernelVerdict& kernel) {
    has_ranges |= attach(profiled, measured_what(kernel.measurement), kernel);
  });
  std::int64_t found = 0;
  for_each_kernel(verdict, [&](KernelVerdict& kernel) {
    if (!has_ranges && entries.at(entry_of(kernel)) == 1) {
      attach(profiled, entry_of(kernel), kernel);
    }
    found += kernel.counters.empty() ? 0 : 1;
  });
  return found;
}

std::vector<CounterComparison> compare_counters(const Gpu& gpu, const KernelVerdict& kernel) {
  std::vector<CounterComparison> list;
  const auto counted = [&](const char* metric) {
    const auto found = kernel.counters.find(metric);
    return found == kernel.counters.end() ? 0.0 : found->second;
  };
  const auto add = [&](const char* metric, double figure, double modelled) {
    if (figure > 0) {
      list.push_back({metric, figure, modelled});
    }
  };
  const GpuMeasurement& row = kernel.measurement;
  const GpuWork done = work(gpu, row.problem, *row.kernel);
  const GemmTile& f = row.kernel->fragment;
  const double fragments = done.padded_macs / static_cast<double>(f.m * f.n * f.k);
  const double clock = row.clock > Hertz{0} ? row.clock.count() : gpu.clock.count();
  add("dram__bytes.sum", counted("dram__bytes_read.sum") + counted("dram__bytes_write.sum"),
      kernel.estimate.dram_bytes);
  add("lts__t_sectors_op_read.sum x 32 B", kSector * counted("lts__t_sectors_op_read.sum"),
      done.traffic.l2_read);
  add("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
      counted("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), done.wavefronts);
  add("smsp__inst_executed_pipe_tensor.sum", counted("smsp__inst_executed_pipe_tensor.sum"),
      fragments * mma_instructions(gpu, row.problem, *row.kernel));
  add("smsp__inst_executed.sum", counted("smsp__inst_executed.sum"), done.instructions);
  add("smsp__cycles_active.avg", counted("smsp__cycles_active.avg"), kernel.predicted * clock);
  add("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      counted("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"),
      100 * done.padded_macs /
          (gpu.rate(row.problem.precision).chip * static_cast<double>(gpu.sms) * clock *
           kernel.predicted));
  add("launch__registers_per_thread", counted("launch__registers_per_thread"),
      static_cast<double>(done.resources.registers));
  double blocks = std::numeric_limits<double>::infinity();
  for (const char* limit : {"blocks", "registers", "shared_mem", "warps"}) {
    const double fits = counted((std::string{"launch__occupancy_limit_"} + limit).c_str());
    blocks = fits > 0 ? std::min(blocks, fits) : blocks;
  }
  add("launch__occupancy_limit, the least", blocks < 1e9 ? blocks : 0,
      static_cast<double>(done.resources.blocks_per_sm));
  return list;
}

}  // namespace mapsim
