// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_description.hpp"

namespace weft::infiniband {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none (Unicode 15, table 3-7:
/// no overlong forms, no surrogates, nothing past U+10FFFF).
std::size_t sequence_length(std::string_view text) {
  const unsigned first = byte(text, 0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length || byte(text, 1) < low || byte(text, 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte(text, i) & 0xC0) != 0x80) return 0;
  return length;
}

bool is_control(std::string_view sequence) {
  const unsigned first = byte(sequence, 0);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && byte(sequence, 1) < 0xA0;  // U+0080 … U+009F
}

}  // namespace

std::string to_valid_utf8(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      clean += kReplacement;
    } else if (const std::string_view sequence = text.substr(0, length); is_control(sequence)) {
      clean += ' ';
    } else {
      clean += sequence;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  const std::size_t first = clean.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return clean.substr(first, clean.find_last_not_of(' ') - first + 1);
}

std::string to_valid_utf8(std::span<const std::byte> bytes) {
  return to_valid_utf8(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

bool is_aggregation_node(NodeType type, std::uint32_t vendor_id, std::uint16_t device_id,
                         std::string_view description) {
  if (type != NodeType::kChannelAdapter) return false;
  return (vendor_id == 0x2c9 && device_id == 0xcf09) || description.find("Aggregation Node") != std::string_view::npos;
}

}  // namespace weft::infiniband
