// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/target.hpp"

#include <algorithm>
#include <utility>

#include "collectors/gnmi/port_setting.hpp"
#include "daemon/programs/switches/connection.hpp"
#include "daemon/programs/switches/notification.hpp"

namespace weft::switches {
namespace {

using namespace std::chrono_literals;

/// A target that is up answers within a second.
constexpr auto kCapabilitiesTime = 10s;
/// Where a target tells no end of its first values, they are complete after this.
constexpr Duration kSyncTime = 10s;
/// Values of one moment come within this.
constexpr Duration kSettleTime = 150ms;
/// Between two readings, however often states change.
constexpr Duration kShortestCut = 100ms;
/// A target that only tells what changes tells it once in this all the same.
constexpr Duration kHeartbeat = 30s;
constexpr Duration kShortestSilence = 10s;
constexpr int kSilentIntervals = 3;
/// From a connection to the first state of a port.
constexpr Duration kStatesTime = 30s;

bool is_of_path(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::FAILED_PRECONDITION:
      return true;
    default:
      return false;
  }
}

}  // namespace

Target::Target(TargetLine line, const Options& options, grpc::CompletionQueue& queue, Now now, double random)
    : line_(std::move(line)), options_(options), queue_(queue), backoff_(1s, options.reconnect_limit), now_(now) {
  shown_.name = line_.name;
  shown_.address = line_.address;
  shown_.since = now.wall;
  due_ = now.steady + std::chrono::duration_cast<Duration>(random * 1s);
}

void Target::set_state(SwitchTargetState state, std::string why, const Now& now) {
  if (shown_.state != state) shown_.since = now.wall;
  shown_.state = state;
  shown_.reason = plain(why);
}

void Target::begin(const Now& now) {
  auto connection = connect(line_, options_.credentials_directory, options_.max_message_bytes);
  if (!connection) return fail(SwitchTargetState::kRefused, connection.error().message, now, 0.5);
  login_ = std::move(connection->login);
  channel_ = std::move(connection->channel);
  stub_ = ::gnmi::gNMI::NewStub(channel_);
  state_ = std::make_unique<gnmi::SwitchState>(gnmi::SwitchLimits{.ports = options_.max_ports});
  streams_.clear();
  is_dirty_ = false;
  cut_state_changes_ = 0;
  shown_.refused.clear();
  began_ = last_message_ = now.steady;
  auto call = std::make_unique<CapabilitiesCall>();
  show_login(*call);
  call->set_deadline(std::chrono::system_clock::now() + kCapabilitiesTime);
  call->start(*stub_, queue_);
  asking_ = call.get();
  calls_.push_back(std::move(call));
}

void Target::show_login(Call& call) const {
  for (const auto& [name, value] : login_) call.add_metadata(name, value);
}

void Target::subscribe(const Now& now) {
  std::vector<std::string> models;
  if (asking_->status().ok())
    for (const auto& model : asking_->response().supported_models()) models.push_back(model.name());
  encoding_ = encoding_of(asking_->response());
  const gnmi::PortSetting* const row = port_setting_of(line_, models);
  shown_.port_setting = row == nullptr ? SwitchTarget::kSetsNone : row->name;
  ++shown_.connects;
  for (const gnmi::Group& group : gnmi::groups())
    if (gnmi::is_asked_for(group, models)) streams_.push_back({.group = &group, .pace = group.pace});
  for (Stream& stream : streams_) open(stream, now);
}

void Target::open(Stream& stream, const Now& now) {
  const std::size_t place = static_cast<std::size_t>(&stream - streams_.data());
  auto call = std::make_unique<SubscribeCall>(
      [this, place](const ::gnmi::SubscribeResponse& message) { return take(streams_[place], message); });
  show_login(*call);
  call->start(*stub_, queue_, request_for(*stream.group, stream.pace, options_.sample_interval, kHeartbeat, encoding_));
  stream.call = call.get();
  stream.began = now.steady;
  stream.first_message = {};
  stream.is_synced = false;
  calls_.push_back(std::move(call));
}

bool Target::take(Stream& stream, const ::gnmi::SubscribeResponse& message) {
  ++shown_.messages;
  last_message_ = now_.steady;
  last_message_wall_ = shown_.told = now_.wall;
  if (stream.first_message == Duration{}) stream.first_message = now_.steady;
  if (message.has_update()) {
    const auto taken = switches::take(message.update(), *state_, now_.wall);
    if (!std::exchange(is_dirty_, true)) dirty_since_ = now_.steady;
    figures_before_.left_out += taken.left_out;
    allowance_ -= static_cast<double>(std::max<std::size_t>(1, taken.values));
    if (message.update().timestamp() > 0)
      shown_.clock_difference = Duration(message.update().timestamp()) - now_.wall.time_since_epoch();
  } else if (message.sync_response()) {
    stream.is_synced = true;
    allowance_ -= 1;
  } else {
    allowance_ -= 1;
  }
  return allowance_ > 0;
}

/// What it tells first is there as a whole.
bool Target::is_complete(const Now& now) const {
  if (!state_ || !state_->has_states() || streams_.empty()) return false;
  return std::ranges::all_of(streams_, [&](const Stream& stream) {
    if (stream.is_synced || !stream.refused.empty()) return true;
    return now.steady - stream.began >= kSyncTime;
  });
}

std::optional<HostReading> Target::take_reading(const Now& now) {
  if (is_leaving_ || !is_dirty_ || !is_complete(now)) return std::nullopt;
  const bool has_changed = state_->state_changes() != cut_state_changes_ && now.steady - last_cut_ >= kShortestCut;
  const bool has_settled = now.steady - last_message_ >= kSettleTime;
  const bool is_overdue = now.steady - dirty_since_ >= options_.sample_interval;
  if (!has_changed && !has_settled && !is_overdue) return std::nullopt;
  is_dirty_ = false;
  last_cut_ = now.steady;
  cut_state_changes_ = state_->state_changes();
  backoff_.reset();
  set_state(SwitchTargetState::kReading, "", now);
  for (const Stream& stream : streams_)
    if (stream.group->name == "lldp" && stream.pace == gnmi::Pace::kSample)
      state_->forget_neighbours(now.wall - kSilentIntervals * options_.sample_interval);
  HostReading reading = state_->reading(last_message_wall_, now.wall, kSilentIntervals * options_.sample_interval);
  const std::string refused = refused_groups(false);
  reading.sources.push_back({"gnmi", shown_.refused.empty(), refused.empty() ? "" : "not told: " + refused});
  return reading;
}

/// "lldp (no such path)"; empty: all are told.
std::string Target::refused_groups(bool only_needed) const {
  std::string text;
  for (const Stream& stream : streams_)
    if (!stream.refused.empty() && (stream.group->is_needed || !only_needed))
      text.append(text.empty() ? "" : "; ").append(stream.group->name).append(" (").append(stream.refused).append(")");
  return text;
}

std::string Target::told_reason(const grpc::Status& status) const {
  return switches::told_reason(status, line_, options_.max_message_bytes);
}

/// Ends this connection; the next one begins later each time.
void Target::fail(SwitchTargetState state, std::string why, const Now& now, double random) {
  for (auto& call : calls_) call->cancel();
  std::ranges::move(calls_, std::back_inserter(ending_));
  calls_.clear();
  asking_ = nullptr;
  streams_.clear();
  if (state_) {
    const gnmi::SwitchFigures& figures = state_->figures();
    figures_before_.taken += figures.taken;
    figures_before_.unknown += figures.unknown;
    figures_before_.bad += figures.bad;
    figures_before_.left_out += figures.left_out;
  }
  state_.reset();
  is_dirty_ = false;
  stub_.reset();
  channel_.reset();
  set_state(state, std::move(why), now);
  const auto delay = backoff_.next();
  due_ = now.steady + std::chrono::duration_cast<Duration>(seconds(delay) * (0.5 + random / 2) * 1s);
}

void Target::stream_ended(Stream& stream, const grpc::Status& status, const Now& now, double random) {
  stream.call = nullptr;
  if (std::exchange(stream.begins_anew, false)) return open(stream, now);
  const std::string why = told_reason(status);
  if (is_of_login(status.error_code())) return fail(SwitchTargetState::kRefused, why, now, random);
  if (is_of_path(status.error_code())) {
    if (stream.pace == gnmi::Pace::kChange) {
      stream.pace = gnmi::Pace::kSample;
      return open(stream, now);
    }
    stream.refused = why;
    shown_.refused = refused_groups(true);
    const auto is_lost = [](const Stream& each) { return !each.refused.empty(); };
    if (stream.group == &gnmi::groups().front())
      return fail(SwitchTargetState::kRefused, "it tells no states of its ports: " + why, now, random);
    // Somebody has to tell again and again: silence is noticed by it.
    Stream& states = streams_.front();
    const bool has_samples = std::ranges::any_of(
        streams_, [&](const Stream& each) { return !is_lost(each) && each.pace == gnmi::Pace::kSample; });
    if (!has_samples && states.call != nullptr) {
      states.pace = gnmi::Pace::kSample;
      states.begins_anew = true;
      states.call->cancel();
    }
    return;
  }
  const bool is_ours = status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  fail(is_ours ? SwitchTargetState::kRefused : SwitchTargetState::kConnecting, why, now, random);
}

void Target::look_at_calls(const Now& now, double random) {
  std::erase_if(ending_, [](const auto& call) { return call->is_over(); });
  if (asking_ != nullptr && asking_->is_over()) {
    const grpc::Status status = asking_->status();
    // Some targets have none: OpenConfig is asked for all the same.
    const bool has_none = is_of_path(status.error_code());
    if (status.ok() || has_none) {
      subscribe(now);
      std::erase_if(calls_, [this](const auto& call) { return call.get() == asking_; });
      asking_ = nullptr;
    } else {
      const bool is_refused = is_of_login(status.error_code()) || told_reason(status).starts_with("its certificate");
      return fail(is_refused ? SwitchTargetState::kRefused : SwitchTargetState::kConnecting, told_reason(status), now,
                  random);
    }
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    SubscribeCall* const call = streams_[i].call;
    if (call == nullptr || !call->is_over()) continue;
    const grpc::Status status = call->status();
    std::erase_if(calls_, [call](const auto& each) { return each.get() == call; });
    stream_ended(streams_[i], status, now, random);
    if (streams_.empty()) return;
  }
}

void Target::watch_silence(const Now& now, double random) {
  const Duration patience = std::max<Duration>(kShortestSilence, kSilentIntervals * options_.sample_interval);
  if (streams_.empty()) return;
  if (!state_->has_states() && now.steady - began_ >= kStatesTime)
    return fail(SwitchTargetState::kRefused, "it tells no state of any port", now, random);
  if (now.steady - last_message_ < patience) return;
  const bool was_reading = shown_.state == SwitchTargetState::kReading || shown_.state == SwitchTargetState::kSilent;
  fail(was_reading ? SwitchTargetState::kSilent : SwitchTargetState::kConnecting,
       "it has told nothing for " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) +
           " s",
       now, random);
}

void Target::tick(const Now& now, double random) {
  now_ = now;
  if (is_leaving_) {
    std::erase_if(calls_, [](const auto& call) { return call->is_over(); });
    return;
  }
  look_at_calls(now, random);
  if (!channel_ && now.steady >= due_) begin(now);
  watch_silence(now, random);
  const double most = options_.max_values_per_second;
  allowance_ = std::min(most, std::max(allowance_, -most) + seconds(now.steady - allowance_at_) * most);
  allowance_at_ = now.steady;
  if (allowance_ > 0)
    for (Stream& stream : streams_)
      if (stream.call != nullptr) stream.call->resume();
  const gnmi::SwitchFigures figures = state_ ? state_->figures() : gnmi::SwitchFigures{};
  shown_.values = figures_before_.taken + figures.taken;
  shown_.unknown = figures_before_.unknown + figures.unknown;
  shown_.bad = figures_before_.bad + figures.bad;
  shown_.left_out = figures_before_.left_out + figures.left_out;
}

void Target::leave() {
  for (auto& call : calls_) call->cancel();
  std::ranges::move(ending_, std::back_inserter(calls_));
  ending_.clear();
  asking_ = nullptr;
  streams_.clear();
  is_leaving_ = true;
}

}  // namespace weft::switches
