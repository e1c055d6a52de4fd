// SPDX-License-Identifier: Apache-2.0
#include "fabric/routes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft {
namespace {

// Half of the pool may be without use before it is laid anew; not worth it for less than this.
constexpr std::size_t kLeastToCompact = 4096;

std::uint64_t hash(const RouteBlock& block) {
  std::uint64_t result = 0x9E3779B97F4A7C15ULL;
  for (std::size_t at = 0; at < block.size(); at += sizeof result) {
    std::uint64_t word;
    std::memcpy(&word, block.data() + at, sizeof word);
    result = (result ^ word) * 0xFF51AFD7ED558CCDULL;
    result ^= result >> 32;
  }
  return result;
}

std::uint16_t blocks_up_to(Lid top) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(top.value / kRouteBlockSize + 1, kMostRouteBlocks));
}

}  // namespace

std::optional<PortNum> Routes::egress(NodeIndex node, Lid lid) const {
  const Table* of = table(node);
  if (!of) return std::nullopt;
  if (lid > of->top || !lid.is_unicast()) return kNoEgress;
  const RouteBlock* entries = block(node, static_cast<std::uint16_t>(lid.value / kRouteBlockSize));
  if (!entries) return std::nullopt;
  return PortNum{(*entries)[lid.value % kRouteBlockSize]};
}

const RouteBlock* Routes::block(NodeIndex node, std::uint16_t number) const {
  const Table* of = table(node);
  if (!of || number >= of->blocks.size() || of->blocks[number] == kNotRead) return nullptr;
  return &pooled(of->blocks[number]);
}

std::uint16_t RouteTables::blocks(NodeIndex node) const {
  return node < tables_.size() && tables_[node] ? static_cast<std::uint16_t>(tables_[node]->blocks.size())
                                                : std::uint16_t{0};
}

RouteTables::Table& RouteTables::own_table(NodeIndex node) {
  if (node >= tables_.size()) {
    tables_.resize(node + 1U);
    given_out_.resize(node + 1U, false);
  }
  if (!tables_[node])
    tables_[node] = std::make_shared<Table>();
  else if (given_out_[node])
    tables_[node] = std::make_shared<Table>(*tables_[node]);
  given_out_[node] = false;
  changed_ = true;
  return *tables_[node];
}

bool RouteTables::set_top(NodeIndex node, Lid top) {
  if (node < tables_.size() && tables_[node] && tables_[node]->top == top) return false;
  Table& table = own_table(node);
  table.top = top;
  const std::size_t count = blocks_up_to(top);
  for (std::size_t i = count; i < table.blocks.size(); ++i)
    if (table.blocks[i] != Routes::kNotRead) release(table.blocks[i]);
  table.blocks.resize(count, Routes::kNotRead);
  return true;
}

bool RouteTables::set_block(NodeIndex node, std::uint16_t number,
                            std::span<const std::uint8_t, kRouteBlockSize> entries) {
  if (number >= blocks(node)) return false;
  const std::uint32_t before = tables_[node]->blocks[number];
  if (before != Routes::kNotRead && std::ranges::equal(pooled(before), entries)) return false;
  RouteBlock block;
  std::ranges::copy(entries, block.begin());
  const std::uint32_t position = intern(block);
  own_table(node).blocks[number] = position;
  if (before != Routes::kNotRead) release(before);
  return true;
}

std::uint32_t RouteTables::intern(const RouteBlock& block) {
  if ((references_.size() + 1) * 2 > index_.size()) rehash(std::max<std::size_t>(1024, index_.size() * 2));
  const std::size_t mask = index_.size() - 1;
  std::size_t slot = hash(block) & mask;
  for (; index_[slot] != Routes::kNotRead; slot = (slot + 1) & mask)
    if (pooled(index_[slot]) == block) {
      if (references_[index_[slot]]++ == 0) --unused_;
      return index_[slot];
    }
  const auto position = static_cast<std::uint32_t>(references_.size());
  if (position % Routes::kChunk == 0) chunks_.push_back(std::make_shared<Routes::Chunk>());
  (*chunks_.back())[position % Routes::kChunk] = block;
  references_.push_back(1);
  index_[slot] = position;
  return position;
}

void RouteTables::release(std::uint32_t position) {
  if (--references_[position] == 0) ++unused_;
}

void RouteTables::rehash(std::size_t slots) {
  index_.assign(slots, Routes::kNotRead);
  for (std::uint32_t position = 0; position < references_.size(); ++position) {
    std::size_t slot = hash(pooled(position)) & (slots - 1);
    while (index_[slot] != Routes::kNotRead) slot = (slot + 1) & (slots - 1);
    index_[slot] = position;
  }
}

void RouteTables::compact() {
  const auto old_chunks = std::exchange(chunks_, {});
  const std::size_t old_size = std::exchange(references_, {}).size();
  unused_ = 0;
  index_.clear();
  std::vector<std::uint32_t> moved(old_size, Routes::kNotRead);
  for (NodeIndex node = 0; node < tables_.size(); ++node) {
    if (!tables_[node]) continue;
    for (std::uint32_t& position : own_table(node).blocks) {
      if (position == Routes::kNotRead) continue;
      std::uint32_t& to = moved[position];
      if (to == Routes::kNotRead)
        to = intern((*old_chunks[position / Routes::kChunk])[position % Routes::kChunk]);
      else
        ++references_[to];
      position = to;
    }
  }
}

std::shared_ptr<const Routes> RouteTables::publish() {
  if (!changed_) return published_;
  if (unused_ > kLeastToCompact && unused_ > references_.size() / 2) compact();
  changed_ = false;
  auto routes = std::make_shared<Routes>();
  routes->epoch_ = epoch_;
  routes->revision_ = ++revision_;
  routes->pooled_ = references_.size();
  routes->tables_.assign(tables_.begin(), tables_.end());
  routes->chunks_.assign(chunks_.begin(), chunks_.end());
  given_out_.assign(tables_.size(), true);
  published_ = std::move(routes);
  return published_;
}

}  // namespace weft
