#pragma once
// What the C++ library of Debian 12's Emscripten (LLVM 13) lacks of C++20. The preset `web` includes this file before every
// source, so that no other file of the tree knows about it. Only what the tree uses stands here.
#include <fast_float/fast_float.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <iterator>
#include <system_error>
#include <type_traits>

namespace std {

/// Reads a double without locale, correctly rounded, as every other C++ library does.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const auto [end, status] = fast_float::from_chars(first, last, value);
  return {end, status};
}

template <class To, class From>
To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

namespace ranges {

template <class Range, class Predicate>
auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range), [&](auto&& value) { return invoke(predicate, value); });
}
template <class Range, class Value>
auto find(Range&& range, const Value& wanted) {
  return std::find(std::begin(range), std::end(range), wanted);
}
template <class Range, class Value, class Projection>
auto find(Range&& range, const Value& wanted, Projection projection) {
  return ranges::find_if(range, [&](auto&& value) { return invoke(projection, value) == wanted; });
}
template <class Range, class Predicate>
bool any_of(Range&& range, Predicate predicate) {
  return ranges::find_if(range, predicate) != std::end(range);
}
template <class Range, class Predicate>
bool none_of(Range&& range, Predicate predicate) {
  return !ranges::any_of(range, predicate);
}
template <class Range, class Predicate>
bool all_of(Range&& range, Predicate predicate) {
  return ranges::none_of(range, [&](auto&& value) { return !invoke(predicate, value); });
}

/// Stands for `std::ranges::less`, which `{}` as a comparison means.
struct Ascending {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a < b;
  }
};
template <class Range, class Before = Ascending, class Projection = identity>
void sort(Range&& range, Before before = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range),
            [&](const auto& a, const auto& b) { return invoke(before, invoke(projection, a), invoke(projection, b)); });
}
template <class Range, class Before>
void make_heap(Range&& range, Before before) {
  std::make_heap(std::begin(range), std::end(range), before);
}
template <class Range, class Value, class Before = Ascending, class Projection = identity>
auto lower_bound(Range&& range, const Value& wanted, Before before = {}, Projection projection = {}) {
  return std::lower_bound(std::begin(range), std::end(range), wanted, [&](const auto& element, const Value& value) {
    return invoke(before, invoke(projection, element), value);
  });
}
template <class Range>
void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}

}  // namespace ranges
}  // namespace std
