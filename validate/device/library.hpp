// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace mapsim {

// A shared library that is opened at run time, so that building and starting the program do not
// need it. It stays open as long as a copy exists.
class SharedLibrary {
 public:
  SharedLibrary() = default;  // none
  // Opens the first of `names` that can be opened; a name is a path or follows the loader's rules.
  // If none can, `reasons` gets the loader's message for each.
  static SharedLibrary open(const std::vector<std::string>& names, std::string& reasons);
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }  // the name that could be opened

  // The address of a symbol; null: there is none.
  void* symbol(const char* name) const;
  // Points `function` to the symbol; false, and null: there is none.
  template <class Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  std::shared_ptr<void> handle_;  // shared: copies are of one open library
  std::string name_;
};

}  // namespace mapsim
