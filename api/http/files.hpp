// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers that a reader may have already: the page's files, and JSON with an entity tag.

#include <string_view>

#include "api/http/assets.hpp"
#include "api/http/router.hpp"

namespace weft::api {

/// The asset of exactly that path, or nullptr: a list of names, so that no path leads anywhere else.
const Asset* find_asset(Assets assets, std::string_view path);

/// The file, or 304 where the reader has it. Tells browsers to load nothing from elsewhere, to run nothing that stands
/// inside a document, and never to show it within another site's frame.
HttpReply asset_reply(const Asset& asset, const HttpRequest& request);

/// An entity tag of the header If-None-Match (RFC 9110, 13.1.2) is `etag`, or the header is "*".
bool matches_etag(std::string_view if_none_match, std::string_view etag);

/// Gives a good and whole answer an entity tag, made from its body unless it has one, turns it into 304 where the
/// reader has it, and compresses what is left where that is wanted and worth while. Errors stay as they are.
HttpReply finish_reply(const HttpRequest& request, HttpReply reply);

}  // namespace weft::api
