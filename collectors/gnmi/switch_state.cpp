// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/switch_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "collectors/gnmi/json_leaves.hpp"
#include "fabric/counters.hpp"

namespace weft::gnmi {
namespace {

constexpr std::size_t kLongestText = NeighbourLimits::kTextLength;
constexpr std::uint64_t kNoReading = ~std::uint64_t{0};
/// Of a value that another leaf tells, too.
constexpr std::uint32_t kSpare = ~std::uint32_t{0};

const LeafIndex& leaf_index() {
  static const LeafIndex kIndex;
  return kIndex;
}

/// Names of openconfig-lldp-types.yang, CHASSIS_ID_TYPE, in the order of 802.1AB.
constexpr std::array<std::string_view, 7> kChassisIdTypes{
    "CHASSIS_COMPONENT", "INTERFACE_ALIAS", "PORT_COMPONENT", "MAC_ADDRESS",
    "NETWORK_ADDRESS",   "INTERFACE_NAME",  "LOCAL"};
/// The same, PORT_ID_TYPE.
constexpr std::array<std::string_view, 7> kPortIdTypes{
    "INTERFACE_ALIAS", "PORT_COMPONENT",   "MAC_ADDRESS", "NETWORK_ADDRESS",
    "INTERFACE_NAME",  "AGENT_CIRCUIT_ID", "LOCAL"};

template <typename Type>
Type type_of(const std::array<std::string_view, 7>& names, std::string_view name) {
  const auto found = std::ranges::find(names, without_module(name));
  return found == names.end() ? Type::kUnknown : static_cast<Type>(found - names.begin() + 1);
}

/// MAC addresses as LLDP's library tells them; all other ids as they are.
std::string id_text(std::string_view text) {
  if (const auto mac = parse_mac(text)) return *mac;
  return plain_text(text, NeighbourLimits::kIdLength);
}

PortState state_of(std::string_view name) {
  name = without_module(name);
  if (name == "UP") return PortState::kActive;
  // openconfig-interfaces.yang, oper-status; RFC 2863, ifOperStatus
  for (const std::string_view down : {"DOWN", "DORMANT", "NOT_PRESENT", "LOWER_LAYER_DOWN"})
    if (name == down) return PortState::kDown;
  return PortState::kUnknown;
}

/// No newer than the one before. A request is sent again for some minutes (OpenTelemetry's exporters: five); what is
/// older than that was told by a clock that was set back, and counts.
bool no_newer(std::uint64_t told, std::uint64_t before) {
  constexpr std::uint64_t kLongestRetry = 600'000'000'000;
  return told != 0 && told <= before && before - told < kLongestRetry;
}

}  // namespace

std::uint64_t parse_speed(std::string_view text) {
  text = without_module(text);
  if (text.starts_with("SPEED_")) text.remove_prefix(6);
  if (text.ends_with('B')) text.remove_suffix(1);
  std::uint64_t unit = 1;
  if (!text.empty() && (text.back() == 'G' || text.back() == 'M')) {
    unit = text.back() == 'G' ? 1'000'000'000 : 1'000'000;
    text.remove_suffix(1);
  }
  constexpr std::uint64_t kFastest = 100'000'000'000'000;  // a hundred times what there is
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > kFastest / unit) return 0;
  return number * unit;
}

std::optional<std::string> parse_mac(std::string_view text) {
  constexpr std::size_t kDigits = 12;
  std::string digits;
  for (const char letter : text) {
    if (letter == ':' || letter == '-' || letter == '.') continue;
    const char low = letter >= 'A' && letter <= 'F' ? static_cast<char>(letter + ('a' - 'A')) : letter;
    if (!((low >= '0' && low <= '9') || (low >= 'a' && low <= 'f')) || digits.size() == kDigits) return std::nullopt;
    digits.push_back(low);
  }
  if (digits.size() != kDigits || text.size() == kDigits) return std::nullopt;
  for (std::size_t at = kDigits - 2; at > 0; at -= 2) digits.insert(at, 1, ':');
  return digits;
}

void SwitchState::update(Path& path, const Value& value, TimePoint now) {
  const auto* const json = std::get_if<Json>(&value);
  if (json == nullptr) return take(path, value, now);
  const bool is_json = for_each_leaf(json->text, path, [&](const Path& at, const Value& leaf) { take(at, leaf, now); });
  if (!is_json) ++figures_.bad;
}

void SwitchState::take(const Path& path, const Value& value, TimePoint now) {
  const auto place = leaf_index().find(path);
  if (!place) {
    ++figures_.unknown;
    return;
  }
  take_leaf(*place, value, {}, now);
}

bool SwitchState::is_late(const Place& place, std::uint64_t told) {
  if (place.leaf->kind == LeafKind::kCounter) return false;  // each counter has a stamp of its own
  Port* const port = port_of(place.port);
  if (port == nullptr) return true;
  std::uint64_t& last = place.leaf->kind == LeafKind::kSpeed ? port->rate_stamp : port->state_stamp;
  if (no_newer(told, last)) {
    ++figures_.late;
    return true;
  }
  last = told;
  return false;
}

void SwitchState::push(const Place& place, const Value& value, const Stamp& stamp, TimePoint now) {
  if (!is_late(place, stamp.told)) take_leaf(place, value, stamp, now);
}

SwitchState::Port* SwitchState::port_of(std::string_view name) {
  if (const auto found = ports_.find(name); found != ports_.end()) return &found->second;
  if (plain_text(name, name.size()) != name || ports_.size() >= limits_.ports) {
    ++figures_.left_out;
    return nullptr;
  }
  inventory_changed_ = true;
  return &ports_[std::string(name)];
}

void SwitchState::take_leaf(const Place& place, const Value& value, const Stamp& stamp, TimePoint now) {
  const LeafKind kind = place.leaf->kind;
  if (kind == LeafKind::kCounter || kind == LeafKind::kCarrierTransitions) {
    const auto count = as_count(value);
    if (!count || *count == kNoReading) {
      ++figures_.bad;
      return;
    }
    Port* const port = port_of(place.port);
    if (port == nullptr) return;
    if (kind == LeafKind::kCounter) return take_counter(*port, place, *count, stamp, now);
    ++figures_.taken;
    return take_transitions(*port, *count, now);
  }
  if (kind == LeafKind::kSpeed)
    if (const auto bits = as_count(value)) return take_text(place, std::to_string(*bits), now);
  const auto text = as_text(value);
  if (!text) {
    ++figures_.bad;
    return;
  }
  take_text(place, *text, now);
}

void SwitchState::take_text(const Place& place, std::string_view text, TimePoint now) {
  const LeafKind kind = place.leaf->kind;
  bool is_good = true;
  if (kind == LeafKind::kChassisId || kind == LeafKind::kChassisIdType || kind == LeafKind::kSystemName) {
    if (kind == LeafKind::kChassisId) chassis_.id = id_text(text);
    if (kind == LeafKind::kChassisIdType) chassis_.type = type_of<ChassisIdType>(kChassisIdTypes, text);
    if (kind == LeafKind::kSystemName) system_name_ = plain_text(text, kLongestText);
    neighbours_changed_ = true;
  } else if (Port* const port = port_of(place.port); port == nullptr) {
    return;
  } else if (!place.neighbour.empty()) {
    is_good = take_neighbour(*port, place, text, now);
  } else {
    is_good = take_state(*port, kind, text);
  }
  ++(is_good ? figures_.taken : figures_.bad);
}

bool SwitchState::take_state(Port& port, LeafKind kind, std::string_view text) {
  const auto set = [this](auto& field, auto value) {
    if (field == value) return;
    field = std::move(value);
    inventory_changed_ = true;
  };
  switch (kind) {
    case LeafKind::kOperStatus: {
      const PortState state = state_of(text);
      if (port.state == PortState::kActive && state == PortState::kDown && !port.transitions) ++port.losses;
      if (port.state != state || !port.has_state) ++state_changes_;
      set(port.state, state);
      set(port.has_state, true);
      has_states_ = true;
      return true;
    }
    case LeafKind::kAdminStatus: {
      const bool is_down = without_module(text) == "DOWN";
      if (port.administratively_down != is_down) ++state_changes_;
      set(port.administratively_down, is_down);
      return true;
    }
    case LeafKind::kType: {
      const bool is_other = without_module(text) != "ethernetCsmacd";
      if (port.is_no_port != is_other) neighbours_changed_ = true;
      set(port.is_no_port, is_other);
      return true;
    }
    case LeafKind::kDescription:
      neighbours_changed_ = true;
      port.description = plain_text(text, kLongestText);
      return true;
    case LeafKind::kMac: {
      const auto mac = parse_mac(text);
      if (mac && port.mac != *mac) {
        port.mac = *mac;
        neighbours_changed_ = true;
      }
      return mac.has_value();
    }
    case LeafKind::kSpeed: {
      const std::uint64_t rate = parse_speed(text);
      set(port.rate, rate);
      return rate != 0;
    }
    default:
      return false;
  }
}

bool SwitchState::take_neighbour(Port& port, const Place& place, std::string_view text, TimePoint now) {
  auto found = port.neighbours.find(place.neighbour);
  if (found == port.neighbours.end()) {
    if (port.neighbours.size() >= NeighbourLimits::kOfPort) {
      port.left_out = std::min<std::uint32_t>(port.left_out + 1, 1'000'000);
      neighbours_changed_ = true;
      return true;
    }
    if (plain_text(place.neighbour, NeighbourLimits::kIdLength) != place.neighbour) return false;
    found = port.neighbours.emplace(std::string(place.neighbour), Heard{}).first;
    found->second.neighbour.since = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  }
  found->second.told = now;
  Neighbour& neighbour = found->second.neighbour;
  const Neighbour before = neighbour;
  switch (place.leaf->kind) {
    case LeafKind::kNeighbourChassisId:
      neighbour.chassis.id = id_text(text);
      break;
    case LeafKind::kNeighbourChassisIdType:
      neighbour.chassis.type = type_of<ChassisIdType>(kChassisIdTypes, text);
      break;
    case LeafKind::kNeighbourPortId:
      neighbour.port.id = id_text(text);
      break;
    case LeafKind::kNeighbourPortIdType:
      neighbour.port.type = type_of<PortIdType>(kPortIdTypes, text);
      break;
    case LeafKind::kNeighbourPortDescription:
      neighbour.port_description = plain_text(text, kLongestText);
      break;
    case LeafKind::kNeighbourSystemName:
      neighbour.system_name = plain_text(text, kLongestText);
      break;
    case LeafKind::kNeighbourAddress:
      neighbour.addresses = {plain_text(text, kLongestText)};
      break;
    default:
      return false;
  }
  neighbours_changed_ = neighbours_changed_ || neighbour != before;
  return true;
}

void SwitchState::take_counter(Port& port, const Place& place, std::uint64_t value, const Stamp& stamp, TimePoint now) {
  auto found = std::ranges::find_if(port.cells, [&](const Cell& cell) {
    return cell.leaf == place.leaf && cell.priority == place.priority && cell.part == place.part;
  });
  if (found == port.cells.end()) {
    if (cell_count_ >= limits_.values) {
      ++figures_.left_out;
      return;
    }
    ++cell_count_;
    inventory_changed_ = true;
    port.cells.push_back({.leaf = place.leaf, .priority = place.priority, .part = std::string(place.part)});
    found = port.cells.end() - 1;
  }
  if (no_newer(stamp.told, found->stamp)) {
    ++figures_.late;
    return;
  }
  ++figures_.taken;
  found->value = stamp.is_increment ? found->value + value : value;
  found->stamp = stamp.told;
  found->told = now;
}

/// The carrier goes as often as it comes, but for the last time: of a port that is down half of the transitions,
/// rounded up, are losses, of one that is up half of them, rounded down. State and count are told one after the other;
/// what that would take back was a loss all the same.
void SwitchState::take_transitions(Port& port, std::uint64_t value, TimePoint now) {
  if (!port.transitions || value < *port.transitions) port.losses = 0;
  if (!port.transitions) inventory_changed_ = true;
  port.transitions = value;
  port.transitions_told = now;
  port.losses = std::max(port.losses, (value / 2) + (port.state == PortState::kDown ? value % 2 : 0));
}

void SwitchState::remove(const Path& path) {
  const auto place = leaf_index().find_part(path);
  if (!place) return;
  inventory_changed_ = neighbours_changed_ = true;
  const bool is_of_lldp = !path.elements.empty() && without_module(path.elements.front().name) == "lldp";
  if (place->port.empty()) {  // the tree of all ports, or all of it
    if (is_of_lldp || path.elements.empty())
      for (auto& [name, port] : ports_) port.neighbours.clear();
    if (!is_of_lldp && path.elements.size() <= 1) {
      ports_.clear();
      cell_count_ = 0;
      ++state_changes_;
    }
    return;
  }
  const auto found = ports_.find(place->port);
  if (found == ports_.end()) return;
  Port& port = found->second;
  if (is_of_lldp) {
    if (place->neighbour.empty())
      port.neighbours.clear();
    else if (const auto at = port.neighbours.find(place->neighbour); at != port.neighbours.end())
      port.neighbours.erase(at);
    return;
  }
  if (place->leaf != nullptr) {
    cell_count_ -= std::erase_if(port.cells, [&](const Cell& cell) {
      return cell.leaf == place->leaf && cell.priority == place->priority && cell.part == place->part;
    });
    return;
  }
  constexpr std::size_t kEntryDepth = 2;  // "/interfaces/interface[name=x]"
  if (path.elements.size() > kEntryDepth || without_module(path.elements.front().name) != "interfaces") return;
  cell_count_ -= port.cells.size();
  ports_.erase(found);
  ++state_changes_;
}

void SwitchState::forget_neighbours(TimePoint before) {
  for (auto& [name, port] : ports_)
    if (std::erase_if(port.neighbours, [before](const auto& one) { return one.second.told < before; }) > 0)
      neighbours_changed_ = true;
}

/// Ports and series anew, and where each value stands among them.
void SwitchState::describe() {
  auto inventory = std::make_shared<HostInventory>();
  std::vector<HostSeries> series;
  std::vector<const Leaf*> owners;  // of each series
  for (auto& [name, port] : ports_) {
    if (port.is_no_port || (!port.has_state && port.cells.empty())) continue;
    HostPort shown;
    shown.device = shown.netdev = name;
    shown.link_layer = LinkLayer::kEthernet;
    shown.driver = driver_;
    shown.state = port.state;
    shown.administratively_down = port.administratively_down;
    shown.rate_bits_per_second = port.state == PortState::kActive ? port.rate : 0;
    inventory->ports.push_back(std::move(shown));
    const std::size_t first = series.size();
    std::ranges::stable_sort(port.cells, {}, [](const Cell& cell) { return cell.leaf; });
    for (Cell& cell : port.cells) {
      const CounterInfo* const info = find_counter(cell.leaf->counter);
      HostSeries one;
      one.device = name;
      one.name = cell.leaf->counter;
      one.direction = cell.leaf->direction;
      one.priority = cell.priority;
      if (info != nullptr && info->by_source) one.source = CounterSource::kNetdev;
      const auto same = std::find(series.begin() + static_cast<std::ptrdiff_t>(first), series.end(), one);
      const bool is_first = same == series.end();
      cell.series = is_first || owners[static_cast<std::size_t>(same - series.begin())] == cell.leaf
                        ? static_cast<std::uint32_t>(same - series.begin())
                        : kSpare;
      if (!is_first) continue;
      series.push_back(std::move(one));
      owners.push_back(cell.leaf);
    }
    owners.push_back(nullptr);
    HostSeries losses;
    losses.device = name;
    losses.name = "carrier_down";
    series.push_back(std::move(losses));
  }
  // The same ports with the same series are the same list: thousands of values are found by it.
  const bool is_same = inventory_ && inventory_->series == SeriesList(series);
  inventory->series = is_same ? inventory_->series : SeriesList(std::move(series));
  if (!inventory_ || !is_same || inventory_->ports != inventory->ports) inventory_ = std::move(inventory);
}

std::shared_ptr<const NeighbourTable> SwitchState::neighbours() {
  NeighbourTable table;
  table.chassis = chassis_;
  table.system_name = system_name_;
  for (const auto& [name, port] : ports_) {
    if (port.is_no_port) continue;
    NeighbourPort shown;
    shown.interface = name;
    shown.own = {PortIdType::kInterfaceName, name};
    shown.own_description = port.description;
    for (const auto& [id, heard] : port.neighbours)
      if (!heard.neighbour.chassis.id.empty() || !heard.neighbour.port.id.empty())
        shown.neighbours.push_back(heard.neighbour);
    shown.left_out = port.left_out;
    table.ports.push_back(std::move(shown));
  }
  return std::make_shared<const NeighbourTable>(tidy(std::move(table)));
}

HostReading SwitchState::reading(TimePoint taken, TimePoint now, Duration fresh) {
  if (std::exchange(inventory_changed_, false)) describe();
  HostReading reading;
  reading.taken = taken;
  reading.inventory = inventory_;
  reading.values.assign(inventory_->series.size(), 0);
  reading.present.assign(inventory_->series.size(), 0);
  const auto is_fresh = [&](TimePoint told) { return told != kNever && now - told <= fresh; };
  std::uint32_t next = 0;
  for (const auto& [name, port] : ports_) {
    if (port.is_no_port || (!port.has_state && port.cells.empty())) continue;
    std::vector<std::uint32_t> stale;
    for (const Cell& cell : port.cells) {
      if (cell.series == kSpare) continue;
      next = std::max(next, cell.series + 1);
      reading.values[cell.series] += cell.value;
      reading.present[cell.series] = 1;
      if (!is_fresh(cell.told)) stale.push_back(cell.series);
    }
    // A sum of which a part is missing is absent.
    for (const std::uint32_t series : stale) reading.present[series] = 0;
    const bool counts = port.transitions ? is_fresh(port.transitions_told) : port.has_state;
    if (next < reading.present.size()) {
      reading.values[next] = port.losses;
      reading.present[next] = counts ? 1 : 0;
    }
    ++next;
  }
  for (std::size_t i = 0; i < reading.values.size(); ++i)
    if (reading.present[i] == 0) reading.values[i] = 0;
  if (std::exchange(neighbours_changed_, false)) table_ = neighbours();
  if (!table_->chassis.id.empty()) {
    reading.neighbours = table_;
    reading.neighbours_at = taken;
  }
  return reading;
}

}  // namespace weft::gnmi
