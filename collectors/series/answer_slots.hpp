// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values that come in one answer of the kernel, answer after answer: learnt by their names once, then found where
// they stood last time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/series/series_registry.hpp"

namespace weft {

/// The values of one kind of answer of one interface.
class AnswerSlots {
 public:
  /// What tells one value of an answer from another. `detail` is whatever the caller needs beside the name.
  struct Key {
    std::string_view name;
    std::uint32_t detail = 0;
  };

  /// An answer begins. With no sink its values are only learnt.
  void begin(ValueSink* sink) {
    sink_ = sink;
    next_ = 0;
  }
  /// The next value of the answer. `series` is asked, once for each new key, what the value is; nullopt when nobody
  /// wants it.
  template <typename SeriesOf>
  void put(const Key& key, std::uint64_t value, const SeriesOf& series) {
    const std::size_t place = learn(key, series);
    if (place < slots_.size() && sink_ != nullptr && slots_[place].position) sink_->put(*slots_[place].position, value);
  }
  /// As put(), where the answer names the value and does not have it.
  template <typename SeriesOf>
  void skip(const Key& key, const SeriesOf& series) {
    learn(key, series);
  }

  /// Enters all that was learnt.
  void enter(SeriesRegistry& book);
  /// Whether something was learnt that is not entered yet.
  bool has_new() const { return has_new_; }

 private:
  static constexpr std::size_t kMostSlots = 4096;

  /// Where the key's slot is; slots_.size() when there are too many.
  template <typename SeriesOf>
  std::size_t learn(const Key& key, const SeriesOf& series) {
    const std::size_t place = find(key);
    if (place == slots_.size()) {
      if (slots_.size() >= kMostSlots) return place;
      slots_.push_back({std::string(key.name), key.detail, series(), std::nullopt});
      has_new_ = has_new_ || slots_.back().series.has_value();
    }
    next_ = place + 1;
    return place;
  }

  struct Slot {
    std::string name;
    std::uint32_t detail;
    std::optional<HostSeries> series;
    std::optional<SeriesPosition> position;

    bool is(const Key& key) const { return detail == key.detail && name == key.name; }
  };

  /// The slot of that key, the expected one first; slots_.size() when there is none.
  std::size_t find(const Key& key) const;

  std::vector<Slot> slots_;
  std::size_t next_ = 0;
  ValueSink* sink_ = nullptr;
  bool has_new_ = false;
};

}  // namespace weft
