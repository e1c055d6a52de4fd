#pragma once
// Documents made from the schema; deploy/config holds copies that a test compares.

#include <string>

namespace weft::config {

/// deploy/config/reference.md: every key with type, default, allowed values, flag and reason.
std::string reference_document();
/// deploy/config/weftd.toml: every key with its default, commented out.
std::string example_config();

}  // namespace weft::config
