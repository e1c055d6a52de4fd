// SPDX-License-Identifier: Apache-2.0
// gRPC with nothing behind it: sends every call's bytes back, until its standard input ends. Prints its port.

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>

namespace {

/// One unary call.
class Echo final : public grpc::ServerGenericBidiReactor {
 public:
  Echo() { StartRead(&bytes_); }
  void OnReadDone(bool ok) override {
    if (ok)
      StartWriteAndFinish(&bytes_, {}, grpc::Status::OK);
    else
      Finish({grpc::StatusCode::CANCELLED, "no request"});
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer bytes_;
};

class EchoService final : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new Echo; }
};

}  // namespace

int main() {
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("%d\n", port);
  std::fflush(stdout);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) > 0;) {
  }
  server->Shutdown();
  return 0;
}
