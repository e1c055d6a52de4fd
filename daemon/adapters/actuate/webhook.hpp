// SPDX-License-Identifier: Apache-2.0
#pragma once
// A webhook as an actuator: for every scheduler, ticket system or switch controller that has no actuator of its own.
//
// An action is one POST of JSON:
//   Weft-Timestamp: 1790000000
//     seconds since 1970, UTC; receivers refuse what is older than some minutes
//   Weft-Signature: v1=<64 hexadecimal digits>
//     HMAC-SHA256 with the shared key over "<timestamp>.<body>"
//   Idempotency-Key: PLAN-7.1c9e0b7a5d3f2468.DRAIN_NODE.9b1d6a0c2e4f8375
//     the same for the same step of the same plan of the same installation (16 hexadecimal digits that weftd's store
//     drew when it was made): to be done once. The last 16 digits are made of the target and of when the plan was
//     made: after a backup of the database was restored another plan may have the number
// Where two weftd share a database the body has "epoch", a number: a receiver that has seen a greater one of the same
// installation may refuse (409), for this order is a former leader's.
// The target of a link of an Ethernet fabric has node, interface, peer_node and peer_interface instead of port numbers.
// Any 2xx answer says that it was taken. 4xx and 3xx say that it was refused and nothing changed; redirects are not
// followed. All else, silence too, may mean either.
//
// Where a status address is given, the world is read there: GET with target=, plan= and installation= in the query,
// where "ours" is what that installation did, signed the same way over "<timestamp>.<path and query>"; the answer is
// {"state": "clear" | "ours" | "foreign", "detail": "…"}, and "epoch", the greatest one that the receiver has seen of
// that installation, if it refuses lesser ones: a leader whose database was restored from a backup then takes a greater
// one, and is not refused for ever. Without a status address the last acknowledged answer is all we know, and
// it is kept on disk.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// Options of the actuator "webhook".
struct WebhookOptions {
  std::string url;                    ///< http:// or https://
  std::string status_url;             ///< empty: the receiver cannot be asked
  std::filesystem::path key_file;     ///< shared key of the signature, at least 16 bytes; read anew each time
  std::filesystem::path memory_file;  ///< what was sent and acknowledged; empty: forgotten when the process ends
  std::filesystem::path certificate_authorities;  ///< PEM; empty: the system's
  Duration timeout = std::chrono::seconds(10);    ///< of one call of the actuator; at most kLongestCall counts
};

/// An Actuator of the name "webhook" for every action. kInvalidArgument, kNotFound, kFailedPrecondition: an address or
/// a file is wrong; kCorrupt: the memory is not ours to read. The receiver is not asked yet. `clock` must outlive it.
///
/// What was sent and never answered is in doubt until an answer to a later order for the same target tells more:
/// without a status address observe() then says kUnavailable to whoever takes out, and "ours" to whoever brings back;
/// apply() sends again, under the same idempotency key.
Result<std::unique_ptr<Actuator>> make_webhook_actuator(const WebhookOptions& options, const Clock& clock);

}  // namespace weft::actuate
