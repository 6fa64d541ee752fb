// SPDX-License-Identifier: Apache-2.0
#include "app/measurement_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "app/arguments.hpp"
#include "app/files.hpp"
#include "validate/measurements.hpp"

namespace mapsim {

namespace {

constexpr const char* kLost = "# lost: ";
constexpr const char* kRefused = "# refused: ";
constexpr const char* kBecause = " -- ";

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

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
  text = text.empty() ? measurements_header() : with_all_columns(text, path_);
  if (text != before) {
    OutputFile{path_}.write(text);
  }
  rows_ = parse_measurements(text, path_);
  for (const GpuMeasurement& row : rows_) {
    known_.try_emplace(measured_what(row), known_.size());
  }
  std::istringstream lines{text};
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
