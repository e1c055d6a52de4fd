// SPDX-License-Identifier: Apache-2.0
#include "collectors/series/answer_slots.hpp"

namespace weft {

std::size_t AnswerSlots::find(const Key& key) const {
  if (next_ < slots_.size() && slots_[next_].is(key)) return next_;
  std::size_t place = 0;
  while (place < slots_.size() && !slots_[place].is(key)) ++place;
  return place;
}

void AnswerSlots::enter(SeriesRegistry& book) {
  has_new_ = false;
  for (Slot& slot : slots_) slot.position = slot.series ? book.enter(*slot.series) : std::nullopt;
}

}  // namespace weft
