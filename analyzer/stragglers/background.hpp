// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a port sends or receives all the time, beside the transfers of its job: storage, monitoring, other programs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "analyzer/thresholds/stragglers.hpp"

namespace weft::analyzer {

/// The steady rate of one direction of a port between transfers, and how much it varies. The last 24 quiet readings
/// count, back to the last one that was near zero. Two in a row tell it, as does one in short silences: a first sending
/// lifts it by the same each time. Bounded: 350 bytes, and O(24) for each quiet reading.
class Background {
 public:
  /// What quiet readings say of it.
  enum class State : std::uint8_t {
    kUnknown,  ///< quiet readings do not agree
    kNone,     ///< a quiet reading was near zero, and nothing has moved all the time since
    kAlike,    ///< they agree, but each of them may be a first sending and nothing else
    kSteady,   ///< they agree, and not all of it can be first sendings
  };

  /// Takes a reading: `bytes` moved in `seconds`. One at more than a tenth of `transfer_rate` (bytes per second) is not
  /// quiet: it belongs to a transfer.
  void take(double bytes, double seconds, double transfer_rate, const StragglerThresholds& thresholds);
  /// As of the last reading.
  State state() const { return state_; }
  /// Each quiet reading may have had a first sending in it besides: the background may be lower by that.
  bool may_include_first() const { return may_include_first_; }
  /// Bytes that it moves in `seconds`; 0 unless it is steady, or quiet readings are alike.
  double bytes(double seconds) const { return rate_ * seconds; }
  /// It moves rarely more than so many bytes above that in `seconds`.
  double noise(double seconds) const { return noise_ * seconds; }

 private:
  static constexpr std::size_t kReadings = 24;
  static constexpr float kAlone = std::numeric_limits<float>::max();
  /// A quiet reading.
  struct Quiet {
    float seconds = 0;
    float rate = 0;   ///< bytes per second
    float lower = 0;  ///< of it and the one before; kAlone where that was not quiet
  };
  using Rates = std::array<float, kReadings>;

  void forget(State state);
  void learn(const StragglerThresholds& thresholds);
  bool agree_on(std::span<float> rates, float lowest, float most_noise);
  void learn_levels(float lowest, float most_noise, const StragglerThresholds& thresholds);
  std::size_t rates_of_pairs(Rates& rates) const;
  std::size_t rates_of_lengths(float lowest, Rates& rates) const;

  std::array<Quiet, kReadings> quiet_{};  ///< the first `count_` of them
  std::size_t count_ = 0, next_ = 0;
  float before_ = kAlone;  ///< rate of the last reading; kAlone where that was not quiet
  State state_ = State::kUnknown;
  bool may_include_first_ = false;
  double rate_ = 0, noise_ = 0;  ///< bytes per second
};

}  // namespace weft::analyzer
