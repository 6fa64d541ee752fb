// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_kernel.hpp"

#include <fmt/format.h>

#include "arch/gpu_words.hpp"
#include "core/reader.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {
namespace {

// In the order of the enumerations.
const Words kPaths{"wmma", "mma", "wgmma", "simt"};
const Words kLayouts{"row", "column"};

std::vector<std::int64_t> tile(Reader& reader, const Node* list, std::size_t extents) {
  std::vector<std::int64_t> result;
  if (list == nullptr) {
    return result;
  }
  const std::vector<const Node*> items = reader.items(*list, "a list of extents");
  for (const Node* item : items) {
    result.push_back(reader.integer(item, 1, kLargestWish).value_or(1));
  }
  if (!items.empty() && items.size() != extents) {
    reader.error(*list, extents == 2 ? "two extents: [m, n]" : "three extents: [m, n, k]");
    result.resize(extents, 1);
  }
  return result;
}

// `threads` says nothing of its own, but must fit the rest.
void check_threads(Reader& reader, const Fields& fields, const KernelWish& wish) {
  const auto threads = reader.integer(fields.find("threads"), 1, kLargestWish);
  if (!threads || !wish.path || reader.errors() > 0 || wish.warp.empty()) {
    return;
  }
  KernelChoice kernel;
  kernel.path = *wish.path;
  kernel.block = {wish.block[0], wish.block[1], wish.block[2]};
  kernel.warp = {wish.warp[0], wish.warp[1], wish.block[2]};
  if (*threads != kernel.threads()) {
    reader.error(*fields.find("threads"),
                 fmt::format("these tiles have {} threads", kernel.threads()));
  }
}

KernelWish read_kernel(Reader& reader, const Node& holder) {
  const Node* kernel = value_of(holder, "kernel");
  const Fields fields =
      reader.fields(kernel != nullptr ? *kernel : holder,
                    {"path", "block", "warp", "fragment", "stages", "split_k", "raster", "padding",
                     "cluster", "registers", "spilled", "threads"});
  const auto count = [&](const char* key, std::int64_t least) {
    return reader.integer(fields.find(key), least, kLargestWish);
  };
  KernelWish wish;
  if (const auto word = reader.choice(fields.find("path"), kPaths, "a path")) {
    wish.path = static_cast<GpuPath>(*word);
  }
  wish.block = tile(reader, fields.require("block"), 3);
  wish.warp = tile(reader, fields.find("warp"), 2);
  wish.fragment = tile(reader, fields.find("fragment"), 3);
  wish.stages = count("stages", 1);
  wish.split_k = count("split_k", 1);
  wish.raster = count("raster", 0);
  wish.padding = count("padding", 0);
  wish.cluster = count("cluster", 1);
  wish.registers = count("registers", 1);
  wish.spilled = count("spilled", 0);
  check_threads(reader, fields, wish);
  return wish;
}

// The form of a result's entry: the one of that number in the result's list.
void read_form(Reader& reader, const Node& root, const Node& entry, KernelWish& wish) {
  const Node* forms = value_of(root, "forms");
  const Node* index = value_of(entry, "form");
  if (forms == nullptr || index == nullptr) {
    return;
  }
  const std::vector<const Node*> list = reader.items(*forms, "forms");
  const auto at = reader.integer(index, 0, std::ssize(list) - 1);
  if (!at) {
    return;
  }
  const Node& form = *list[static_cast<std::size_t>(*at)];
  wish.precision = read_precision(reader, value_of(form, "precision"));
  const auto layout = [&](const char* key) -> std::optional<MatrixLayout> {
    const auto word = reader.choice(value_of(form, key), kLayouts, "a layout");
    return word ? std::optional{static_cast<MatrixLayout>(*word)} : std::nullopt;
  };
  wish.a = layout("a");
  wish.b = layout("b");
}

}  // namespace

std::vector<KernelWish> read_kernels(const Document& document) {
  Reader reader{document};
  std::vector<KernelWish> result;
  if (const Node* list = value_of(document.root, "kernels")) {
    for (const Node* item : reader.items(*list, "kernels")) {
      result.push_back(read_kernel(reader, *item));
      read_form(reader, document.root, *item, result.back());
    }
  } else {
    result.push_back(read_kernel(reader, document.root));
  }
  reader.finish();
  return result;
}

}  // namespace mapsim
