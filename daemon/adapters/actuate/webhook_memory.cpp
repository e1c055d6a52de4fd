// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/webhook_memory.hpp"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "daemon/platform/runtime/durable_file.hpp"

namespace weft::actuate {
namespace {

constexpr int kVersion = 1;

std::optional<std::map<std::string, Told>> parse(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kVersion) return std::nullopt;
  if (!json.contains("told") || !json["told"].is_object()) return std::nullopt;
  std::map<std::string, Told> told;
  for (const auto& [target, item] : json["told"].items()) {
    if (!item.is_object() || !item.contains("plan") || !item["plan"].is_number_unsigned()) return std::nullopt;
    if (!item.contains("action") || !item["action"].is_string()) return std::nullopt;
    if (!item.contains("acknowledged") || !item["acknowledged"].is_boolean()) return std::nullopt;
    const auto action = parse_remedy_action(item["action"].get<std::string>());
    if (!action) return std::nullopt;
    told[target] = {item["plan"].get<std::uint64_t>(), *action, item["acknowledged"].get<bool>()};
  }
  return told;
}

}  // namespace

Result<WebhookMemory> WebhookMemory::open(const std::filesystem::path& file) {
  WebhookMemory memory(file);
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) {
    if (error) return fail(ErrorCode::kUnavailable, "cannot read " + file.string() + ": " + error.message());
    return memory;
  }
  std::ifstream stream(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.is_open() || stream.bad()) return fail(ErrorCode::kUnavailable, "cannot read " + file.string());
  auto told = parse(text);
  if (!told)
    return fail(ErrorCode::kCorrupt, file.string() +
                                         " was not written by Weft: the webhook's state is unknown; "
                                         "check its receiver, then remove the file");
  memory.told_ = std::move(*told);
  return memory;
}

std::optional<Told> WebhookMemory::find(const std::string& target) const {
  const auto found = told_.find(target);
  return found == told_.end() ? std::nullopt : std::optional<Told>(found->second);
}

Result<void> WebhookMemory::set(const std::string& target, const std::optional<Told>& told) {
  const std::optional<Told> before = find(target);
  if (before == told) return {};
  if (told && !before && told_.size() >= kMost)
    return fail(ErrorCode::kResourceExhausted,
                "the webhook already has " + std::to_string(kMost) + " targets out of service");
  const auto put = [this, &target](const std::optional<Told>& value) {
    if (value)
      told_[target] = *value;
    else
      told_.erase(target);
  };
  put(told);
  Result<void> saved = save();
  if (!saved) put(before);
  return saved;
}

Result<void> WebhookMemory::save() const {
  if (file_.empty()) return {};
  nlohmann::json told = nlohmann::json::object();
  for (const auto& [target, item] : told_)
    told[target] = {{"plan", item.plan}, {"action", to_string(item.action)}, {"acknowledged", item.acknowledged}};
  const std::string text = nlohmann::json{{"version", kVersion}, {"told", std::move(told)}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);
  return runtime::replace_durably(file_, text);
}

}  // namespace weft::actuate
