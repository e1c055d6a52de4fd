// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of one line of a scenario file.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenarios {

/// What is wrong with a line; caught where the line's number is known.
struct Complaint {
  std::string why;
};
[[noreturn]] void complain(std::string why);

std::vector<std::string> split(std::string_view text, char at);
/// A finite number; complains of anything else, `what` being its name.
double number(const std::string& text, const std::string& what);
/// "on" or "off".
bool is_on(const std::string& text);

/// The "key=value" words of a line. Each must be asked for, or the line is wrong.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words);

  /// The value, once; "" of a word without one, nullopt where it is not said.
  std::optional<std::string> take(const std::string& key);
  /// `otherwise` where it is not said.
  double number_of(const std::string& key, double otherwise, double least, double most);
  unsigned whole(const std::string& key, unsigned otherwise, unsigned most);
  bool on_or_off(const std::string& key, bool otherwise);
  /// Complains of a word that nobody took.
  void finish() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace weft::scenarios
