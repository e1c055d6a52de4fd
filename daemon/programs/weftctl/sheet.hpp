// SPDX-License-Identifier: Apache-2.0
#pragma once
// What verbs print on: how wide it is, whether it takes colour, and what stood on it before.

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "fabric/clock.hpp"

namespace weft::ctl {

/// What a word says of that which it stands for.
enum class Tone : std::uint8_t { kNone, kGood, kWarning, kBad, kFaint };

/// The tone of a state, severity or verdict as verbs print it: "CRITICAL", "down", "ACTIVE (stale)"; kNone for any
/// other.
Tone tone_of(std::string_view word);

/// `text` between the sequences of ECMA-48 that give it its tone.
std::string toned(std::string text, Tone tone);

/// Whether to colour what goes to standard output. `wanted`: "always", "never", or "auto" for a `terminal` that is not
/// dumb, unless NO_COLOR is set and not empty.
bool takes_colour(std::string_view wanted, bool terminal);

/// What a table's rows were the last time, so that changed ones can be marked.
class RowMemory {
 public:
  /// How long a changed row stays marked: long enough for somebody who looks up once in a while.
  static constexpr std::chrono::seconds kMarked{10};

  /// What was noted until now is what was before.
  void begin(TimePoint now);
  /// Was the row of this key not there before, or not like that, within the last kMarked? Never when nothing was.
  /// Rows of one key are told apart by their order.
  bool changed(const std::string& key, const std::string& content);
  /// Rows of before that have not been noted since begin().
  std::size_t gone() const;

 private:
  struct Row {
    std::string content;
    TimePoint since = kNever;  ///< when it became so; kNever: it was so from the first
  };
  std::map<std::string, Row> before_, now_;
  TimePoint moment_ = kNever;
  int passes_ = 0;
};

/// Where a table goes. Nothing but `out` is a file or a program: as wide as it likes, without colour.
struct Sheet {
  std::ostream& out;
  std::size_t columns = 0;      ///< of the terminal; 0: no limit
  bool colour = false;          ///< takes it
  bool plain = false;           ///< ASCII alone
  RowMemory* memory = nullptr;  ///< changed rows are marked in front
};

}  // namespace weft::ctl
