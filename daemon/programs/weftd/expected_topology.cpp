// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/expected_topology.hpp"

#include <new>
#include <utility>

#include "daemon/platform/logging/logging.hpp"

namespace weft::daemon {

namespace {

std::int64_t in_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

FileStamp ExpectedTopology::stamp() const {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_size, in_ns(info.st_mtim), in_ns(info.st_ctim)};
}

Result<ExpectedCabling> ExpectedTopology::read() const {
  try {
    return read_(path_);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kResourceExhausted, "cannot read " + path_.string() + ": out of memory");
  }
}

Result<ExpectedCabling> ExpectedTopology::open() {
  // Before it is read: what changes meanwhile is read again.
  read_at_ = looked_at_ = stamp();
  auto found = read();
  if (found) links_ = found->links();
  return found;
}

std::optional<Result<ExpectedCabling>> ExpectedTopology::look() {
  const FileStamp now = stamp();
  const bool at_rest = std::exchange(looked_at_, now) == now;
  if (!at_rest || now == read_at_) return std::nullopt;
  auto found = read();
  // What is no fault of the file may pass without a change of it: then it is read again at the next look.
  read_at_ = found || found.error().code == ErrorCode::kInvalidArgument ? now : FileStamp{};
  return found;
}

std::optional<ExpectedCabling> ExpectedTopology::take(Result<ExpectedCabling> found) {
  if (!found) {
    if (found.error().message != complaint_)
      logger(log_name())
          ->warn("the expected topology was not reloaded, the previous one stays in use: {}", found.error().message);
    complaint_ = found.error().message;
    return std::nullopt;
  }
  complaint_.clear();
  links_ = found->links();
  logger(log_name())->info("expected topology reloaded: {} links are planned", links_);
  return std::move(*found);
}

}  // namespace weft::daemon
