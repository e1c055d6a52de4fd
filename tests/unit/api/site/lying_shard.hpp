// SPDX-License-Identifier: Apache-2.0
#pragma once
// A gRPC server that says it is a shard, and answers each question with what a test wants.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace weft::api {

/// Until its end no question may be open.
class LyingShard final : public grpc::CallbackGenericService {
 public:
  /// Bytes of a message, or a status that is an error.
  struct Answer {
    std::string bytes{};
    grpc::Status status{};
    bool stays_open = false;  ///< of a stream: more could follow
  };
  /// `method`: "ListIncidents" as of "/weft.v1.IncidentService/List" is "IncidentService/List".
  using Say = std::function<Answer(const std::string& method)>;

  LyingShard() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    if (!server_) ADD_FAILURE() << "the lying shard does not start";
  }
  ~LyingShard() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void say(Say say) {
    const std::lock_guard lock(mutex_);
    say_ = std::move(say);
  }
  void say(Answer answer) {
    say([answer](const std::string&) { return answer; });
  }

 private:
  struct Reactor final : grpc::ServerGenericBidiReactor {
    explicit Reactor(Answer the_answer) : answer(std::move(the_answer)) { StartRead(&request); }
    void OnReadDone(bool) override {
      if (!answer.status.ok()) return Finish(answer.status);
      const grpc::Slice slice(answer.bytes);
      response = grpc::ByteBuffer(&slice, 1);
      if (answer.stays_open)
        StartWrite(&response);
      else
        StartWriteAndFinish(&response, {}, answer.status);
    }
    void OnCancel() override {
      if (answer.stays_open) Finish(grpc::Status::CANCELLED);
    }
    void OnDone() override { delete this; }
    Answer answer;
    grpc::ByteBuffer request, response;
  };

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const auto& told = context->client_metadata();
    if (const auto meant = told.find("weft-meant-shard"); meant != told.end())
      context->AddInitialMetadata("weft-answering-shard", std::string(meant->second.data(), meant->second.size()));
    const std::lock_guard lock(mutex_);
    constexpr std::string_view kPackage = "/weft.v1.";
    return new Reactor(say_ ? say_(context->method().substr(kPackage.size())) : Answer());
  }

  int port_ = 0;
  std::mutex mutex_;
  Say say_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace weft::api
