// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers that are hard to pack. Takes files in the form of google/minimalloc (a line
// `id,lower,upper,size` for each buffer, which is alive from `lower` until before `upper`), whose
// names end in the capacity: A.1048576.csv. States what greedy by size needs as a share of the
// capacity, whether the search finds offsets within it, and in how many nodes and seconds.
//   offsets_bench FILE.CAPACITY.csv... [--nodes=N]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "plan/buffers.hpp"
#include "plan/offsets.hpp"

namespace {

using mapsim::Buffer;

std::vector<Buffer> buffers_in(const std::filesystem::path& file) {
  std::ifstream lines{file};
  std::string line;
  std::getline(lines, line);  // names of the columns
  std::vector<Buffer> buffers;
  while (std::getline(lines, line)) {
    std::istringstream cells{line};
    std::string id;
    std::string lower;
    std::string upper;
    std::string size;
    std::getline(cells, id, ',');
    std::getline(cells, lower, ',');
    std::getline(cells, upper, ',');
    std::getline(cells, size, ',');
    buffers.push_back({id, std::stoll(size), std::stoull(lower), std::stoull(upper) - 1, 0});
  }
  return buffers;
}

// Whether no two buffers that are alive at once share a byte, and all end within the capacity.
bool holds(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets,
           std::int64_t capacity) {
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    if (offsets[a] < 0 || offsets[a] + buffers[a].bytes > capacity) {
      return false;
    }
    for (std::size_t b = 0; b < a; ++b) {
      const bool in_time =
          buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
      const bool in_space =
          offsets[a] < offsets[b] + buffers[b].bytes && offsets[b] < offsets[a] + buffers[a].bytes;
      if (in_time && in_space) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::filesystem::path> files;
  std::size_t nodes = 1'000'000;
  for (const std::string& word : std::vector<std::string>(argv + 1, argv + argc)) {
    const bool is_nodes = word.starts_with("--nodes=");
    nodes = is_nodes ? std::stoull(word.substr(word.find('=') + 1)) : nodes;
    if (!is_nodes) {
      files.emplace_back(word);
    }
  }
  std::printf("%-12s %8s %8s %8s %10s %9s\n", "file", "buffers", "greedy", "found", "nodes",
              "seconds");
  for (const std::filesystem::path& file : files) {
    const std::int64_t capacity = std::atoll(file.stem().extension().c_str() + 1);
    std::vector<Buffer> buffers = buffers_in(file);
    const mapsim::MemoryMap greedy = mapsim::place(buffers, 0);
    const auto start = Clock::now();
    const mapsim::OffsetSearch found = mapsim::find_offsets(buffers, capacity, nodes);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (found.offsets && !holds(buffers, *found.offsets, capacity)) {
      std::fprintf(stderr, "%s: offsets that overlap\n", file.c_str());
      return EXIT_FAILURE;
    }
    std::printf("%-12s %8zu %8.3f %8s %10zu %9.2f\n", file.stem().stem().c_str(), buffers.size(),
                static_cast<double>(greedy.peak) / static_cast<double>(capacity),
                found.offsets  ? "yes"
                : found.proven ? "none"
                               : "no",
                found.nodes, seconds);
  }
  return EXIT_SUCCESS;
}
