// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::switches {
namespace {

constexpr std::uint32_t kMagic = 0x57465357;  // "WFSW"
constexpr std::uint32_t kReading = 1, kStates = 2, kTrouble = 3;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t type = 0;
  std::uint32_t size = 0;
};

/// The fields of one target, in the order of the frame.
template <typename Target, typename Visit>
void visit_target(Target& target, std::uint32_t& state, Duration& since, Duration& told, Visit& visit) {
  visit(target.name, target.address, state, since, told, target.reason, target.refused, target.port_setting,
        target.messages, target.values, target.unknown, target.bad, target.left_out, target.connects,
        target.clock_difference);
}

std::string cut(std::string text) {
  text.resize(std::min<std::size_t>(text.size(), FrameLimits::kLongestText));
  return text;
}

Error corrupt(const std::string& what) {
  return {ErrorCode::kCorrupt, "weft-switches sent " + what};
}

Result<TargetStates> read_states(std::span<const std::byte> content) {
  runtime::OptionsReader in(content);
  std::uint32_t count = 0;
  in(count);
  if (count > FrameLimits::kMostTargets) return tl::unexpected(corrupt(std::to_string(count) + " targets"));
  TargetStates states;
  for (std::uint32_t i = 0; i < count; ++i) {
    SwitchTarget target;
    std::uint32_t state = 0;
    Duration since{}, told{};
    visit_target(target, state, since, told, in);
    if (state >= static_cast<std::uint32_t>(SwitchTargetState::kCount)) return tl::unexpected(corrupt("a state"));
    target.state = static_cast<SwitchTargetState>(state);
    target.since = TimePoint(since);
    target.told = TimePoint(told);
    states.targets.push_back(std::move(target));
  }
  if (!in.complete()) return tl::unexpected(corrupt("a damaged list of targets"));
  return states;
}

}  // namespace

api::BatchLimits batch_limits() {
  return {.bytes = FrameLimits::kMostBytes - FrameLimits::kLongestText};
}

bool FrameWriter::send(std::uint32_t type, std::span<const std::byte> content) {
  const Header header{.type = type, .size = static_cast<std::uint32_t>(content.size())};
  return sink_(std::as_bytes(std::span(&header, 1))) && sink_(content);
}

bool FrameWriter::write(const std::string& target, const HostReading& reading) {
  auto& encoder = encoders_.try_emplace(target, batch_limits(), true).first->second;
  HostBatch batch;
  batch.reading = reading;
  const auto body = encoder.encode(batch);
  if (!body) return true;
  runtime::OptionsWriter name;
  name(cut(target));
  auto content = name.take_bytes();
  content.insert(content.end(), body->begin(), body->end());
  return send(kReading, content);
}

bool FrameWriter::write(const TargetStates& states) {
  runtime::OptionsWriter out;
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(states.targets.size(), FrameLimits::kMostTargets));
  out(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    SwitchTarget target = states.targets[i];
    for (std::string* const text :
         {&target.name, &target.address, &target.reason, &target.refused, &target.port_setting})
      *text = cut(*text);
    auto state = static_cast<std::uint32_t>(target.state);
    Duration since = target.since.time_since_epoch(), told = target.told.time_since_epoch();
    visit_target(std::as_const(target), state, since, told, out);
  }
  return send(kStates, out.take_bytes());
}

bool FrameWriter::write(const Trouble& trouble) {
  return send(kTrouble, std::as_bytes(std::span(trouble.message))
                            .first(std::min<std::size_t>(trouble.message.size(), FrameLimits::kLongestText)));
}

Result<std::variant<SwitchReading, TargetStates, Trouble>> FrameReader::read() {
  Header header;
  const auto is_over = [] { return fail(ErrorCode::kUnavailable, "weft-switches has ended"); };
  if (!source_(std::as_writable_bytes(std::span(&header, 1)))) return is_over();
  if (header.magic != kMagic || header.size > FrameLimits::kMostBytes) return tl::unexpected(corrupt("no frame"));
  std::vector<std::byte> content(header.size);
  if (!content.empty() && !source_(content)) return is_over();
  if (header.type == kTrouble) {
    const auto size = std::min<std::size_t>(content.size(), FrameLimits::kLongestText);
    return Trouble{std::string(reinterpret_cast<const char*>(content.data()), size)};
  }
  if (header.type == kStates) {
    auto states = read_states(content);
    if (!states) return tl::unexpected(states.error());
    // Of targets that are no longer read nothing is kept.
    std::erase_if(decoders_, [&](const auto& one) {
      return std::ranges::find(states->targets, one.first, &SwitchTarget::name) == states->targets.end();
    });
    return std::move(*states);
  }
  if (header.type != kReading) return tl::unexpected(corrupt("a frame of an unknown kind"));
  std::uint32_t size = 0;
  if (content.size() < sizeof size) return tl::unexpected(corrupt("a reading without a name"));
  std::memcpy(&size, content.data(), sizeof size);
  if (size == 0 || size > FrameLimits::kLongestText || size > content.size() - sizeof size)
    return tl::unexpected(corrupt("a reading without a name"));
  SwitchReading told;
  told.target.assign(reinterpret_cast<const char*>(content.data()) + sizeof size, size);
  if (decoders_.size() >= FrameLimits::kMostTargets && !decoders_.contains(told.target))
    return tl::unexpected(corrupt("too many targets"));
  auto& decoder = decoders_.try_emplace(told.target, batch_limits(), pool_).first->second;
  auto batch = decoder.decode(std::span(content).subspan(sizeof size + size));
  if (!batch || !batch->reading)
    return tl::unexpected(corrupt("a reading that is none" + (batch ? "" : ": " + batch.error().message)));
  told.reading = std::move(*batch->reading);
  return told;
}

}  // namespace weft::switches
