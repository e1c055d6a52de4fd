// SPDX-License-Identifier: Apache-2.0
#include "collectors/lldp/lldp_source.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "collectors/lldp/lldp_library.hpp"

namespace weft::lldp {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kWaitForAnswer = 2ms;
constexpr auto kOfOneReading = 20ms;
constexpr Duration kPatience = 10s;  ///< from the first question to the last answer
constexpr long kProtocolLldp = 1;

ChassisIdType chassis_type(long number) {
  return number >= 1 && number <= 7 ? static_cast<ChassisIdType>(number) : ChassisIdType::kUnknown;
}
PortIdType port_type(long number) {
  return number >= 1 && number <= 7 ? static_cast<PortIdType>(number) : PortIdType::kUnknown;
}
std::uint16_t word(long number) {
  return static_cast<std::uint16_t>(std::clamp<long>(number, 0, 0xFFFF));
}

ChassisId chassis_of(const Atom& atom) {
  return {chassis_type(atom.number(LldpKey::kChassisIdSubtype)), atom.text(LldpKey::kChassisId)};
}
LldpPortId port_of(const Atom& atom) {
  return {port_type(atom.number(LldpKey::kPortIdSubtype)), atom.text(LldpKey::kPortId)};
}

Neighbour neighbour_of(const Atom& port) {
  const Atom chassis = port.part(LldpKey::kPortChassis);
  Neighbour neighbour;
  neighbour.chassis = chassis_of(chassis);
  neighbour.port = port_of(port);
  neighbour.system_name = chassis.text(LldpKey::kChassisName);
  neighbour.port_description = port.text(LldpKey::kPortDescription);
  neighbour.capabilities = word(chassis.number(LldpKey::kChassisCapEnabled));
  neighbour.ttl_seconds = word(port.number(LldpKey::kPortTtl));
  neighbour.since = std::max<long>(port.number(LldpKey::kPortAge), 0);
  chassis.part(LldpKey::kChassisManagement).each([&](const Atom& address) {
    constexpr std::size_t kMostLookedAt = 64;
    if (std::string text = address.text(LldpKey::kManagementAddress); !text.empty())
      neighbour.addresses.push_back(text);
    return neighbour.addresses.size() < kMostLookedAt;
  });
  return neighbour;
}

NeighbourPort interface_of(const std::string& name, const Atom& port) {
  constexpr std::size_t kMostLookedAt = 4096;
  NeighbourPort found;
  found.interface = name;
  found.own = port_of(port);
  found.own_description = port.text(LldpKey::kPortDescription);
  port.part(LldpKey::kPortNeighbors).each([&](const Atom& neighbour) {
    if (neighbour.number(LldpKey::kPortProtocol) == kProtocolLldp) found.neighbours.push_back(neighbour_of(neighbour));
    return found.neighbours.size() < kMostLookedAt;
  });
  return found;
}

}  // namespace

/// One time of asking, from the connection to the last answer.
class LldpSource::Round {
 public:
  explicit Round(const LldpLibrary& library) : lldpctl_(library) {}
  ~Round() {
    interfaces_.clear();
    chassis_ = {};
    if (connection_ != nullptr) lldpctl_.release(connection_);
    if (socket_ >= 0) ::close(socket_);
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  /// What is wrong; empty: nothing.
  std::string open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return path + " is too long for a socket";
    std::memcpy(address.sun_path, path.data(), path.size());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return std::string("no socket: ") + std::strerror(errno);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      if (errno == ENOENT || errno == ECONNREFUSED) return "lldpd does not run (" + path + ")";
      if (errno == EACCES || errno == EPERM) return "no right to use " + path + ", which its group has (_lldpd)";
      if (errno == EAGAIN) return "lldpd does not answer";
      return path + ": " + std::strerror(errno);
    }
    connection_ = lldpctl_.new_name(path.c_str(), &Round::send, &Round::receive, this);
    return connection_ == nullptr ? "lldpd's library refuses to work" : "";
  }

  enum class End { kNotYet, kDone, kFailed };
  End go_on() {
    until_ = Steady::now() + kOfOneReading;
    if (!chassis_) {
      chassis_ = Atom(lldpctl_, lldpctl_.get_local_chassis(connection_));
      if (!chassis_) return why_not();
      table_.chassis = chassis_of(chassis_);
      table_.system_name = chassis_.text(LldpKey::kChassisName);
    }
    if (!has_interfaces_) {
      const Atom list(lldpctl_, lldpctl_.get_interfaces(connection_));
      if (!list) return why_not();
      list.each([&](Atom&& interface) {
        interfaces_.push_back(std::move(interface));
        return interfaces_.size() < NeighbourLimits::kPorts;
      });
      has_interfaces_ = true;
    }
    while (next_ < interfaces_.size()) {
      const Atom port(lldpctl_, lldpctl_.get_port(interfaces_[next_].get()));
      if (!port) return why_not();
      table_.ports.push_back(interface_of(interfaces_[next_].text(LldpKey::kInterfaceName), port));
      interfaces_[next_++] = {};
      if (Steady::now() >= until_) return End::kNotYet;
    }
    return End::kDone;
  }

  NeighbourTable take() { return tidy(std::move(table_)); }
  const std::string& trouble() const { return trouble_; }

 private:
  End why_not() {
    const LldpError error = lldpctl_.last_error(connection_);
    if (error == LldpError::kWouldBlock) return End::kNotYet;
    trouble_ = error == LldpError::kEndOfFile ? "lldpd ended the connection"
                                              : std::string("lldpd was asked in vain: ") + lldpctl_.strerror(error);
    return End::kFailed;
  }

  ssize_t left() const { return std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Steady::now()).count(); }

  static ssize_t answer(LldpError error) { return static_cast<ssize_t>(error); }
  static ssize_t send(LldpConnection*, const std::uint8_t* data, std::size_t length, void* self) {
    const ssize_t sent = ::send(static_cast<Round*>(self)->socket_, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    return errno == EAGAIN ? answer(LldpError::kWouldBlock) : answer(LldpError::kCallbackFailure);
  }
  static ssize_t receive(LldpConnection*, const std::uint8_t* data, std::size_t length, void* self) {
    Round& round = *static_cast<Round*>(self);
    // The library says const and means the buffer to fill.
    auto* const buffer = const_cast<std::uint8_t*>(data);
    for (bool waited = false;; waited = true) {
      const ssize_t got = ::recv(round.socket_, buffer, length, MSG_DONTWAIT);
      if (got > 0) return got;
      if (got == 0) return answer(LldpError::kEndOfFile);
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return answer(LldpError::kCallbackFailure);
      if (waited || round.left() <= 0) return answer(LldpError::kWouldBlock);
      pollfd entry{round.socket_, POLLIN, 0};
      ::poll(&entry, 1, static_cast<int>(std::chrono::milliseconds(kWaitForAnswer).count()));
    }
  }

  const LldpLibrary& lldpctl_;
  int socket_ = -1;
  LldpConnection* connection_ = nullptr;
  Steady::time_point until_;
  Atom chassis_;
  std::vector<Atom> interfaces_;
  bool has_interfaces_ = false;
  std::size_t next_ = 0;  ///< of interfaces_: not asked for yet
  NeighbourTable table_;
  std::string trouble_;
};

LldpSource::LldpSource(LldpOptions options) : options_(std::move(options)) {}
LldpSource::~LldpSource() = default;
LldpSource::LldpSource(LldpSource&&) noexcept = default;
LldpSource& LldpSource::operator=(LldpSource&&) noexcept = default;

void LldpSource::fail(std::string trouble) {
  round_.reset();
  trouble_ = std::move(trouble);
}

void LldpSource::read(TimePoint now) {
  const bool is_set_back = now < began_ && began_ != kNever;
  if (!round_) {
    if (began_ != kNever && !is_set_back && now - began_ < options_.interval) return;
    began_ = now;
    const LldpLibrary* const library = LldpLibrary::load();
    if (library == nullptr) return fail("lldpd is not installed");
    round_ = std::make_unique<Round>(*library);
    const std::string path = options_.socket.empty() ? library->get_default_transport() : options_.socket;
    if (std::string trouble = round_->open(path); !trouble.empty()) return fail(std::move(trouble));
  } else if (is_set_back || now - began_ > kPatience) {
    return fail("lldpd does not answer");
  }
  switch (round_->go_on()) {
    case Round::End::kNotYet:
      return;
    case Round::End::kFailed:
      // An interface may have gone since the list was made; once more, then it is trouble.
      if (std::exchange(has_failed_, true)) return fail(round_->trouble());
      round_.reset();
      began_ = kNever;
      return;
    case Round::End::kDone:
      break;
  }
  NeighbourTable table = round_->take();
  fail({});
  has_failed_ = false;
  read_at_ = now;
  if (!table_ || *table_ != table) table_ = std::make_shared<const NeighbourTable>(std::move(table));
}

SourceStatus LldpSource::status() const {
  // Who never had an lldpd misses nothing.
  return {"lldp", trouble_.empty() || !table_, trouble_};
}

}  // namespace weft::lldp
