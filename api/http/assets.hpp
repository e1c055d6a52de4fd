// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that are served as they are: the page. Values only; api/http/files.hpp serves them.

#include <span>
#include <string_view>

namespace weft::api {

/// One file. What it points to must outlive the server; the page's lies in the program itself.
struct Asset {
  std::string_view path;          ///< as it is asked for: "/" or "/assets/index-BfT5c1Qx.js"
  std::string_view content_type;  ///< "text/css; charset=utf-8"
  std::string_view body;
  std::string_view gzip;   ///< the same body compressed; empty where that gains nothing
  std::string_view etag;   ///< with its quotes (RFC 9110, 8.8.3)
  bool immutable = false;  ///< its name changes with its content: browsers may keep it for a year
};
/// All files of the page.
using Assets = std::span<const Asset>;

}  // namespace weft::api
