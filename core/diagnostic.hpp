// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace mapsim {

// One thing that is wrong with an input file, and where.
struct Diagnostic {
  std::string file;
  int line = 0;         // 1-based; 0: the file as a whole
  int column = 0;       // 1-based, in bytes
  std::string path;     // of the value inside the document: nodes[0].bandwidth.read; may be empty
  std::string message;  // what is wrong; what would be right
  std::string source;   // the line, without its end
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

// As compilers print it, without a newline at the end:
//   arch.yaml:5:5: nodes[0]: unknown key 'wrod'; did you mean 'word'?
//       wrod: 16 b
//       ^
std::string to_string(const Diagnostic& diagnostic);

// Bad input. Holds everything that is wrong with the file, in the order of the file; what() is all
// of it, rendered. `unlisted` counts the errors that were too many to be listed.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics, std::size_t unlisted = 0);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::size_t unlisted() const { return unlisted_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t unlisted_;
};

// What a terminal may be sent: control characters other than tab and newline as their pictures.
std::string printable(const std::string& text);

// 'text', shortened where it is longer than a message should be.
std::string quoted(const std::string& text);

}  // namespace mapsim
