// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario_words.hpp"

#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

namespace weft::scenarios {

void complain(std::string why) {
  throw Complaint{std::move(why)};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

double number(const std::string& text, const std::string& what) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    complain(what + " wants a number, not \"" + text + "\"");
  return value;
}

bool is_on(const std::string& text) {
  if (text != "on" && text != "off") complain("\"" + text + "\" is neither on nor off");
  return text == "on";
}

Words::Words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    if (!values_.emplace(key, at == std::string::npos ? "" : word.substr(at + 1)).second)
      complain(key + " is said twice");
  }
}

std::optional<std::string> Words::take(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  std::string value = std::move(found->second);
  values_.erase(found);
  return value;
}

double Words::number_of(const std::string& key, double otherwise, double least, double most) {
  const auto text = take(key);
  if (!text) return otherwise;
  const double value = number(*text, key);
  if (value < least || value > most) {
    std::ostringstream why;
    why << key << " must be from " << least << " to " << most;
    complain(why.str());
  }
  return value;
}

unsigned Words::whole(const std::string& key, unsigned otherwise, unsigned most) {
  const double value = number_of(key, otherwise, 0, most);
  if (value != std::floor(value)) complain(key + " wants a whole number");
  return static_cast<unsigned>(value);
}

bool Words::on_or_off(const std::string& key, bool otherwise) {
  const auto text = take(key);
  return text ? is_on(*text) : otherwise;
}

void Words::finish() const {
  if (!values_.empty()) complain("does not know \"" + values_.begin()->first + "\"");
}

}  // namespace weft::scenarios
