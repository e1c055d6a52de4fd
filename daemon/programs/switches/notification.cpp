// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/notification.hpp"

#include <algorithm>

namespace weft::switches {

gnmi::Value value_of(const ::gnmi::TypedValue& from) {
  using Proto = ::gnmi::TypedValue;
  switch (from.value_case()) {
    case Proto::kStringVal:
      return std::string_view(from.string_val());
    case Proto::kAsciiVal:
      return std::string_view(from.ascii_val());
    case Proto::kIntVal:
      return std::int64_t{from.int_val()};
    case Proto::kUintVal:
      return std::uint64_t{from.uint_val()};
    case Proto::kBoolVal:
      return from.bool_val();
    case Proto::kFloatVal:
      return double{from.float_val()};
    case Proto::kDoubleVal:
      return from.double_val();
    case Proto::kDecimalVal:
      return gnmi::decimal_value(from.decimal_val().digits(), from.decimal_val().precision());
    case Proto::kJsonVal:
      return gnmi::Json{from.json_val()};
    case Proto::kJsonIetfVal:
      return gnmi::Json{from.json_ietf_val()};
    case Proto::kLeaflistVal: {
      const auto& list = from.leaflist_val().element();
      if (list.size() != 1 || list[0].has_leaflist_val()) return {};
      return value_of(list[0]);
    }
    case Proto::kBytesVal:
    case Proto::kProtoBytes:
    case Proto::VALUE_NOT_SET:
      break;
  }
  return {};
}

bool append(const ::gnmi::Path& from, gnmi::Path& to) {
  if (!from.origin().empty()) to.origin = from.origin();
  for (const auto& element : from.elem()) {
    if (to.elements.size() >= gnmi::PathLimits::kElements ||
        element.key_size() > static_cast<int>(gnmi::PathLimits::kKeys))
      return false;
    to.add(element.name());
    for (const auto& [name, value] : element.key()) to.add_key(name, value);
  }
  return true;
}

void append(const gnmi::Path& from, ::gnmi::Path& to) {
  for (const gnmi::Element& element : from.elements) {
    ::gnmi::PathElem& added = *to.add_elem();
    added.set_name(std::string(element.name));
    for (std::size_t i = 0; i < element.key_count; ++i) {
      const gnmi::Key& key = from.keys[element.first_key + i];
      (*added.mutable_key())[std::string(key.name)] = std::string(key.value);
    }
  }
}

Taken take(const ::gnmi::Notification& from, gnmi::SwitchState& state, TimePoint now) {
  Taken taken;
  gnmi::Path path;
  for (const auto& gone : from.delete_()) {
    path.clear();
    if (append(from.prefix(), path) && append(gone, path)) state.remove(path);
  }
  for (const auto& update : from.update()) {
    if (taken.values >= kMostUpdates) {
      taken.left_out += static_cast<std::size_t>(from.update_size()) - taken.values;
      break;
    }
    ++taken.values;
    path.clear();
    if (append(from.prefix(), path) && append(update.path(), path))
      state.update(path, value_of(update.val()), now);
    else
      ++taken.left_out;
  }
  return taken;
}

::gnmi::SubscribeRequest request_for(const gnmi::Group& group, gnmi::Pace pace, Duration sample_interval,
                                     Duration heartbeat, ::gnmi::Encoding encoding) {
  ::gnmi::SubscribeRequest request;
  ::gnmi::SubscriptionList& list = *request.mutable_subscribe();
  list.set_mode(::gnmi::SubscriptionList::STREAM);
  list.set_encoding(encoding);
  if (!group.target.empty()) list.mutable_prefix()->set_target(std::string(group.target));
  if (!group.origin.empty()) list.mutable_prefix()->set_origin(std::string(group.origin));
  for (const std::string_view text : group.paths) {
    const auto path = gnmi::parse_path(text);
    if (!path) continue;  // the tests parse all of them
    ::gnmi::Subscription& one = *list.add_subscription();
    append(*path, *one.mutable_path());
    if (pace == gnmi::Pace::kChange) {
      one.set_mode(::gnmi::ON_CHANGE);
      one.set_heartbeat_interval(static_cast<std::uint64_t>(heartbeat.count()));
    } else {
      one.set_mode(::gnmi::SAMPLE);
      one.set_sample_interval(static_cast<std::uint64_t>(sample_interval.count()));
    }
  }
  return request;
}

::gnmi::Encoding encoding_of(const ::gnmi::CapabilityResponse& capabilities) {
  const auto& known = capabilities.supported_encodings();
  for (const ::gnmi::Encoding encoding : {::gnmi::PROTO, ::gnmi::JSON_IETF, ::gnmi::JSON})
    if (std::ranges::find(known, encoding) != known.end()) return encoding;
  return ::gnmi::JSON_IETF;  // a target that tells none, or has no Capabilities
}

}  // namespace weft::switches
