// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace mapsim {

// Strong indices. A DimId never indexes levels; the compiler says so.
enum class DimId : std::uint8_t {};
enum class TensorId : std::uint8_t {};
enum class LevelId : std::uint8_t {};   // storage levels, 0 = outermost
enum class FanoutId : std::uint8_t {};  // fanouts, 0 = outermost

// Limits of one problem. The readers refuse what exceeds them; everything behind lives in fixed
// arrays, so that evaluating a mapping allocates nothing.
inline constexpr std::size_t kMaxDims = 16;
inline constexpr std::size_t kMaxTensors = 8;
inline constexpr std::size_t kMaxLevels = 16;
inline constexpr std::size_t kMaxFanouts = 4;

template <class Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

// Ids 0..count-1, for range-for.
template <class Id>
class IdRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(std::size_t i) : i_{i} {}
    constexpr Id operator*() const { return static_cast<Id>(i_); }
    constexpr Iterator& operator++() {
      ++i_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::size_t i_;
  };
  constexpr explicit IdRange(std::size_t count) : count_{count} {}
  constexpr Iterator begin() const { return Iterator{0}; }
  constexpr Iterator end() const { return Iterator{count_}; }

 private:
  std::size_t count_;
};

// An array indexed only by its own kind of id: value semantics, inline storage, a run-time size.
template <class Id, class T, std::size_t Capacity>
class IdArray {
 public:
  constexpr IdArray() = default;
  constexpr explicit IdArray(std::size_t size, const T& fill = T{}) : size_{size} {
    assert(size <= Capacity);
    for (std::size_t i = 0; i < size; ++i) {
      items_[i] = fill;
    }
  }
  // Changes the size only: what is there stays, items that join keep what they had before.
  constexpr void resize(std::size_t size) {
    assert(size <= Capacity);
    size_ = size;
  }
  constexpr T& operator[](Id id) { return items_[index_of(id)]; }
  constexpr const T& operator[](Id id) const { return items_[index_of(id)]; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr void push_back(const T& item) {
    assert(size_ < Capacity);
    items_[size_++] = item;
  }
  constexpr IdRange<Id> ids() const { return IdRange<Id>{size_}; }
  constexpr Id last() const { return static_cast<Id>(size_ - 1); }
  constexpr auto begin() { return items_.begin(); }
  constexpr auto end() { return items_.begin() + static_cast<std::ptrdiff_t>(size_); }
  constexpr auto begin() const { return items_.begin(); }
  constexpr auto end() const { return items_.begin() + static_cast<std::ptrdiff_t>(size_); }
  friend constexpr bool operator==(const IdArray& a, const IdArray& b) {
    if (a.size_ != b.size_) {
      return false;
    }
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.items_[i] == b.items_[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  std::array<T, Capacity> items_{};
  std::size_t size_ = 0;
};

template <class T>
using PerDim = IdArray<DimId, T, kMaxDims>;
template <class T>
using PerTensor = IdArray<TensorId, T, kMaxTensors>;
template <class T>
using PerLevel = IdArray<LevelId, T, kMaxLevels>;
template <class T>
using PerFanout = IdArray<FanoutId, T, kMaxFanouts>;

// A small set of ids as bits.
template <class Id>
class IdSet {
 public:
  constexpr IdSet() = default;
  constexpr IdSet(std::initializer_list<Id> ids) {
    for (const Id id : ids) {
      insert(id);
    }
  }
  static constexpr IdSet from_bits(std::uint32_t bits) {
    IdSet set;
    set.bits_ = bits;
    return set;
  }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr void insert(Id id) { bits_ |= std::uint32_t{1} << index_of(id); }
  constexpr void erase(Id id) { bits_ &= ~(std::uint32_t{1} << index_of(id)); }
  constexpr bool contains(Id id) const { return ((bits_ >> index_of(id)) & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  friend constexpr IdSet operator|(IdSet a, IdSet b) { return from_bits(a.bits_ | b.bits_); }
  friend constexpr IdSet operator&(IdSet a, IdSet b) { return from_bits(a.bits_ & b.bits_); }
  friend constexpr bool operator==(IdSet, IdSet) = default;

 private:
  std::uint32_t bits_ = 0;
};
using DimSet = IdSet<DimId>;
using TensorSet = IdSet<TensorId>;
using LevelSet = IdSet<LevelId>;

}  // namespace mapsim
