// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages as JSON: protobuf's own mapping, fields in lowerCamelCase, fields that hold zero printed too.

#include <initializer_list>
#include <string>
#include <utility>

#include "fabric/result.hpp"

namespace google::protobuf {
class Message;
}

namespace weft::api {

/// The message in protobuf's JSON mapping.
std::string to_json(const google::protobuf::Message& message);
/// An object of names and texts: {"name": "ann", "role": "viewer"}
std::string to_json(std::initializer_list<std::pair<const char*, std::string>> texts);
/// {"code": "NOT_FOUND", "message": "no node named x"}
std::string to_json(const Error& error);
/// The elements of the repeated field `list` (a one-word name) as they stand between its brackets; clears the field.
std::string list_elements(google::protobuf::Message& message, const std::string& list);

}  // namespace weft::api
