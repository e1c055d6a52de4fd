// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/sweeper/frame.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace weft::sweeper {
namespace {

constexpr std::uint32_t kMagic = 0x57454654;  // "WEFT"
constexpr std::uint32_t kVersion = 9;
enum class Type : std::uint32_t { kTrouble = 1, kTopology = 2, kSweep = 3, kRoutes = 4, kActing = 5 };

static_assert(std::is_trivially_copyable_v<Port> && std::is_trivially_copyable_v<TimePoint>);

// ---- writing: small fields are gathered, large arrays go from where they stand

class Writer {
 public:
  explicit Writer(const ByteSink& sink) : sink_(sink) { buffer_.reserve(kGather); }
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_text(std::string_view text) {
    text = text.substr(0, FrameLimits::kLongestText);
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  template <typename T>
  void put_array(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    if (bytes.size() <= kGather) return put_bytes(bytes);
    flush();
    ok_ = ok_ && sink_(bytes);
  }
  bool flush() {
    if (!buffer_.empty()) ok_ = ok_ && sink_(buffer_);
    buffer_.clear();
    return ok_;
  }

 private:
  void put_bytes(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > kGather) flush();
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  static constexpr std::size_t kGather = 1 << 16;
  const ByteSink& sink_;
  std::vector<std::byte> buffer_;
  bool ok_ = true;
};

void put_header(Writer& out, Type type) {
  out.put(kMagic);
  out.put(kVersion);
  out.put(type);
}

void put_topology(Writer& out, const Topology& topology) {
  put_header(out, Type::kTopology);
  out.put(topology.epoch());
  out.put(static_cast<std::uint32_t>(topology.nodes().size()));
  out.put(static_cast<std::uint32_t>(topology.ports().size()));
  out.put(static_cast<std::uint32_t>(topology.duplicates().size()));
  for (const Node& node : topology.nodes()) {
    out.put(node.guid);
    out.put(node.system_image_guid);
    out.put(node.type);
    out.put(node.port_count);
    out.put(node.vendor_id);
    out.put(node.device_id);
    out.put(static_cast<std::uint8_t>((node.enhanced_port0 ? 1 : 0) | (node.aggregation_node ? 2 : 0) |
                                      (node.reachable ? 4 : 0) | (node.name_is_given ? 8 : 0)));
    out.put_text(node.name);
    out.put_text(node.description);
  }
  for (const DuplicateGuid& duplicate : topology.duplicates()) {
    out.put(duplicate.guid);
    out.put(duplicate.first_seen_behind);
    out.put(duplicate.second_seen_behind);
    out.put_text(duplicate.second_description);
  }
  out.put_array(topology.ports());
}

void put_table(Writer& out, const SampleTable& table) {
  out.put_array(table.raw_values());
  out.put_array(table.raw_present());
  out.put_array(table.raw_saturated());
  out.put_array(table.raw_read_at());
}

// What of a switch's forwarding table is another than it was.
void put_routes(Writer& out, NodeIndex node, const Routes& now, const Routes* before) {
  const Routes::Table& table = *now.table(node);
  const Routes::Table* old = before ? before->table(node) : nullptr;
  if (&table == old) return;
  std::vector<std::uint16_t> changed;
  for (std::uint16_t number = 0; number < table.blocks.size(); ++number) {
    const RouteBlock* block = now.block(node, number);
    const RouteBlock* known = old ? before->block(node, number) : nullptr;
    if (block && (!known || *block != *known)) changed.push_back(number);
  }
  if (changed.empty() && old && old->top == table.top) return;
  put_header(out, Type::kRoutes);
  out.put(node);
  out.put(table.top);
  out.put(static_cast<std::uint16_t>(changed.size()));
  for (const std::uint16_t number : changed) {
    out.put(number);
    out.put(*now.block(node, number));
  }
}

void put_acting(Writer& out, const ActingWeftds& acting) {
  put_header(out, Type::kActing);
  out.put(static_cast<std::uint8_t>((acting.registered ? 1 : 0) | (acting.answered ? 2 : 0)));
  out.put(static_cast<std::uint8_t>(acting.manager));
  out.put_text(acting.trouble);
  out.put(static_cast<std::uint32_t>(acting.others.size()));
  for (const ActingWeftd& other : acting.others) {
    out.put_text(other.installation);
    out.put(other.port);
  }
  out.put_text(acting.interference);
}

void put_counters(Writer& out, const SampleTable& table) {
  out.put(static_cast<std::uint32_t>(table.counters().size()));
  for (const CounterId id : table.counters()) out.put(id);
}

// ---- reading

class Reader {
 public:
  explicit Reader(const ByteSource& source) : source_(source) {}
  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    get_array(std::span(&value, 1));
    return value;
  }
  template <typename T>
  void get_array(std::span<T> values) {
    ok_ = ok_ && (values.empty() || source_(std::as_writable_bytes(values)));
  }
  std::string get_text() {
    const auto size = get<std::uint32_t>();
    if (size > FrameLimits::kLongestText) {
      refuse("a text of " + std::to_string(size) + " bytes");
      return {};
    }
    std::string text(size, '\0');
    get_array(std::span(text));
    return text;
  }
  /// The stream still delivers and nothing in it was refused.
  bool ok() const { return ok_ && reason_.empty(); }
  void refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }
  Error error() const {
    return reason_.empty() ? Error{ErrorCode::kUnavailable, "the sweeper has ended"}
                           : Error{ErrorCode::kCorrupt, "weft-sweeper sent " + reason_};
  }

 private:
  const ByteSource& source_;
  bool ok_ = true;
  std::string reason_;
};

std::shared_ptr<const Topology> get_topology(Reader& in) {
  const auto epoch = in.get<std::uint64_t>();
  const auto node_count = in.get<std::uint32_t>();
  const auto port_count = in.get<std::uint32_t>();
  const auto duplicate_count = in.get<std::uint32_t>();
  if (node_count > FrameLimits::kMostNodes || port_count > FrameLimits::kMostPorts ||
      duplicate_count > FrameLimits::kMostNodes)
    in.refuse("a graph of " + std::to_string(node_count) + " nodes and " + std::to_string(port_count) + " ports");
  std::vector<Node> nodes;
  PortIndex next_port = 0;
  for (std::uint32_t i = 0; i < node_count && in.ok(); ++i) {
    Node& node = nodes.emplace_back();
    node.guid = in.get<NodeGuid>();
    node.system_image_guid = in.get<std::uint64_t>();
    node.type = in.get<NodeType>();
    node.port_count = in.get<std::uint16_t>();
    if (node.port_count > kMostSubnetPorts) in.refuse("a node of " + std::to_string(node.port_count) + " ports");
    node.vendor_id = in.get<std::uint32_t>();
    node.device_id = in.get<std::uint16_t>();
    const auto flags = in.get<std::uint8_t>();
    node.enhanced_port0 = flags & 1;
    node.aggregation_node = flags & 2;
    node.reachable = flags & 4;
    node.name_is_given = flags & 8;
    node.first_port = next_port;
    next_port += node.port_entries();
    node.name = in.get_text();
    node.description = in.get_text();
  }
  std::vector<DuplicateGuid> duplicates;
  for (std::uint32_t i = 0; i < duplicate_count && in.ok(); ++i) {
    DuplicateGuid& duplicate = duplicates.emplace_back();
    duplicate.guid = in.get<NodeGuid>();
    duplicate.first_seen_behind = in.get<PortKey>();
    duplicate.second_seen_behind = in.get<PortKey>();
    duplicate.second_description = in.get_text();
  }
  if (in.ok() && next_port != port_count) in.refuse("a graph whose nodes do not have its ports");
  if (!in.ok()) return nullptr;
  std::vector<Port> ports(port_count);
  in.get_array(std::span(ports));
  if (std::string wrong = Topology::validate(nodes, ports); !wrong.empty()) in.refuse("a graph in which " + wrong);
  if (!in.ok()) return nullptr;
  return std::make_shared<const Topology>(epoch, std::move(nodes), std::move(ports), std::move(duplicates));
}

void get_routes(Reader& in, const Topology& topology, RouteTables& book) {
  const auto node = in.get<NodeIndex>();
  const auto top = in.get<Lid>();
  const auto count = in.get<std::uint16_t>();
  if (!in.ok()) return;
  if (node >= topology.nodes().size() || topology.node(node).type != NodeType::kSwitch)
    return in.refuse("a forwarding table of a node that is not a switch");
  book.set_top(node, top);
  if (count > book.blocks(node)) return in.refuse("a forwarding table longer than its header states");
  for (std::uint16_t i = 0; i < count && in.ok(); ++i) {
    const auto number = in.get<std::uint16_t>();
    const auto block = in.get<RouteBlock>();
    if (number >= book.blocks(node)) in.refuse("forwarding entries beyond the top of their table");
    if (in.ok()) book.set_block(node, number, block);
  }
  if (book.pooled_blocks() > FrameLimits::kMostRouteBlocks) in.refuse("more forwarding tables than the limit");
}

ActingWeftds get_acting(Reader& in) {
  ActingWeftds acting;
  const auto flags = in.get<std::uint8_t>();
  acting.registered = flags & 1;
  acting.answered = flags & 2;
  const auto manager = in.get<std::uint8_t>();
  if (manager > static_cast<std::uint8_t>(ManagerSign::kSilent)) in.refuse("an unknown sign of the subnet manager");
  acting.manager = static_cast<ManagerSign>(manager);
  acting.trouble = in.get_text();
  const auto count = in.get<std::uint32_t>();
  if (count > ActingWeftds::kMostOthers) in.refuse(std::to_string(count) + " other weftd");
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    ActingWeftd& other = acting.others.emplace_back();
    other.installation = in.get_text();
    other.port = in.get<PortGuid>();
  }
  acting.interference = in.get_text();
  return acting;
}

std::vector<CounterId> get_counters(Reader& in) {
  const auto count = in.get<std::uint32_t>();
  if (count > kCounterCount) in.refuse(std::to_string(count) + " counters");
  std::vector<CounterId> counters;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const auto id = in.get<CounterId>();
    if (id >= CounterId::kCount || std::find(counters.begin(), counters.end(), id) != counters.end())
      in.refuse("an unknown or duplicate counter");
    counters.push_back(id);
  }
  return counters;
}

void get_table(Reader& in, SampleTable& table) {
  in.get_array(table.raw_values());
  in.get_array(table.raw_present());
  in.get_array(table.raw_saturated());
  in.get_array(table.raw_read_at());
}

}  // namespace

bool FrameWriter::write(const Trouble& trouble) {
  Writer out(sink_);
  put_header(out, Type::kTrouble);
  out.put_text(trouble.message);
  return out.flush();
}

bool FrameWriter::write(const ActingWeftds& acting) {
  if (acting == sent_acting_) return true;
  sent_acting_ = acting;
  Writer out(sink_);
  put_acting(out, acting);
  return out.flush();
}

bool FrameWriter::write(const Sweep& sweep) {
  Writer out(sink_);
  if (sweep.topology.get() != sent_topology_) {
    put_topology(out, *sweep.topology);
    keep_ = sweep.topology;
    sent_topology_ = keep_.get();
  }
  if (sweep.routes && sweep.routes != sent_routes_) {
    const bool same_epoch = sent_routes_ && sent_routes_->epoch() == sweep.routes->epoch();
    for (NodeIndex node = 0; node < sweep.routes->nodes(); ++node)
      if (sweep.routes->table(node)) put_routes(out, node, *sweep.routes, same_epoch ? sent_routes_.get() : nullptr);
    sent_routes_ = sweep.routes;
  }
  put_header(out, Type::kSweep);
  out.put_text(sweep.fabric);
  out.put(sweep.number);
  out.put(sweep.started);
  out.put(sweep.finished);
  out.put(sweep.interval);
  out.put(sweep.local_port);
  out.put(static_cast<std::uint8_t>(sweep.subnet_manager ? 1 : 0));
  out.put(sweep.subnet_manager.value_or(PortKey{}));
  out.put(sweep.statistics);
  out.put_array(std::span<const TimePoint>(sweep.state_read_at));
  put_counters(out, *sweep.counters);
  put_table(out, *sweep.counters);

  // Of the details only the rows that are new: they change a sixtieth at a time.
  std::vector<std::uint32_t> rows;
  if (sweep.details)
    for (std::size_t row = 0; row < sweep.details->rows(); ++row)
      if (sweep.details->read_at(row) > details_sent_until_) rows.push_back(static_cast<std::uint32_t>(row));
  out.put(static_cast<std::uint8_t>(sweep.details ? 1 : 0));
  if (sweep.details) {
    const SampleTable& details = *sweep.details;
    put_counters(out, details);
    out.put(static_cast<std::uint32_t>(rows.size()));
    for (const std::uint32_t row : rows) {
      out.put(row);
      out.put(details.read_at(row));
      out.put_array(details.raw_values().subspan(row * details.columns(), details.columns()));
      out.put_array(details.raw_present().subspan(row * details.words_per_row(), details.words_per_row()));
      out.put_array(details.raw_saturated().subspan(row * details.words_per_row(), details.words_per_row()));
      details_sent_until_ = std::max(details_sent_until_, details.read_at(row));
    }
  }
  return out.flush();
}

Result<std::variant<Sweep, Trouble>> FrameReader::read() {
  Reader in(source_);
  while (true) {
    const auto magic = in.get<std::uint32_t>();
    const auto version = in.get<std::uint32_t>();
    const auto type = in.get<Type>();
    if (!in.ok()) return tl::unexpected(in.error());
    if (magic != kMagic || version != kVersion) in.refuse("bytes that are not a frame");
    if (in.ok() && type == Type::kTrouble) {
      Trouble trouble{in.get_text()};
      if (!in.ok()) return tl::unexpected(in.error());
      return trouble;
    }
    if (in.ok() && type == Type::kTopology) {
      const std::uint64_t epoch = topology_ ? topology_->epoch() : 0;
      const std::size_t nodes = topology_ ? topology_->nodes().size() : 0;
      topology_ = get_topology(in);
      if (!in.ok()) return tl::unexpected(in.error());
      // In another epoch the same row is another port: its readings must not pass for the new one's.
      if (details_ && (topology_->epoch() != epoch || details_->rows() > topology_->ports().size())) details_.reset();
      if (!routes_ || topology_->epoch() != epoch || topology_->nodes().size() < nodes)
        routes_.emplace(topology_->epoch());
      continue;
    }
    if (in.ok() && type == Type::kActing) {
      acting_ = get_acting(in);
      if (!in.ok()) return tl::unexpected(in.error());
      continue;
    }
    if (in.ok() && type == Type::kRoutes && topology_) {
      get_routes(in, *topology_, *routes_);
      if (!in.ok()) return tl::unexpected(in.error());
      continue;
    }
    if (type != Type::kSweep) in.refuse("a frame of unknown type");
    if (!topology_) in.refuse("a sweep before any graph");
    if (!in.ok()) return tl::unexpected(in.error());
    break;
  }
  const std::size_t rows = topology_->ports().size();
  Sweep sweep;
  sweep.fabric = in.get_text();
  sweep.number = in.get<std::uint64_t>();
  sweep.started = in.get<TimePoint>();
  sweep.finished = in.get<TimePoint>();
  sweep.interval = in.get<Duration>();
  sweep.local_port = in.get<PortKey>();
  const bool has_manager = in.get<std::uint8_t>() != 0;
  const auto manager = in.get<PortKey>();
  if (has_manager) sweep.subnet_manager = manager;
  sweep.statistics = in.get<SweepStatistics>();
  sweep.topology = topology_;
  sweep.routes = routes_->publish();
  sweep.state_read_at.resize(rows);
  in.get_array(std::span(sweep.state_read_at));
  auto counters = get_counters(in);
  if (!in.ok()) return tl::unexpected(in.error());
  auto table = std::make_shared<SampleTable>(std::move(counters), rows);
  get_table(in, *table);
  sweep.counters = std::move(table);

  if (in.get<std::uint8_t>() != 0) {
    auto detail_counters = get_counters(in);
    const auto row_count = in.get<std::uint32_t>();
    if (row_count > rows) in.refuse("more detail rows than ports");
    if (!in.ok()) return tl::unexpected(in.error());
    const bool same = details_ && std::equal(detail_counters.begin(), detail_counters.end(),
                                             details_->counters().begin(), details_->counters().end());
    if (row_count > 0 || !same || details_->rows() != rows) {
      auto details = same ? std::make_shared<SampleTable>(*details_)
                          : std::make_shared<SampleTable>(std::move(detail_counters), rows);
      details->grow(rows);
      for (std::uint32_t i = 0; i < row_count && in.ok(); ++i) {
        const auto row = in.get<std::uint32_t>();
        if (row >= rows) in.refuse("a detail row beyond the last port");
        if (!in.ok()) break;
        details->set_read_at(row, in.get<TimePoint>());
        in.get_array(details->raw_values().subspan(row * details->columns(), details->columns()));
        in.get_array(details->raw_present().subspan(row * details->words_per_row(), details->words_per_row()));
        in.get_array(details->raw_saturated().subspan(row * details->words_per_row(), details->words_per_row()));
      }
      details_ = std::move(details);
    }
    sweep.details = details_;
  } else {
    details_.reset();
  }
  if (!in.ok()) return tl::unexpected(in.error());
  return sweep;
}

}  // namespace weft::sweeper
