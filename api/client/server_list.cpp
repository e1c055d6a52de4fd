// SPDX-License-Identifier: Apache-2.0
#include "api/client/server_list.hpp"

#include <algorithm>

namespace weft::api {

bool is_standby(std::string_view message) {
  return message.starts_with("standby: ");
}

std::string_view lasting_part(std::string_view message) {
  return is_standby(message) ? message.substr(0, message.find(';')) : message;
}

bool ServerList::try_next() {
  current_ = (current_ + 1) % servers_.size();
  failures_ = (failures_ + 1) % servers_.size();
  if (failures_ == 0) redirected_ = false;
  return failures_ != 0;
}

bool ServerList::redirect(const std::vector<std::string>& servers) {
  if (servers.empty() || redirected_) return false;
  servers_.resize(configured_);
  for (const std::string& server : servers)
    if (std::find(servers_.begin(), servers_.end(), server) == servers_.end()) servers_.push_back(server);
  const auto first = std::find(servers_.begin(), servers_.end(), servers.front());
  current_ = static_cast<std::size_t>(first - servers_.begin());
  failures_ = 0;
  redirected_ = true;
  return true;
}

}  // namespace weft::api
