#pragma once
// weftd's figures of itself, in a prometheus-cpp registry. (Those of ports come straight from the snapshot:
// api/metrics.)

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/grpc/telemetry_hall.hpp"
#include "daemon/events/event_sender.hpp"
#include "daemon/runtime/lane.hpp"
#include "daemon/store/store.hpp"
#include "daemon/weftd/host_desk.hpp"
#include "daemon/weftd/security.hpp"

namespace prometheus {
class Collectable;
}

namespace weft::daemon {

class SelfMetrics {
 public:
  explicit SelfMetrics(const std::string& version);
  ~SelfMetrics();
  SelfMetrics(const SelfMetrics&) = delete;
  SelfMetrics& operator=(const SelfMetrics&) = delete;

  std::shared_ptr<prometheus::Collectable> collectable() const;

  void set(const std::string& lane, const runtime::LaneFigures& figures);
  void set(const store::StoreStatus& status);
  void set(const events::EventSender& sender);
  void set(const api::TelemetryFigures& streams, const HostFigures& hosts, const runtime::ChannelFigures& inbox);
  void set(const SecurityFigures& security);
  void set_fabric(const std::string& fabric, double analysis_seconds, std::uint64_t sweeper_restarts,
                  std::uint64_t sweeps_skipped);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace weft::daemon
