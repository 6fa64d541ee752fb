// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostic.hpp"

namespace mapsim {

// The kinds of file that mapsim distinguishes.
enum class FileKind : std::uint8_t {
  kArch,
  kWorkload,
  kMapping,
  kKernel,
  kConstraints,
  kNetwork,
  kChain,
  kCampaign,
  kCertificate,
  kResult,
  kDatabase,
  kMeasurements,
  kTimeloop,
  kAccelergy,
  kOnnx,
  kScaleSim,
  kTopology,
  kAccelForge,
  kZigzag,  // an accelerator of it, or a chip of Stream
  kSoc,     // engines on one memory
  kTable,   // of measured kernels, of many programs: has no sign of its own
  kText     // what a command prints of a mapping
};

// "an architecture"
const char* name_of(FileKind kind);
// The folder of configs/ that has such files; empty: none has.
const char* folder_of(FileKind kind);

// What a file is by its first key in column 1 that only such files have, or by its first bytes;
// nullopt: there is none, so that nothing is known. `beginning`: 64 KiB are enough.
struct Recognised {
  FileKind kind{};
  int line = 1;  // of the key, 1-based
};
std::optional<Recognised> recognise(std::string_view beginning);

using FileKinds = std::vector<FileKind>;

// What is wrong if a file that begins so stands where one of `wanted` should, the first of which
// gives the place its name: "this is a certificate, not a workload; mapsim check reads it", or
// another advice. Nullopt: nothing is known against it.
std::optional<Diagnostic> wrong_kind(const std::string& path, std::string_view beginning,
                                     const FileKinds& wanted, const std::string& advice = {});

// The first 64 KiB of a file; empty where it is no regular file, which can be read but once. Where
// there is none, throws a ConfigError that names the nearest: a file of that folder whose name is
// close, else one below `folders` whose name is close, whatever its ending.
std::string beginning_of(const std::string& path, const std::vector<std::string>& folders = {});

// The path of a file that is about to be read; throws ConfigError where it is not there or, as far
// as is known, none of `wanted`.
const std::string& checked_file(const std::string& path, const FileKinds& wanted);

}  // namespace mapsim
