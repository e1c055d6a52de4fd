// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/whose_fault.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "analyzer/advice/weights.hpp"
#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

double share_of(LinkPart part) {
  return std::ranges::find(kPartShares, part, &PartShare::part)->share;
}

/// "1 error", "12 errors".
std::string counted(std::uint64_t count, const std::string& what) {
  return count_text(count) + " " + what + (count == 1 ? "" : "s");
}

/// Both modules and the cable between them are one piece, by its part number or because both ends tell one serial
/// number.
bool is_one_piece(const LinkCase& link) {
  return link.a.past.has_fixed_cable || link.b.past.has_fixed_cable ||
         (!link.a.past.module.empty() && link.a.past.module == link.b.past.module);
}

/// What may be at fault, and how likely each is against the others.
enum Hypothesis : std::size_t { kEndA, kEndB, kCable, kModuleA, kModuleB, kHypotheses };

class Weighing {
 public:
  explicit Weighing(const LinkCase& link) : link_(link) {
    for (const bool high : {false, true}) {
      likely_[high ? kEndB : kEndA] = share_of(end(high).is_switch ? LinkPart::kSwitch : LinkPart::kHost);
      likely_[high ? kModuleB : kModuleA] = share_of(LinkPart::kModule) / 2;
    }
    likely_[kCable] = share_of(LinkPart::kCable);
  }

  Advice advise() {
    weigh_errors();
    weigh_swaps();
    for (const bool high : {false, true}) {
      weigh_cage(high);
      weigh_others(high);
      weigh_starts(high);
      weigh_past(high);
    }
    return verdict();
  }

 private:
  const LinkEnd& end(bool high) const { return high ? link_.b : link_.a; }
  std::string window() const { return short_duration(link_.window); }

  void weigh_end(bool high, const SignWeight& sign) {
    likely_[high ? kEndB : kEndA] *= end(high).is_switch ? sign.switch_port : sign.host;
    likely_[high ? kModuleB : kModuleA] *= sign.module;
  }
  void weigh_both(const SignWeight& sign) {
    for (const bool high : {false, true}) weigh_end(high, sign);
    likely_[kCable] *= sign.cable;
  }
  /// `weight`: how much it says; the weightiest stands first.
  void say(double weight, std::string sentence) {
    reasons_.emplace_back(std::abs(std::log(weight)), std::move(sentence));
  }
  /// The same of a sign that something is wrong there: that all else is well makes nothing clear.
  void tell(double weight, std::string sentence) {
    is_told_ = true;
    say(weight, std::move(sentence));
  }
  bool has_errors(const LinkEnd& one) const {
    const double hours = seconds(link_.window) / 3600;
    return one.is_read && one.errored_readings >= std::max<double>(kErroredReadings, kErroredReadingsAnHour * hours);
  }

  void weigh_errors();
  void weigh_cage(bool high);
  void weigh_others(bool high);
  void weigh_starts(bool high);
  void weigh_swaps();
  void weigh_past(bool high);
  Suspect suspect_end(bool high, double share) const;
  std::string what_to_do(const Suspect& suspect) const;
  std::string cannot_tell(const std::vector<Suspect>& suspects, double of_cable) const;
  Advice verdict();

  const LinkCase& link_;
  std::array<double, kHypotheses> likely_{};
  std::vector<std::pair<double, std::string>> reasons_;
  std::array<bool, 2> is_whole_{};  ///< by end: more than this port of it is meant
  bool is_told_ = false;            ///< a sign says what is wrong
  bool is_unclear_ = false;         ///< nobody knows how much of the cable was replaced
  bool of_module_ = false;          ///< a sign speaks for one module
  std::string quiet_{};             ///< since which swap nothing has failed
};

void Weighing::weigh_errors() {
  const LinkEnd& a = link_.a;
  const LinkEnd& b = link_.b;
  const auto says = [&](const LinkEnd& one, const LinkEnd& other) {
    return has_errors(one) && (!other.is_read || one.errored_readings > kOneSided * other.errored_readings);
  };
  const auto received = [&](const LinkEnd& one) {
    return one.port.label + " received " + counted(one.errors, "physical error") + " in " +
           counted(one.errored_readings, "reading") + " while the link was up, in " + window();
  };
  if (has_errors(a) && has_errors(b) && !says(a, b) && !says(b, a)) {
    weigh_both(kErrorsAtBothEnds);
    tell(kErrorsAtBothEnds.cable / kErrorsAtBothEnds.host,
         received(a) + "; " + b.port.label + " " + count_text(b.errors) + ": what both directions share is the cable");
    return;
  }
  for (const bool high : {false, true}) {
    const LinkEnd& one = end(high);
    const LinkEnd& other = end(!high);
    if (!says(one, other)) continue;
    weigh_both(kErrorsAtOneEnd);
    tell(kErrorsAtOneEnd.cable / kErrorsAtOneEnd.host,
         received(one) + (other.is_read ? "; " + other.port.label + " hardly any: one direction is hurt"
                                        : "; the counters of the other end are not read"));
    return;
  }
  if (!a.is_read || !b.is_read || link_.downs.size() < 2) return;
  weigh_both(kDownWithoutErrors);
  tell(kDownWithoutErrors.host / kDownWithoutErrors.cable,
       "the link went down " + counted(link_.downs.size(), "time") +
           ", and neither end received more than a burst of physical errors: whatever cuts it does so at once");
}

void Weighing::weigh_cage(bool high) {
  const LinkEnd& one = end(high);
  if (one.same_cage.all == 0) return;
  const bool is_bad = one.same_cage.bad > 0;
  weigh_end(high, is_bad ? kCageBad : kCageWell);
  of_module_ = of_module_ || is_bad;
  if (is_bad)
    tell(kCageBad.module, "the other link through the cage of " + one.port.label + " is in trouble at the same time");
}

void Weighing::weigh_others(bool high) {
  const LinkEnd& one = end(high);
  const OtherLinks& others = one.others;
  if (others.bad == 0) {
    if (others.all < (one.is_switch ? kOthersOfSwitch : kOthersOfHost)) return;
    weigh_end(high, kOthersWell);
    say(one.is_switch ? kOthersWell.switch_port : kOthersWell.host,
        "the " + counted(others.all, "other link") + " of " + one.name + (others.all == 1 ? " is well" : " are well"));
    return;
  }
  // Those that lead to the node at the other end speak for the one that has hardly another link that is well; else for
  // either of the two alike.
  const OtherLinks& there = end(!high).others;
  const double well = others.all - others.bad + 1, well_there = there.all - there.bad + 1;
  const double share = well_there >= kManyMoreWell * well ? 1 : well >= kManyMoreWell * well_there ? 0 : 0.5;
  const double count = others.bad - others.shared + share * others.shared;
  if (count <= 0) return;
  // Against so many of them by chance (Poisson).
  const double by_chance = std::pow(others.all * kTroubledByChance, count) / std::tgamma(count + 1);
  const double weight = std::clamp(kSharedShows / by_chance, 1.0, kMostOthersSay);
  likely_[high ? kEndB : kEndA] *= weight;
  is_whole_[high] = weight > kNotByChance;
  std::string sentence = count_text(others.bad) + " of the " + counted(others.all, "other link") + " of " + one.name +
                         (others.bad == 1 ? " is in trouble" : " are in trouble") + " at the same time" +
                         (others.shared == 0 ? ""
                          : others.shared == others.bad
                              ? ", which lead to " + end(!high).name + " as well"
                              : ", " + count_text(others.shared) + " of them lead to " + end(!high).name + " as well");
  if (is_whole_[high])
    tell(weight, std::move(sentence));
  else
    say(weight, std::move(sentence));
}

void Weighing::weigh_starts(bool high) {
  const LinkEnd& one = end(high);
  const std::size_t downs = link_.downs.size();
  if (!one.tells_starts || downs == 0) return;
  if (one.starts == 0) {
    weigh_end(high, kNoStarts);
    say(kNoStarts.host, "neither " + one.name + " nor its adapter was started anew when the link went down");
    return;
  }
  const bool is_most = 2 * one.starts > downs;
  weigh_end(high, is_most ? kDownByStarts : kDownByOneStart);
  is_whole_[high] = is_whole_[high] || is_most;
  tell(is_most ? kDownByStarts.host : kDownByOneStart.host, one.name + " or its adapter was started anew at " +
                                                                count_text(one.starts) + " of the " +
                                                                counted(downs, "time") + " that the link went down");
}

/// What a replaced module, or cable, has shown.
void Weighing::weigh_swaps() {
  const auto swap_of = [](const LinkEnd& one) { return one.past.replaced ? &*one.past.replaced : nullptr; };
  const Swap* const swaps[] = {swap_of(link_.a), swap_of(link_.b)};
  if (!swaps[0] && !swaps[1]) return;
  const bool high = !swaps[0] || (swaps[1] && swaps[1]->at > swaps[0]->at);  // the last one tells
  const Swap& last = *swaps[high];
  if (!last.goes_on && last.since < kQuietFor) return;  // it is too early to say
  const LinkEnd& one = end(high);
  const bool is_whole = is_one_piece(link_) || (swaps[0] && swaps[1]);
  const bool may_be_whole = end(!high).past.module.empty();
  const std::string what = is_one_piece(link_) ? "the cable (" + one.past.module + ", before " + last.before + ")"
                                               : "the module in " + one.port.label + " (" + one.past.module +
                                                     ", before " + last.before + ")";
  const std::string told = what + " was replaced at " + minute_text(last.at);
  double& module = likely_[high ? kModuleB : kModuleA];
  double& other = likely_[high ? kModuleA : kModuleB];
  if (last.goes_on) {
    module *= kReplacedInVain;
    other *= is_whole ? kReplacedInVain : may_be_whole ? kPerhapsReplacedModule : 1;
    likely_[kCable] *= is_whole ? kReplacedInVain : may_be_whole ? kPerhapsReplacedCable : 1;
    is_unclear_ = !is_whole && may_be_whole;
    tell(1 / kReplacedInVain, told + ", and the trouble stayed with the port");
  } else {
    module *= kQuietSinceSwap;
    if (is_whole) {
      other *= kQuietSinceSwap;
      likely_[kCable] *= kQuietSinceSwap;
    }
    of_module_ = of_module_ || !is_one_piece(link_);
    tell(kQuietSinceSwap, told + ", and nothing has failed since");
    quiet_ = told;
  }
}

/// Where the module, and the cable, were before.
void Weighing::weigh_past(bool high) {
  const PortPast& past = end(high).past;
  if (past.recabled && past.recabled->goes_on) {
    likely_[high ? kEndA : kEndB] *= kReplacedInVain;
    tell(1 / kReplacedInVain, "the cable of " + end(high).port.label + " led to " + past.recabled->before + " until " +
                                  minute_text(past.recabled->at) + ", and the trouble stayed with " +
                                  end(high).port.label);
  }
  if (!past.moved) return;
  const double weight = kMovedWithModule * (past.moved->left_well ? kLeftWell : 1);
  const bool is_cable = is_one_piece(link_);
  likely_[is_cable ? kCable : high ? kModuleB : kModuleA] *= weight;
  of_module_ = of_module_ || !is_cable;
  tell(weight, std::string(is_cable ? "the cable" : "the module") + " (" + past.module + ") came from " +
                   past.moved->from + " at " + minute_text(past.moved->at) + ", which was in trouble with it" +
                   (past.moved->left_well ? " and is well since" : "") + ": the trouble moved with the " +
                   (is_cable ? "cable" : "module"));
}

Suspect Weighing::suspect_end(bool high, double share) const {
  const LinkEnd& one = end(high);
  return {one.is_switch ? LinkPart::kSwitch : LinkPart::kHost, is_whole_[high] ? one.whole : one.port, share};
}

std::string Weighing::what_to_do(const Suspect& suspect) const {
  const auto is_end = [&](const LinkEnd& one) {
    return suspect.where.same_as(one.port) || suspect.where.same_as(one.whole);
  };
  const LinkEnd& one = is_end(link_.b) ? link_.b : link_.a;
  switch (suspect.part) {
    case LinkPart::kHost:
      if (2 * one.starts > link_.downs.size())
        return "Find out why " + one.name + " or its adapter starts anew; leave the cable";
      if (is_whole_[&one == &link_.b])
        return "Look at " + one.name + " first, several of its links are in trouble; leave their cables";
      return "Look at the adapter at " + one.port.label + " first: its firmware, its driver, its seat";
    case LinkPart::kSwitch:
      if (is_whole_[&one == &link_.b])
        return "Look at switch " + one.name + " first, several of its links are in trouble; leave their cables";
      return "Move the cable from " + one.port.label + " to another port of " + one.name;
    case LinkPart::kModule:
      return (one.past.moved
                  ? "Replace the module at " + one.port.label
                  : "Reseat the module at " + one.port.label + "; when the trouble comes back, replace that module") +
             (one.past.module.empty() ? "" : " (" + one.past.module + ")");
    case LinkPart::kCable:
      break;
  }
  if ((link_.a.past.moved || link_.b.past.moved) && is_one_piece(link_)) return "Replace the cable";
  return "Reseat the cable at both ends; when the trouble comes back, replace it with its modules";
}

std::string Weighing::cannot_tell(const std::vector<Suspect>& suspects, double of_cable) const {
  const auto name = [](const Suspect& suspect) {
    return suspect.part == LinkPart::kCable ? std::string("the cable") : suspect.where.label;
  };
  const std::string even = "It cannot be told whether it is " + name(suspects[0]) + " or " + name(suspects[1]) + ". ";
  if (of_cable >= 0.2) return even + "Reseat the cable at both ends first: that is the cheapest to try";
  const LinkEnd& other = link_.b.is_switch ? link_.b : link_.a;
  return even + "It is hardly the cable. Move that to another port of " + other.name +
         ": trouble that goes with it is of the other end";
}

Advice Weighing::verdict() {
  const double sum = std::accumulate(likely_.begin(), likely_.end(), 0.0);
  // Never surer than that, and nothing is excluded.
  const auto share = [&](double likely) { return kMostSure * likely / sum; };
  Advice advice;
  advice.suspects.push_back(suspect_end(false, share(likely_[kEndA])));
  advice.suspects.push_back(suspect_end(true, share(likely_[kEndB])));
  double of_cable = likely_[kCable];
  for (const bool high : {false, true}) {
    const double module = likely_[high ? kModuleB : kModuleA];
    if (of_module_ && module > likely_[kCable])
      advice.suspects.push_back({LinkPart::kModule, end(high).port, share(module)});
    else
      of_cable += module;
  }
  advice.suspects.push_back({LinkPart::kCable, link_.link, share(of_cable)});
  for (Suspect& suspect : advice.suspects)
    suspect.share += (1 - kMostSure) / static_cast<double>(advice.suspects.size());
  std::ranges::stable_sort(advice.suspects, std::ranges::greater{}, &Suspect::share);
  const double first = advice.suspects[0].share;
  advice.is_clear = is_told_ && !is_unclear_ && first >= kClearShare && first >= kClearRatio * advice.suspects[1].share;
  advice.first = !quiet_.empty()
                     ? "Leave it, and watch whether it stays quiet: " + quiet_ + ", and nothing has failed since"
                 : advice.is_clear ? what_to_do(advice.suspects[0])
                                   : cannot_tell(advice.suspects, share(of_cable));
  std::ranges::stable_sort(reasons_, std::ranges::greater{}, &std::pair<double, std::string>::first);
  for (auto& [weight, sentence] : reasons_) advice.reasons.push_back(std::move(sentence));
  if (advice.reasons.empty())
    advice.reasons.emplace_back(
        "nothing was read that tells the parts apart: the shares are those of published faults");
  return advice;
}

}  // namespace

Advice whose_fault(const LinkCase& link) {
  return Weighing(link).advise();
}

}  // namespace weft::analyzer
