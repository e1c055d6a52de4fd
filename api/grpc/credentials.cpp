// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/credentials.hpp"

#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/convert/errors.hpp"
#include "api/grpc/callers.hpp"
#include "api/site/shard_peers.hpp"
#include "fabric/site.hpp"

// gRPC's C++ interface refuses to look at calls on plain text, and to change a certificate by what we hold in memory;
// its C interface, which is as public, does both.

namespace weft::api {
namespace {

std::string_view text_of(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

std::vector<std::string> names_of(const grpc_auth_context* context) {
  std::vector<std::string> names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME}) {
    grpc_auth_property_iterator each = grpc_auth_context_find_properties_by_name(context, property);
    while (const grpc_auth_property* found = grpc_auth_property_iterator_next(&each))
      add_name(names, property, {found->value, found->value_length});
  }
  return names;
}

/// What calls on one listener have in common.
struct Entrance {
  access::Gate& gate;
  std::optional<access::Principal> account;  ///< its name is found out when it acts: see Callers
};

/// Called by gRPC for every call, before it looks for who serves it.
void look_at_call(void* user, grpc_auth_context* context, const grpc_metadata* metadata, std::size_t count,
                  grpc_process_auth_metadata_done_cb done, void* user_data) {
  std::string_view method;
  std::string_view authorization;
  std::string caller;
  int times = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = text_of(metadata[i].key);
    if (key == ":path") method = text_of(metadata[i].value);
    // gRPC does not tell the address here. A name that is none was made up, and does not go into the log.
    if (key == kAskedByShard && is_shard_name(text_of(metadata[i].value)))
      caller = "shard " + std::string(text_of(metadata[i].value)) + " (as it says)";
    if (key != "authorization") continue;
    // Twice: who let him in could be another than who is recorded.
    authorization = times++ > 0 ? std::string_view("given twice") : text_of(metadata[i].value);
  }
  const access::Permission* permission = access::find_method(method);
  // What a caller made up does not go into the log.
  const std::string_view what = permission != nullptr ? permission->method : "an unknown gRPC method";
  const std::vector<std::string> names = names_of(context);
  auto& entrance = *static_cast<Entrance*>(user);
  const access::Principal* const account = entrance.account ? &*entrance.account : nullptr;
  const auto admitted = entrance.gate.admit(permission, what, {authorization, names, caller, account});
  if (admitted) {
    done(user_data, nullptr, 0, nullptr, 0, GRPC_STATUS_OK, nullptr);
  } else {
    done(user_data, nullptr, 0, nullptr, 0, grpc_code(admitted.error().code), admitted.error().message.c_str());
  }
}

class GuardedCredentials final : public grpc::ServerCredentials {
 public:
  GuardedCredentials(access::Gate& gate, const access::TlsKeys* tls, std::optional<access::Role> role)
      : entrance_{gate, std::nullopt}, tls_(tls) {
    if (role) entrance_.account = access::Principal{"an account of this host", *role, {}};
  }
  /// The gate is the processor.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    grpc_server_credentials* const credentials = tls_ != nullptr ? secure() : grpc_insecure_server_credentials_create();
    grpc_server_credentials_set_auth_metadata_processor(credentials, {look_at_call, [](void*) {}, &entrance_});
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  grpc_server_credentials* secure() {
    const auto files = tls_->current();
    const auto request = files->client_authorities.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                         : files->require_client_certificate
                             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
    return grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request, give_certificate, this));
  }

  /// Called by gRPC before each handshake, one at a time.
  static grpc_ssl_certificate_config_reload_status give_certificate(void* self,
                                                                    grpc_ssl_server_certificate_config** config) {
    auto& credentials = *static_cast<GuardedCredentials*>(self);
    auto files = credentials.tls_->current();
    if (files == credentials.given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair{files->key.c_str(), files->certificate.c_str()};
    // gRPC 1.51 aborts without authorities (ssl_security_connector.cc, try_replace_server_handshaker_factory()), also
    // where it asks no client for a certificate: there it looks at none, and ours stands in.
    const std::string& authorities = files->client_authorities.empty() ? files->certificate : files->client_authorities;
    *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
    credentials.given_ = std::move(files);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  Entrance entrance_;
  const access::TlsKeys* tls_;
  std::shared_ptr<const access::TlsFiles> given_;
};

std::mutex watch_mutex;
access::Gate* watching = nullptr;
bool is_talkative = false;  ///< somebody wants gRPC's log

void take_log(gpr_log_func_args* line) {
  constexpr std::string_view kHandshake = "Handshake failed";
  const std::string_view message = line->message;
  if (line->severity == GPR_LOG_SEVERITY_ERROR && message.find(kHandshake) != std::string_view::npos) {
    const std::lock_guard lock(watch_mutex);
    if (watching != nullptr)
      return watching->refuse({"a TLS handshake on gRPC", {}, {}, {ErrorCode::kUnauthenticated, std::string(message)}});
  }
  if (is_talkative) std::fprintf(stderr, "gRPC %s:%d: %s\n", line->file, line->line, line->message);
}

}  // namespace

HandshakeWatch::HandshakeWatch(access::Gate& gate) {
  {
    const std::lock_guard lock(watch_mutex);
    watching = &gate;
  }
  const char* const wanted = std::getenv("GRPC_VERBOSITY");
  is_talkative = wanted == nullptr || std::string_view(wanted) != "NONE";
  if (!is_talkative) gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_set_log_function(take_log);
}

HandshakeWatch::~HandshakeWatch() {
  gpr_set_log_function(nullptr);
  const std::lock_guard lock(watch_mutex);
  watching = nullptr;
}

std::shared_ptr<grpc::ServerCredentials> guarded_credentials(access::Gate& gate, const access::TlsKeys* tls,
                                                             std::optional<access::Role> role) {
  return std::make_shared<GuardedCredentials>(gate, tls, role);
}

}  // namespace weft::api
