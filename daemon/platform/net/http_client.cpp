// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/http_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/runtime/boot_time.hpp"

namespace weft::net {
namespace {

struct CloseCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Curl = std::unique_ptr<CURL, CloseCurl>;
using Headers = std::unique_ptr<curl_slist, FreeList>;

/// Once for the process, before the first handle; libcurl of Debian 12 is safe to initialise from any thread.
bool initialise() {
  static const bool good = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return good;
}

struct Body {
  std::string text;
  std::size_t most = 0;
};

std::size_t take(char* data, std::size_t, std::size_t size, void* place) {
  auto& body = *static_cast<Body*>(place);
  if (body.text.size() + size > body.most) return 0;  // libcurl ends the transfer
  body.text.append(data, size);
  return size;
}

/// libcurl calls it when all is ready, directly before the request goes out (CURLOPT_PREREQFUNCTION(3)).
int look_at_the_time(void* before, char*, char*, int, int) {
  return runtime::boot_time() < *static_cast<const Duration*>(before) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

void set_blob(CURL* handle, CURLoption option, const std::string& text) {
  if (text.empty()) return;
  curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
  curl_easy_setopt(handle, option, &blob);
}

ErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorCode::kTimeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return ErrorCode::kInvalidArgument;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return ErrorCode::kFailedPrecondition;
    default:
      return ErrorCode::kUnavailable;
  }
}

/// There was never a connection: what was to be changed was not.
bool reached_nobody(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
}

/// "https://host:port" and what comes up to the first of "?#": a query may hold what logs should not.
std::string without_query(const std::string& url) {
  return url.substr(0, url.find_first_of("?#"));
}

}  // namespace

Result<HttpAnswer> http_request(const HttpRequest& request) {
  const std::string who = request.method + ' ' + without_query(request.url);
  if (!initialise()) return fail(ErrorCode::kInternal, "libcurl cannot be initialised");
  const Curl curl(curl_easy_init());
  if (!curl) return fail(ErrorCode::kResourceExhausted, "no memory for " + who);
  Headers headers;
  for (const std::string& header : request.headers) {
    if (std::ranges::any_of(header, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
      return fail(ErrorCode::kInvalidArgument, who + ": a header contains a control character");
    curl_slist* longer = curl_slist_append(headers.get(), header.c_str());
    if (longer == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for " + who);
    static_cast<void>(headers.release());
    headers.reset(longer);
  }

  Body body{{}, request.most_answer};
  Duration before = request.before.value_or(Duration{});
  char details[CURL_ERROR_SIZE] = "";
  const auto set = [&curl](CURLoption option, auto value) { curl_easy_setopt(curl.get(), option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(request.timeout).count()));
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method != "GET") {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.data());
  }
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set_blob(curl.get(), CURLOPT_CAINFO_BLOB, request.tls.certificate_authorities);
  set_blob(curl.get(), CURLOPT_SSLCERT_BLOB, request.tls.client_certificate);
  set_blob(curl.get(), CURLOPT_SSLKEY_BLOB, request.tls.client_key);
  if (!request.unix_socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
  set(CURLOPT_WRITEFUNCTION, &take);
  set(CURLOPT_WRITEDATA, &body);
  set(CURLOPT_ERRORBUFFER, details);
  if (request.before) {
    set(CURLOPT_PREREQFUNCTION, &look_at_the_time);
    set(CURLOPT_PREREQDATA, &before);
  }

  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return fail(ErrorCode::kFailedPrecondition, who + ": the time to send it is over; nothing was sent");
  if (code != CURLE_OK) {
    if (code == CURLE_WRITE_ERROR && body.text.size() <= request.most_answer)
      return fail(ErrorCode::kUnavailable,
                  who + ": the answer is larger than " + std::to_string(request.most_answer) + " bytes");
    long sent = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_REQUEST_SIZE, &sent);
    const bool changed_nothing = reached_nobody(code) && request.method != "GET";
    const ErrorCode told = changed_nothing ? ErrorCode::kFailedPrecondition : code_of(code);
    // Once something was sent, only "perhaps" is true, whatever came back.
    return fail(sent > 0 && told != ErrorCode::kTimeout ? ErrorCode::kUnavailable : told,
                who + ": " + (details[0] != '\0' ? details : curl_easy_strerror(code)));
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 100) return fail(ErrorCode::kUnavailable, who + ": the answer is not HTTP");
  return HttpAnswer{static_cast<int>(status), std::move(body.text)};
}

Error http_failure(const std::string& who, const HttpAnswer& answer) {
  constexpr std::size_t kShown = 200;
  std::string message = who + " answered " + std::to_string(answer.status);
  const std::string beginning = one_line(answer.body, kShown);
  if (beginning.find_first_not_of(' ') != std::string::npos) message += ": " + beginning;
  const int status = answer.status;
  if (status == 408) return {ErrorCode::kTimeout, message};
  if (status >= 500) return {ErrorCode::kUnavailable, message};
  if (status == 429) return {ErrorCode::kResourceExhausted, message};
  if (status == 404) return {ErrorCode::kNotFound, message};
  if (status == 401 || status == 403 || status == 409) return {ErrorCode::kFailedPrecondition, message};
  if (status < 400) return {ErrorCode::kProtocol, message};
  return {ErrorCode::kInvalidArgument, message};
}

std::string percent_encoded(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      result += c;
    } else {
      result += '%';
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 15U];
    }
  }
  return result;
}

}  // namespace weft::net
