// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/subscription.hpp"

#include <utility>

namespace weft::switches {

void CapabilitiesCall::start(::gnmi::gNMI::Stub& stub, grpc::CompletionQueue& queue) {
  reader_ = stub.PrepareAsyncCapabilities(&context_, {}, &queue);
  reader_->StartCall();
  reader_->Finish(&response_, &status_, &finished_);
}

void CapabilitiesCall::finished(bool) {
  is_over_ = true;
}

void SubscribeCall::start(::gnmi::gNMI::Stub& stub, grpc::CompletionQueue& queue, ::gnmi::SubscribeRequest request) {
  request_ = std::move(request);
  stream_ = stub.PrepareAsyncSubscribe(&context_, &queue);
  stream_->StartCall(&started_);
}

void SubscribeCall::started(bool ok) {
  if (!ok) return finish();
  // The stream stays open this way, too: some targets end what their client has closed.
  stream_->Write(request_, &written_);
}

void SubscribeCall::written(bool ok) {
  ok ? read() : finish();
}

void SubscribeCall::read() {
  waits_ = false;
  arena_.Reset();
  response_ = google::protobuf::Arena::CreateMessage<::gnmi::SubscribeResponse>(&arena_);
  stream_->Read(response_, &received_);
}

void SubscribeCall::received(bool ok) {
  if (!ok) return finish();
  if (is_cancelled_ || handler_(*response_)) return read();
  waits_ = true;
}

void SubscribeCall::resume() {
  if (waits_) read();
}

void SubscribeCall::cancel() {
  Call::cancel();
  resume();  // nothing of it would come back
}

void SubscribeCall::finish() {
  stream_->Finish(&status_, &finished_);
}

void SubscribeCall::finished(bool) {
  is_over_ = true;
}

}  // namespace weft::switches
