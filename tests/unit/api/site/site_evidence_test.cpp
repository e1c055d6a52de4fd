// SPDX-License-Identifier: Apache-2.0
// Evidence packs of a site: the shard that owns the incident, or has the port, makes them.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include "api/evidence/evidence.hpp"
#include "tests/unit/api/site/two_shards.hpp"
#include "weft/v1/evidence.grpc.pb.h"

namespace weft::api {
namespace {

using ::testing::HasSubstr;

class SiteEvidence : public TwoShards {
 protected:
  Result<v1::EvidencePack> ask(const v1::GetEvidenceRequest& request) {
    return wait<v1::EvidencePack>([&](auto done) {
      north.site.get_evidence(
          request,
          [&](const v1::GetEvidenceRequest& asked, const TakeEvidence& take) {
            make_evidence(source, nullptr, north.publication.load(), asked, kNow, take);
          },
          done);
    });
  }
  static v1::GetEvidenceRequest incident(const std::string& id) {
    v1::GetEvidenceRequest request;
    request.set_incident_id(id);
    return request;
  }
  static v1::GetEvidenceRequest thing(const std::string& what) {
    v1::GetEvidenceRequest request;
    request.set_what(what);
    return request;
  }
  EvidenceSource source{.version = "1.2.3", .host = "north-1"};
};

TEST_F(SiteEvidence, IsMadeByTheShardThatGaveTheId) {
  const auto own = ask(incident("INC-101"));
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->shard(), "north");
  EXPECT_EQ(own->weftd_host(), "north-1");
  const auto other = ask(incident("INC-102"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->shard(), "south");
  EXPECT_EQ(other->incident().id(), "INC-102");
  EXPECT_THAT(other->html(), HasSubstr("shard south"));
  EXPECT_EQ(ask(incident("INC-902")).error().code, ErrorCode::kNotFound);
}

TEST_F(SiteEvidence, OfASilentShardThereIsNoneAndThatIsSaid) {
  south.server->stop();
  const auto pack = ask(incident("INC-102"));
  ASSERT_FALSE(pack);
  EXPECT_EQ(pack.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(pack.error().message, HasSubstr("south"));
  EXPECT_TRUE(ask(incident("INC-101")));
  EXPECT_EQ(ask(thing("leaf-9")).error().code, ErrorCode::kUnavailable) << "the silent one may know it";
}

TEST_F(SiteEvidence, APortIsOfTheShardThatHasIt) {
  auto snapshot = std::make_shared<Snapshot>(*south.publication.load());
  snapshot->fabrics = {SmallFabric(2).build()};
  south.publication.publish(snapshot);
  const auto pack = ask(thing("leaf-1:1"));
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->shard(), "south");
  EXPECT_EQ(pack->title(), "leaf-1 port 1");
  const auto unknown = ask(thing("leaf-9"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_F(SiteEvidence, OverGrpcAShardIsAskedForItsOwn) {
  const auto channel = grpc::CreateChannel(north.address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::EvidenceService::NewStub(channel);
  for (const auto& [id, shard] : {std::pair{"INC-101", "north"}, {"INC-102", "south"}}) {
    grpc::ClientContext context;
    v1::EvidencePack pack;
    const grpc::Status status = stub->GetEvidence(&context, incident(id), &pack);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(pack.shard(), shard);
  }
}

}  // namespace
}  // namespace weft::api
