// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_kernel.hpp"

#include <fmt/format.h>

#include "core/reader.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMostExtent = 1 << 20;        // far beyond any tile
const Words kPaths{"wmma", "mma", "wgmma", "simt"};  // in the order of the enum

const Node* value_of(const Node& map, std::string_view key) {
  for (const Entry& entry : map.entries) {
    if (entry.key.text == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

class KernelReader {
 public:
  KernelReader(Reader& reader, GpuPrecision precision) : reader_{reader}, precision_{precision} {}

  KernelChoice read(const Node& node) {
    const Fields fields =
        reader_.fields(node, {"path", "block", "warp", "fragment", "stages", "split_k", "raster",
                              "padding", "cluster", "threads"});
    KernelChoice kernel;
    kernel.path =
        static_cast<GpuPath>(reader_.choice(fields.find("path"), kPaths, "a path").value_or(0));
    const auto fragments = wmma_fragments(precision_);
    if (!fragments.empty()) {
      kernel.fragment = fragments.front();
    }
    tile(fields.require("block"), 3, kernel.block);
    kernel.warp.k = kernel.block.k;
    tile(fields.require("warp"), 2, kernel.warp);
    tile(fields.find("fragment"), 3, kernel.fragment);
    count(fields, "stages", 1, kernel.stages);
    count(fields, "split_k", 1, kernel.split_k);
    count(fields, "raster", 0, kernel.raster);
    kernel.padding = 16 / operand_size(precision_).count();
    count(fields, "padding", 0, kernel.padding);
    count(fields, "cluster", 1, kernel.cluster);
    std::int64_t threads = 0;
    count(fields, "threads", 1, threads);
    if (threads > 0 && reader_.errors() == 0 && threads != kernel.threads()) {
      reader_.error(*fields.find("threads"),
                    fmt::format("these tiles have {} threads", kernel.threads()));
    }
    return kernel;
  }

 private:
  void count(const Fields& fields, const char* key, std::int64_t least, std::int64_t& value) {
    value = reader_.integer(fields.find(key), least, kMostExtent).value_or(value);
  }
  void tile(const Node* node, std::size_t extents, GemmTile& value) {
    if (node == nullptr) {
      return;
    }
    const std::vector<const Node*> items = reader_.items(*node, "extents");
    if (items.empty()) {
      return;  // is said
    }
    if (items.size() != extents) {
      reader_.error(*node, extents == 2 ? "two extents: [m, n]" : "three extents: [m, n, k]");
      return;
    }
    std::int64_t* const into[]{&value.m, &value.n, &value.k};
    for (std::size_t i = 0; i < items.size(); ++i) {
      *into[i] = reader_.integer(items[i], 1, kMostExtent).value_or(*into[i]);
    }
  }

  Reader& reader_;
  GpuPrecision precision_;
};

}  // namespace

std::vector<KernelChoice> read_kernels(const Document& document, GpuPrecision precision) {
  Reader reader{document};
  KernelReader kernels{reader, precision};
  std::vector<KernelChoice> result;
  const Node& root = document.root;
  if (const Node* list = value_of(root, "kernels")) {
    for (const Node* item : reader.items(*list, "kernels")) {
      const Node* kernel = value_of(*item, "kernel");
      result.push_back(kernels.read(kernel != nullptr ? *kernel : *item));
    }
  } else {
    const Node* kernel = value_of(root, "kernel");
    result.push_back(kernels.read(kernel != nullptr ? *kernel : root));
  }
  reader.finish();
  return result;
}

}  // namespace mapsim
