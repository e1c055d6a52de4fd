// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/target_list.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/config/value_text.hpp"
#include "daemon/platform/runtime/regular_file.hpp"
#include "fabric/site.hpp"

namespace weft::switches {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const std::size_t length = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, length));
    line.remove_prefix(length);
  }
}

/// Sets what a word like "login=basic" says; what is wrong with it, or nothing.
std::string set_word(TargetLine& target, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  const std::string said = "'" + std::string(word) + "'";
  if (key == "credentials") {
    target.credentials = value;
    return is_name(value) ? "" : said + ": a name has 1 to 64 letters, digits, -, _ and .";
  }
  if (key == "certificate") {
    target.certificate_name = value;
    return is_name(value) ? "" : said + ": a name has 1 to 64 letters, digits, -, _ and .";
  }
  if (key == "login" && (value == "metadata" || value == "basic")) {
    target.login = value == "basic" ? Login::kBasic : Login::kMetadata;
    return "";
  }
  if (key == "tls" && value == "off") {
    target.plain_text = true;
    return "";
  }
  if (key == "set") {
    const gnmi::PortSetting* const row = gnmi::find_port_setting(value);
    target.set = value;
    if (value == "off" || (row != nullptr && row->kind != gnmi::SettingKind::kNone)) return "";
    return said + ": ports are set as openconfig, srlinux or sonic, or not at all: off";
  }
  return said + " is none of credentials=NAME, login=metadata, login=basic, certificate=NAME, tls=off and set=NAME";
}

std::string read_line(TargetLine& target, const std::vector<std::string_view>& words) {
  if (words.size() < 2) return "a target is its name and HOST:PORT";
  target.name = words[0];
  if (!is_name(target.name)) return "'" + target.name + "' is no name: 1 to 64 letters, digits, -, _ and .";
  const auto peer = config::parse_peer(words[1]);
  if (!peer) return peer.error();
  target.address = words[1];
  for (std::size_t i = 2; i < words.size(); ++i)
    if (std::string wrong = set_word(target, words[i]); !wrong.empty()) return wrong;
  if (target.plain_text && !is_loopback_address(target.address))
    return "tls=off: " + target.address + " is another machine, and would be read in clear text";
  return "";
}

}  // namespace

const gnmi::PortSetting* port_setting_of(const TargetLine& line, std::span<const std::string> models) {
  if (line.set == "off") return nullptr;
  const gnmi::PortSetting* const row =
      line.set.empty() ? gnmi::choose_port_setting(models) : gnmi::find_port_setting(line.set);
  return row == nullptr || row->kind == gnmi::SettingKind::kNone ? nullptr : row;
}

Result<std::vector<TargetLine>> parse_targets(std::string_view text, std::size_t most) {
  std::vector<TargetLine> targets;
  std::set<std::string, std::less<>> names;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
    if (words.empty()) continue;
    const auto wrong = [number](const std::string& why) {
      return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(number) + ": " + why);
    };
    TargetLine target;
    if (const std::string why = read_line(target, words); !why.empty()) return wrong(why);
    if (!names.insert(target.name).second) return wrong(target.name + " is there twice");
    if (targets.size() >= most) return wrong("more than " + std::to_string(most) + " targets (gnmi.max_targets)");
    targets.push_back(std::move(target));
  }
  return targets;
}

Result<std::vector<TargetLine>> read_targets(const std::string& lines, const std::filesystem::path& file,
                                             std::size_t most) {
  auto targets = parse_targets(lines, most);
  if (!targets) return fail(ErrorCode::kInvalidArgument, "gnmi.targets: " + targets.error().message);
  if (file.empty()) return targets;
  const auto text = runtime::read_regular(file, kMostTargetBytes);
  if (!text) return fail(text.error().code, "gnmi.targets_file: " + text.error().message);
  auto more = parse_targets(*text, most);
  if (!more) return fail(ErrorCode::kInvalidArgument, file.string() + ": " + more.error().message);
  for (TargetLine& target : *more) {
    if (std::ranges::find(*targets, target.name, &TargetLine::name) != targets->end())
      return fail(ErrorCode::kInvalidArgument, file.string() + ": " + target.name + " is in gnmi.targets, too");
    targets->push_back(std::move(target));
  }
  if (targets->size() > most)
    return fail(ErrorCode::kInvalidArgument,
                file.string() + ": more than " + std::to_string(most) + " targets (gnmi.max_targets)");
  return targets;
}

}  // namespace weft::switches
