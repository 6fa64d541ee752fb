// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "campaign/campaign.hpp"
#include "campaign/json_results.hpp"
#include "campaign/sqlite.hpp"
#include "campaign/store.hpp"
#include "campaign/sweep.hpp"
#include "check/certificate.hpp"
#include "check/chain_proof.hpp"
#include "check/check.hpp"
#include "check/design_proof.hpp"
#include "check/network_proof.hpp"
#include "check/plan_proof.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/temporary_folder.hpp"
#include "tests/support/build_paths.hpp"
#include "validate/counters.hpp"
#include "validate/measurements.hpp"

namespace mapsim {

namespace {

void read_measurements(const std::string& text) {
  const std::vector<GpuMeasurement> rows = parse_measurements(text, "m.csv");
  const std::string printed = measurements_header() + measurement_rows(rows);
  require_law(measurement_rows(parse_measurements(printed, "again.csv")) == measurement_rows(rows),
              "measurements read back");
  with_all_columns(text, "m.csv");
}

void read_counters(const std::string& text) { parse_counters(text, "ncu.csv"); }

std::string sealed_anew(const std::string& text) {
  const std::string body = text.substr(0, text.rfind("digest: "));
  return body + check::seal(body);
}

// With a digest that fits, as a forger would give it. Checks what a check of a second can.
void read_certificate(const std::string& text) {
  const check::Certificate certificate = check::parse_certificate(sealed_anew(text), "proof");
  if (certificate.problem.macs() <= 1'000 && certificate.problem.arch().mac_units() <= 16) {
    check::check_certificate(certificate, {1, 10'000, {3'000, 1'000, {}}});
  }
}

check::Stop in_a_second() {
  check::Stop stop;
  stop.end = check::Stop::Clock::now() + std::chrono::seconds{1};
  return stop;
}

void read_chain_certificate(const std::string& text) {
  check::check_chain(check::parse_chain_claim(sealed_anew(text), "proof"), 10'000, in_a_second());
}

// The head and each part have a digest of their own.
void read_network_certificate(const std::string& text) {
  std::string sealed;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t line = text.find(std::string{"\n"} + check::kPartsLine, begin);
    const std::size_t end = line == std::string::npos ? text.size() : line + 1;
    sealed += (begin > 0 ? check::kPartsLine : "") + sealed_anew(text.substr(begin, end - begin));
    begin = line == std::string::npos ? text.size() + 1
                                      : end + std::string_view{check::kPartsLine}.size();
  }
  check::check_network(check::parse_network_claim(sealed, "proof"), 10'000, in_a_second());
}

void read_design_certificate(const std::string& text) {
  check::DesignCertificate certificate =
      check::parse_design_certificate(sealed_anew(text), "proof");
  check::check_design(certificate, {1, 10'000, 0, in_a_second()});
}

void read_plan_certificate(const std::string& text) {
  const check::PlanClaim claim = check::parse_plan_claim(text, "proof");
  if (claim.operations <= 20) {
    check::check_plan(claim);
  }
}

void read_results(const std::string& text) {
  JsonResults results;
  read_json_results(text, "results.json", results);
}

// A database with one campaign of two points.
const std::string& small_database() {
  static const std::string path = [] {
    const std::string file = temporary_folder() + "/small.sqlite";
    const std::string configs = source_path("configs/");
    const Campaign campaign = parse_campaign(
        "name: a\narchitectures: [{file: arch/teaching.yaml}]\nworkloads: "
        "[../tests/fuzz/tiny.yaml]\n"
        "objectives: [energy, edp]\n",
        configs + "a.yaml");
    SweepOptions options;
    const std::atomic<bool> never{false};
    options.database = file;
    options.stop = &never;
    sweep(campaign, options);
    return file;
  }();
  return path;
}

Cell cell_of(const std::string& text) {
  std::int64_t whole = 0;
  double real = 0;
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, whole); read.ptr == end) {
    return whole;
  }
  if (const auto read = std::from_chars(text.data(), end, real); read.ptr == end) {
    return real;
  }
  return text;
}

// Lines of TABLE COLUMN VALUE: the value of all rows, whatever its type.
void read_database(const std::string& text) {
  const std::string path = temporary_folder() + "/changed.sqlite";
  std::filesystem::copy_file(small_database(), path,
                             std::filesystem::copy_options::overwrite_existing);
  Database database{path};
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string table, column, value;
    words >> table >> column >> std::ws;
    std::getline(words, value);
    try {
      Statement{database, "UPDATE \"" + table + "\" SET \"" + column + "\" = ?"}.run(
          {cell_of(value)});
    } catch (const ConfigError&) {
      // no such column, or not this value
    }
  }
  read_studies(path, "");
  Store store{path, Store::Open::kExisting};
  store.check();
  const std::string merged = temporary_folder() + "/merged.sqlite";
  std::filesystem::remove(merged);
  Store{merged, Store::Open::kOrNew}.merge(path);
}

}  // namespace

std::vector<FuzzTarget> result_targets() {
  return {
      {"measurements", InputForm::kText, read_measurements, {}},
      {"counters", InputForm::kText, read_counters, {}},
      {"certificate", InputForm::kTree, read_certificate, {}},
      {"chain_certificate", InputForm::kText, read_chain_certificate, {}},
      {"network_certificate", InputForm::kText, read_network_certificate, {}},
      {"design_certificate", InputForm::kText, read_design_certificate, {}},
      {"plan_certificate", InputForm::kText, read_plan_certificate, {}},
      {"json", InputForm::kTree, read_results, {}},
      {"database", InputForm::kText, read_database, {}},
  };
}

}  // namespace mapsim
