// SPDX-License-Identifier: Apache-2.0
#include "api/http/tls_context.hpp"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>

namespace weft::api {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

/// Null when OpenSSL does not take them.
std::shared_ptr<ssl::context> make_tls_context(const access::TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // No resumption: every connection shows its certificate, and a withdrawn authority counts at once.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context->native_handle(), 0);
  context->use_certificate_chain(asio::buffer(files.certificate), error);
  if (!error) context->use_private_key(asio::buffer(files.key), ssl::context::pem, error);
  if (!error && !files.client_authorities.empty()) {
    context->add_certificate_authority(asio::buffer(files.client_authorities), error);
    const int need = files.require_client_certificate ? ssl::verify_fail_if_no_peer_cert : 0;
    if (!error) context->set_verify_mode(ssl::verify_peer | need, error);
  }
  return error ? nullptr : context;
}

}  // namespace

std::shared_ptr<ssl::context> TlsContext::current(const access::TlsKeys& keys) {
  const auto files = keys.current();
  if (files != files_) {
    if (auto made = make_tls_context(*files)) context_ = std::move(made);
    files_ = files;
  }
  return context_;
}

}  // namespace weft::api
