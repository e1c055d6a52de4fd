// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a receiver without a status address was told and what of it it acknowledged, over restarts.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// The last order for one target.
struct Told {
  std::uint64_t plan = 0;
  RemedyAction action = RemedyAction::kNothing;
  bool acknowledged = false;  ///< false: it was sent, and no answer told whether it was taken
  bool operator==(const Told&) const = default;
};

/// By Entity::identity(). A target that was acknowledged to be back in service is forgotten, so that what stands here
/// is what is out or in doubt; at most kMost of it.
class WebhookMemory {
 public:
  static constexpr std::size_t kMost = 100'000;

  /// Empty when there is no such file. An empty path keeps everything in memory only. kCorrupt, kUnavailable.
  static Result<WebhookMemory> open(const std::filesystem::path& file);

  /// The last order for the target; nullopt when none is remembered.
  std::optional<Told> find(const std::string& target) const;
  /// On disk when this returns; nullopt forgets. On failure (kResourceExhausted, kUnavailable) all is as it was.
  Result<void> set(const std::string& target, const std::optional<Told>& told);

 private:
  explicit WebhookMemory(std::filesystem::path file) : file_(std::move(file)) {}
  Result<void> save() const;

  std::filesystem::path file_;
  std::map<std::string, Told> told_;
};

}  // namespace weft::actuate
