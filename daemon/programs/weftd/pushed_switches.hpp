// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches whose metrics are pushed, by themselves or by agents: to weftd each is a host whose collector is here, as
// one that is read by gNMI.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/grpc/metrics_sink.hpp"
#include "collectors/gnmi/switch_state.hpp"
#include "daemon/config/config.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "daemon/programs/weftd/local_stream.hpp"
#include "daemon/programs/weftd/metric_names.hpp"

namespace weft::daemon {

/// Reads the file that `config` names. The error begins with its path.
Result<MetricNames> read_metric_names(const config::Otlp& config);

/// A value of a data point, and where it belongs.
struct PushedValue {
  const MetricRow* row = nullptr;
  std::string port, part{};
  std::uint8_t priority = kNoPriority;
  std::uint64_t value = 0;  ///< of a state 1 for a port that is up, else 0
  gnmi::Stamp stamp{};
};
/// What a request tells of one switch.
struct PushedNode {
  std::string name;
  std::vector<PushedValue> values{};
};
/// A request, sorted by switch.
struct PushedMetrics {
  std::vector<PushedNode> nodes{};
  std::uint64_t values = 0;    ///< of all nodes
  std::uint64_t unknown = 0;   ///< data points that no row of the table fits
  std::uint64_t rejected = 0;  ///< data points that a row fits and that cannot be, or of no switch
  std::string why{};           ///< of the first that was rejected
};
/// Sorts a request by the names of the site.
PushedMetrics read_pushed(const api::pushed::ExportMetricsServiceRequest& request, const MetricNames& names);

/// What was pushed so far.
struct PushFigures {
  std::uint64_t requests = 0;  ///< taken
  std::uint64_t values = 0;    ///< taken
  std::uint64_t unknown = 0;   ///< in no row of the table
  std::uint64_t rejected = 0;  ///< out of range, of no switch, or beyond the limits
  std::uint64_t late = 0;      ///< no newer than the one before
  std::uint64_t refused = 0;   ///< requests that were to be sent again, or of somebody who may not
  std::size_t nodes = 0;       ///< switches that are told of now
};

/// Members other than take() are called on the one thread that runs `main`.
class PushedSwitches final : public api::MetricsSink {
 public:
  /// `names`: null when nobody may push. `taken` is called after readings were handed to `hosts`. All of them must
  /// outlive the object.
  PushedSwitches(boost::asio::io_context& main, const config::Otlp& config, std::shared_ptr<const MetricNames> names,
                 HostSessions& hosts, const Clock& clock, std::function<void()> taken);
  ~PushedSwitches() override;

  void take(const api::pushed::ExportMetricsServiceRequest& request, const api::access::Principal& principal,
            Done done) override;
  /// Takes nothing more, and answers what comes with kUnavailable.
  void stop();
  /// The figures so far.
  PushFigures figures() const;

 private:
  struct Node {
    std::shared_ptr<LocalStream> stream{};
    gnmi::SwitchState state;
    TimePoint told = kNever;    ///< when a value of it was last taken
    TimePoint shown = kNever;   ///< when a reading of it was last handed on
    std::uint64_t changes = 0;  ///< of its ports' states, as of that reading
    bool is_dirty = false;      ///< something was told since
  };

  void apply(PushedMetrics told, const Done& done);
  std::optional<Error> apply(const PushedNode& told, PushedMetrics& of, TimePoint now);
  std::optional<Error> welcome(const std::string& name, Node& node);
  void show(Node& node, TimePoint now);
  void look();
  void look_later();

  boost::asio::io_context& main_;
  const config::Otlp& config_;
  std::shared_ptr<const MetricNames> names_;
  HostSessions& hosts_;
  const Clock& clock_;
  std::function<void()> taken_;
  boost::asio::steady_timer timer_;
  std::map<std::string, Node> nodes_;
  std::size_t kept_ = 0;  ///< values of all nodes
  PushFigures figures_;
  std::atomic<std::uint64_t> waiting_{0};  ///< values on their way to the main thread
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> is_stopped_{false};
  // What was posted to main may come to its turn when this object is gone: it asks here first.
  std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);
};

}  // namespace weft::daemon
