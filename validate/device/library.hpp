// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace mapsim {

// A shared library that is opened at run time, so that nothing of it is needed to build or to
// start. Stays open as long as a copy lives.
class SharedLibrary {
 public:
  SharedLibrary() = default;  // none
  // The first of `names` that opens, by the loader's rules or as paths. None: the loader's word on
  // each goes to `reasons`.
  static SharedLibrary open(const std::vector<std::string>& names, std::string& reasons);
  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }  // under which it opened

  // Null: it has no such symbol.
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
