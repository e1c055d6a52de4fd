// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a client shows who it is.

#include <filesystem>
#include <string>

namespace weft::api {

/// Nothing set: plain text, and nobody in particular.
struct ClientSecurity {
  std::filesystem::path authorities;  ///< PEM; of the server's certificate. Empty: plain text
  std::filesystem::path certificate;  ///< PEM; our own. Empty: none
  std::filesystem::path key;          ///< PEM; of `certificate`
  std::filesystem::path token_file;   ///< holds a bearer token and nothing else; empty: none
  std::string token;                  ///< the token itself, where there is no file
};

}  // namespace weft::api
