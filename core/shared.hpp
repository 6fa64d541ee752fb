// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <utility>

namespace mapsim {

// A value that copies share and nobody changes, or none. Equal where the values are: descriptions
// stay cheap to copy and can still be compared.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : value_{std::make_shared<const T>(std::move(value))} {}
  explicit operator bool() const { return value_ != nullptr; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || (a.value_ && b.value_ && *a.value_ == *b.value_);
  }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace mapsim
