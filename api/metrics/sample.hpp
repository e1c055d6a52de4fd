// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sample with its labels, for families of few samples.

#include <array>
#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "api/metrics/labels.hpp"

namespace weft::api {

/// Names and values of labels.
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// Appends the line of one sample; label values are escaped.
template <typename Number>
void append_sample(std::string& out, std::string_view name, Labels labels, Number value) {
  out += name;
  char separator = '{';
  for (const auto& [label, text] : labels) {
    out += separator;
    out += label;
    out += "=\"";
    append_label_value(out, text);
    out += '"';
    separator = ',';
  }
  if (labels.size() > 0) out += '}';
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out += ' ';
  out.append(digits.data(), end);
  out += '\n';
}

}  // namespace weft::api
