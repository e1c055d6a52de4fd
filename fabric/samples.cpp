// SPDX-License-Identifier: Apache-2.0
#include "fabric/samples.hpp"

#include <algorithm>
#include <utility>

namespace weft {

SampleTable::SampleTable(std::vector<CounterId> counters, std::size_t rows) : counters_(std::move(counters)) {
  first_column_.fill(kNoColumn);
  for (const CounterId id : counters_) {
    first_column_[static_cast<std::size_t>(id)] = static_cast<Column>(columns_);
    columns_ += counter_info(id).instances;
  }
  words_ = (columns_ + 63) / 64;
  grow(rows);
}

SampleTable SampleTable::of_group(CounterGroup group, std::size_t rows) {
  std::vector<CounterId> counters;
  for (const CounterInfo& info : counter_catalogue())
    if (info.group == group) counters.push_back(info.id);
  return SampleTable(std::move(counters), rows);
}

void SampleTable::grow(std::size_t rows) {
  if (rows <= read_at_.size()) return;
  values_.resize(rows * columns_);
  present_.resize(rows * words_);
  saturated_.resize(rows * words_);
  read_at_.resize(rows, kNever);
}

}  // namespace weft
