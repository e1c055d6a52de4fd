#include "daemon/actuate/webhook_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "daemon/runtime/unique_fd.hpp"

namespace weft::actuate {
namespace {

constexpr int kVersion = 1;

std::string reason(int error) {
  return std::generic_category().message(error);
}

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

/// Writes all of it and waits for the disk; the errno, or 0.
int write_durably(const std::filesystem::path& path, const std::string& text) {
  runtime::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return errno;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    done += static_cast<std::size_t>(wrote);
  }
  return ::fsync(fd.get()) == 0 ? 0 : errno;
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
                                         " is not what we wrote: what the webhook was told is not known; "
                                         "look at its receiver, then move the file away");
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
    return fail(ErrorCode::kResourceExhausted, "the webhook was told of " + std::to_string(kMost) + " targets already");
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
  const std::filesystem::path fresh = file_.string() + ".new";
  int error = write_durably(fresh, text);
  if (error == 0 && ::rename(fresh.c_str(), file_.c_str()) != 0) error = errno;
  if (error == 0) {
    const std::filesystem::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
    const runtime::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) error = errno;
  }
  if (error == 0) return {};
  return fail(error == ENOSPC ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
              "cannot write " + file_.string() + ": " + reason(error));
}

}  // namespace weft::actuate
