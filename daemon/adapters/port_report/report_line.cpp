// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/port_report/report_line.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace weft::port {
namespace {

using Json = nlohmann::ordered_json;
using infiniband::PortReport;

template <typename Enum>
std::optional<Enum> parse_state(const std::string& text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (text == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  return std::nullopt;
}

std::optional<ErrorCode> parse_error(const std::string& text) {
  return parse_state(text, ErrorCode::kInternal);
}

Result<PortReport> broken(std::string_view line) {
  return fail(ErrorCode::kProtocol, "not a port report: " + std::string(line.substr(0, 200)));
}

}  // namespace

std::string to_line(const Result<PortReport>& report) {
  Json object;
  if (!report) {
    object = {{"error", to_string(report.error().code)}, {"message", report.error().message}};
  } else {
    object = {{"outcome", infiniband::to_string(report->outcome)},
              {"state", to_string(report->state)},
              {"physical_state", to_string(report->physical_state)}};
    if (report->behind)
      object["behind"] = {{"node", to_string(report->behind->node)}, {"port", report->behind->port.value}};
    object["detail"] = report->detail;
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Result<PortReport> parse_line(std::string_view line) {
  const auto object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return broken(line);
  const auto text = [&](const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (object.contains("error")) {
    const auto code = parse_error(text("error"));
    return code ? fail(*code, text("message")) : broken(line);
  }
  const auto outcome = infiniband::parse_port_outcome(text("outcome"));
  const auto state = parse_state(text("state"), PortState::kActive);
  const auto physical = parse_state(text("physical_state"), PortPhysicalState::kPhyTest);
  if (!outcome || !state || !physical) return broken(line);
  PortReport report{*outcome, *state, *physical, std::nullopt, text("detail")};
  if (const auto behind = object.find("behind"); behind != object.end()) {
    if (!behind->is_object() || !behind->contains("node") || !(*behind)["node"].is_string()) return broken(line);
    const auto guid = parse_guid((*behind)["node"].get<std::string>());
    const auto number = behind->find("port");
    if (!guid || number == behind->end() || !number->is_number_unsigned() || *number > 255) return broken(line);
    report.behind = PortKey{{*guid}, {number->get<std::uint8_t>()}};
  }
  return report;
}

Result<std::uint64_t> parse_management_key(std::string_view text) {
  const auto white = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && white(text.front())) text.remove_prefix(1);
  while (!text.empty() && white(text.back())) text.remove_suffix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(ErrorCode::kInvalidArgument, "an M_Key is a number of 64 bits, such as 0x1234");
  return key;
}

}  // namespace weft::port
