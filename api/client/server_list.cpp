// SPDX-License-Identifier: Apache-2.0
#include "api/client/server_list.hpp"

namespace weft::api {

bool is_standby(std::string_view message) {
  return message.starts_with("standby: ");
}

bool ServerList::try_next() {
  current_ = (current_ + 1) % servers_.size();
  failures_ = (failures_ + 1) % servers_.size();
  return failures_ != 0;
}

}  // namespace weft::api
