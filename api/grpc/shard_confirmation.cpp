// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/shard_confirmation.hpp"

#include <string>
#include <string_view>

#include "api/publication/derived.hpp"
#include "api/site/shard_peers.hpp"
#include "fabric/site.hpp"

namespace weft::api {
namespace {

namespace experimental = grpc::experimental;

class ConfirmShard final : public experimental::Interceptor {
 public:
  ConfirmShard(const Publication& publication, experimental::ServerRpcInfo& call)
      : publication_(publication), call_(call) {}

  void Intercept(experimental::InterceptorBatchMethods* methods) override {
    const auto at = [methods](experimental::InterceptionHookPoints point) {
      return methods->QueryInterceptionHookPoint(point);
    };
    const bool begins = at(experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA);
    const bool ends = at(experimental::InterceptionHookPoints::PRE_SEND_STATUS);
    if (const Leadership leadership = begins ? publication_.load()->leadership : Leadership(); leadership.is_shared) {
      methods->GetSendInitialMetadata()->emplace(kRole, role_name(leadership));
      if (leadership.stands_by()) methods->GetSendInitialMetadata()->emplace(kBehind, seconds_behind(leadership));
      if (knows_too_little(leadership)) methods->GetSendInitialMetadata()->emplace(kTroubled, "1");
    }
    const auto& asked = call_.server_context()->client_metadata();
    if (const auto meant = begins || ends ? asked.find(kMeantShard) : asked.end(); meant != asked.end()) {
      const SitePtr site = publication_.load()->site;
      const std::string own = site ? own_identity(*site) : std::string();
      if (begins && !own.empty()) methods->GetSendInitialMetadata()->emplace(kAnsweringShard, own);
      if (ends && std::string_view(meant->second.data(), meant->second.size()) != own)
        methods->ModifySendStatus({grpc::StatusCode::FAILED_PRECONDITION,
                                   own.empty() ? "this weftd is no part of a site"
                                               : "this weftd is another shard than the one that is meant: " + own});
    }
    methods->Proceed();
  }

 private:
  const Publication& publication_;
  experimental::ServerRpcInfo& call_;  // lives as long as the call
};

class ConfirmShards final : public experimental::ServerInterceptorFactoryInterface {
 public:
  explicit ConfirmShards(const Publication& publication) : publication_(publication) {}
  experimental::Interceptor* CreateServerInterceptor(experimental::ServerRpcInfo* call) override {
    // Collectors' streams are none of another shard, and the most of all messages.
    if (call->type() == experimental::ServerRpcInfo::Type::BIDI_STREAMING) return nullptr;
    return new ConfirmShard(publication_, *call);
  }

 private:
  const Publication& publication_;
};

}  // namespace

std::vector<std::unique_ptr<experimental::ServerInterceptorFactoryInterface>> confirm_shard(
    const Publication& publication) {
  std::vector<std::unique_ptr<experimental::ServerInterceptorFactoryInterface>> creators;
  creators.push_back(std::make_unique<ConfirmShards>(publication));
  return creators;
}

}  // namespace weft::api
