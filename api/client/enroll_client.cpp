// SPDX-License-Identifier: Apache-2.0
#include "api/client/enroll_client.hpp"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "api/client/channel.hpp"
#include "weft/v1/enroll.grpc.pb.h"

namespace weft::api {
namespace {

ErrorCode enroll_code(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::kUnauthenticated;
    case grpc::StatusCode::PERMISSION_DENIED:
      return ErrorCode::kPermissionDenied;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return ErrorCode::kFailedPrecondition;
    case grpc::StatusCode::INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::kResourceExhausted;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace

/// What a call leaves for the owner.
struct EnrollClient::Inbox {
  std::function<void()> notify;
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<grpc::Status> status;
};

/// Released by the owner alone: gRPC joins its threads where the last channel is.
struct EnrollClient::Call {
  explicit Call(std::shared_ptr<grpc::Channel> the_channel) : channel(std::move(the_channel)), stub(channel) {}

  std::shared_ptr<grpc::Channel> channel;
  v1::EnrollService::Stub stub;
  grpc::ClientContext context;
  v1::EnrollRequest first;
  v1::RenewCertificateRequest renewal;
  v1::EnrolledCertificate response;
};

EnrollClient::EnrollClient(std::function<void()> notify) : inbox_(std::make_shared<Inbox>()) {
  inbox_->notify = std::move(notify);
}

EnrollClient::~EnrollClient() {
  if (!call_) return;
  call_->context.TryCancel();
  std::unique_lock lock(inbox_->mutex);
  inbox_->ended.wait(lock, [this] { return inbox_->status.has_value(); });
}

void EnrollClient::ask(const CertificateWish& wish, std::chrono::milliseconds patience) {
  grpc::ChannelArguments arguments;
  limit_connect_time(arguments, patience);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto channel = open_channel(wish.analyzer, wish.security, arguments);
  call_ = std::make_unique<Call>(channel ? *channel : nullptr);
  if (!channel) {
    inbox_->status = grpc::Status(grpc::StatusCode::UNAVAILABLE, channel.error().message);
    return inbox_->notify();
  }
  inbox_->status.reset();
  call_->context.set_deadline(std::chrono::system_clock::now() + patience);
  const auto done = [inbox = inbox_](const grpc::Status& status) {
    {
      const std::lock_guard lock(inbox->mutex);
      inbox->status = status;
      inbox->ended.notify_all();
    }
    inbox->notify();
  };
  if (wish.secret.empty()) {
    call_->renewal.set_certificate_request(wish.request);
    call_->stub.async()->Renew(&call_->context, &call_->renewal, &call_->response, done);
  } else {
    call_->first.set_secret(wish.secret);
    call_->first.set_node(wish.node);
    call_->first.set_certificate_request(wish.request);
    call_->stub.async()->Enroll(&call_->context, &call_->first, &call_->response, done);
  }
}

std::optional<Result<CertificateAnswer>> EnrollClient::next() {
  if (!call_) return std::nullopt;
  {
    const std::lock_guard lock(inbox_->mutex);
    if (!inbox_->status) return std::nullopt;
  }
  const std::unique_ptr<Call> call = std::move(call_);
  const grpc::Status status = *std::exchange(inbox_->status, std::nullopt);
  if (!status.ok())
    return fail(enroll_code(status.error_code()), status.error_code() == grpc::StatusCode::UNAVAILABLE
                                                      ? unreachable_reason(status.error_message())
                                                      : status.error_message());
  return CertificateAnswer{call->response.certificate(), call->response.authorities()};
}

}  // namespace weft::api
