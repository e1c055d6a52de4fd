// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/counters.hpp"
#include "fabric/list_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::ctl {
namespace {

/// Shard, fabric, node and port: two shards of a site may have fabrics of the same name.
using End = std::tuple<std::string, std::string, std::string, std::uint32_t>;
End end_of(const v1::Port& port) {
  return {port.shard(), port.fabric(), port.node_guid(), port.port()};
}
End end_of(const v1::Link& link, const v1::PortReference& port) {
  return {link.shard(), link.fabric(), port.node_guid(), port.port()};
}

/// Nobody reads it any more, as of a host whose cable was pulled: it is said to be up.
bool is_left_up(const v1::Port& port) {
  return port.stale() && port.state() == v1::Port::ACTIVE && port.has_peer();
}

/// `is_down`: the other end of its cable says so.
std::string state_text(const v1::Port& port, bool is_down) {
  if (port.state() == v1::Port::STATE_UNKNOWN && !port.has_state_read_at()) return "not read";
  if (is_down) return "DOWN (the other end says so)";
  std::string text = v1::Port::State_Name(port.state());
  if (port.stale()) text += " (stale)";
  return text;
}

/// How its return goes: "PLAN-9 waits until it is up".
std::string returning_text(const v1::Link& link, bool stopped) {
  const v1::PlanHold& plan = link.returning();
  if (plan.state() == "VERIFYING")
    return link.up() ? "on probation, " + plan.plan_id() : plan.plan_id() + " waits until it is up";
  if (plan.state() == "APPROVED" || plan.state() == "EXECUTING") return plan.plan_id() + " brings it back";
  if (is_rolling_back(plan))
    return plan.plan_id() + (stopped ? " takes it out again when hands-off ends" : " takes it out again");
  return "again by " + plan.plan_id();  // its return did not last
}

std::string state_text(const v1::Link& link, bool stopped) {
  std::string text = link.up() ? "up" : link.state_unknown() ? "not read" : "down";
  const std::string then = link.has_returning() ? ", " + returning_text(link, stopped) : "";
  const bool held = !link.plan_id().empty();
  if (held && link.hold().state() == "EXECUTING")
    text += " (" + link.plan_id() + " takes it out)";
  else if (held && is_rolling_back(link.hold()))
    text += " (" + link.plan_id() + ", which took it out, brings it back" + (stopped ? " when hands-off ends)" : ")");
  else if (held && link.up() && then.empty())
    text += ", though " + link.plan_id() + " took it out";
  else if (!link.plan_id().empty())
    text += " (taken out by " + (link.has_hold() ? hold_text(link.hold(), stopped) : link.plan_id()) + then + ')';
  else if (link.has_hold())
    text += " (cost raised by " + hold_text(link.hold(), stopped) + then + ')';
  else if (link.has_returning())
    text += " (" + returning_text(link, stopped) + ')';
  else if (link.disabled())
    text += link.has_may_hold() ? " (disabled; unknown whether by " + link.may_hold().plan_id() + ')'
                                : " (disabled by somebody else)";
  return text;
}

bool is_being_undone(const v1::Link& link) {
  return is_rolling_back(link.hold()) || is_rolling_back(link.returning());
}

bool is_hands_off(const Session& session) {
  return session.client.call(session.client.remedies, &v1::RemedyService::Stub::GetStatus, v1::GetRemedyStatusRequest())
      .hands_off();
}

std::string errors_text(const v1::Port& port) {
  std::uint64_t sum = 0;
  bool any = false;
  bool at_least = false;
  for (const v1::Counter& counter : port.counters()) {
    const CounterInfo* info = find_counter(counter.name());
    // Details are parts of what their parent counted already.
    if (!info || !info->is_error || info->group == CounterGroup::kDetail) continue;
    any = true;
    sum += counter.value();
    at_least = at_least || counter.saturated();
  }
  return any ? (at_least ? ">= " : "") + std::to_string(sum) : "-";
}

void print_counters(const Session& session, const v1::ListPortsResponse& ports) {
  std::vector<Column> columns{key("NODE"), number_key("PORT"), key("COUNTER"), number("VALUE"), "UNIT"};
  const bool shards = has_shards(ports.ports());
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  for (const v1::Port& port : ports.ports())
    for (const v1::Counter& counter : port.counters()) {
      std::vector<std::string> cells{
          port.node(), port_text(port),
          counter.name() + (counter.has_instance() ? "[" + std::to_string(counter.instance()) + "]" : ""),
          (counter.saturated() ? ">= " : "") + std::to_string(counter.value()), counter.unit()};
      if (shards) cells.push_back(port.shard());
      table.add(std::move(cells));
    }
  table.print(session.sheet());
}

/// A node and, where the text names one, its port.
struct NodeOrPort {
  std::string node, port;
};

// Names of switches have colons, too: "MF0;leaf01:MQM9700/U1".
NodeOrPort read_node_or_port(const std::string& text) {
  for (const std::string_view between : {" port ", ":", " "}) {
    const auto at = text.rfind(between);
    if (at == std::string::npos || at == 0 || at + between.size() == text.size()) continue;
    const std::string port = text.substr(at + between.size());
    if (between != " " && port.find_first_not_of("0123456789") != std::string::npos) continue;
    return {text.substr(0, at), port};
  }
  return {text, ""};
}

v1::ListPortsResponse ports_of(const Session& session, const std::string& fabric, const std::string& text,
                               bool without_counters) {
  v1::ListPortsRequest request;
  request.set_fabric(fabric);
  request.set_node(text);
  request.set_without_counters(without_counters);
  const auto ask = [&] {
    return session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListPorts, request);
  };
  const NodeOrPort wanted = read_node_or_port(text);
  if (wanted.port.empty()) return ask();
  try {
    return ask();  // an adapter's name has a space: "gpu-01 mlx5_0"
  } catch (const Failure& failure) {
    if (failure.exit != Exit::kBadNews) throw;
  }
  request.set_node(wanted.node);
  const v1::ListPortsResponse all = ask();
  v1::ListPortsResponse found;
  for (const v1::Port& port : all.ports())
    if (port_text(port) == wanted.port || std::to_string(port.port()) == wanted.port) *found.add_ports() = port;
  *found.mutable_missing_shards() = all.missing_shards();
  if (found.ports().empty()) throw Failure(Exit::kBadNews, wanted.node + " has no port " + wanted.port);
  return found;
}

void keep_links_of(const v1::ListPortsResponse& ports, v1::ListLinksResponse& links) {
  std::set<End> ends;
  for (const v1::Port& port : ports.ports()) ends.insert(end_of(port));
  v1::ListLinksResponse kept;
  for (const v1::Link& link : links.links())
    if (ends.contains(end_of(link, link.a())) || (link.has_b() && ends.contains(end_of(link, link.b()))))
      *kept.add_links() = link;
  *kept.mutable_missing_shards() = links.missing_shards();
  links = std::move(kept);
}

/// By the ends as they are shown, in the order in which people count.
void sort_by_ends(google::protobuf::RepeatedPtrField<v1::Link>& links) {
  const auto is_before = [](const v1::Link& one, const v1::Link& other) {
    const std::string a = end_text(one.a()), b = end_text(other.a());
    return a == b ? counts_before(end_text(one.b()), end_text(other.b())) : counts_before(a, b);
  };
  std::stable_sort(links.begin(), links.end(), is_before);
}

/// Of those that is_left_up() the ones whose link is down. Links are asked for only where there are any.
std::set<End> down_by_peer(const Session& session, const std::string& fabric, const v1::ListPortsResponse& ports) {
  std::set<End> left_up;
  std::set<std::string> nodes;
  for (const v1::Port& port : ports.ports())
    if (is_left_up(port)) {
      left_up.insert(end_of(port));
      nodes.insert(port.node());
    }
  std::set<End> down;
  if (left_up.empty()) return down;
  v1::ListLinksRequest request;
  request.set_fabric(fabric);
  if (nodes.size() == 1) request.set_contains(*nodes.begin());
  const auto links = session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListLinks, request);
  for (const v1::Link& link : links.links()) {
    if (link.up() || link.state_unknown() || !link.has_b()) continue;
    for (const v1::PortReference* const port : {&link.a(), &link.b()})
      if (End end = end_of(link, *port); left_up.contains(end)) down.insert(std::move(end));
  }
  return down;
}

/// What is counted, and since when.
const char* measure_text(const std::string& by) {
  if (by == "errors")
    return "Errors per bit in the error window of each link that runs now, or the last one: seconds on a fast link, at "
           "most analyzer.error_window_maximum (30 min). weftctl history NODE PORT has those before.\n";
  if (by == "flaps") return "How often a port went down since its counter link_downed was last reset.\n";
  return "Share of time with data to send and no credit, between the last two readings.\n";
}

}  // namespace

Exit show_ports(const Session& session, const std::string& fabric, const std::string& node, bool counters) {
  const auto ports = ports_of(session, fabric, node, node.empty() && !counters && !session.json);
  if (session.json) {
    session.out << json_text(ports, false) << '\n';
    return Exit::kGood;
  }
  if (counters) {
    print_counters(session, ports);
    return Exit::kGood;
  }
  std::vector<Column> columns{key("NODE"),          number_key("PORT"),
                              judged("STATE"),      spare("LINK"),
                              spare(rate("SENDS")), spare(rate("RECEIVES")),
                              spare(rate("BUSY")),  rate("STALLED"),
                              number("ERRORS"),     "PEER"};
  const bool shards = has_shards(ports.ports());
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  const std::set<End> down = down_by_peer(session, fabric, ports);
  for (const v1::Port& port : ports.ports()) {
    const v1::PortRates& rates = port.rates();
    const bool is_down = down.contains(end_of(port));
    std::vector<std::string> cells{
        port.node(),
        port_text(port),
        state_text(port, is_down),
        link_text(port.width(), port.speed(), port.rate_bits_per_second()) + (is_down ? " (old)" : ""),
        rates.has_transmit_bits_per_second() ? rate_text(rates.transmit_bits_per_second()) : "-",
        rates.has_receive_bits_per_second() ? rate_text(rates.receive_bits_per_second()) : "-",
        rates.has_utilization_ratio() ? percent_text(rates.utilization_ratio()) : "-",
        rates.has_stall_ratio() ? percent_text(rates.stall_ratio()) : "-",
        errors_text(port),
        port.has_peer() ? end_text(port.peer()) : "-"};
    if (shards) cells.push_back(port.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  return Exit::kGood;
}

Exit show_links(const Session& session, const LinkChoice& choice) {
  v1::ListLinksRequest request;
  request.set_fabric(choice.fabric);
  request.set_contains(choice.contains);
  auto links = session.client.all_pages(session.client.fabric, &v1::FabricService::Stub::ListLinks, request);
  if (!choice.node.empty()) keep_links_of(ports_of(session, choice.fabric, choice.node, true), links);
  const int known = links.links_size();
  int unread = 0;
  if (choice.down_only) {
    v1::ListLinksResponse down;
    for (const v1::Link& link : links.links()) {
      unread += link.state_unknown();
      if (!link.up() && !link.state_unknown()) *down.add_links() = link;
    }
    *down.mutable_missing_shards() = links.missing_shards();
    links = std::move(down);
  }
  if (session.json) {
    session.out << json_text(links, false) << '\n';
    return Exit::kGood;
  }
  if (links.links().empty()) {
    const std::string none =
        choice.contains.empty() ? "No links are known" : "No links contain \"" + printable(choice.contains) + '"';
    session.out << (known > 0 ? "No links are down" : none);
    if (unread > 0) session.out << "; not read: " << unread;
    session.out << where_asked(links) << ".\n";
    if (known == 0 && links.missing_shards().empty()) session.out << not_ready_text(session);
    return Exit::kGood;
  }
  sort_by_ends(*links.mutable_links());
  const bool stopped = std::ranges::any_of(links.links(), is_being_undone) && is_hands_off(session);
  std::vector<Column> columns{key("ONE END"), key("OTHER END"),      judged("STATE"),
                              spare("LINK"),  spare(number("RATE")), spare("FABRIC")};
  const bool shards = has_shards(links.links());
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  for (const v1::Link& link : links.links()) {
    std::vector<std::string> cells{end_text(link.a()),
                                   link.has_b() ? end_text(link.b()) : "not known",
                                   state_text(link, stopped),
                                   link_text(link.width(), link.speed(), 0),
                                   link_text({}, {}, link.rate_bits_per_second()),
                                   link.fabric()};
    if (shards) cells.push_back(link.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  return Exit::kGood;
}

Exit show_worst_links(const Session& session, const std::string& fabric, const std::string& by, std::uint32_t limit) {
  using Request = v1::ListWorstLinksRequest;
  Request request;
  request.set_by(by == "errors" ? Request::ERRORS : by == "flaps" ? Request::FLAPS : Request::STALL);
  request.set_limit(static_cast<std::int32_t>(std::min<std::uint32_t>(limit, INT32_MAX)));
  request.set_fabric(fabric);
  const auto worst = session.client.call(session.client.fabric, &v1::FabricService::Stub::ListWorstLinks, request);
  if (session.json) {
    session.out << json_text(worst, false) << '\n';
    return Exit::kGood;
  }
  if (worst.links().empty()) {
    session.out << "No link has " << (by == "stall" ? "senders that wait" : by) << where_asked(worst) << ".\n"
                << measure_text(by);
    return Exit::kGood;
  }
  const char* const head = by == "errors" ? "ERRORS/BIT" : by == "flaps" ? "WENT DOWN" : "STALLED";
  std::vector<Column> columns{number(head),     key("AT"),       key("ONE END"),
                              key("OTHER END"), judged("STATE"), spare("FABRIC")};
  const bool shards =
      std::ranges::any_of(worst.links(), [](const v1::WorstLink& each) { return !each.link().shard().empty(); });
  if (shards) columns.push_back(key("SHARD"));
  Table table(std::move(columns));
  const bool stopped =
      std::ranges::any_of(worst.links(), is_being_undone, &v1::WorstLink::link) && is_hands_off(session);
  for (const v1::WorstLink& each : worst.links()) {
    const v1::Link& link = each.link();
    std::vector<std::string> cells{by == "stall"   ? percent_text(each.value())
                                   : by == "flaps" ? std::to_string(static_cast<std::uint64_t>(each.value()))
                                                   : short_number(each.value()),
                                   end_text(each.at()),
                                   end_text(link.a()),
                                   end_text(link.b()),
                                   state_text(link, stopped),
                                   link.fabric()};
    if (shards) cells.push_back(link.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  session.out << '\n' << measure_text(by);
  return Exit::kGood;
}

}  // namespace weft::ctl
