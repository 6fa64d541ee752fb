// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/arithmetic.hpp"
#include "interop/gpu_table_row.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kWarp = 32;  // threads

// "mma4x2+warp2x4x2" of a LeetCUDA label: warps along M and N, fragments of a warp along M, N and
// steps of a tile along K. Its mma.sync kernels are all of 2x4 warps; "mma" of other warps is WMMA,
// as the program that made the labels says (hgemm.py).
struct LeetCudaLabel {
  GemmTile warps;      // k: 1
  GemmTile fragments;  // k: of 16
};
std::optional<LeetCudaLabel> read_label(const std::string& label) {
  // Digits after the word with an x between any two: "4x2", "2x4x2".
  const auto extents = [&label](std::string_view word) -> std::optional<GemmTile> {
    const std::size_t at = label.find(word);
    std::array<std::int64_t, 3> read{0, 0, 1};
    std::size_t count = 0;
    for (std::size_t i = at == std::string::npos ? label.size() : at + word.size();
         count < read.size() && i < label.size() && label[i] > '0' && label[i] <= '9'; i += 2) {
      read[count++] = label[i] - '0';
      if (i + 1 >= label.size() || label[i + 1] != 'x') {
        break;
      }
    }
    return count < 2 ? std::nullopt : std::optional{GemmTile{read[0], read[1], read[2]}};
  };
  const std::optional<GemmTile> warps = extents("mma");
  return warps ? std::optional{LeetCudaLabel{*warps, extents("warp").value_or(GemmTile{})}}
               : std::nullopt;
}

// LeetCUDA's kernels (hgemm_wmma*.cu, hgemm_mma*.cu): A and B row-major, fragments 16x16x16 (WMMA)
// and 16x8x16 (mma), one fragment along K per step; shared memory is padded by 8 halves in those
// with cp.async and in no others; without a stage count there is one buffer.
std::optional<KernelChoice> leetcuda_kernel(GpuTableReader& reader, const CsvRow& row) {
  bool wmma = reader.text(row, "family") == "wmma";
  KernelChoice kernel;
  kernel.block = {reader.extent(row, "BM"), reader.extent(row, "BN"), reader.extent(row, "BK")};
  if (const auto label = wmma ? std::nullopt : read_label(reader.text(row, "label"))) {
    wmma = label->warps != GemmTile{2, 4, 1};
    kernel.block = {16 * label->warps.m * label->fragments.m,
                    (wmma ? 16 : 8) * label->warps.n * label->fragments.n, 16 * label->fragments.k};
  }
  kernel.path = wmma ? GpuPath::kWmma : GpuPath::kMma;
  kernel.warp = {16 * reader.extent(row, "warp_frag_m"),
                 (wmma ? 16 : 8) * reader.extent(row, "warp_frag_n"), kernel.block.k};
  kernel.fragment = {16, 16, 16};
  const std::optional<std::int64_t> stages = reader.count(row, "stages");
  kernel.stages = stages.value_or(1);
  kernel.padding = stages ? 8 : 0;
  // The swizzled grid walks row by row within groups of so many columns of C.
  kernel.raster = reader.count(row, "grid_swizzle_cols").value_or(0) / kernel.block.n;
  if (kernel.warp.n % kernel.fragment.n != 0 || kernel.warps() != reader.extent(row, "warps")) {
    return std::nullopt;
  }
  return kernel;
}

// Tiles of a warp that are as square as powers of two allow.
std::optional<GemmTile> share(const GemmTile& tile, std::int64_t parts) {
  if (parts < 1 || !std::has_single_bit(static_cast<std::uint64_t>(parts))) {
    return std::nullopt;
  }
  GemmTile part = tile;
  for (; parts > 1; parts /= 2) {
    std::int64_t& side = part.m >= part.n && part.m % 2 == 0 ? part.m : part.n;
    if (side % 2 != 0) {
      return std::nullopt;
    }
    side /= 2;
  }
  return part;
}

std::int64_t get(const std::map<std::string, std::int64_t>& parameters,
                 const std::vector<const char*>& names, std::int64_t otherwise) {
  for (const char* name : names) {
    if (const auto found = parameters.find(name); found != parameters.end()) {
      return found->second;
    }
  }
  return otherwise;
}

NamedKernel clblast_kernel(const std::map<std::string, std::int64_t>& p) {
  if (get(p, {"SA"}, 1) != 1 || get(p, {"SB"}, 1) != 1) {
    return {{}, "SA or SB is 0: operands do not go through shared memory"};
  }
  const GemmTile block{get(p, {"MWG"}, 1), get(p, {"NWG"}, 1), get(p, {"KWG"}, 32)};
  const std::int64_t along_m = get(p, {"MDIMC"}, 1);
  const std::int64_t along_n = get(p, {"NDIMC"}, 1);
  const std::int64_t lanes = std::min(along_m, kWarp);  // of a warp, along M
  if (along_m < 1 || along_n < 1 || block.m % along_m != 0 || block.n % along_n != 0 ||
      kWarp % lanes != 0 || along_m % lanes != 0 || along_n % (kWarp / lanes) != 0) {
    return {{}, "its threads do not share the tile evenly"};
  }
  KernelChoice kernel;
  kernel.path = GpuPath::kSimt;
  kernel.block = block;
  kernel.fragment = {block.m / along_m, block.n / along_n, 1};
  kernel.warp = {lanes * kernel.fragment.m, kWarp / lanes * kernel.fragment.n, block.k};
  kernel.stages = 1;
  kernel.raster = 0;
  kernel.padding = 0;
  kernel.simt = {get(p, {"VWM"}, 1), get(p, {"VWN"}, 1), get(p, {"MDIMA"}, along_m),
                 get(p, {"NDIMB"}, along_n)};
  return {kernel, ""};
}

}  // namespace

std::optional<KernelChoice> simt_kernel(const GemmTile& block, std::int64_t threads) {
  const std::optional<GemmTile> warp =
      threads % kWarp == 0 ? share(block, threads / kWarp) : std::nullopt;
  const std::optional<GemmTile> thread = warp ? share(*warp, kWarp) : std::nullopt;
  if (!thread) {
    return std::nullopt;
  }
  KernelChoice kernel;
  kernel.path = GpuPath::kSimt;
  kernel.block = block;
  kernel.warp = *warp;
  kernel.fragment = {thread->m, thread->n, 1};
  kernel.padding = 0;
  return kernel;
}

NamedKernel kernel_of(const std::map<std::string, std::int64_t>& p) {
  if (p.contains("MWG")) {
    return clblast_kernel(p);
  }
  KernelChoice kernel;
  kernel.block = {get(p, {"BLOCK_M", "BM", "block_m"}, 0), get(p, {"BLOCK_N", "BN", "block_n"}, 0),
                  get(p, {"BLOCK_K", "BK", "block_k"}, 0)};
  if (kernel.block.m < 1 || kernel.block.n < 1 || kernel.block.k < 1) {
    return {{}, "no BLOCK_M, BLOCK_N, BLOCK_K (or BM, BN, BK; or CLBlast's MWG)"};
  }
  const std::int64_t warps = get(p, {"num_warps", "NUM_WARPS", "warps"}, 0);
  const std::optional<GemmTile> even = share(kernel.block, warps);
  kernel.warp = {get(p, {"WARP_M", "WM", "warp_m"}, even ? even->m : 0),
                 get(p, {"WARP_N", "WN", "warp_n"}, even ? even->n : 0), kernel.block.k};
  if (kernel.warp.m < 1 || kernel.warp.n < 1 || kernel.block.m % kernel.warp.m != 0 ||
      kernel.block.n % kernel.warp.n != 0) {
    return {{}, "no WARP_M and WARP_N (or num_warps) that divide the block"};
  }
  kernel.path = GpuPath::kMma;
  kernel.padding = 0;  // swizzled
  kernel.stages = get(p, {"STAGES", "num_stages", "stages"}, 2);
  kernel.split_k = get(p, {"SPLIT_K", "split_k"}, 1);
  kernel.raster = get(p, {"GROUP_M", "GROUP_SIZE_M", "raster"}, 8);
  if (const auto pad = p.find("PAD"); pad != p.end()) {
    kernel.path = GpuPath::kWmma;  // only WMMA needs padding
    kernel.padding = pad->second;
  }
  return {kernel, ""};
}

void read_leetcuda(GpuTableReader& reader) {
  for (const char* name : {"gpu", "M", "N", "K", "label", "family", "time_ms", "BM", "BN", "BK",
                           "warps", "warp_frag_n", "stages", "grid_swizzle_cols"}) {
    reader.cells().require({name});
  }
  for (const CsvRow& row : reader.rows()) {
    const std::string family = reader.text(row, "family");
    GpuMeasurement m;
    m.gpu = reader.text(row, "gpu");
    m.problem = gemm_of(GpuPrecision::kF16Acc16, reader.extent(row, "M"), reader.extent(row, "N"),
                        reader.extent(row, "K"));
    m.problem.b = MatrixLayout::kRow;
    m.origin = fmt::format("{} {}", reader.text(row, "date"), reader.text(row, "label"));
    if (family == "wmma" || family == "mma") {
      if (reader.text(row, "BM").empty()) {
        reader.leave_out("a kernel without tiles in shared memory");
        continue;
      }
      m.kernel = leetcuda_kernel(reader, row);
      if (!m.kernel) {
        reader.leave_out("warp tiles that no fragment of the model divides");
        continue;
      }
    } else if (family != "cublas") {
      reader.leave_out("a kernel without tensor cores");
      continue;
    }
    m.median = Seconds{reader.positive(row, "time_ms") * 1e-3};
    reader.add(std::move(m));
  }
}

namespace {

// NeuSight's m, n, k: of a linear layer C is m x k, summed over n. Which it is in a table its grids
// say: C of m x n, summed over k, where that explains more of them.
bool is_summed_over_k(GpuTableReader& reader) {
  std::int64_t over_k = 0;
  std::int64_t over_n = 0;
  for (const CsvRow& row : reader.rows()) {
    const auto cell = [&](const char* name) { return reader.count(row, name).value_or(0); };
    const std::int64_t along = cell("tile_m");
    const std::int64_t across = cell("tile_n");
    if (along < 1 || across < 1) {
      continue;
    }
    const std::int64_t grid = cell("grid_x") * cell("grid_y");
    const std::int64_t rows = ceil_div(cell("m"), across);
    over_k += grid == rows * ceil_div(cell("n"), along) ? 1 : 0;
    over_n += grid == rows * ceil_div(cell("k"), along) ? 1 : 0;
  }
  return over_k > over_n;
}

}  // namespace

// Linear layers and, with a column b, batched GEMMs. cuBLAS is column-major: its tile_m lies along
// our columns. Times include 30 to 60 us of the host.
void read_neusight(GpuTableReader& reader) {
  for (const char* name :
       {"gpu", "m", "n", "k", "latency_ms", "tile_m", "tile_n", "grid_z", "block", "kernel"}) {
    reader.cells().require({name});
  }
  reader.cells().finish();
  const bool over_k = is_summed_over_k(reader);
  const std::string batch = reader.any({"b", "batch"});
  for (const CsvRow& row : reader.rows()) {
    if (reader.text(row, "tile_m").empty()) {
      reader.leave_out("no tile");
      continue;
    }
    if (reader.text(row, "kernel").find("sgemm") == std::string::npos) {
      reader.leave_out("not an FP32 GEMM kernel");
      continue;
    }
    GpuMeasurement m;
    m.gpu = reader.text(row, "gpu");
    m.problem =
        gemm_of(GpuPrecision::kF32, reader.extent(row, "m"), reader.extent(row, over_k ? "n" : "k"),
                reader.extent(row, over_k ? "k" : "n"));
    m.problem.batch = batch.empty() ? 1 : reader.extent(row, batch);
    const GemmTile block{reader.extent(row, "tile_n"), reader.extent(row, "tile_m"),
                         std::max<std::int64_t>(reader.count(row, "tile_k").value_or(0), 8)};
    m.kernel = simt_kernel(block, reader.extent(row, "block"));
    if (!m.kernel) {
      reader.leave_out("threads that do not share the tile evenly");
      continue;
    }
    m.kernel->stages = 2;
    m.kernel->raster = 0;
    // The third side of the grid: batches, and slices of K.
    const std::int64_t depth = reader.extent(row, "grid_z");
    const std::int64_t slices = depth % m.problem.batch == 0 ? depth / m.problem.batch : 1;
    m.kernel->split_k = std::min(slices, ceil_div(m.problem.k, block.k));
    m.median = Seconds{reader.positive(row, "latency_ms") * 1e-3};
    m.origin = reader.text(row, "kernel");
    reader.add(std::move(m));
  }
}

void read_clblast(GpuTableReader& reader) {
  reader.need_gpu();
  reader.need_problem();
  const std::array names{"MWG", "NWG", "MDIMC", "NDIMC", "SA", "SB"};
  for (const char* name : names) {
    reader.cells().require({name});
  }
  reader.cells().require({"time_ms"});
  const std::array further{"KWG", "VWM", "VWN", "MDIMA", "NDIMB"};
  const GemmTile size = reader.context().problem.value_or(GemmTile{});
  for (const CsvRow& row : reader.rows()) {
    std::map<std::string, std::int64_t> parameters;
    for (const char* name : names) {
      parameters[name] = reader.count(row, name).value_or(0);
    }
    for (const char* name : further) {
      if (const auto value = reader.has(name) ? reader.count(row, name) : std::nullopt) {
        parameters[name] = std::max<std::int64_t>(*value, 1);
      }
    }
    NamedKernel named = kernel_of(parameters);
    if (!named.kernel) {
      reader.leave_out(named.problem);
      continue;
    }
    GpuMeasurement m;
    m.problem =
        gemm_of(reader.context().precision.value_or(GpuPrecision::kF32), size.m, size.n, size.k);
    m.kernel = named.kernel;
    m.median = Seconds{reader.positive(row, "time_ms") * 1e-3};
    reader.add(std::move(m));
  }
}

}  // namespace mapsim
