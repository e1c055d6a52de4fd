// SPDX-License-Identifier: Apache-2.0
// What a connection waited for in vain, asked over another one.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/platform/cli/terminal_text.hpp"

namespace weft::store {
namespace {

/// "weft_beat" of 'while updating tuple (0,1) in relation "weft_beat"'; empty: it names none.
std::string locked_table(const char* context) {
  constexpr std::string_view kBefore = "in relation \"";
  const std::string_view text = context == nullptr ? "" : context;
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view name = text.substr(at + kBefore.size());
  return std::string(name.substr(0, name.find('"')));
}

}  // namespace

std::unique_ptr<PostgresConnection> PostgresConnection::beside(std::chrono::milliseconds within) const {
  PostgresAddress address = address_;
  address.options["application_name"] = "weftd";  // it is neither the store's nor the lease's: see kStandby
  address.options["connect_timeout"] = "2";
  address.options["host"] = PQhost(handle_.get());
  address.options["port"] = PQport(handle_.get());
  if (address.options.contains("hostaddr")) address.options["hostaddr"] = PQhostaddr(handle_.get());
  auto other = make(address);
  other->keep_lease();
  ConnectionHandle handle = connect_within(within, address.options);
  if (!handle) return nullptr;
  other->adopt(std::move(handle));
  return other;
}

std::string PostgresConnection::awaited_standby(bool is_known) {
  if (!handle_) return "";
  const Parameters parameters{is_known ? "1" : "0"};
  const auto awaited = execute_alone(postgres::statement(postgres::kAwaitedStandby).c_str(), &parameters);
  return awaited && PQntuples(awaited->get()) == 1 ? PQgetvalue(awaited->get(), 0, 0) : "";
}

Error PostgresConnection::in_the_way(const std::string& said, const char* context) const {
  const auto other = beside(kLongestBeside);
  if (const std::string awaited = other ? other->awaited_standby() : ""; !awaited.empty())
    return Error{use_ == Use::kSetUp ? ErrorCode::kTimeout : ErrorCode::kUnavailable, name() + ": " + awaited};
  const Parameters parameters{std::to_string(PQbackendPID(handle_.get())), address_.schema, locked_table(context),
                              use_ == Use::kSetUp ? "1" : "0"};
  Result<Rows> users = fail(ErrorCode::kUnavailable, "the server gives no second connection");
  if (other) users = other->execute_alone(postgres::statement(postgres::kUsers).c_str(), &parameters);
  const std::string who = users && PQntuples(users->get()) == 1 && PQgetisnull(users->get(), 0, 0) == 0
                              ? usage::printable(postgres::from_text(PQgetvalue(users->get(), 0, 0)))
                              : "another session holds a lock that it needs, and which one cannot be told (" + said +
                                    (users ? "" : "; " + users.error().message) + ")";
  return Error{ErrorCode::kTimeout, name() + ": " + who};
}

}  // namespace weft::store
