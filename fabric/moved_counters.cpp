// SPDX-License-Identifier: Apache-2.0
#include "fabric/moved_counters.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

/// The values of one row, for whoever asks for a column.
template <typename ValueAt>
std::uint64_t nonzero_among(std::uint64_t candidates, std::size_t first_column, ValueAt&& value_at) {
  std::uint64_t nonzero = 0;
  for (std::uint64_t left = candidates; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(left));
    if (value_at(first_column + at) != 0) nonzero |= 1ULL << at;
  }
  return nonzero;
}

/// A copy that is made when there is something to write: what was published stays as it is.
class Draft {
 public:
  Draft(const std::shared_ptr<const MovedCounters>& before, std::optional<MovedCounters> anew) : before_(before) {
    if (anew) copy_ = std::make_shared<MovedCounters>(std::move(*anew));
  }
  const MovedCounters& read() const { return copy_ ? *copy_ : *before_; }
  MovedCounters& write() {
    if (!copy_) copy_ = std::make_shared<MovedCounters>(*before_);
    return *copy_;
  }
  /// Looks at a word of a row.
  template <typename ValueAt>
  void look(std::size_t row, std::size_t word, std::uint64_t present, Duration now, ValueAt&& value_at) {
    const std::uint64_t candidates = present & ~read().moved(row, word);
    const std::uint64_t nonzero = nonzero_among(candidates, word * 64, value_at);
    if (nonzero != 0 || (candidates & ~read().known(row, word)) != 0) write().note(row, word, candidates, nonzero, now);
  }
  std::shared_ptr<const MovedCounters> finish(Duration now) {
    if (copy_ || read().has_released(now)) write().settle(now);
    return copy_ ? std::move(copy_) : before_;
  }

 private:
  const std::shared_ptr<const MovedCounters>& before_;
  std::shared_ptr<MovedCounters> copy_;
};

/// What tells series of one host apart.
std::string identity(const HostSeries& series) {
  std::string text = series.device + '\0' + series.name + '\0';
  for (const auto part : {static_cast<std::uint8_t>(series.port), static_cast<std::uint8_t>(series.direction),
                          series.priority, series.lane, static_cast<std::uint8_t>(series.source)})
    text += static_cast<char>(part);
  return text;
}

std::vector<std::uint64_t> followed_columns(const SampleTable& table) {
  std::vector<std::uint64_t> words(table.words_per_row());
  for (const CounterId id : table.counters()) {
    const CounterInfo& info = counter_info(id);
    if (!info.is_left_out_at_zero()) continue;
    for (unsigned instance = 0; instance < info.instances; ++instance) {
      const SampleTable::Column column = table.column(id, instance);
      words[column / 64] |= 1ULL << (column % 64);
    }
  }
  return words;
}

}  // namespace

void MovedCounters::grow(std::size_t rows) {
  if (rows <= this->rows()) return;
  known_.resize(rows * words_);
  moved_.resize(rows * words_);
}

const MovedCounters::Held* MovedCounters::find_held(std::uint64_t cell) const {
  const auto found = std::ranges::lower_bound(held_, cell, {}, &Held::cell);
  return found != held_.end() && found->cell == cell ? &*found : nullptr;
}

ShownAs MovedCounters::shown(std::size_t row, std::size_t column, Duration now) const {
  const std::uint64_t at = cell(row, column);
  if (at / 64 >= moved_.size() || !bit(moved_, at)) return ShownAs::kNot;
  if (held_.empty()) return ShownAs::kAsRead;
  const Held* const held = find_held(at);
  return held && is_held(*held, now) ? ShownAs::kAtZero : ShownAs::kAsRead;
}

void MovedCounters::note(std::size_t row, std::size_t word, std::uint64_t present, std::uint64_t nonzero,
                         Duration now) {
  const std::size_t at = row * words_ + word;
  const std::uint64_t moving = nonzero & ~moved_[at];
  for (std::uint64_t left = moving & known_[at]; left != 0 && held_.size() < kMostHeld; left &= left - 1)
    held_.push_back({at * 64 + static_cast<std::uint64_t>(std::countr_zero(left)), now});
  known_[at] |= present;
  moved_[at] |= moving;
}

bool MovedCounters::has_released(Duration now) const {
  return std::ranges::any_of(held_, [&](const Held& held) { return !is_held(held, now); });
}

void MovedCounters::settle(Duration now) {
  std::erase_if(held_, [&](const Held& held) { return !is_held(held, now); });
  if (!std::ranges::is_sorted(held_, {}, &Held::cell)) std::ranges::sort(held_, {}, &Held::cell);
}

void MovedCounters::take_row(std::size_t row, const MovedCounters& from, std::size_t from_row) {
  for (std::size_t word = 0; word < words_; ++word) {
    known_[row * words_ + word] = from.known_[from_row * words_ + word];
    moved_[row * words_ + word] = from.moved_[from_row * words_ + word];
  }
  const std::uint64_t first = cell(from_row, 0);
  const std::uint64_t end = cell(from_row + 1, 0);
  for (auto held = std::ranges::lower_bound(from.held_, first, {}, &Held::cell);
       held != from.held_.end() && held->cell < end; ++held)
    held_.push_back({cell(row, 0) + held->cell - first, held->from});
}

void MovedCounters::take_cell(std::size_t row, std::size_t column, const MovedCounters& from, std::size_t from_row,
                              std::size_t from_column) {
  const std::uint64_t to = cell(row, column);
  const std::uint64_t at = from.cell(from_row, from_column);
  known_[to / 64] |= std::uint64_t{from.bit(from.known_, at)} << (to % 64);
  moved_[to / 64] |= std::uint64_t{from.bit(from.moved_, at)} << (to % 64);
  if (const Held* const held = from.find_held(at)) held_.push_back({to, held->from});
}

MovedCounters TableMoves::rearranged(const SampleTable& table, const Topology& topology) const {
  MovedCounters anew(table.columns(), hold_);
  anew.grow(table.rows());
  if (!moved_ || !topology_ || !std::ranges::equal(counters_, table.counters())) return anew;
  const std::size_t ports = std::min(table.rows(), topology.ports().size());
  for (std::size_t row = 0; row < ports; ++row) {
    const PortIndex before = topology_->find_port(topology.key_of(static_cast<PortIndex>(row)));
    if (before != kNoIndex && before < moved_->rows()) anew.take_row(row, *moved_, before);
  }
  return anew;
}

void TableMoves::update(const SampleTable* table, std::shared_ptr<const Topology> topology, Duration now) {
  if (table == nullptr || !topology) return;
  std::optional<MovedCounters> anew;
  if (!moved_ || !topology_ || topology_->epoch() != topology->epoch() ||
      !std::ranges::equal(counters_, table->counters())) {
    anew = rearranged(*table, *topology);
    counters_.assign(table->counters().begin(), table->counters().end());
    followed_ = followed_columns(*table);
    read_at_.clear();
  }
  topology_ = std::move(topology);
  read_at_.resize(table->rows(), kNever);
  Draft draft(moved_, std::move(anew));
  if (draft.read().rows() < table->rows()) draft.write().grow(table->rows());
  const std::size_t words = table->words_per_row();
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (table->read_at(row) == read_at_[row]) continue;
    read_at_[row] = table->read_at(row);
    const std::uint64_t* const values = table->raw_values().data() + row * table->columns();
    for (std::size_t word = 0; word < words; ++word)
      draft.look(row, word, table->raw_present()[row * words + word] & followed_[word], now,
                 [values](std::size_t column) { return values[column]; });
  }
  moved_ = draft.finish(now);
}

MovedCounters HostMoves::rearranged(const SeriesList& series) const {
  MovedCounters anew(series.size(), hold_);
  anew.grow(1);
  if (!moved_) return anew;
  std::unordered_map<std::string, std::size_t> before;
  for (std::size_t i = 0; i < series_.size(); ++i) before.emplace(identity(series_[i]), i);
  for (std::size_t i = 0; i < series.size(); ++i)
    if (const auto found = before.find(identity(series[i])); found != before.end())
      anew.take_cell(0, i, *moved_, 0, found->second);
  return anew;
}

void HostMoves::update(const HostReading& reading, Duration now) {
  if (!reading.inventory) return;
  const SeriesList& series = reading.inventory->series;
  std::optional<MovedCounters> anew;
  if (!moved_ || series.shared() != series_.shared()) {
    if (!moved_ || !(series == series_)) anew = rearranged(series);
    series_ = series;
  }
  Draft draft(moved_, std::move(anew));
  const std::size_t count = std::min({series.size(), reading.values.size(), reading.present.size()});
  for (std::size_t first = 0; first < count; first += 64) {
    std::uint64_t present = 0;
    for (std::size_t i = first; i < std::min(first + 64, count); ++i)
      if (reading.present[i]) present |= 1ULL << (i - first);
    draft.look(0, first / 64, present, now, [&reading](std::size_t column) { return reading.values[column]; });
  }
  moved_ = draft.finish(now);
}

}  // namespace weft
