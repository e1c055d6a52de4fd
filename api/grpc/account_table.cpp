// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/account_table.hpp"

#include <random>
#include <string_view>

namespace weft::api {
namespace {

constexpr std::size_t kMostEnded = 1024;

std::string random_front() {
  std::random_device device;
  std::string text = "weft-peer-";
  for (int i = 0; i < 4; ++i) text += std::to_string(device()) + '-';
  return text;
}

}  // namespace

AccountTable::AccountTable() : front_(random_front()) {}

std::string AccountTable::add(Entry entry) {
  const std::lock_guard lock(mutex_);
  std::string name = front_ + std::to_string(++given_);
  entries_.emplace(name, entry);
  return name;
}

void AccountTable::end(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ended_.push_back(name);
  if (ended_.size() <= kMostEnded) return;
  entries_.erase(ended_.front());
  ended_.pop_front();
}

std::optional<AccountTable::Entry> AccountTable::find(const std::string& peer) const {
  constexpr std::string_view kScheme = "unix-abstract:";
  if (!peer.starts_with(kScheme)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(peer.substr(kScheme.size()));
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace weft::api
