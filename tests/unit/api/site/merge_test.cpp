// SPDX-License-Identifier: Apache-2.0
#include "api/site/merge.hpp"

#include <gtest/gtest.h>

#include "api/site/site_token.hpp"

namespace weft::api {
namespace {

using Verdict = v1::NodeHealth;

v1::NodeHealth health_at(const std::string& node, Verdict::Verdict verdict, const std::string& fabric = "ib0") {
  v1::NodeHealth health;
  health.set_node(node);
  health.set_verdict(verdict);
  health.set_fabric(fabric);
  return health;
}

template <typename Response>
ShardAnswer<Response> missing(const std::string& shard) {
  return {shard, fail(ErrorCode::kTimeout, "no answer"), true};
}

template <typename Response>
ShardAnswer<Response> unknown(const std::string& shard) {
  return {shard, fail(ErrorCode::kNotFound, "no node named x"), false};
}

TEST(SiteToken, GoesRoundWithAnyText) {
  const ShardTokens tokens{{"north", "3:leaf/1:a b"}, {"south", ""}, {"west", "INC-7"}};
  EXPECT_EQ(parse_site_token(to_token(tokens)), tokens);
  EXPECT_EQ(to_token({}), "");
  for (const char* bad : {"", "INC-7", "site", "site/", "site/a", "site/a:", "site/a:5:x", "site/a:x:", "site/a:1:xy",
                          "sitea:0:", "site/a:-1:", "site/a:99999999999999999999:x"})
    EXPECT_FALSE(parse_site_token(bad)) << bad;
}

TEST(SiteToken, AListOfAnotherShardGetsOnAndEnds) {
  const auto first = next_place({}, 100, "INC-7");
  ASSERT_TRUE(first);
  const auto place = parse_shard_place(*first);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->taken, 100U);
  EXPECT_EQ(place->token, "INC-7");
  EXPECT_EQ(next_place(*place, 5, ""), "") << "its end";
  EXPECT_EQ(*next_place(*place, 5, "INC-9"), "105.INC-9");
  for (const auto& [entries, next] : {std::pair{std::size_t{0}, std::string("INC-9")},
                                      {5, "INC-7"},
                                      {5, std::string(kLongestShardToken + 1, 'x')},
                                      {kMostEntriesOfShard, "INC-9"}})
    EXPECT_EQ(next_place(*place, entries, next).error().code, ErrorCode::kProtocol) << entries;
  EXPECT_FALSE(next_place({~std::uint64_t{0}, "a"}, 1, "b")) << "a token that a client made up";
  for (const char* bad : {"INC-7", "5", ".x", "-1.x", "99999999999999999999.x"})
    EXPECT_FALSE(parse_shard_place(bad)) << bad;
}

TEST(MergeWorst, TheWorstOfAllShardsFirstAndNoMoreCompleteThanEach) {
  const auto worst = [](std::initializer_list<double> harms, std::int64_t complete_from) {
    v1::ListWorstResponse response;
    for (const double harm : harms) {
      v1::WorstThing& thing = *response.add_things();
      thing.set_harm_hours(harm);
      thing.set_jobs(static_cast<std::uint32_t>(10 - harm));
    }
    response.mutable_from()->set_seconds(100);
    if (complete_from > 0) response.mutable_complete_from()->set_seconds(complete_from);
    response.set_elsewhere(2);
    return response;
  };
  v1::ListWorstRequest request;
  request.set_limit(3);
  const auto answers = [&] {
    return std::vector<ShardAnswer<v1::ListWorstResponse>>{{"north", worst({5, 2}, 300), false},
                                                           {"south", worst({4, 1}, 200), false},
                                                           missing<v1::ListWorstResponse>("west")};
  };
  auto merged = merge_worst(answers(), request);
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->things_size(), 3);
  EXPECT_EQ(merged->things(0).shard(), "north");
  EXPECT_EQ(merged->things(1).harm_hours(), 4);
  EXPECT_EQ(merged->things(1).shard(), "south");
  EXPECT_EQ(merged->complete_from().seconds(), 300);
  EXPECT_EQ(merged->from().seconds(), 100);
  EXPECT_EQ(merged->elsewhere(), 4U);
  ASSERT_EQ(merged->missing_shards_size(), 1);
  request.set_by(v1::ListWorstRequest::JOBS);
  merged = merge_worst(answers(), request);
  EXPECT_EQ(merged->things(0).harm_hours(), 1);
  EXPECT_EQ(merge_worst({unknown<v1::ListWorstResponse>("north")}, request).error().code, ErrorCode::kNotFound);
}

TEST(MergeWorstLinks, TheWorstOfAllShardsFirst) {
  const auto worst = [](std::initializer_list<double> values) {
    v1::ListWorstLinksResponse response;
    for (const double value : values) response.add_links()->set_value(value);
    return response;
  };
  const auto merged = merge_worst_links({{"north", worst({5, 2}), false},
                                         {"south", worst({7, 5, 1}), false},
                                         missing<v1::ListWorstLinksResponse>("west"),
                                         unknown<v1::ListWorstLinksResponse>("east")},
                                        4);
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->links_size(), 4);
  EXPECT_EQ(merged->links(0).value(), 7);
  EXPECT_EQ(merged->links(0).link().shard(), "south");
  EXPECT_EQ(merged->links(1).link().shard(), "north") << "of equals the first shard";
  EXPECT_EQ(merged->links(3).value(), 2);
  ASSERT_EQ(merged->missing_shards_size(), 1);
  EXPECT_EQ(merged->missing_shards(0), "west");
  EXPECT_EQ(merge_worst_links({unknown<v1::ListWorstLinksResponse>("north")}, 4).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(
      merge_worst_links({unknown<v1::ListWorstLinksResponse>("north"), missing<v1::ListWorstLinksResponse>("west")}, 4)
          .error()
          .code,
      ErrorCode::kUnavailable);
}

TEST(MergeHealth, TheWorstVerdictWithAllReasons) {
  auto healthy = health_at("n", Verdict::HEALTHY, "ib0");
  auto degraded = health_at("n", Verdict::DEGRADED, "ib1");
  degraded.set_recommended_action(Verdict::WATCH);
  degraded.add_reasons()->set_incident_id("INC-2");
  const auto merged = merge_health({{"a", healthy, false}, {"b", degraded, false}});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->verdict(), Verdict::DEGRADED);
  EXPECT_EQ(merged->fabric(), "ib1");
  EXPECT_EQ(merged->recommended_action(), Verdict::WATCH);
  ASSERT_EQ(merged->reasons_size(), 1);
  EXPECT_EQ(merged->reasons(0).shard(), "b");
  ASSERT_EQ(merged->shards_size(), 2);
  EXPECT_EQ(merged->shards(1), "b");
  EXPECT_FALSE(merged->has_data_age()) << "one of them was never read";
}

TEST(MergeHealth, AShardThatDoesNotKnowTheNodeSaysNothingOfIt) {
  const auto merged = merge_health({unknown<v1::NodeHealth>("a"), {"b", health_at("n", Verdict::HEALTHY), false}});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->verdict(), Verdict::HEALTHY);
  EXPECT_EQ(merged->shards_size(), 1);
}

TEST(MergeHealth, NobodyKnowsIsSaidOnlyWhenAllAnswered) {
  EXPECT_EQ(merge_health({unknown<v1::NodeHealth>("a"), unknown<v1::NodeHealth>("b")}).error().code,
            ErrorCode::kNotFound);
  const auto refused = merge_health({unknown<v1::NodeHealth>("a"), missing<v1::NodeHealth>("b")});
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "no node named x in the shards that answer; no answer from b");
  const auto known = merge_health({{"a", health_at("n", Verdict::HEALTHY), false}, missing<v1::NodeHealth>("b")});
  ASSERT_TRUE(known);
  EXPECT_EQ(known->missing_shards(0), "b");
}

TEST(MergeHealth, OfManyEachInItsPlace) {
  v1::BatchGetHealthResponse a, b;
  *a.add_nodes() = health_at("x", Verdict::HEALTHY);
  a.add_nodes()->set_node("y");
  a.add_nodes()->set_node("z");
  b.add_nodes()->set_node("x");
  *b.add_nodes() = health_at("y", Verdict::UNHEALTHY);
  b.add_nodes()->set_node("z");
  const auto merged = merge_health({{"a", a, false}, {"b", b, false}, missing<v1::BatchGetHealthResponse>("c")});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->nodes(0).verdict(), Verdict::HEALTHY) << "b has never seen it";
  EXPECT_EQ(merged->nodes(1).verdict(), Verdict::UNHEALTHY);
  EXPECT_EQ(merged->nodes(1).node(), "y");
  EXPECT_EQ(merged->nodes(2).verdict(), Verdict::UNKNOWN);
  EXPECT_EQ(merged->nodes(2).shards_size(), 0);
  EXPECT_EQ(merged->missing_shards(0), "c");
  for (const v1::NodeHealth& each : merged->nodes()) EXPECT_EQ(each.missing_shards_size(), 1) << each.node();
}

TEST(MergeHealth, ADoubtLeavesBadNewsAsItIs) {
  for (const auto& [before, after] : {std::pair{Verdict::HEALTHY, Verdict::UNKNOWN},
                                      {Verdict::UNKNOWN, Verdict::UNKNOWN},
                                      {Verdict::DEGRADED, Verdict::DEGRADED},
                                      {Verdict::UNHEALTHY, Verdict::UNHEALTHY}}) {
    auto health = health_at("n", before);
    health.set_recommended_action(before == Verdict::UNHEALTHY ? Verdict::DRAIN : Verdict::NONE);
    doubt(health, "south", true);
    EXPECT_EQ(health.verdict(), after);
    EXPECT_EQ(health.recommended_action(), before == Verdict::UNHEALTHY ? Verdict::DRAIN : Verdict::WATCH);
  }
}

TEST(MergeHealth, OfManyNodesAFewMissingShardsAreNamedInEach) {
  v1::NodeHealth health;
  name_missing(health, {"a", "b", "c", "d", "e"});
  EXPECT_EQ(health.missing_shards_size(), 4);
}

TEST(MergeJob, TheVerdictFollowsFromAllParts) {
  v1::JobHealth a, b;
  a.set_job("slurm:1");
  a.set_verdict(Verdict::UNKNOWN);  // it does not know y
  *a.add_nodes() = health_at("x", Verdict::HEALTHY);
  a.add_nodes()->set_node("y");
  a.set_paths(2);
  b.set_job("slurm:1");
  b.add_nodes()->set_node("x");
  *b.add_nodes() = health_at("y", Verdict::HEALTHY);
  b.set_paths(3);
  const auto merged = merge_job({{"a", a, false}, {"b", b, false}}, true);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->verdict(), Verdict::HEALTHY);
  EXPECT_EQ(merged->nodes_size(), 2);
  EXPECT_EQ(merged->paths(), 5U);
  const auto partial = merge_job({{"a", a, false}, {"b", b, false}, missing<v1::JobHealth>("c")}, true);
  EXPECT_EQ(partial->verdict(), Verdict::UNKNOWN) << "c may know of a fault";
  EXPECT_EQ(partial->missing_shards(0), "c");
  b.set_broken(1);
  EXPECT_EQ(merge_job({{"a", a, false}, {"b", b, false}}, true)->verdict(), Verdict::UNHEALTHY);
  const auto with_unseen = merge_job({{"a", a, false}}, true);
  EXPECT_EQ(with_unseen->verdict(), Verdict::UNKNOWN);
  EXPECT_EQ(with_unseen->recommended_action(), Verdict::WATCH);
}

TEST(MergeJob, AShardWithoutTheJobIsLeftOut) {
  v1::JobHealth a;
  *a.add_nodes() = health_at("x", Verdict::HEALTHY);
  EXPECT_TRUE(merge_job({unknown<v1::JobHealth>("b"), {"a", a, false}}, false));
  EXPECT_EQ(merge_job({unknown<v1::JobHealth>("a"), unknown<v1::JobHealth>("b")}, false).error().code,
            ErrorCode::kNotFound);
}

TEST(Merge, DriftOfEachShardSaysWhoseItIs) {
  using Answer = v1::GetDriftResponse;
  Answer one;
  one.add_differences()->set_fact("mtu");
  one.add_summaries()->set_hosts(5);
  const auto both = merge_drift({{"north", one, false}, {"south", one, false}, missing<Answer>("west")});
  ASSERT_TRUE(both);
  ASSERT_EQ(both->differences_size(), 2);
  EXPECT_EQ(both->differences(1).shard(), "south");
  EXPECT_EQ(both->summaries(0).shard(), "north");
  EXPECT_EQ(both->missing_shards(0), "west");
  EXPECT_EQ(merge_drift({missing<Answer>("north")}).error().code, ErrorCode::kUnavailable);
}

TEST(MergeCabling, SubnetsOfEachShardAndWhoIsMissing) {
  using Answer = v1::GetCablingDifferencesResponse;
  Answer one;
  one.add_fabrics()->set_fabric("ib0");
  const auto both = merge_cabling({{"north", one, false}, {"south", one, false}, missing<Answer>("west")});
  ASSERT_TRUE(both);
  ASSERT_EQ(both->fabrics_size(), 2);
  EXPECT_EQ(both->fabrics(0).shard(), "north");
  EXPECT_EQ(both->fabrics(1).shard(), "south");
  ASSERT_EQ(both->missing_shards_size(), 1);
  EXPECT_EQ(merge_cabling({unknown<Answer>("north"), {"south", one, false}})->fabrics_size(), 1);
  EXPECT_EQ(merge_cabling({unknown<Answer>("north"), unknown<Answer>("south")}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(merge_cabling({unknown<Answer>("north"), missing<Answer>("south")}).error().code, ErrorCode::kUnavailable);
}

TEST(MergePaths, ThoseOfEachShardAndNoMoreThanOneMayHave) {
  v1::GetPathResponse a, b;
  a.add_paths()->set_fabric("ib0");
  for (int i = 0; i < 256; ++i) b.add_paths()->set_fabric("ib1");
  b.set_paths_left_out(3);
  const auto merged = merge_paths({{"a", a, false}, {"b", b, false}, missing<v1::GetPathResponse>("c")});
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->paths_size(), 256);
  EXPECT_EQ(merged->paths(0).shard(), "a");
  EXPECT_EQ(merged->paths(1).shard(), "b");
  EXPECT_EQ(merged->paths_left_out(), 3U + 1U);
  EXPECT_EQ(merged->missing_shards(0), "c");
  v1::GetPathResponse long_ones;
  for (int i = 0; i < 4; ++i) long_ones.add_paths()->set_description(std::string(1UL << 20, 'x'));
  EXPECT_EQ(merge_paths({{"a", long_ones, false}})->paths_left_out(), 2U) << "a message has 4 MiB at most";
}

TEST(MergePaths, WithoutAnyTheShardThatKnowsBothEndsSaysWhy) {
  const ShardAnswer<v1::GetPathResponse> knows{"b", fail(ErrorCode::kFailedPrecondition, "no table was read"), false};
  EXPECT_EQ(merge_paths({unknown<v1::GetPathResponse>("a"), knows}).error().message, "no table was read");
  const auto none = merge_paths({unknown<v1::GetPathResponse>("a"), unknown<v1::GetPathResponse>("b")});
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(none.error().message, "no shard has both ends: a: no node named x; b: no node named x");
  const auto away = merge_paths({unknown<v1::GetPathResponse>("a"), missing<v1::GetPathResponse>("b")});
  EXPECT_EQ(away.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace weft::api
