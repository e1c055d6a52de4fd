// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/role_keeper.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "api/publication/derived.hpp"
#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "fabric/list_text.hpp"

namespace weft::daemon {
namespace {

constexpr Duration kLookForStandbyEvery = std::chrono::seconds(5);
constexpr Duration kCatchUpEvery = std::chrono::seconds(1);
/// The same trouble in the log, and another one.
constexpr Duration kToldOnce = Duration::max(), kToldAgainAfter = std::chrono::minutes(1);
constexpr Duration kOtherToldAfter = std::chrono::seconds(5);
constexpr std::size_t kMostSubnetsTold = 4;  // subnets in one sentence

}  // namespace

Result<Ledger> read_ledger(store::Store& store, const config::WeftdConfig& config, TimePoint now, bool is_whole) {
  auto clock = store.restore_clock();
  if (!clock) return tl::unexpected(clock.error());
  // By the steps of the clock: what was minutes old when it was set forward is not forgotten.
  const TimePoint resolved_since = clock->before(now, config.incidents.retention);
  auto restored = is_whole ? store.restore(resolved_since) : store.look(resolved_since);
  if (!restored) return tl::unexpected(restored.error());
  auto plans = store.restore_remedies(clock->before(now, analyzer::longest_memory(config.remedy.limits)));
  if (!plans) return tl::unexpected(plans.error());
  return Ledger{std::move(*restored), std::move(*clock), std::move(*plans)};
}

std::string went_back_text(const store::LeaseView& view) {
  if (view.went_back_from == 0) return "";
  return "the database was restored from a backup, or is an old copy: a weftd of this installation has led with "
         "epoch " +
         std::to_string(view.went_back_from) + ", which the database did not know. This weftd leads with epoch " +
         std::to_string(view.seen.epoch) +
         ". Incidents, plans and audit records since that backup are lost: compare weftctl plans with what is drained "
         "and isolated";
}

void tell_role(const store::LeaseView& view) {
  if (const std::string text = went_back_text(view); !text.empty()) logger("weftd")->warn("{}", text);
  if (view.epoch)
    logger("weftd")->info("this weftd leads (epoch {})", *view.epoch);
  else if (view.seen.holder.empty())
    logger("weftd")->info("standing by: nobody is seen to have the database: this weftd takes it when it can");
  else
    logger("weftd")->info(
        "standing by: {} has the database (epoch {}); this weftd takes over when its beat stands still for {} s",
        view.seen.holder, view.seen.epoch, store::kStillness / std::chrono::seconds(1));
}

Duration patience_after(const store::LeaseView& view) {
  return view.succeeds_unended ? actuate::kLongestCall : Duration{};
}

RoleKeeper::RoleKeeper(Options options, const config::WeftdConfig& config, store::Store& store,
                       runtime::Lane& store_lane, Core& core, RemedyController& remedies, const Clock& clock, Post post)
    : options_(std::move(options)),
      config_(config),
      store_(store),
      store_lane_(store_lane),
      core_(core),
      remedies_(remedies),
      clock_(clock),
      post_(std::move(post)),
      leads_(options_.leads),
      current_at_(clock.steady()),
      yields_from_(options_.yields_from) {
  tick();
}

Leadership RoleKeeper::describe(const store::LeaseView& view) const {
  Leadership now;
  now.is_shared = true;
  now.leads = leads_ && !view.is_lost;  // else the holder that was seen is the other one
  now.is_held = now.leads && view.is_held;
  now.epoch = view.seen.epoch;
  const bool nobody_leads = !leads_ && view.epoch;  // it has the lease, and not yet the ledger
  if (!nobody_leads) {
    now.leader = view.seen.holder;
    now.address = view.seen.address;
    now.since = leads_ ? std::max(view.seen.since, led_since_) : view.seen.since;
  }
  now.silence = view.silence.value_or(Duration{});
  if (!leads_) now.behind = std::max(clock_.steady() - current_at_, now.silence);
  now.trouble = view.trouble;
  if (!view.trouble.empty()) now.silence = std::max(now.silence, view.unfit);
  if (!leads_ && unread_) {
    now.silence = std::max(now.silence, clock_.steady() - unread_->since);
    if (now.trouble.empty())
      now.trouble = (nobody_leads ? "this weftd holds the lease and cannot read the store yet: "
                                  : "this weftd cannot read the store: ") +
                    unread_->why;
  }
  if (leads_ && view.trouble.empty()) now.standby = standby_;  // else nobody knows
  // What was found is as old as the question.
  if (now.standby && looked_at_) now.standby->seen += clock_.steady() - *looked_at_;
  return now;
}

/// The leader asks; what it is told is shown from the next tick on.
void RoleKeeper::look_for_standby() {
  const Duration now = clock_.steady();
  if (is_looking_ || (looked_at_ && now - *looked_at_ < kLookForStandbyEvery)) return;
  is_looking_ = store_lane_.post([this, now] {
    auto found = std::make_shared<Result<std::optional<StandbyView>>>(store_.standby());
    post_([this, now, found] {
      is_looking_ = false;
      looked_at_ = now;
      standby_ = *found ? std::move(**found) : std::nullopt;
    });
  });
}

// The lease is renewed, so the database answers: what it could not take is written now, not with the next incident.
void RoleKeeper::catch_up(const store::LeaseView& view) {
  if (!leads_) {
    waited_ = 0;
    return;
  }
  const store::StoreStatus status = store_.status();
  if (!status.ok) {
    waited_ = status.incidents_waiting;
  } else if (const auto waited = std::exchange(waited_, 0); waited > 0) {
    logger("store")->info("the database answers again: {} {} stored", waited,
                          waited == 1 ? "incident that waited is" : "incidents that waited are");
    core_.show_store();
  }
  const Duration now = clock_.steady();
  if (status.ok || !view.is_held || !view.trouble.empty() || is_catching_up_) return;
  if (caught_up_at_ && now - *caught_up_at_ < kCatchUpEvery) return;
  caught_up_at_ = now;
  is_catching_up_ = store_lane_.post([this] {
    static_cast<void>(store_.catch_up());  // refused: what waits is still there
    post_([this] { is_catching_up_ = false; });
  });
}

// Two that each see what the other does not stay as they are.
bool RoleKeeper::yield(const store::LeaseView& view) {
  if (!options_.sight) return false;
  const std::vector<FabricSight> own = options_.sight();
  const Duration now = clock_.steady();
  std::map<std::string, Duration> blind;
  // Without those that are seen through another port.
  const std::vector<std::string> unseen = leads_ ? compare_sight(own, {}).lost : std::vector<std::string>{};
  for (const FabricSight& fabric : own) {
    if (fabric.is_seen || std::ranges::find(unseen, fabric.name) == unseen.end()) continue;
    const auto before = blind_since_.find(fabric.name);
    blind[fabric.name] = before == blind_since_.end() ? now : before->second;
  }
  blind_since_ = std::move(blind);
  if (!leads_) {
    if (options_.tell_sight) options_.tell_sight(own);
    return false;
  }
  const auto& other = shown_.standby;
  if (now < yields_from_ || !options_.on_yield || !view.is_held || !other || !other->is_there()) return false;
  SightChange change = compare_sight(own, other->fabrics);
  const bool is_changing = options_.is_changing && options_.is_changing();
  const Duration patience = kBlindBeforeYield + (is_changing ? kChangesBeforeYield : Duration{});
  std::erase_if(change.gained, [&](const std::string& name) { return now - blind_since_.at(name) < patience; });
  if (change.gained.empty() || !change.lost.empty()) return false;
  is_lost_ = true;
  options_.on_yield("this weftd has not seen " + name_list(change.gained, kMostSubnetsTold) + " for a minute, and " +
                    other->holder + " sees " + (change.gained.size() == 1 ? "it" : "them"));
  return true;
}

void RoleKeeper::tick() {
  if (!options_.lease || is_lost_) return;
  const store::LeaseView view = options_.lease();
  if (!leads_ && view.seen.mark == followed_) current_at_ = clock_.steady();
  shown_ = describe(view);
  if (view.is_lost) {
    is_lost_ = true;
    return options_.on_lost((view.seen.holder.empty() ? "another weftd" : view.seen.holder) +
                            " has taken the database: this weftd did not renew its lease in time");
  }
  if (yield(view)) return;
  tell_changes(view);
  core_.hosts().refuse(leads_ ? "" : api::leadership_text(shown_));
  core_.show(shown_);
  if (leads_ && view.must_rise && !is_reading_) rise();
  catch_up(view);
  if (leads_) look_for_standby();
  if (leads_ || is_reading_) return;
  if (view.epoch)
    promote(*view.epoch);
  else if (view.seen.mark != followed_)
    follow(view.seen.mark);
}

// Once for each change: who reads the journal later must see when the database went away, and when it was back.
void RoleKeeper::tell_changes(const store::LeaseView& view) {
  const std::string reason = shown_.trouble.empty() ? "" : ": " + shown_.trouble;
  if (leads_) {
    was_troubled_ = false;
    if (std::exchange(was_held_, view.is_held) != view.is_held) {
      told_.reset();
      if (view.is_held) logger("weftd")->info("the lease is renewed again");
    }
    if (!view.is_held && is_news(reason, kToldOnce))
      logger("weftd")->warn(
          "the lease is not renewed: until it is, weftd watches and pages, acts on nothing and refuses changes{}",
          reason);
    return;
  }
  was_held_ = true;
  if (view.epoch) return;  // see promote()
  const bool is_troubled = !reason.empty();
  if (std::exchange(was_troubled_, is_troubled) != is_troubled) {
    told_.reset();
    if (!is_troubled) logger("weftd")->info("this standby can take over again");
  }
  if (is_troubled && is_news(reason, kToldOnce)) logger("weftd")->warn("this standby cannot take over{}", reason);
}

bool RoleKeeper::is_news(const std::string& reason, Duration again) {
  std::string words = reason;
  std::erase_if(words, [](char each) { return each >= '0' && each <= '9'; });
  const Duration now = clock_.steady();
  if (told_ && now - told_->at < (told_->reason == words ? again : kOtherToldAfter)) return false;
  told_ = Told{std::move(words), now};
  return true;
}

void RoleKeeper::miss_ledger(const Error& error, Duration begun) {
  unread_ = Unread{error.message, unread_ ? unread_->since : begun};
}

void RoleKeeper::follow(const std::string& mark) {
  is_reading_ = store_lane_.post([this, mark, now = clock_.now(), begun = clock_.steady()] {
    auto ledger = std::make_shared<Result<Ledger>>(read_ledger(store_, config_, now, false));
    post_([this, mark, ledger, begun] {
      is_reading_ = false;
      if (!*ledger) return miss_ledger(ledger->error(), begun);  // tried again with the next tick
      unread_.reset();
      followed_ = mark;
      remedies_.follow((*ledger)->plans);
      core_.follow(std::move((*ledger)->restored));
    });
  });
}

void RoleKeeper::promote(std::int64_t epoch) {
  is_reading_ = store_lane_.post([this, epoch, now = clock_.now(), begun = clock_.steady()] {
    store_.lead(epoch);
    auto ledger = std::make_shared<Result<Ledger>>(read_ledger(store_, config_, now, true));
    post_([this, epoch, ledger, begun] {
      is_reading_ = false;
      if (!*ledger) {
        miss_ledger(ledger->error(), begun);
        if (is_news(unread_->why, kToldAgainAfter)) logger("weftd")->error("cannot lead yet: {}", unread_->why);
        return;  // tried again with the next tick
      }
      unread_.reset();
      told_.reset();
      leads_ = true;
      led_since_ = clock_.now();
      logger("weftd")->info("this weftd leads now (epoch {}): {} incidents loaded", epoch,
                            (*ledger)->restored.incidents.size());
      const store::LeaseView view = options_.lease();
      if (const std::string text = went_back_text(view); !text.empty()) logger("weftd")->warn("{}", text);
      // Or two whose ports come and go would hand it to each other each minute.
      if (!view.succeeds_unended) yields_from_ = std::max(yields_from_, clock_.steady() + kYieldsAgainAfter);
      remedies_.lead((*ledger)->plans, (*ledger)->clock, patience_after(view));
      const auto told = std::move((*ledger)->restored.told);
      core_.lead(std::move((*ledger)->restored));
      options_.on_lead(told);
      tick();
    });
  });
}

void RoleKeeper::rise() {
  is_reading_ = store_lane_.post([this] {
    const auto epoch = options_.raise();
    if (epoch) store_.lead(*epoch);
    post_([this, epoch] {
      is_reading_ = false;
      if (!epoch) return;  // tried again with the next tick, unless another leads
      logger("weftd")->warn("{}", went_back_text(options_.lease()));
      tick();
    });
  });
}

bool RoleKeeper::may_tell() const {
  if (!options_.lease) return true;
  const store::LeaseView view = options_.lease();
  // What the next beat will find a write may have found before it.
  return leads_ && !view.is_lost && (view.is_held || (!view.trouble.empty() && !store_.status().is_taken));
}

std::optional<Error> RoleKeeper::refusal(CommandKind kind) const {
  if (!options_.lease || kind == CommandKind::kRead) return std::nullopt;
  if (!leads_) return Error{ErrorCode::kUnavailable, api::leadership_text(shown_)};
  if (kind == CommandKind::kBrake) return std::nullopt;
  const store::LeaseView view = options_.lease();
  if (view.is_held) return std::nullopt;
  const std::string role = api::leadership_text(describe(view));
  return Error{ErrorCode::kUnavailable, view.is_lost ? role : "nothing was changed: " + role};
}

}  // namespace weft::daemon
