// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the names of pushed metrics mean: a table that the site writes, for each agent has names of its own.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/gnmi/leaf_table.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// An attribute of a resource or of a data point (opentelemetry-proto, KeyValue); numbers and truth as text.
struct MetricAttribute {
  std::string_view key;
  std::string value;
};

/// One row: which data points, and what they are.
struct MetricRow {
  std::string metric;                                      ///< "system.network.io"
  std::vector<std::pair<std::string, std::string>> where;  ///< attributes that a data point must have, and their values
  gnmi::Leaf leaf;       ///< a counter of the catalogue, LeafKind::kOperStatus or LeafKind::kSpeed; `path` is empty
  std::string priority;  ///< attribute with the priority, 0 to 7; empty: none
  std::string part;      ///< attribute that tells parts apart which are added up; empty: none
  double scale = 1;      ///< a value times this is what `leaf` says
  double up = 1;         ///< of kOperStatus: the value of a port that is up
};

/// Where a data point belongs. Views of the attributes.
struct MetricMatch {
  const MetricRow* row = nullptr;
  std::string_view port;
  std::string_view part{};
  std::uint8_t priority = kNoPriority;
};

/// The table. May be read from any thread.
class MetricNames {
 public:
  /// Rows of a table at most, and names of nodes, of ports and of `where` in a row.
  static constexpr std::size_t kMostRows = 1'000;
  static constexpr std::size_t kMostNames = 16;

  /// Of a TOML text:
  ///
  ///     node = ["host.name"]                # attributes of the resource that name the switch: the first that is there
  ///     port = ["interface.name", "device"] # the same of a data point and its port
  ///     [[metrics]]
  ///     name = "system.network.io"
  ///     where = { direction = "transmit" }  # may be left out
  ///     counter = "transmit_bytes"          # of the catalogue; or is = "state" with up = 1, or is = "speed" in bit/s
  ///     direction = "transmit"              # of counters that have one
  ///     priority = "queue"                  # the attribute with it, of counters that have one
  ///     part = "pipe"                       # the attribute of parts that are added up
  ///     scale = 8                           # by which a value is multiplied
  ///
  /// kInvalidArgument with the line when the text is none.
  static Result<MetricNames> parse(std::string_view text);

  /// What names the switch among the attributes of its resource; nullopt when nothing does.
  std::optional<std::string_view> node_of(std::span<const MetricAttribute> attributes) const;
  /// Attributes that name the switch, for people: "host.name, net.host.name".
  std::string node_names() const;
  /// Whether any row has that metric.
  bool knows(std::string_view metric) const { return by_metric_.contains(metric); }
  /// The first row that the data point fits; nullopt when it fits none, or lacks the port, the priority or the part.
  std::optional<MetricMatch> find(std::string_view metric, std::span<const MetricAttribute> attributes) const;

 private:
  std::vector<std::string> node_, port_;
  std::vector<MetricRow> rows_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_metric_;
};

}  // namespace weft::daemon
