// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several addresses for one weftd: of two, one leads and the other stands by. Which one is used, and when the next one
// is tried. No gRPC to be seen, no clock, no waiting.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::api {

/// Longest time for a connection (name, TCP, TLS, HTTP/2) to one address of several.
inline constexpr std::chrono::seconds kConnectTime{2};

/// Whether a call that failed with UNAVAILABLE was answered by a weftd that is on standby: its message begins with
/// "standby: ". Nothing of the call was taken.
bool is_standby(std::string_view message);
/// Of such a message what stays the same while nothing changes, "standby: weft2 leads at weft2:9641", without how long
/// the database has not answered; any other message as it is.
std::string_view lasting_part(std::string_view message);

/// The addresses, in the order in which they are tried. The one in use stays in use for as long as it serves.
class ServerList {
 public:
  /// At least one address, each HOST:PORT or unix:PATH.
  explicit ServerList(std::vector<std::string> servers) : servers_(std::move(servers)), configured_(servers_.size()) {}

  /// The address in use.
  const std::string& current() const { return servers_[current_]; }
  /// Its place in the list, from 0; of one that another weftd named it is not below the number of the configured ones.
  std::size_t index() const { return current_; }
  /// A weftd named others as those to be asked: they are tried at once, one after the other, and the configured ones
  /// after them. False: nothing new was named, or this is not the first time since the last success or the last wait,
  /// so that two weftd that name each other are not asked in turn for ever.
  bool redirect(const std::vector<std::string>& servers);

  /// How many addresses there are.
  std::size_t size() const { return servers_.size(); }

  /// The address in use serves.
  void serves() {
    failures_ = 0;
    redirected_ = false;
  }
  /// The address in use does not serve: uses the next one. False when all of them have failed since the last success,
  /// or since the last time that this was false: wait before the next call.
  bool try_next();

 private:
  std::vector<std::string> servers_;
  std::size_t configured_;  ///< so many in front; those behind were named by a weftd
  std::size_t current_ = 0;
  std::size_t failures_ = 0;  ///< in a row
  bool redirected_ = false;   ///< since the last success or wait
};

}  // namespace weft::api
