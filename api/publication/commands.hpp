#pragma once
// What users may ask of the daemon. The daemon implements it; the servers only pass on.

#include <cstdint>
#include <functional>
#include <string>

#include "fabric/incident.hpp"
#include "fabric/maintenance.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Commands return at once and may be called from any thread. The callback is called exactly once, from any thread,
/// when the change is durable and shown, or with the reason why it was refused: kNotFound for an id that is not known,
/// kFailedPrecondition when the incident's or window's state does not allow it. A daemon that stops answers
/// kUnavailable.
class Commands {
 public:
  using Callback = std::function<void(Result<Incident>)>;

  using MaintenanceCallback = std::function<void(Result<MaintenanceWindow>)>;

  virtual ~Commands() = default;
  /// `who` is for the record, never empty.
  virtual void acknowledge(std::uint64_t incident, std::string who, Callback callback) = 0;
  /// Shown but not to be paged for before `until`, which is in the future.
  virtual void silence(std::uint64_t incident, TimePoint until, std::string who, Callback callback) = 0;
  /// A window of planned work, without an id: it gets one. kInvalidArgument for one that is too long, too far ahead or
  /// without a reason; kResourceExhausted when there are too many.
  virtual void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) = 0;
  /// The work is done before its time, or called off.
  virtual void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) = 0;
};

}  // namespace weft::api
