// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/port_setting.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "collectors/infiniband/mad_engine.hpp"

namespace weft::infiniband {
namespace {

constexpr std::uint32_t kManagerKnowsExtendedSpeeds = 1U << 31;
constexpr std::size_t kExtendedSpeedEnabled2 = IB_SMP_DATA_OFFS + 56;  // its low three bits
constexpr std::chrono::milliseconds kBetweenReadings{50};
constexpr std::array kOutcomeNames{"read",   "done",    "already", "not_that", "needs_key",
                                   "silent", "refused", "late",    "unseen",   "unclear"};
static_assert(kOutcomeNames.size() == static_cast<std::size_t>(PortOutcome::kCount));

using Datagram = std::array<std::uint8_t, kMadSize>;

struct Answer {
  MadResult result = MadResult::kTimeout;
  Datagram mad{};
  bool ok() const { return result == MadResult::kOk; }
  std::uint16_t status() const { return status_of(mad); }
};

/// Asks one thing, as a MadAsker that has no more.
class OneQuestion final : public MadAsker {
 public:
  OneQuestion(const Datagram& datagram, std::uint16_t attribute, bool once) : datagram_(datagram) {
    request_.attribute = attribute;
    if (once) request_.tries_left = 0;
  }
  bool next(MadRequest& request) override {
    if (asked_) return false;
    asked_ = true;
    request = request_;
    return true;
  }
  void encode(const MadRequest&, MadBytes mad) override { std::ranges::copy(datagram_, mad.begin()); }
  void answered(const MadRequest&, MadResult result, ConstMadBytes mad, TimePoint) override {
    answer.result = result;
    std::ranges::copy(mad, answer.mad.begin());
  }
  Answer answer;

 private:
  Datagram datagram_;
  MadRequest request_;
  bool asked_ = false;
};

std::string words(PortKey key) {
  return to_string(key.node) + " port " + std::to_string(key.port.value);
}

std::string words(const PortReport& report) {
  return std::string(to_string(report.state)) + "/" + to_string(report.physical_state);
}

class Conversation {
 public:
  Conversation(MadPort& port, const PortQuestion& question)
      : question_(question),
        engine_(port, {.window = 1,
                       .timeout = question.timeout,
                       .retries = question.retries,
                       .management_key = question.management_key}) {}

  Result<PortReport> hold() {
    if (auto why = check_switch(); !why) return tl::unexpected(why.error());
    if (decided_) return report_;
    if (auto why = read_port(); !why) return tl::unexpected(why.error());
    if (decided_) return report_;
    if (!question_.wanted) return end(PortOutcome::kRead, words(question_.port) + " is " + words(report_));
    const bool disabled = report_.physical_state == PortPhysicalState::kDisabled;
    if (disabled == (*question_.wanted == PortPhysicalState::kDisabled))
      return end(PortOutcome::kAlready, words(question_.port) + " is " + words(report_) + " already");
    check_key();
    if (decided_) return report_;
    if (auto why = check_peer(); !why) return tl::unexpected(why.error());
    if (decided_) return report_;
    return set();
  }

 private:
  Result<Answer> ask(const Datagram& datagram, std::uint16_t attribute, bool once = false) {
    OneQuestion question(datagram, attribute, once);
    // Silence at one question says nothing about the next.
    engine_.forget_abandoned();
    if (auto ran = engine_.run(question); !ran) return tl::unexpected(ran.error());
    if (question.answer.result == MadResult::kSendFailed)
      return fail(ErrorCode::kUnavailable, "the local port does not accept datagrams");
    return question.answer;
  }

  Result<Answer> get(std::uint16_t attribute, std::uint32_t modifier, const DirectedRoute& route) {
    Datagram mad;
    encode_subnet_get(mad, attribute, modifier, &route);
    return ask(mad, attribute);
  }

  PortReport& end(PortOutcome outcome, std::string detail) {
    decided_ = true;
    report_.outcome = outcome;
    report_.detail = std::move(detail);
    return report_;
  }

  Result<void> check_switch() {
    const auto answer = get(attribute::kNodeInfo, 0, question_.route);
    if (!answer) return tl::unexpected(answer.error());
    if (!answer->ok()) {
      end(PortOutcome::kSilent,
          "no response at the end of the directed route to " + words(question_.port) +
              ": a link of the route is down, the switch does not work, or reading needs an M_Key, too");
      return {};
    }
    const auto info = decode_node_info(answer->mad);
    if (!info || info->guid != question_.port.node) {
      end(PortOutcome::kNotThat, "the directed route to " + words(question_.port) + " ends at " +
                                     (info ? to_string(info->guid) : std::string("a node with inconsistent data")));
    } else if (info->type != NodeType::kSwitch) {
      end(PortOutcome::kNotThat, words(question_.port) + " is not a switch port: only switch ports can be set");
    } else if (question_.port.port.value == 0 || question_.port.port.value > info->port_count) {
      end(PortOutcome::kNotThat,
          words(question_.port) + " is not an external port: the switch has " + std::to_string(info->port_count));
    } else if (info->local_port == question_.port.port.value) {
      end(PortOutcome::kNotThat, words(question_.port) + " is the port by which the directed route enters the switch");
    }
    return {};
  }

  Result<void> read_port() {
    const auto port0 = get(attribute::kPortInfo, 0, question_.route);
    if (!port0) return tl::unexpected(port0.error());
    const auto answer = get(attribute::kPortInfo, question_.port.port.value, question_.route);
    if (!answer) return tl::unexpected(answer.error());
    if (!port0->ok() || !answer->ok()) {
      end(PortOutcome::kSilent, words(question_.port) + " cannot be read: no valid response to Get(PortInfo)");
      return {};
    }
    note(*answer);
    before_ = answer->mad;
    extended_speeds_ = decode_port_info(port0->mad, std::nullopt).capabilities.has_extended_speeds();
    switch_ = port0->mad;
    return {};
  }

  // A Set with a wrong key gets no answer and makes the switch complain to the subnet manager (14.2.4): better not
  // sent.
  void check_key() {
    const auto key = mad_get_field64(switch_.data(), IB_SMP_DATA_OFFS, IB_PORT_MKEY_F);
    const auto protection = mad_get_field(switch_.data(), IB_SMP_DATA_OFFS, IB_PORT_MKEY_PROT_BITS_F);
    // Protected, it is shown to those alone who have it; 0 then means that ours is not it.
    if (protection == 0 ? key == 0 || key == question_.management_key : key != 0 && key == question_.management_key)
      return;
    end(PortOutcome::kNeedsKey, to_string(question_.port.node) + " needs its M_Key to set its ports: " +
                                    (question_.management_key == 0 ? "none was given" : "the one given is wrong"));
  }

  Result<void> check_peer() {
    if (report_.physical_state != PortPhysicalState::kLinkUp) {
      // Nobody can be asked behind it. Disabled, it has nobody there, and what comes up is judged then. But one that
      // is training may have another cable than a moment ago, which would be taken out before it ever worked.
      if (question_.wanted == PortPhysicalState::kDisabled && !question_.down_as_reviewed)
        end(PortOutcome::kUnseen, words(question_.port) + " is " + words(report_) +
                                      ", which is not up: that its cable leads to " + words(question_.peer) +
                                      " cannot be asked");
      return {};
    }
    const auto beyond = question_.route.then(question_.port.port);
    if (!beyond) return fail(ErrorCode::kInvalidArgument, "the directed route is too long");
    const auto answer = get(attribute::kNodeInfo, 0, *beyond);
    if (!answer) return tl::unexpected(answer.error());
    const auto info = answer->ok() ? decode_node_info(answer->mad) : std::nullopt;
    if (!info) {
      end(PortOutcome::kSilent, "no response from the peer of " + words(question_.port) + ", so whether " +
                                    words(question_.peer) + " is there is unknown");
      return {};
    }
    report_.behind = PortKey{info->guid, {info->local_port}};
    if (*report_.behind != question_.peer)
      end(PortOutcome::kNotThat, "behind " + words(question_.port) + " is " + words(*report_.behind) + ", not " +
                                     words(question_.peer) + ": the cabling has changed");
    return {};
  }

  Result<PortReport> set() {
    Datagram mad;
    encode_port_info_set(mad, question_.route, question_.port.port, before_, *question_.wanted, extended_speeds_);
    if (question_.is_late && question_.is_late())
      return end(PortOutcome::kLate, "the time to set " + words(question_.port) + " is over");
    const auto answer = ask(mad, attribute::kPortInfo, true);
    if (!answer) return tl::unexpected(answer.error());
    const bool refused = answer->result == MadResult::kBadStatus || answer->result == MadResult::kUnsupported;
    const bool unanswered = !refused && !answer->ok();
    if (auto reached = read_back(refused); !reached)
      return tl::unexpected(reached.error());
    else if (*reached)
      return end(PortOutcome::kDone,
                 words(question_.port) + " is " + words(report_) +
                     (unanswered ? "; the response to the Set was lost, the state is from a read" : ""));
    if (refused)
      return end(PortOutcome::kRefused,
                 words(question_.port) + " refused the Set: status " + std::to_string(answer->status()));
    return end(PortOutcome::kUnclear,
               "a Set was sent to " + words(question_.port) +
                   (unanswered ? ", without a response, and the port is " : ", and the port is ") + words(report_) +
                   " at the last read: read it again before any other action");
  }

  /// Whether the port shows what is wanted, within the time it may need. `once`: it will not come by waiting.
  Result<bool> read_back(bool once) {
    const auto tries = once ? 1 : std::max<std::int64_t>(1, question_.settling / kBetweenReadings);
    for (std::int64_t i = 0; i < tries; ++i) {
      if (i > 0) std::this_thread::sleep_for(kBetweenReadings);
      const auto answer = get(attribute::kPortInfo, question_.port.port.value, question_.route);
      if (!answer) return tl::unexpected(answer.error());
      if (!answer->ok()) return false;  // its tries are spent
      note(*answer);
      if ((report_.physical_state == PortPhysicalState::kDisabled) ==
          (*question_.wanted == PortPhysicalState::kDisabled))
        return true;
    }
    return false;
  }

  void note(const Answer& answer) {
    const PortInfo info = decode_port_info(answer.mad, std::nullopt);
    report_.state = info.state;
    report_.physical_state = info.physical_state;
  }

  const PortQuestion& question_;
  MadEngine engine_;
  PortReport report_;
  bool decided_ = false;
  Datagram switch_{};  // PortInfo of port 0, which the switch's own fields are in
  Datagram before_{};  // that of the port
  bool extended_speeds_ = false;
};

}  // namespace

const char* to_string(PortOutcome outcome) {
  return outcome < PortOutcome::kCount ? kOutcomeNames[static_cast<std::size_t>(outcome)] : "unknown";
}

std::optional<PortOutcome> parse_port_outcome(std::string_view text) {
  const auto found = std::ranges::find(kOutcomeNames, text);
  if (found == kOutcomeNames.end()) return std::nullopt;
  return static_cast<PortOutcome>(found - kOutcomeNames.begin());
}

void encode_port_info_set(MadBytes mad, const DirectedRoute& route, PortNum port, ConstMadBytes read,
                          PortPhysicalState wanted, bool extended_speeds) {
  const std::uint32_t modifier = port.value | (extended_speeds ? kManagerKnowsExtendedSpeeds : 0);
  encode_subnet_get(mad, attribute::kPortInfo, modifier, &route);
  mad[3] = IB_MAD_METHOD_SET;
  std::memcpy(mad.data() + IB_SMP_DATA_OFFS, read.data() + IB_SMP_DATA_OFFS, IB_SMP_DATA_SIZE);
  const auto put = [&mad](MAD_FIELDS field, std::uint32_t value) {
    mad_set_field(mad.data(), IB_SMP_DATA_OFFS, field, value);
  };
  put(IB_PORT_PHYS_STATE_F, static_cast<std::uint32_t>(wanted));
  put(IB_PORT_STATE_F, 0);
  put(IB_PORT_LINK_DOWN_DEF_F, 0);
  put(IB_PORT_LINK_WIDTH_ENABLED_F, 0);
  put(IB_PORT_LINK_SPEED_ENABLED_F, 0);
  put(IB_PORT_LINK_SPEED_EXT_ENABLED_F, 0);
  mad[kExtendedSpeedEnabled2] &= 0xF8;
  put(IB_PORT_CLIENT_REREG_F, 0);
}

Result<PortReport> ask_port(MadPort& port, const PortQuestion& question) {
  if (question.wanted && *question.wanted != PortPhysicalState::kDisabled &&
      *question.wanted != PortPhysicalState::kPolling)
    return fail(ErrorCode::kInvalidArgument, "a port can be set to Disabled or Polling only");
  if (question.route.hops >= DirectedRoute::kMaximumHops)
    return fail(ErrorCode::kInvalidArgument, "a directed route has at most 62 hops");
  return Conversation(port, question).hold();
}

}  // namespace weft::infiniband
