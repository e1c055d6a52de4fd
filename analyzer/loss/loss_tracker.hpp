// SPDX-License-Identifier: Apache-2.0
#pragma once
// Silent loss over time: windows of what hosts count, hypotheses that stay, and their end.

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/loss/loss_finder.hpp"
#include "analyzer/loss/packet_history.hpp"

namespace weft::analyzer {

/// What one host's port has counted since some beginning of its own; packets.
struct TransferTotals {
  std::uint64_t sent = 0, received = 0, sent_again = 0, out_of_sequence = 0;
};

/// A host's port on the subnet, as it is known at the end of a window.
struct TransferEnd {
  PortIndex port = kNoIndex;
  std::uint32_t rail = 0;
  TransferTotals totals;
  std::vector<std::uint32_t> jobs;  ///< numbers that mean the same job in all ends of a call
};

/// A link or device that loses packets.
struct SilentLoss {
  LossSuspect suspect;    ///< indices are of the topology of the last sweep
  bool around = false;    ///< the switch, or one of its cables: see LossHypothesis
  bool vanishes = false;  ///< told by the fabric's packet counters alone, see QuietBalance; hosts sent as many again
  bool spread = false;    ///< flows over all equal ways explain the losses better than the forwarding tables do
  double confidence = 0;
  double lost = 0;     ///< packets in the time of `observed`
  double passed = 0;   ///< packets through it in that time, or what its senders sent where that is not known
  double sent = 0;     ///< packets that its senders sent in that time, by whatever way
  double support = 0;  ///< what the fabric's own packet counters add to it, see PacketBalance
  Duration observed{};
  TimePoint ended = kNever;                   ///< of that time
  double limit = 0;                           ///< LossThresholds::bad_ratio that it was judged by
  std::vector<PortIndex> senders, receivers;  ///< of hosts: that lost packets through it
  /// Others that would explain it as well, and how likely each is; likeliest first.
  std::vector<std::pair<LossSuspect, double>> rivals;
};

/// Silent packet loss of one subnet over time.
class LossTracker {
 public:
  /// Packet counters are remembered of so many sweeps (more than eight): the last one of each window, the others evenly
  /// over the windows that are added up.
  explicit LossTracker(const LossThresholds& thresholds, std::size_t sweeps = PacketHistory::kSweeps)
      : thresholds_(thresholds),
        history_(sweeps),
        history_step_(thresholds.window * kWindows / static_cast<std::int64_t>(sweeps - kWindows)) {}

  /// Takes the packet counters and the ways of a sweep, which must have a topology.
  void take(const Sweep& sweep);
  /// Links that other rules blame now: what is lost on those with errors is not lost silently; and on those that are
  /// full, where nobody reads what they dropped, it is taken for that.
  void set_condemned(std::vector<LinkKey> with_errors, std::vector<LinkKey> full) {
    condemned_ = std::move(with_errors);
    full_ = std::move(full);
  }
  /// How long a window is where hosts are read every `reading`.
  Duration window(Duration reading) const;
  /// Is such a window over?
  bool is_due(TimePoint now, Duration reading) const;
  /// Ends a window with what all hosts have counted. Hosts without a reading yet are left out of `ends`.
  void end_window(std::span<const TransferEnd> ends, TimePoint now);
  /// What loses packets now, the surest first.
  const std::vector<SilentLoss>& losses() const { return losses_; }
  /// The beginning of what is remembered of hosts' losses; kNever before the first window.
  TimePoint since() const { return windows_.empty() ? began_ : windows_.front().began; }
  /// So many windows were judged that no loss means that there is none: after a start it takes some to find one again.
  bool has_judged() const { return judged_ >= thresholds_.quiet_windows; }

 private:
  static constexpr std::size_t kWindows = 8;  ///< that are added up

  struct Moved {
    float sent = 0, received = 0, sent_again = 0, out_of_sequence = 0;
  };
  struct Window {
    TimePoint began = kNever, ended = kNever;
    std::vector<Moved> moved;                    ///< by slot
    std::vector<std::uint32_t> senders, missed;  ///< slots that were hurt
  };

  void forget();
  /// Begins anew, as if nobody had lost anything yet.
  void end_suspicion();
  /// Removes suspects whose cable was pulled: `now` is a later topology of the same epoch.
  void forget_moved(const Topology& now);
  Window measure(std::span<const TransferEnd> ends, TimePoint now);
  bool is_among(const std::vector<LinkKey>& links, const LossSuspect& suspect) const;
  bool is_suspicious(const Window& window, std::span<const LossEnd> ends) const;
  bool repeats(std::vector<std::uint32_t> Window::*side, std::span<const std::uint32_t> slots) const;
  bool any_repeats() const;
  bool repeats(const LossHypothesis& cause, std::span<const LossEnd> ends) const;
  std::vector<LossEnd> sum(std::span<const TransferEnd> ends, std::size_t windows) const;
  /// Itself, and not it or one of its cables.
  bool was_surely_blamed(const LossSuspect& suspect) const;
  LossTestimony testify(const LossSuspect& suspect, double lost) const;
  std::vector<LossHypothesis> find(std::span<const LossEnd> ends, std::vector<LossHypothesis>& rivals);
  void accept(std::vector<LossHypothesis> causes, const std::vector<LossHypothesis>& rivals,
              std::span<const LossEnd> ends);

  LossThresholds thresholds_;
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const Routes> routes_;
  std::shared_ptr<const Multipath> multipath_;
  std::shared_ptr<const Multipath> spread_;  ///< of topology_, or of an earlier one; null where nothing was ever spread
  bool is_spread_ = false;                   ///< the last losses are explained best by flows over all equal ways
  Duration sweep_interval_{};
  PacketHistory history_;
  Duration history_step_;
  TimePoint remembered_ = kNever;  ///< beginning of the last sweep in history_
  std::vector<LinkKey> condemned_, full_;
  std::unordered_map<PortIndex, std::uint32_t> slot_of_;
  std::vector<TransferTotals> last_;    ///< by slot
  std::vector<std::uint8_t> has_last_;  ///< by slot
  TimePoint began_ = kNever;            ///< of the present window
  unsigned judged_ = 0;                 ///< windows since all began anew, up to quiet_windows
  std::deque<Window> windows_;          ///< since the suspicion arose
  unsigned suspicious_ = 0;             ///< of them
  unsigned quiet_ = 0;                  ///< the last ones that were not
  std::vector<SilentLoss> losses_;
  std::vector<LossSuspect> challengers_;  ///< that the last window found beside or instead of losses_
};

}  // namespace weft::analyzer
