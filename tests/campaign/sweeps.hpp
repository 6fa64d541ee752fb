// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "campaign/sweep.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim {

namespace fs = std::filesystem;
inline const std::string kConfigs = source_path("configs/");

// A folder with a small campaign, and databases for its results.
class Sweeps : public ::testing::Test {
 protected:
  Sweeps() {
    std::string pattern = (fs::temp_directory_path() / "mapsim_sweep_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const char* name : {"arch/teaching.yaml", "workloads/teaching/gemm.yaml"}) {
      fs::copy_file(kConfigs + name, folder_ / fs::path{name}.filename());
    }
  }
  ~Sweeps() override { fs::remove_all(folder_); }

  Campaign campaign(const std::string& architecture, const std::string& rest = "") const {
    return parse_campaign("name: small\narchitectures:\n  - file: teaching.yaml\n" + architecture +
                              "workloads: [gemm.yaml]\n" + rest,
                          (folder_ / "small.yaml").string());
  }
  Campaign grid() const {
    return campaign("    grid: {nodes.Buffer.capacity: [16 B, 64 B, 1 KiB, 32 KiB]}\n",
                    "objectives: [energy, {minimize: latency, latency: ramped}]\n");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  SweepSummary run(const Campaign& campaign, const std::string& name, int threads = 2,
                   Shard shard = {}) const {
    SweepOptions options;
    options.database = path(name);
    options.threads = threads;
    options.shard = shard;
    const std::atomic<bool> stop{false};
    options.stop = &stop;
    return sweep(campaign, options);
  }

  // All answers but for the seconds that they took.
  std::vector<Record> answers(const std::string& name) const {
    Store store{path(name), Store::Open::kExisting};
    const std::vector<std::string> columns = store.columns("answers");
    const auto seconds = std::find(columns.begin(), columns.end(), "seconds") - columns.begin();
    std::vector<Record> rows;
    store.read({"answers"}, [&](Record row) {
      row[static_cast<std::size_t>(seconds)] = {};
      rows.push_back(std::move(row));
    });
    return rows;
  }
  Cell cell(const std::string& name, std::size_t row, const std::string& column) const {
    Store store{path(name), Store::Open::kExisting};
    const std::vector<std::string> columns = store.columns("answers");
    const auto at = std::find(columns.begin(), columns.end(), column) - columns.begin();
    return answers(name).at(row).at(static_cast<std::size_t>(at));
  }
  void edit(const std::string& name, const std::string& old, const std::string& text) const {
    std::ifstream file{folder_ / name};
    std::string all{std::istreambuf_iterator<char>{file}, {}};
    ASSERT_NE(all.find(old), std::string::npos);
    std::ofstream{folder_ / name} << all.replace(all.find(old), old.size(), text);
  }

 private:
  fs::path folder_;
};

}  // namespace mapsim
