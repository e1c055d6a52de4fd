// SPDX-License-Identifier: Apache-2.0
#include "api/convert/text_search.hpp"

#include <algorithm>
#include <cctype>

namespace weft::api {
namespace {

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same_letter) != text.end() || part.empty();
}

bool contains_name(std::string_view text, std::string_view part) {
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), part.begin(), part.end(), is_same_letter);
    if (at == text.end()) return false;
    const auto behind = at + static_cast<std::ptrdiff_t>(part.size());
    const bool begins = at == text.begin() || !is_of_word(*(at - 1)) || !is_of_word(part.front());
    const bool ends = behind == text.end() || !is_of_word(*behind) || !is_of_word(part.back());
    if (begins && ends) return true;
  }
}

bool is_job(std::string_view job, std::string_view wanted) {
  return job == wanted || job.substr(job.find(':') + 1) == wanted;
}

}  // namespace weft::api
