#include "api/http/tls_context.hpp"

#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>

namespace weft::api {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

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

std::shared_ptr<ssl::context> current_tls(HttpServerState& hall) {
  const auto files = hall.options.tls->current();
  if (files != hall.tls_files) {
    if (auto made = make_tls_context(*files)) hall.tls = std::move(made);
    hall.tls_files = files;
  }
  return hall.tls;
}

}  // namespace weft::api
