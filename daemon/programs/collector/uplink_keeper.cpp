// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/uplink_keeper.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <cstring>
#include <utility>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/child_options.hpp"

namespace weft::collector {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using uplink::UplinkReport;

std::shared_ptr<spdlog::logger> uplink_log() {
  return daemon::logger("uplink");
}

UplinkReport sum(UplinkReport a, const UplinkReport& b) {
  a.connected = b.connected;
  a.analyzer = b.analyzer;
  a.acknowledged = b.acknowledged;
  a.sent += b.sent;
  a.resent += b.resent;
  a.late += b.late;
  a.refused += b.refused;
  a.unreadable += b.unreadable;
  a.corrupt += b.corrupt;
  a.welcomes += b.welcomes;
  a.failures += b.failures;
  a.probes += b.probes;
  a.sync_failures += b.sync_failures;
  a.certificate_end = b.certificate_end;
  a.certificate_trouble = b.certificate_trouble;
  a.certificate_failures += b.certificate_failures;
  return a;
}

}  // namespace

UplinkKeeper::UplinkKeeper(asio::io_context& context, std::filesystem::path program, uplink::Options options,
                           Heard heard)
    : context_(context),
      program_(std::move(program)),
      options_(std::move(options)),
      heard_(std::move(heard)),
      timer_(context),
      backoff_(500ms, 30s),
      socket_(context),
      end_(context) {}

UplinkReport UplinkKeeper::totals() const {
  return sum(finished_, current_);
}

void UplinkKeeper::start() {
  if (stopping_) return;
  auto child = runtime::ChildProcess::spawn({.program = program_});
  if (!child) {
    uplink_log()->error("{}", child.error().message);
    return try_again();
  }
  if (const auto sent = runtime::send_options(child->socket(), options_); !sent) {
    uplink_log()->error("{}: {}", program_.string(), sent.error().message);
    return try_again();
  }
  ++starts_;
  child_ = std::move(*child);
  current_ = {};
  socket_.assign(child_->take_socket().release());
  end_.assign(::dup(child_->pidfd()));
  read();
  watch_end();
}

void UplinkKeeper::try_again() {
  timer_.expires_after(backoff_.next());
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) start();
  });
}

void UplinkKeeper::read() {
  asio::async_read(socket_, asio::buffer(incoming_), [this](boost::system::error_code error, std::size_t) {
    if (error) return;  // its end is heard of through the pidfd
    UplinkReport report;
    std::memcpy(&report, incoming_.data(), sizeof report);
    take(report);
    read();
  });
}

void UplinkKeeper::take(const UplinkReport& report) {
  if (report.acknowledged > current_.acknowledged) backoff_.reset();
  current_ = report;
  heard_(report);
}

void UplinkKeeper::watch_end() {
  end_.async_wait(asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
    if (!error) ended();
  });
}

void UplinkKeeper::ended() {
  const auto exit = child_->poll_exit();
  if (!exit) return watch_end();
  if (!stopping_) uplink_log()->warn("weft-uplink {}; restarting it", runtime::describe(*exit));
  boost::system::error_code ignored;
  socket_.close(ignored);
  end_.close(ignored);
  child_.reset();
  current_.connected = 0;
  finished_ = totals();
  current_ = {};
  current_.acknowledged = finished_.acknowledged;
  if (!stopping_) try_again();
}

void UplinkKeeper::wake() {
  if (!child_ || !socket_.is_open()) return;
  // When it does not fit, enough are waiting to wake it.
  const char byte = 1;
  (void)::send(socket_.native_handle(), &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void UplinkKeeper::stop() {
  stopping_ = true;
  timer_.cancel();
  if (child_) child_->stop(2s);
  boost::system::error_code ignored;
  socket_.close(ignored);
  end_.close(ignored);
}

}  // namespace weft::collector
