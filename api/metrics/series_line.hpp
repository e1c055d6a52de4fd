// SPDX-License-Identifier: Apache-2.0
#pragma once
// One line of a port's series, written part after part into a buffer.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "api/metrics/family.hpp"
#include "api/metrics/labels.hpp"

namespace weft::api {

/// Writes at `at` and moves it on. The caller has made sure of the room, and begins the line up to the text of its last
/// label, whose closing quote is left to label() and end().
struct SeriesLine {
  char*& at;

  /// Text that needs no escaping.
  void put(std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  }
  /// The text of a label.
  void escaped(std::string_view text) {
    const bool plain = std::ranges::all_of(
        text, [](char c) { return c >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\'; });
    if (plain) return put(text);
    std::string safe;
    append_label_value(safe, text);
    put(safe);
  }
  /// In decimal, with at most kLongestNumber characters.
  template <typename Number>
  void number(Number value) {
    at = std::to_chars(at, at + kLongestNumber, value).ptr;
  }
  /// Closes the label before and writes one more.
  void label(std::string_view name, std::string_view value) {
    next_label(name);
    escaped(value);
  }
  void label(std::string_view name, unsigned value) {
    next_label(name);
    number(value);
  }
  /// Closes the labels; the value and the end of the line.
  template <typename Number>
  void end(Number value) {
    put("\"} ");
    number(value);
    *at++ = '\n';
  }

 private:
  void next_label(std::string_view name) {
    put("\",");
    put(name);
    put("=\"");
  }
};

}  // namespace weft::api
