// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often which part of a link is at fault, and how much a sign speaks for each: data, with where it comes from.

#include <array>

#include "fabric/clock.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Share of troubled links for which a part is the cause, before anything is read. A host's link has each once, a
/// module at each end.
struct PartShare {
  LinkPart part;
  double share;
  const char* source;
};
inline constexpr std::array<PartShare, 4> kPartShares{{
    {LinkPart::kHost, 0.17,
     "Llama 3 (arXiv 2407.21783, table 5): of the interruptions by the network 7 came from adapters, 35 from switches "
     "or cables. What follows shares the rest as CorrOpt found it"},
    {LinkPart::kCable, 0.51,
     "CorrOpt (SIGCOMM 2017, table 2): connectors 17-57 %, damaged or bent fibre 14-48 %, middles of both"},
    {LinkPart::kModule, 0.19, "CorrOpt: bad or loose transceivers 6-45 %, decaying transmitters below 1 %"},
    {LinkPart::kSwitch, 0.13, "CorrOpt: components that links share 10-26 %"},
}};

/// By how much a sign makes each part likelier than it was, against the others: likelihood ratios. `host` and
/// `switch_port` are of the end that the sign is of, as is `module`; what the sign says nothing of stays at 1.
struct SignWeight {
  double host = 1;
  double cable = 1;
  double module = 1;
  double switch_port = 1;
};

// Without a source: ours. tests/scenarios measures what comes of them.

/// Errors are received at one end. A dirty connector or a bad transceiver hurts one direction (CorrOpt, 4.2), and so
/// may either port; what restarts makes none.
inline constexpr SignWeight kErrorsAtOneEnd{.host = 0.5, .cable = 1, .module = 1, .switch_port = 0.5};
/// At both: a damaged or bent cable hurts both directions (CorrOpt, 4.2).
inline constexpr SignWeight kErrorsAtBothEnds{.host = 0.4, .cable = 1.5, .module = 0.8, .switch_port = 0.4};
/// The link goes down again and again and no end counts an error before: whatever cuts it does so at once.
inline constexpr SignWeight kDownWithoutErrors{.host = 2.5, .cable = 0.5, .module = 0.6, .switch_port = 1.5};
/// Other links of the same switch or host in trouble at the same time. That a part which links share hurts just so many
/// of them.
inline constexpr double kSharedShows = 0.2;
/// That a link which has nothing to do with it is in trouble, too. Links fail alone, 0.057 % of them in a month; flaps
/// are more frequent, 5,000 to 60,000 a day over a large fleet (Alibaba HPN, SIGCOMM 2024), whose links are not told.
inline constexpr double kTroubledByChance = 0.002;
/// So much they must say, or it may be chance.
inline constexpr double kNotByChance = 3;
/// They never say more.
inline constexpr double kMostOthersSay = 200;
/// Of two nodes whose common links are in trouble, the one is meant when the other has so many times as many links that
/// are well.
inline constexpr double kManyMoreWell = 3;
/// All others are well.
inline constexpr SignWeight kOthersWell{.host = 0.7, .cable = 1, .module = 1, .switch_port = 0.6};
/// From so many on, of a host and of a switch, that says something.
inline constexpr std::uint32_t kOthersOfHost = 1, kOthersOfSwitch = 3;
/// The other link of the same cage or module is in trouble, too: two links of a twin-port cage die together.
inline constexpr SignWeight kCageBad{.host = 2, .cable = 1, .module = 20, .switch_port = 2};
/// It is well.
inline constexpr SignWeight kCageWell{.host = 1, .cable = 1, .module = 0.6, .switch_port = 1};
/// The host, or its adapter, was started anew when the link went down: most of the times, or once among others.
inline constexpr SignWeight kDownByStarts{.host = 40};
inline constexpr SignWeight kDownByOneStart{.host = 1};
/// Nobody started anything then.
inline constexpr SignWeight kNoStarts{.host = 0.7};

/// A part was replaced, or the cable leads to another port, and the trouble goes on: it was not that part. Hardly, for
/// two bad ones in a row happen.
inline constexpr double kReplacedInVain = 0.03;
/// What may have been replaced together with the module, where that end alone tells its module: the cable, and the
/// module at its other end.
inline constexpr double kPerhapsReplacedCable = 0.35, kPerhapsReplacedModule = 0.5;
/// The link is quiet since a part was replaced.
inline constexpr double kQuietSinceSwap = 15;
/// How long it must have been.
inline constexpr Duration kQuietFor = std::chrono::minutes(10);
/// The module came from a port that was in trouble, and now this one is; and that port is well since.
inline constexpr double kMovedWithModule = 25, kLeftWell = 2;

/// No advice is surer than this.
inline constexpr double kMostSure = 0.95;
/// The first suspect is clear from this share on, and when it is so many times as likely as the next.
inline constexpr double kClearShare = 0.5, kClearRatio = 2;
/// Readings with errors that make a sign: chance makes one or two (tests/scenarios: a burst in a hundred port-days).
inline constexpr std::uint32_t kErroredReadings = 3;
/// And so many an hour: the worst good link, with 1e-15 errors a bit (IBTA factory tests) at 400 Gb/s, has 1.4.
inline constexpr double kErroredReadingsAnHour = 6;
/// One end has errors and the other has not when it has so many times as many readings with errors.
inline constexpr std::uint32_t kOneSided = 8;

}  // namespace weft::analyzer
