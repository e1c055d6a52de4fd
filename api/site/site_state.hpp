// SPDX-License-Identifier: Apache-2.0
#pragma once
// How SiteQueries asks: all shards, some of them for a page of a list, or the one that an id belongs to. For the files
// of this room alone.

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/convert/plans.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "api/site/gathering.hpp"
#include "api/site/known_nodes.hpp"
#include "api/site/merge.hpp"
#include "api/site/shard_peers.hpp"
#include "api/site/site_queries.hpp"
#include "api/site/site_token.hpp"
#include "api/site/site_watches.hpp"

namespace weft::api {

/// Shards that give entries to one page. Each gives some 1 MB at most, and a client takes 4 MB.
inline constexpr std::size_t kShardsOfPage = 3;

/// What is said where the shard that owns `what` does not answer.
inline Error does_not_answer(const std::string& what, const SiteShard& shard, const Error& why) {
  return {ErrorCode::kUnavailable,
          what + " belongs to shard " + shard.name + ", which does not answer: " + why.message};
}

/// What another shard said last of itself.
struct ShardStatus {
  v1::Status::Incidents open_incidents;
  TimePoint at = kNever;      ///< when it came
  bool only_standby = false;  ///< who said it does not lead
  bool ready = true;          ///< it has swept
};

/// What all questions share.
struct SiteQueries::State {
  State(const Publication& the_publication, const Clock& the_clock, ClientSecurity security,
        std::chrono::milliseconds patience)
      : publication(the_publication),
        clock(the_clock),
        watches(the_publication, peers),
        peers(std::move(security), patience) {}

  /// What an answer of this weftd needs to be one.
  enum class Needs : std::uint8_t {
    kNothing,     ///< the store, or whatever it has seen
    kSweep,       ///< before the first one that a name is not known is no news of what bears it
    kCollectors,  ///< a weftd that stands by hears none
    kBoth,        ///< these two
  };

  /// Whether the leader of the own shard is to be asked, because this weftd stands by.
  static bool has_leader_to_ask(const Snapshot& snapshot, Needs needs) {
    return (needs == Needs::kCollectors || needs == Needs::kBoth) && snapshot.leadership.stands_by() &&
           snapshot.site->find(snapshot.site->own) != nullptr;
  }

  /// Asks all shards the same. `local` is what this weftd says; where it has not what that needs its shard is missing,
  /// or the leader is asked while this one stands by.
  template <typename Service, typename Request, typename Response, typename Begin>
  void ask_all(const Snapshot& snapshot, Result<Response> local, const Request& request, Begin begin,
               std::function<void(std::vector<ShardAnswer<Response>>)> done, Needs needs = Needs::kCollectors) {
    const SitePtr& site = snapshot.site;
    // What this weftd refuses the others would refuse as well.
    if (!local && local.error().code == ErrorCode::kInvalidArgument)
      return done({{site->own, std::move(local), false}});
    const bool stands_by = has_leader_to_ask(snapshot, needs);
    const bool is_blind = (needs == Needs::kSweep || needs == Needs::kBoth) && is_before_it_knows(snapshot, local);
    if (is_blind) local = fail(ErrorCode::kUnavailable, kNotSwept);
    const ShardTokens shards = all_shards(*site);
    const auto gathering = std::make_shared<Gathering<Response>>(shards.size(), std::move(done));
    const auto of_own = [gathering](ShardAnswer<Response> answer) { gathering->take(0, std::move(answer)); };
    if (stands_by)
      peers.ask<Service, Request, Response>(site, *site->find(site->own), request, begin, false,
                                            [of_own, local = std::move(local)](ShardAnswer<Response> answer) mutable {
                                              // Incidents are in the store: they are known also while nobody leads.
                                              if constexpr (requires { keep_incidents(*local); })
                                                if (answer.is_missing && local && keep_incidents(*local))
                                                  answer.answer = std::move(local);
                                              of_own(std::move(answer));
                                            });
    else
      of_own({site->own, std::move(local), is_blind});
    for (std::size_t i = 1; i < shards.size(); ++i)
      peers.ask<Service, Request, Response>(
          site, *site->find(shards[i].first), request, begin, false,
          [gathering, i](ShardAnswer<Response> answer) { gathering->take(i, std::move(answer)); });
  }

  /// Asks the other shards about what the own one does not know, as `unknown` says: the first that knows it answers.
  template <typename Service, typename Request, typename Begin, typename Response>
  void ask_who_knows(const Request& request, const Error& unknown, Begin begin, Done<Response> done,
                     bool (*is_second_best)(const Response&) = nullptr) {
    const auto snapshot = publication.load();
    if (!snapshot->site || unknown.code != ErrorCode::kNotFound) return done(tl::unexpected(unknown));
    ask_all<Service, Request, Response>(
        *snapshot, tl::unexpected(unknown), request, begin,
        [unknown, done, is_second_best](auto answers) {
          std::vector<std::string> missing;
          for (auto& each : answers) {
            if (each.is_missing) missing.push_back(each.shard);
            if (each.answer && !(is_second_best != nullptr && is_second_best(*each.answer)))
              return done(std::move(each.answer));
          }
          for (auto& each : answers)
            if (each.answer) return done(std::move(each.answer));
          // What it says counts, also where that is a refusal; and that it knows the name, and has nothing of it.
          for (auto& each : answers)
            if (!each.is_missing &&
                (each.answer.error().code != ErrorCode::kNotFound || each.answer.error().message != unknown.message))
              return done(std::move(each.answer));
          done(tl::unexpected(unknown_in_site(unknown, missing)));
        },
        Needs::kNothing);
  }

  /// Before the first sweep the own shard is missing, and does not say that there is nothing.
  template <typename Local>
  static auto if_swept(Local local) {
    return [local](const Snapshot& snapshot, const auto& asked) -> decltype(local(snapshot, asked)) {
      auto page = local(snapshot, asked);
      if (snapshot.site && is_before_it_knows(snapshot, page)) return fail(ErrorCode::kUnavailable, kNotSwept);
      return page;
    };
  }

  /// What the own shard says: at once or, where `local` takes a third argument, when it was read.
  template <typename Response, typename Request, typename Local>
  static void ask_own(const Local& local, const Snapshot& snapshot, const Request& request,
                      const Done<Response>& take) {
    if constexpr (std::is_invocable_v<Local, const Snapshot&, const Request&, Done<Response>>)
      local(snapshot, request, take);
    else
      take(local(snapshot, request));
  }

  /// A page of a list. `local(snapshot, request)` gives one of the own shard; `entries(response)` its entries.
  template <typename Service, typename Response, typename Request, typename Local, typename Begin, typename Entries>
  void list(const Request& request, Local local, Begin begin, Entries entries, const Done<Response>& done,
            Needs needs = Needs::kNothing) {
    const auto snapshot = publication.load();
    const SitePtr site = snapshot->site;
    if (!site || request.page_size() < 0) return ask_own<Response>(local, *snapshot, request, done);
    ShardTokens shards = all_shards(*site);
    if constexpr (requires { request.shard(); }) {
      if (!request.shard().empty() && site->find(request.shard()) == nullptr)
        return done(fail(ErrorCode::kNotFound, "the site has no shard " + valid_utf8(request.shard())));
      if (!request.shard().empty()) shards = {{request.shard(), ""}};
    }
    if (!request.page_token().empty()) {
      auto parsed = parse_site_token(request.page_token());
      if (!parsed) return done(tl::unexpected(parsed.error()));
      // Only then is there an end to shards that are asked one after the other.
      if (parsed->size() > kMostShards) return done(fail(ErrorCode::kInvalidArgument, "invalid page token"));
      shards = std::move(*parsed);
    }
    list_from<Service, Response>(snapshot, std::move(shards), Silent(), request, local, begin, entries, done, needs);
  }

  /// Shards that are missing from an answer.
  struct Silent {
    std::vector<std::string> missing;
    std::vector<std::string> unswept;  ///< those of them that say why: they have not swept yet
    std::optional<Error> own;          ///< why the own shard cannot say it, where it could be read
  };

  /// The page of the first of `shards`. Where none of them knows what the request names, the next ones are asked: a
  /// page with a token says that it is there. `silent` did not answer before.
  template <typename Service, typename Response, typename Request, typename Local, typename Begin, typename Entries>
  void list_from(const std::shared_ptr<const Snapshot>& snapshot, ShardTokens shards, Silent silent,
                 const Request& request, Local local, Begin begin, Entries entries, const Done<Response>& done,
                 Needs needs) {
    const SitePtr& site = snapshot->site;
    std::size_t count = std::min(shards.size(), kShardsOfPage);
    if (request.page_size() > 0) count = std::min(count, static_cast<std::size_t>(request.page_size()));
    ShardTokens later(shards.begin() + static_cast<std::ptrdiff_t>(count), shards.end());
    std::map<std::string, ShardPlace> places;  // of the other shards that are asked
    for (std::size_t i = 0; i < count; ++i) {
      if (shards[i].first == site->own) continue;
      auto place = parse_shard_place(shards[i].second);
      if (!place) return done(tl::unexpected(place.error()));
      places.emplace(shards[i].first, std::move(*place));
    }
    const auto gathering = std::make_shared<Gathering<Response>>(count, [=, this](auto answers) mutable {
      auto& [missing, unswept, own] = silent;
      Response page;
      ShardTokens more;
      std::optional<Error> unknown;
      bool is_known = false;
      for (auto& each : answers) {
        if (is_unswept(each)) unswept.push_back(each.shard);
        if (each.is_missing) {
          missing.push_back(each.shard);
          if (each.shard == site->own && !has_leader_to_ask(*snapshot, needs) && !is_unswept(each))
            own = each.answer.error();
          continue;
        }
        if (!each.answer && each.answer.error().code == ErrorCode::kNotFound) {
          unknown = each.answer.error();
          continue;
        }
        if (!each.answer) return done(tl::unexpected(of_shard(each.answer.error(), each.shard)));
        std::string next = each.answer->next_page_token();
        if (const auto place = places.find(each.shard); place != places.end()) {
          auto checked = next_place(place->second, static_cast<std::size_t>(entries(*each.answer)->size()), next);
          if (!checked) {
            peers.note(each.shard, false, checked.error().message);
            missing.push_back(each.shard);
            continue;
          }
          next = std::move(*checked);
        }
        is_known = true;
        if (is_partial(*each.answer)) missing.push_back(each.shard);
        for (auto& entry : *entries(*each.answer)) {
          mark(entry, each.shard);
          *entries(page)->Add() = std::move(entry);
        }
        if (!next.empty()) more.emplace_back(each.shard, std::move(next));
      }
      if (!is_known && !later.empty())
        return list_from<Service, Response>(snapshot, later, silent, request, local, begin, entries, done, needs);
      if (!is_known && unknown && request.page_token().empty())
        return done(tl::unexpected(unknown_in_site(*unknown, missing, unswept)));
      // Nobody says anything, and why is known of one.
      if (!is_known && !unknown && own) return done(tl::unexpected(*own));
      for (const std::string& shard : missing) page.add_missing_shards(shard);
      for (auto& entry : *entries(page)) name_missing(entry, missing);
      more.insert(more.end(), later.begin(), later.end());
      page.set_next_page_token(to_token(more));
      done(std::move(page));
    });
    for (std::size_t i = 0; i < count; ++i) {
      Request part = request;
      const std::string& name = shards[i].first;
      const auto place = places.find(name);
      part.set_page_token(place == places.end() ? shards[i].second : place->second.token);
      part.set_page_size(request.page_size() / static_cast<std::int32_t>(count));
      const SiteShard* const shard = site->find(name);
      if (name == site->own && !has_leader_to_ask(*snapshot, needs))
        ask_own<Response>(local, *snapshot, part, [gathering, i, name](Result<Response> own) {
          const bool is_missing = !own && own.error().code == ErrorCode::kUnavailable;
          gathering->take(i, {name, std::move(own), is_missing});
        });
      else if (shard == nullptr)
        gathering->take(i, {name, fail(ErrorCode::kUnavailable, "the site has no such shard any more"), true});
      else
        peers.ask<Service, Request, Response>(
            site, *shard, std::move(part), begin, false,
            [gathering, i](ShardAnswer<Response> answer) { gathering->take(i, std::move(answer)); },
            [snapshot, local](const Request& asked) { return refuses(local, *snapshot, asked); });
    }
  }

  /// Whether this weftd would say of a page of its own list that the question is wrong.
  template <typename Request, typename Local>
  static bool refuses(const Local& local, const Snapshot& snapshot, const Request& asked) {
    if constexpr (std::is_same_v<Request, v1::ListAuditRequest>) {
      return !parse_audit_request(asked);
    } else {
      const auto own = local(snapshot, asked);
      return !own && own.error().code == ErrorCode::kInvalidArgument;
    }
  }

  /// One thing with an id, from the shard that gave it. `id`: none where the text is none.
  template <typename Service, typename Response, typename Request, typename Local, typename Begin>
  void get(std::optional<std::uint64_t> id, const std::string& name, const Request& request, Local local, Begin begin,
           const Done<Response>& done) {
    const auto snapshot = publication.load();
    const SitePtr site = snapshot->site;
    const SiteShard* const owner = site && id ? site->owner_of(*id) : nullptr;
    if (owner == nullptr || owner->name == site->own) {
      return ask_own<Response>(local, *snapshot, request, [done, site](Result<Response> found) {
        if (found && site) mark(*found, site->own);
        done(std::move(found));
      });
    }
    peers.ask<Service, Request, Response>(
        site, *owner, request, begin, false, [done, name, site, owner](ShardAnswer<Response> answer) {
          if (answer.is_missing) return done(tl::unexpected(does_not_answer(name, *owner, answer.answer.error())));
          if (answer.answer) mark(*answer.answer, answer.shard);
          done(std::move(answer.answer));
        });
  }

  const Publication& publication;
  const Clock& clock;
  std::mutex mutex;
  std::map<std::string, ShardStatus> told;  ///< by other shards
  KnownNodes known;
  SiteWatches watches;
  ShardPeers peers;  ///< last: its callbacks use the rest
};

}  // namespace weft::api
