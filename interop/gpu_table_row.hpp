// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "interop/gpu_table.hpp"

namespace mapsim {

// The shared part of all readers of tables: columns by name, the context, rows left out.
class GpuTableReader {
 public:
  GpuTableReader(const CsvTable& table, const GpuTableContext& context, GpuTableImport& result)
      : table_{&table}, context_{&context}, result_{&result}, cells_{table} {}

  const std::vector<CsvRow>& rows() const { return table_->rows; }
  CsvReader& cells() { return cells_; }
  const GpuTableContext& context() const { return *context_; }

  bool has(std::string_view column) const { return cells_.find(column).has_value(); }
  std::string text(const CsvRow& row, std::string_view column) {
    return cells_.text(row, column_of(column));
  }
  // The first of these names that is a column, in upper or lower case; "": none is.
  std::string any(const std::vector<std::string_view>& names) const;
  // Values that a row must have; errors are collected. Extents are from 1 to 2^31.
  std::int64_t extent(const CsvRow& row, std::string_view column);
  double positive(const CsvRow& row, std::string_view column);
  // Nothing if the cell is empty or the column is missing.
  std::optional<std::int64_t> count(const CsvRow& row, std::string_view column);

  // Collect an error about the header, once, if the context lacks this fact.
  void need_gpu();
  void need_precision();
  void need_problem();
  void complain(const std::string& what) { cells_.error(table_->header, 0, what); }

  void add(GpuMeasurement measurement);
  void leave_out(const std::string& why) { ++left_out_[why]; }
  // Throws ConfigError, or writes the notes: rows left out, and columns that were not read. An
  // unread column that changes the problem is an error.
  void finish();

 private:
  CsvReader::Column column_of(std::string_view name) {
    asked_.emplace(name);
    return cells_.find(name);
  }
  const CsvTable* table_;
  const GpuTableContext* context_;
  GpuTableImport* result_;
  CsvReader cells_;
  std::map<std::string, std::int64_t> left_out_;
  std::set<std::string> asked_;  // columns
};

// A GEMM with operands in `precision` and C as wide as they are (int8: 32 b).
GemmProblem gemm_of(GpuPrecision precision, std::int64_t m, std::int64_t n, std::int64_t k);

// A SIMT kernel of `threads` threads with this block tile, which warps and threads divide as evenly
// as powers of two allow. Nothing: they cannot divide it.
std::optional<KernelChoice> simt_kernel(const GemmTile& block, std::int64_t threads);

// A kernel by the parameters of an auto-tuner: CLBlast's (MWG, NWG, KWG, MDIMC, NDIMC, SA, SB), or
// BLOCK_M|BM, BLOCK_N|BN, BLOCK_K|BK, WARP_M|WM, WARP_N|WN or num_warps, STAGES|num_stages,
// SPLIT_K, GROUP_M, PAD. If the model has no such kernel, `problem` is the reason.
struct NamedKernel {
  std::optional<KernelChoice> kernel{};
  std::string problem{};
};
NamedKernel kernel_of(const std::map<std::string, std::int64_t>& parameters);

bool equal_but_for_case(std::string_view a, std::string_view b);
std::string known_tables();  // the kinds of tables, for messages
// Readers of the kinds of tables in interop/gpu_table.hpp.

void read_plain(GpuTableReader& reader);
void read_ladder(GpuTableReader& reader);
void read_leetcuda(GpuTableReader& reader);
void read_neusight(GpuTableReader& reader);
void read_neusight_conv(GpuTableReader& reader);
void read_deepbench_conv(GpuTableReader& reader);
void read_clblast(GpuTableReader& reader);
void read_cutlass(GpuTableReader& reader);
void read_t4(const std::string& text, const std::string& filename, const GpuTableContext& context,
             GpuTableImport& result);

}  // namespace mapsim
