// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all webhooks have in common: how a message is signed and sent, and how an entity is written in it.
//   Weft-Timestamp: 1790000000                 seconds since 1970, UTC
//   Weft-Signature: v1=<64 hexadecimal digits>  HMAC-SHA256 with the shared key over "<timestamp>.<message>"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "daemon/platform/net/http_client.hpp"
#include "fabric/clock.hpp"
#include "fabric/incident.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// http:// or https://.
bool is_web_address(std::string_view url);

/// The key of signatures can be read and has at least 16 bytes. Failures as of read_secret().
Result<void> check_webhook_key(const std::filesystem::path& key_file);

/// "v1=" and the HMAC-SHA256 of "<timestamp>.<message>" in hexadecimal digits.
std::string webhook_signature(std::string_view key, std::int64_t timestamp, std::string_view message);

/// The first 16 hexadecimal digits of the text's SHA-256.
std::string short_hash(std::string_view text);

/// Sends the request with a signature of `signed_text` made at `now`; the key is read anew each time. Failures as of
/// http_request(); kFailedPrecondition as well when the key cannot be read: nothing was sent then.
Result<net::HttpAnswer> send_signed(net::HttpRequest request, std::string_view signed_text,
                                    const std::filesystem::path& key_file, TimePoint now);

/// {kind, id, name, fabric, host, device, node_guid, port, peer_node_guid, peer_port}; what is not known is not in it.
nlohmann::json webhook_entity(const Entity& entity);

}  // namespace weft::actuate
