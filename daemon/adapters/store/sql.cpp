// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/sql.hpp"

#include <limits>

namespace weft::store {

void Database::fail(ErrorCode code, std::string message) {
  if (!failure_) failure_ = Error{code, name() + ": " + std::move(message)};
}

void Database::run(const char* sql) {
  if (!failed()) keep(connection_->run(sql));
}

void Database::require_in_place() {
  if (!failed()) keep(connection_->check_place());
}

Result<void> Database::outcome() {
  if (!failure_) return {};
  Error error = std::move(*failure_);
  failure_.reset();
  return tl::unexpected<Error>(std::move(error));
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  statement.query();
  return statement.next() ? statement.integer(0) : 0;
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (!database_.failed()) cursor_ = database_.keep(database_.connection_->prepare(sql));
}

void Statement::start(std::span<const Value> values) {
  if (cursor_ && !database_.failed()) database_.keep(cursor_->start(values));
}

void Statement::finish(std::span<const Value> values) {
  if (cursor_ && !database_.failed()) database_.keep(cursor_->run(values));
}

bool Statement::next() {
  return cursor_ && !database_.failed() && database_.keep(cursor_->next());
}

double Statement::real(int column) const {
  return cursor_->null(column) ? std::numeric_limits<double>::quiet_NaN() : cursor_->real(column);
}

Transaction::Transaction(Database& database) : database_(database) {
  if (!database_.failed()) database_.keep(database_.connection_->begin());
}

Transaction::~Transaction() {
  database_.connection_->roll_back();
}

Result<void> Transaction::commit() {
  if (!database_.failed()) database_.keep(database_.connection_->commit());
  return database_.outcome();
}

}  // namespace weft::store
