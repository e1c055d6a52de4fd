// SPDX-License-Identifier: Apache-2.0
#include "api/http/files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "api/metrics/gzip.hpp"
#include "api/metrics/negotiate.hpp"

namespace weft::api {
namespace {

/// A shorter body is not worth the header lines.
constexpr std::size_t kWorthCompressing = 512;
/// A body is compressed in one go up to this: some milliseconds. Longer ones are made while they are sent, in pieces
/// between which other connections get their turn.
constexpr std::size_t kAtOnce = 512 * 1024;
constexpr std::size_t kPiece = 64 * 1024;

constexpr const char* kPolicy =
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'none'; frame-ancestors 'none'";

/// FNV-1a over 64 bits (RFC 9923): tells two answers apart, guards nothing.
std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string etag_of(std::string_view body) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "\"%016llx\"", static_cast<unsigned long long>(fingerprint(body)));
  return text.data();
}

std::string header_of(const HttpReply& reply, std::string_view name) {
  const auto found = std::find_if(reply.headers.begin(), reply.headers.end(),
                                  [&](const auto& header) { return header.first == name; });
  return found == reply.headers.end() ? std::string() : found->second;
}

HttpReply not_modified(HttpReply reply) {
  reply.status = 304;
  reply.body.clear();
  reply.stream = nullptr;
  return reply;
}

}  // namespace

const Asset* find_asset(Assets assets, std::string_view path) {
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const Asset& asset) { return asset.path == path; });
  return found == assets.end() ? nullptr : &*found;
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  if (if_none_match == "*") return true;
  // A comparison of weak tags (RFC 9110, 8.8.3.2): W/"x" is "x". The quotes keep one tag from being found in another.
  return !etag.empty() && if_none_match.find(etag) != std::string_view::npos;
}

HttpReply asset_reply(const Asset& asset, const HttpRequest& request) {
  HttpReply reply;
  reply.content_type = std::string(asset.content_type);
  reply.headers = {{"ETag", std::string(asset.etag)},
                   {"Vary", "Accept-Encoding"},
                   {"Cache-Control", asset.immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                   {"Content-Security-Policy", kPolicy},
                   {"Referrer-Policy", "no-referrer"}};
  if (matches_etag(request.if_none_match, asset.etag)) return not_modified(std::move(reply));
  const bool compressed = !asset.gzip.empty() && accepts_gzip(request.accept_encoding);
  if (compressed) reply.headers.emplace_back("Content-Encoding", "gzip");
  reply.body = std::string(compressed ? asset.gzip : asset.body);
  return reply;
}

HttpReply finish_reply(const HttpRequest& request, HttpReply reply) {
  if (reply.status != 200) return reply;
  std::string etag = header_of(reply, "ETag");
  if (etag.empty() && !reply.stream) {
    etag = etag_of(reply.body);
    reply.headers.emplace_back("ETag", etag);
  }
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  if (matches_etag(request.if_none_match, etag)) return not_modified(std::move(reply));
  const bool worth_it = reply.stream || reply.body.size() >= kWorthCompressing;
  if (!worth_it || !accepts_gzip(request.accept_encoding)) return reply;

  reply.headers.emplace_back("Content-Encoding", "gzip");
  if (!reply.stream && reply.body.size() <= kAtOnce) {
    GzipStream gzip;
    std::string squeezed;
    gzip.compress(reply.body, squeezed);
    gzip.finish(squeezed);
    reply.body = std::move(squeezed);
    return reply;
  }
  if (!reply.stream) {
    reply.stream = [body = std::move(reply.body), at = std::size_t{0}](std::string& piece) mutable {
      piece = body.substr(at, kPiece);
      at += piece.size();
      return !piece.empty();
    };
    reply.body.clear();
  }
  struct Squeeze {
    BodySource source;
    GzipStream gzip;
    std::string raw;
    bool ended = false;
  };
  auto squeeze = std::make_shared<Squeeze>();
  squeeze->source = std::move(reply.stream);
  reply.stream = [squeeze](std::string& piece) {
    piece.clear();
    if (squeeze->ended) return false;
    if (squeeze->source(squeeze->raw)) {
      squeeze->gzip.compress(squeeze->raw, piece);
    } else {
      squeeze->gzip.finish(piece);
      squeeze->ended = true;
    }
    return true;
  };
  return reply;
}

}  // namespace weft::api
