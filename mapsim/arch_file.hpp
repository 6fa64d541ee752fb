// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "arch/gpu.hpp"
#include "core/diagnostic.hpp"
#include "core/document.hpp"

namespace mapsim {

// An architecture file (docs/formats.md) whose values can be replaced before it is read. Throws
// ConfigError, as load_arch() does.
class ArchFile {
 public:
  static ArchFile load(const std::string& path);
  static ArchFile parse(const std::string& text, const std::string& name);

  // Replaces the value at `path`, "GLB.capacity", "nodes[1].capacity" or "sms", by `value` (YAML:
  // "64 KiB"). The last key may be new. Throws std::invalid_argument with the nearest name. Errors
  // in the value appear when the machine is read, with `path` in place of the file.
  void set(const std::string& path, const std::string& value);
  bool is_gpu() const;
  Arch arch() const;         // throws ConfigError also for a GPU
  Gpu gpu() const;           // throws ConfigError also for another machine
  std::string yaml() const;  // its values, in one line; the same machine when parsed
  const std::string& file() const { return document_.file; }  // or what stands for it in errors

 private:
  struct Setting {
    std::string path, value;  // as passed to set(), the first line
    std::string place;        // of the value: nodes[1].capacity
  };
  explicit ArchFile(Document document);
  ConfigError in_settings(const ConfigError& error) const;
  Document document_;
  std::vector<Setting> settings_;
};

}  // namespace mapsim
