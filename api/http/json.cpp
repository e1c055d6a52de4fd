// SPDX-License-Identifier: Apache-2.0
#include "api/http/json.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "api/convert/errors.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {

std::string to_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails only for malformed Any and Timestamp values, and ours are made by us.
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : std::string("{}");
}

std::string to_json(std::initializer_list<std::pair<const char*, std::string>> texts) {
  google::protobuf::Struct object;
  for (const auto& [name, text] : texts) (*object.mutable_fields())[name].set_string_value(valid_utf8(text));
  return to_json(object);
}

std::string to_json(const Error& error) {
  return to_json({{"code", code_name(error.code)}, {"message", error.message}});
}

std::string list_elements(google::protobuf::Message& message, const std::string& list) {
  const std::string json = to_json(message);
  message.GetReflection()->ClearField(&message, message.GetDescriptor()->FindFieldByName(list));
  // The same JSON with the list empty differs by nothing but the elements, which thus begin behind the list's bracket.
  const std::string empty = to_json(message);
  const std::string open = '"' + list + "\":[";
  const std::size_t begin = empty.find(open);
  if (begin == std::string::npos || json.size() < empty.size()) return {};
  return json.substr(begin + open.size(), json.size() - empty.size());
}

}  // namespace weft::api
