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

// What the importers of tables share: columns by name, the context, what was left out.
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
  // The column of the first of these names that there is, upper or lower case; "": none.
  std::string any(const std::vector<std::string_view>& names) const;
  // Must be there; extents are from 1 to 2^31.
  std::int64_t extent(const CsvRow& row, std::string_view column);
  double positive(const CsvRow& row, std::string_view column);
  // Nothing where the cell is empty or the column is missing.
  std::optional<std::int64_t> count(const CsvRow& row, std::string_view column);

  // Complains once, of the header, if the context must say something and does not.
  void need_gpu();
  void need_precision();
  void need_problem();
  void complain(const std::string& what) { cells_.error(table_->header, 0, what); }

  void add(GpuMeasurement measurement);
  void leave_out(const std::string& why) { ++left_out_[why]; }
  // Throws ConfigError, or writes the notes: what was left out, and columns that nobody read. Those
  // that say which problem it is may not be among them.
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

// A GEMM of operands in `precision`, C as wide as they are (int8: 32 bit).
GemmProblem gemm_of(GpuPrecision precision, std::int64_t m, std::int64_t n, std::int64_t k);

// A SIMT kernel of `threads` with this block tile: warps and threads share it as evenly as powers
// of two allow. Nothing if they cannot.
std::optional<KernelChoice> simt_kernel(const GemmTile& block, std::int64_t threads);

// Kernels by the parameters of auto-tuners: CLBlast's (MWG, NWG, KWG, MDIMC, NDIMC, SA, SB), or
// BLOCK_M|BM, BLOCK_N|BN, BLOCK_K|BK, WARP_M|WM, WARP_N|WN or num_warps, STAGES|num_stages,
// SPLIT_K, GROUP_M, PAD. Nothing, and why: no such kernel in the model.
struct NamedKernel {
  std::optional<KernelChoice> kernel{};
  std::string problem{};
};
NamedKernel kernel_of(const std::map<std::string, std::int64_t>& parameters);

bool equal_but_for_case(std::string_view a, std::string_view b);
std::string known_tables();  // in words, for messages

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
