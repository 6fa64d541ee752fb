// SPDX-License-Identifier: Apache-2.0
#include "app/measurement_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <variant>

#include "app/arguments.hpp"
#include "app/files.hpp"
#include "core/text_stream.hpp"
#include "validate/measurements.hpp"

namespace mapsim {

namespace {

constexpr const char* kLost = "# lost: ";
constexpr const char* kRefused = "# refused: ";
constexpr const char* kTrying = "# trying: ";
constexpr const char* kBecause = " -- ";

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A try that nobody ended becomes a loss.
std::string with_blame(std::string text) {
  const std::size_t at = text.rfind(std::string{"\n"} + kTrying);
  if (at == std::string::npos || text.find('\n', at + 1) + 1 != text.size()) {
    return text;
  }
  const std::size_t begin = at + 1 + std::strlen(kTrying);
  const std::string what = text.substr(begin, text.size() - 1 - begin);
  return text.substr(0, at + 1) + kLost + what + kBecause +
         "the process was killed while it ran for the first time: it may hang\n";
}

}  // namespace

std::string cache_text(const CacheEvidence& cache) {
  std::string text;
  if (cache.hot + cache.cold > 0) {
    text += fmt::format(
        "cache: {} rows say that the L2 held the operands (hot), {} that it did not (cold)\n",
        cache.hot, cache.cold);
  }
  if (cache.unsaid == 0) {
    return text;
  }
  text += fmt::format(
      "cache: {} rows do not say whether the L2 held the operands; {} of them are faster than DRAM "
      "can deliver A and B, so all are taken as {}\n",
      cache.unsaid, cache.too_fast, cache.taken_hot ? "hot" : "cold");
  return text;
}

std::vector<GpuMeasurement> measurements_of(const std::string& path, const std::string& gpu) {
  return rows_of_gpu(parse_measurements(read_text(path), path), path, gpu);
}

std::vector<GpuMeasurement> rows_of_gpu(std::vector<GpuMeasurement> all, const std::string& path,
                                        const std::string& gpu) {
  Parsed<std::vector<GpuMeasurement>> rows = rows_of_gpu(std::move(all), gpu);
  if (const auto* wrong = std::get_if<std::string>(&rows)) {
    throw UsageError(fmt::format("{}: {}: use --gpu", path, *wrong));
  }
  return std::get<0>(std::move(rows));
}

MeasurementFile::MeasurementFile(std::string path) : path_{std::move(path)} {
  if (path_.empty()) {
    return;
  }
  std::string text;
  if (std::filesystem::exists(path_)) {
    text = read_text(path_);
  }
  const std::string before = text;
  text.erase(text.find_last_of('\n') == std::string::npos ? 0 : text.find_last_of('\n') + 1);
  text = text.empty() ? measurements_header() : with_all_columns(with_blame(text), path_);
  if (text != before) {
    OutputFile{path_}.write(text);
  }
  rows_ = parse_measurements(text, path_);
  for (const GpuMeasurement& row : rows_) {
    known_.try_emplace(measured_what(row), known_.size());
  }
  std::istringstream lines = stream_of(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t because = line.find(kBecause);
    if (line.starts_with(kLost) && because != std::string::npos) {
      const std::size_t begin = std::strlen(kLost);
      lost_[line.substr(begin, because - begin)] = line.substr(because + std::strlen(kBecause));
    }
  }
}

const std::string* MeasurementFile::lost(const std::string& what) const {
  const auto found = lost_.find(what);
  return found == lost_.end() ? nullptr : &found->second;
}

void MeasurementFile::add(const std::vector<GpuMeasurement>& rows) {
  append(measurement_rows(rows));
  for (const GpuMeasurement& row : rows) {
    known_.try_emplace(measured_what(row), known_.size());
    rows_.push_back(row);
  }
}

void MeasurementFile::begin(const std::string& what) {
  if (!path_.empty()) {
    size_ = std::filesystem::file_size(path_);
    append(on_one_line(kTrying + what) + "\n");
  }
}

void MeasurementFile::end() {
  if (!path_.empty()) {
    std::error_code error;  // then the line stays, and means nothing once another follows
    std::filesystem::resize_file(path_, size_, error);
  }
}

void MeasurementFile::note_refused(const std::string& what, const std::string& reason) {
  append(on_one_line(kRefused + what + kBecause + reason) + "\n");
}

void MeasurementFile::note_lost(const std::string& what, const std::string& reason) {
  append(on_one_line(kLost + what + kBecause + reason) + "\n");
  lost_[what] = reason;
}

void MeasurementFile::append(const std::string& text) {
  if (path_.empty() || text.empty()) {
    return;
  }
  std::ofstream file{path_, std::ios::app | std::ios::binary};
  file << text;
  if (!file.flush()) {
    throw UsageError("cannot add to '" + path_ + "': " + std::strerror(errno));
  }
}

}  // namespace mapsim
