// SPDX-License-Identifier: Apache-2.0
#include "validate/counters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/diagnostic.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "validate/kernels/source.hpp"
#include "validate/measurements.hpp"

namespace mapsim {
namespace {

using Cells = std::vector<std::string>;

constexpr double kSector = 32;  // bytes, of L2

// ncu puts every cell between quotes, commas within numbers too.
Cells cells_of(const std::string& line) {
  Cells cells{""};
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::optional<double> number(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end && !text.empty() ? std::optional{value} : std::nullopt;
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

std::size_t column(const Cells& header, std::string_view name) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

std::string joined(const Cells& cells) {
  std::string text;
  for (const std::string& cell : cells) {
    text += cell + "\n";
  }
  return text;
}

// One row per metric: rows of one ID are one kernel.
std::vector<ProfiledKernel> read_details(const std::vector<Cells>& rows) {
  const Cells& header = rows.front();
  const std::size_t id = column(header, "ID");
  const std::size_t name = column(header, "Metric Name");
  const std::size_t unit = column(header, "Metric Unit");
  const std::size_t value = column(header, "Metric Value");
  std::vector<ProfiledKernel> kernels;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Cells& row = rows[i];
    if (row.size() != header.size()) {
      continue;  // ncu's last words
    }
    const auto [place, is_new] = numbers.try_emplace(row[id], kernels.size());
    if (is_new) {
      kernels.push_back({joined(row), {}});
    }
    if (const auto figure = number(row[value])) {
      kernels[place->second].metrics[row[name]] =
          *figure * (unit < row.size() ? scale_of(row[unit]) : 1);
    }
  }
  return kernels;
}

// One row per kernel, units in the row below the header.
std::vector<ProfiledKernel> read_raw(const std::vector<Cells>& rows) {
  const Cells& header = rows.front();
  std::vector<ProfiledKernel> kernels;
  for (std::size_t i = 2; i < rows.size(); ++i) {
    const Cells& row = rows[i];
    if (row.size() != header.size() || rows[1].size() != header.size()) {
      continue;
    }
    ProfiledKernel kernel{joined(row), {}};
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto figure = number(row[j]);
      if (figure && header[j].find("__") != std::string::npos) {  // unit__what
        kernel.metrics[header[j]] = *figure * scale_of(rows[1][j]);
      }
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

template <class Do>
void for_each_kernel(Verdict& verdict, const Do& act) {
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
  std::istringstream stream{text};
  std::vector<Cells> rows;
  for (std::string line; std::getline(stream, line);) {
    Cells cells = cells_of(line);
    const bool is_header =
        column(cells, "ID") < cells.size() && column(cells, "Kernel Name") < cells.size();
    if (is_header || (!rows.empty() && !line.empty() && !line.starts_with("=="))) {
      rows.push_back(std::move(cells));
    }
  }
  if (rows.empty()) {
    throw ConfigError{{{filename, 1, 1, "",
                        "no table of ncu: its header has ID and Kernel Name; write it with 'ncu "
                        "--csv --page raw'",
                        text.substr(0, text.find('\n'))}}};
  }
  return column(rows.front(), "Metric Name") < rows.front().size() ? read_details(rows)
                                                                   : read_raw(rows);
}

std::int64_t attach_counters(const std::vector<ProfiledKernel>& profiled, Verdict& verdict) {
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
