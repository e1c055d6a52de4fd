#pragma once
// Messages as JSON: protobuf's own mapping, fields in lowerCamelCase, fields that hold zero printed too.

#include <google/protobuf/message.h>

#include <string>

#include "fabric/result.hpp"

namespace weft::api {

/// The message in protobuf's JSON mapping.
std::string to_json(const google::protobuf::Message& message);
/// {"code": "NOT_FOUND", "message": "no node named x"}
std::string to_json(const Error& error);
/// The elements of the repeated field `list` (a one-word name) as they stand between its brackets; clears the field.
std::string list_elements(google::protobuf::Message& message, const std::string& list);

}  // namespace weft::api
