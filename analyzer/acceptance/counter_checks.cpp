// SPDX-License-Identifier: Apache-2.0
// What ports counted while they were watched, against limits, with how sure that is.

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/acceptance/checks.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// Of links before PAM4, and of Ethernet: InfiniBand vol. 2, 6.4, and IEEE 802.3.
constexpr double kBitErrorLimit = 1e-12;
/// Behind RS(544,514), the correction of PAM4 links: above it NVIDIA's UFM calls the effective bit error rate an error,
/// above 5e-15 a warning, up to 1e-15 normal.
constexpr double kCorrectedErrorLimit = 1e-14;
/// Code words that could not be repaired, of all: above it NVIDIA's UFM calls it an error (above 5e-12 a warning).
constexpr double kLostBlocksLimit = 1e-11;
/// Of RS(544,514): 544 symbols of 10 bits (IEEE 802.3, 91.5.2.7).
constexpr double kBlockBits = 5440;

constexpr const char* kNoErrors = "0 errors";

/// Calls `judge` for each selected port that is up, with what was watched of it.
template <typename Judge>
void for_each_watched(const AcceptanceFacts& facts, Tally& tally, const Judge& judge) {
  for (const AcceptanceView& view : facts.views) {
    if (view.topology() == nullptr || is_blind(*view.fabric)) continue;
    const Topology& topology = *view.topology();
    for (const PortIndex index : view.scope.ports) {
      if (!topology.port(index).is_up()) continue;
      const std::string_view host = host_at(topology, index);
      const WatchedPort* const watched = view.watch ? view.watch->find(topology.key_of(index)) : nullptr;
      if (watched == nullptr || watched->since == kNever ||
          facts.now - watched->last > std::max<Duration>(view.fabric->stale_after, std::chrono::minutes(1)))
        tally.not_measured(port_label(topology, index), host, "its counters are not read");
      else
        judge(topology, index, host, *watched);
    }
  }
}

std::string anew_text(const AcceptanceFacts& facts, const WatchedPort& watched) {
  if (!facts.has_window()) return {};
  if (watched.clears > 0) return "; its counters were cleared meanwhile, and are watched anew";
  if (watched.gaps > 0) return "; its counters were not read for a while, and are watched anew";
  return {};
}

std::string since_text(const AcceptanceFacts& facts, const WatchedPort& watched) {
  return " in " + short_duration(watched.span()) + anew_text(facts, watched);
}

/// What can be said of `count` in `trials` against `limit`, both a rate per trial.
struct RateVerdict {
  AcceptanceVerdict verdict;
  Duration missing{};  ///< of kNotYet: until there are enough trials, if nothing more is counted
};

RateVerdict judge_rate_of(const ErrorBounds& bounds, std::uint64_t count, double trials, double limit,
                          double trials_per_second) {
  if (bounds.lower(count) > limit * trials) return {AcceptanceVerdict::kFail};
  if (trials > 0 && bounds.upper(count) <= limit * trials) return {AcceptanceVerdict::kPass};
  const double wanted = bounds.upper(count) / limit - trials;
  if (trials_per_second <= 0) return {AcceptanceVerdict::kNotYet, Duration::max()};
  const double missing = std::min(std::ceil(wanted / trials_per_second), 1e9);
  return {AcceptanceVerdict::kNotYet, std::chrono::seconds(static_cast<std::int64_t>(missing))};
}

TimePoint later(TimePoint now, Duration missing) {
  return missing == Duration::max() ? kNever : now + missing;
}

double bit_error_limit(const AcceptanceRun& run, const Port& port) {
  if (run.ber_limit > 0) return run.ber_limit;
  return port.speed_active >= kSpeedHdr ? kCorrectedErrorLimit : kBitErrorLimit;
}

std::string confidence_text(const AcceptanceFacts& facts) {
  return ", at " + short_number(facts.thresholds.error_confidence * 100) + " % confidence";
}

}  // namespace

AcceptanceCheck check_bit_errors(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  const bool is_asked = facts.run.ber_limit > 0;
  Tally tally(AcceptanceKind::kBitErrors,
              (is_asked ? "at most " + short_number(facts.run.ber_limit) + " symbol errors/bit"
                        : std::string("at most 1e-14 symbol errors/bit on HDR and faster links, 1e-12 on others")) +
                  confidence_text(facts),
              is_asked ? "the limit that was asked for"
                       : "HDR and faster: the error limit of NVIDIA's UFM behind RS(544,514); others: InfiniBand vol. "
                         "2, 6.4, and IEEE 802.3",
              hosts);
  for_each_watched(
      facts, tally, [&](const Topology& topology, PortIndex index, std::string_view host, const WatchedPort& watched) {
        const Port& port = topology.port(index);
        const std::string label = port_label(topology, index);
        if (!watched.has(CounterId::kSymbolErrors)) return tally.not_measured(label, host, "symbol_errors is not read");
        const std::uint64_t errors = watched.grown(CounterId::kSymbolErrors);
        if (errors == 0 && watched.is_stuck(CounterId::kSymbolErrors))
          return tally.not_measured(label, host, "symbol_errors is at its top: clear it");
        const double limit = bit_error_limit(facts.run, port);
        const RateVerdict rate = judge_rate_of(facts.bounds, errors, watched.line_bits, limit, port.bits_per_second());
        if (rate.verdict == AcceptanceVerdict::kPass) return tally.pass();
        const std::string counted =
            (errors == 0 ? std::string(kNoErrors)
                         : quantity_text(static_cast<double>(errors), "") + (errors == 1 ? " error" : " errors")) +
            since_text(facts, watched);
        if (rate.verdict == AcceptanceVerdict::kFail)
          return tally.fail(label, host,
                            counted + ": at least " + short_number(facts.bounds.lower(errors) / watched.line_bits) +
                                " errors/bit, and " + short_number(limit) + " are allowed");
        const double bound = watched.line_bits > 0 ? facts.bounds.upper(errors) / watched.line_bits : 1;
        tally.add({AcceptanceVerdict::kNotYet, label, std::string(host),
                   counted + ": shows at most " + short_number(std::min(bound, 1.0)) + " errors/bit, and " +
                       short_number(limit) + " is to be shown",
                   later(facts.now, rate.missing)});
      });
  return std::move(tally).finish("no port is up");
}

AcceptanceCheck check_fec(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  const double most_corrected = facts.thresholds.fec_ratio_limit / 10;
  Tally tally(AcceptanceKind::kFec,
              "at most 1e-11 of the code words not repaired" + confidence_text(facts) + "; at most " +
                  short_number(most_corrected) + " repaired symbols/bit",
              "NVIDIA's UFM; a tenth of what RS(544,514) can bear (IEEE 802.3, 91.5.3.3: analyzer.fec_ratio_limit)",
              hosts);
  for_each_watched(
      facts, tally, [&](const Topology& topology, PortIndex index, std::string_view host, const WatchedPort& watched) {
        const std::string label = port_label(topology, index);
        if (watched.fec_since == kNever || !watched.has_uncorrectable)
          return tally.not_measured(label, host, "counters of its error correction are not read, or at their top");
        const std::string in = " in " + short_duration(watched.fec_last - watched.fec_since);
        const double repaired =
            watched.fec_bits > 0 ? static_cast<double>(watched.corrected_symbols) / watched.fec_bits : 0;
        if (watched.has_corrected && repaired > most_corrected)
          return tally.fail(label, host,
                            short_number(repaired) + " repaired symbols/bit" + in + ", and " +
                                short_number(most_corrected) + " are allowed");
        const double blocks = watched.fec_bits / kBlockBits;
        const std::uint64_t lost = watched.uncorrectable_blocks;
        const RateVerdict rate = judge_rate_of(facts.bounds, lost, blocks, kLostBlocksLimit,
                                               topology.port(index).bits_per_second() / kBlockBits);
        if (rate.verdict == AcceptanceVerdict::kPass) return tally.pass();
        const std::string counted = count_text(lost) + " code words not repaired" + in;
        if (rate.verdict == AcceptanceVerdict::kFail)
          return tally.fail(label, host,
                            counted + ": at least " + short_number(facts.bounds.lower(lost) / blocks) +
                                " of all, and " + short_number(kLostBlocksLimit) + " are allowed");
        tally.add({AcceptanceVerdict::kNotYet, label, std::string(host),
                   counted + ": too few code words passed yet to show " + short_number(kLostBlocksLimit),
                   later(facts.now, rate.missing)});
      });
  return std::move(tally).finish("no port is up");
}

AcceptanceCheck check_errors(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kErrors,
              "none of link_downed, link_error_recovery, receive_errors, receive_remote_physical_errors, "
              "local_link_integrity_errors, excessive_buffer_overrun_errors and constraint errors" +
                  (facts.run.length > Duration::zero() ? " in " + short_duration(facts.run.length) + " without a break"
                                                       : std::string(" since it is up and read without a break")),
              "PortCounters (InfiniBand vol. 1, 16.1.3.5): a good link has none of them", hosts);
  for_each_watched(facts, tally,
                   [&](const Topology& topology, PortIndex index, std::string_view host, const WatchedPort& watched) {
                     const std::string label = port_label(topology, index);
                     std::string counted, missing;
                     for (const CounterId id : kAcceptanceCounters) {
                       if (id == CounterId::kSymbolErrors) continue;
                       const auto name = std::string(counter_info(id).name);
                       if (watched.grown(id) > 0)
                         counted += (counted.empty() ? "" : ", ") + count_text(watched.grown(id)) + ' ' + name;
                       else if (!watched.has(id) || watched.is_stuck(id))
                         missing += (missing.empty() ? "" : ", ") + name;
                     }
                     if (!counted.empty()) return tally.fail(label, host, counted + since_text(facts, watched));
                     // Ethernet has not all of them: what there is is judged. Link downs are seen by the state as well.
                     if (!missing.empty() && !topology.is_ethernet())
                       return tally.not_measured(label, host, "not read, or at its top: " + missing);
                     if (!watched.has(CounterId::kReceiveErrors))
                       return tally.not_measured(label, host, "its counters of errors are not read");
                     if (watched.span() >= facts.run.length) return tally.pass();
                     tally.add({AcceptanceVerdict::kNotYet, label, std::string(host),
                                "none" + since_text(facts, watched), watched.since + facts.run.length});
                   });
  return std::move(tally).finish("no port is up");
}

}  // namespace weft::analyzer
