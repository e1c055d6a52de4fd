// SPDX-License-Identifier: Apache-2.0
// What the HTTP server makes of the bytes of one connection: how requests are cut out of them, and what ends it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include "api/access/gate.hpp"
#include "api/http/server.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "tests/unit/api/http/wire.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kCommand = "/api/v1/incidents/1/acknowledge";

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

std::string post_head(const std::string& headers) {
  return std::string("POST ") + kCommand + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         headers + "\r\n";
}

std::string post(const std::string& body) {
  return post_head("Content-Length: " + std::to_string(body.size()) + "\r\n") + body;
}

const std::string kLastGet = get("/last", "Connection: close\r\n");

/// The statuses in a string of answers whose bodies hold no status line.
std::vector<std::string> statuses(const std::string& answers) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.", at)) != std::string::npos; ++at)
    found.push_back(answers.substr(at + 9, 3));
  return found;
}

/// Too long to be sent in one piece.
const std::string& large_text() {
  static const std::string text = [] {
    std::string lines;
    for (int i = 0; lines.size() < 8UL * 1024 * 1024; ++i) lines += std::to_string(i) + '\n';
    return lines;
  }();
  return text;
}

class SlowCommands final : public Commands {
 public:
  bool answers = true;

  void acknowledge(std::uint64_t, std::string who, Callback callback) override {
    if (!answers) return;
    Incident changed = make_incident(1, IncidentState::kAcknowledged);
    changed.acknowledged_by = std::move(who);
    callback(changed);
  }
  void silence(std::uint64_t, TimePoint, std::string, Callback) override {}
  void add_maintenance(MaintenanceWindow, MaintenanceCallback) override {}
  void end_maintenance(std::uint64_t, std::string, MaintenanceCallback) override {}
  void start_acceptance(AcceptanceRun, AcceptanceCallback) override {}
  void end_acceptance(std::uint64_t, std::string, AcceptanceCallback) override {}
  void judge_acceptance(AcceptanceRun, AcceptanceCallback) override {}
};

class HttpConnection : public ::testing::Test {
 protected:
  HttpConnection() {
    assets = {{"/", "text/plain", "page\n", {}, "\"p\"", false},
              {"/assets/large.txt", "text/plain", large_text(), {}, "\"l\"", false}};
    gate.change(
        {.tokens =
             {{.name = "ann", .role = access::Role::kAdmin, .node = {}, .hash = access::sha256("a"), .expires = {}}},
         .certificates = {},
         .requests_per_second = 0});
  }
  void start() {
    options.port = 0;
    HttpCommandTargets desks;
    desks.commands = &commands;
    desks.assets = assets;
    desks.gate = guarded ? &gate : nullptr;
    auto started = HttpServer::start(options, publication, clock, {}, desks);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  std::string ask(const std::string& text) const {
    const Wire wire(server->port());
    wire.say(text);
    return wire.hear_all();
  }
  /// The answers when the client says this and then ends its side.
  std::string ask_and_end(const std::string& text) const {
    const Wire wire(server->port());
    wire.say(text);
    wire.end();
    return wire.hear_all();
  }
  std::vector<std::string> refusals() {
    const std::lock_guard lock(mutex);
    return refused;
  }
  /// A connection whose time is up may be closed an instant before that is reported.
  std::vector<std::string> refusals_once_there_are(std::size_t count) {
    for (int i = 0; i < 1000 && refusals().size() < count; ++i) usleep(10'000);
    return refusals();
  }

  std::mutex mutex;
  std::vector<std::string> refused;
  Publication publication;
  StillClock clock;
  access::Gate gate{clock, [this](const access::Refusal& refusal) {
                      const std::lock_guard lock(mutex);
                      refused.push_back(refusal.what + ": " + refusal.why.message);
                    }};
  SlowCommands commands;
  std::vector<Asset> assets;
  HttpOptions options;
  bool guarded = false;
  std::unique_ptr<HttpServer> server;
};

TEST_F(HttpConnection, PipelinedRequestsAreAnsweredInOrder) {
  start();
  const std::string answers = ask(get("/") + post("{}") + get("/nothing") + get("/assets/large.txt") + get("/metrics") +
                                  post("{\"id\":") + get("/", "If-None-Match: \"p\"\r\n") + kLastGet);
  EXPECT_THAT(statuses(answers), ElementsAre("200", "200", "404", "200", "200", "400", "304", "404"));
  EXPECT_THAT(answers, HasSubstr("\r\n\r\npage\nHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("\"state\":\"ACKNOWLEDGED\""));
  EXPECT_THAT(answers, HasSubstr("\r\n\r\n" + large_text() + "HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("\r\n0\r\n\r\nHTTP/1.1 400 Bad Request\r\n"));
}

TEST_F(HttpConnection, NothingIsAnsweredAfterAClosingAnswer) {
  start();
  EXPECT_THAT(statuses(ask(kLastGet + get("/"))), ElementsAre("404"));
  EXPECT_THAT(statuses(ask(get("/") + "nonsense\r\n\r\n" + get("/"))), ElementsAre("200", "400"));
}

TEST_F(HttpConnection, ARequestMayComeInPieces) {
  start();
  const std::string all = get("/") + post("{\"id\":\"1\"}") + kLastGet;
  const Wire by_byte(server->port());
  for (const char c : all) by_byte.say(std::string(1, c));
  EXPECT_THAT(statuses(by_byte.hear_all()), ElementsAre("200", "200", "404"));

  const Wire in_two(server->port());
  in_two.say(get("/") + kLastGet.substr(0, 7));
  EXPECT_THAT(in_two.hear_until("page\n"), StartsWith("HTTP/1.1 200"));
  in_two.say(kLastGet.substr(7));
  EXPECT_THAT(statuses(in_two.hear_all()), ElementsAre("404"));
}

TEST_F(HttpConnection, AnEndInTheMiddleOfARequestIsNotAnswered) {
  guarded = true;
  start();
  EXPECT_EQ(ask_and_end(""), "");
  EXPECT_EQ(ask_and_end("GET / HT"), "");
  EXPECT_EQ(ask_and_end("GET / HTTP/1.1\r\nHost: localhost\r\n"), "");
  EXPECT_EQ(ask_and_end(post_head("Content-Length: 2\r\n")), "");
  EXPECT_EQ(ask_and_end(post_head("Content-Length: 2\r\n") + "{"), "");
  EXPECT_EQ(ask_and_end(post_head("Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n"), "");
  EXPECT_THAT(refusals(), IsEmpty()) << "no error of the client: it went away";
  EXPECT_THAT(statuses(ask_and_end(get("/"))), ElementsAre("200")) << "a whole request is answered all the same";
  EXPECT_THAT(statuses(ask_and_end(get("/") + "GET / HT")), ElementsAre("200"));
}

TEST_F(HttpConnection, ABodyMayBeChunked) {
  start();
  const std::string head = post_head("Transfer-Encoding: chunked\r\n");
  EXPECT_THAT(statuses(ask(head + "1\r\n{\r\n1;x=y\r\n}\r\n0\r\nTrailer: x\r\n\r\n" + kLastGet)),
              ElementsAre("200", "404"));
  EXPECT_THAT(statuses(ask(head + "x\r\n")), ElementsAre("400"));
  EXPECT_THAT(statuses(ask(post_head("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n") + "0\r\n\r\n" + kLastGet)),
              ElementsAre("400"));
}

TEST_F(HttpConnection, TrailersAreNoHeaders) {
  guarded = true;
  start();
  const auto chunked = [](const std::string& headers, const std::string& trailers) {
    return post_head("Transfer-Encoding: chunked\r\n" + headers) + "2\r\n{}\r\n0\r\n" + trailers + "\r\n";
  };
  const std::string token = "Authorization: Bearer a\r\n", close = "Connection: close\r\n";
  EXPECT_THAT(statuses(ask(chunked(token + close, ""))), ElementsAre("200"));
  EXPECT_THAT(statuses(ask(chunked(close, token))), ElementsAre("401")) << "RFC 9110, 6.5.1";
  EXPECT_THAT(statuses(ask(chunked(token, close) + chunked(token + close, "Origin: http://evil\r\n"))),
              ElementsAre("200", "200"));

  access::Rules rules{.tokens = {}, .certificates = {}, .requests_per_second = 0};
  rules.proxies = {.certificates = {},
                   .secret = access::sha256("a secret of a proxy"),
                   .user_header = "X-Forwarded-User",
                   .groups_header = "X-Forwarded-Groups",
                   .groups = {{"owners", access::Role::kAdmin}},
                   .others = access::Role::kViewer};
  gate.change(rules);
  const std::string alice = close + "X-Weft-Proxy-Secret: a secret of a proxy\r\nX-Forwarded-User: alice\r\n";
  const std::string groups = "X-Forwarded-Groups: owners\r\n";
  EXPECT_THAT(statuses(ask(chunked(alice + groups, ""))), ElementsAre("200"));
  EXPECT_THAT(statuses(ask(chunked(alice, groups))), ElementsAre("403")) << "the proxy let no such header through";
}

TEST_F(HttpConnection, AHeaderThatMayBeThereOnceIsRefusedTwice) {
  guarded = true;
  start();
  for (const std::string twice : {"Host: localhost\r\n", "Origin: http://a\r\nOrigin: http://b\r\n",
                                  "Authorization: Bearer a\r\nauthorization: Bearer b\r\n"}) {
    const std::string answer = ask(get("/", twice) + kLastGet);
    EXPECT_THAT(statuses(answer), ElementsAre("400")) << twice;
    EXPECT_THAT(answer, HasSubstr("is there twice")) << twice;
  }
  EXPECT_THAT(refusals(), Contains("an HTTP request: the header Host is there twice"));
  EXPECT_THAT(statuses(ask(get("/", "Accept: a/b\r\nAccept: c/d\r\n") + kLastGet)), ElementsAre("200", "404"));
}

TEST_F(HttpConnection, ARequestOfHttp11WithoutAHostIsRefused) {
  guarded = true;
  start();
  const std::string answer = ask("GET / HTTP/1.1\r\nAccept: a/b\r\n\r\n" + kLastGet);
  EXPECT_THAT(statuses(answer), ElementsAre("400"));
  EXPECT_THAT(answer, HasSubstr("the header Host is missing"));
  EXPECT_THAT(statuses(ask("GET / HTTP/1.0\r\n\r\n")), ElementsAre("200"));
}

TEST_F(HttpConnection, AnUnknownTransferCodingHidesNoSecondRequest) {
  guarded = true;
  start();
  for (const std::string coding : {"xchunked", "gzip", "identity", "chunked, identity", "\"chunked\"", "",
                                   "identity\r\nTransfer-Encoding: chunked", "identity\r\nContent-Length: 0"}) {
    const std::string answer = ask(get("/", "Transfer-Encoding: " + coding + "\r\n") + kLastGet);
    EXPECT_THAT(statuses(answer), ElementsAre("400")) << coding;
  }
  const std::string old = "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n";
  EXPECT_THAT(statuses(ask(old + kLastGet)), ElementsAre("400"));
}

TEST_F(HttpConnection, OfAListenerForBothAProxyOnThisMachineIsLocal) {
  guarded = true;
  options.address = "::";
  start();
  access::Rules rules{.tokens = {}, .certificates = {}, .requests_per_second = 0};
  rules.proxies = {.certificates = {},
                   .secret = access::sha256("a secret of a proxy"),
                   .user_header = "X-Forwarded-User",
                   .groups_header = "X-Forwarded-Groups",
                   .groups = {},
                   .others = access::Role::kViewer};
  gate.change(rules);
  const std::string word = "X-Weft-Proxy-Secret: a secret of a proxy\r\nX-Forwarded-User: alice\r\n";
  EXPECT_THAT(ask(get("/api/v1/whoami", word + "Connection: close\r\n")), HasSubstr("alice"));
}

TEST_F(HttpConnection, LimitsOfHeaderAndBody) {
  guarded = true;
  options.max_header = 1000;
  options.max_body = 100;
  start();
  const auto filled = [](std::size_t size) {
    const std::string head = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ";
    return head + std::string(size - head.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_THAT(statuses(ask(filled(990))), ElementsAre("200"));
  EXPECT_THAT(refusals(), IsEmpty());
  EXPECT_THAT(statuses(ask(filled(1100))), ElementsAre("431"));
  EXPECT_THAT(statuses(ask(get("/") + filled(50'000))), ElementsAre("200", "431"));
  EXPECT_THAT(refusals(),
              ElementsAre("an HTTP request: header limit exceeded", "an HTTP request: header limit exceeded"));
  refused.clear();

  EXPECT_THAT(statuses(ask(post(std::string(100, ' ')) + kLastGet)), ElementsAre("401", "404"));
  refused.clear();
  EXPECT_THAT(statuses(ask(post(std::string(101, ' ')) + kLastGet)), ElementsAre("413"));
  EXPECT_THAT(statuses(ask(post(std::string(300'000, ' ')))), ElementsAre("413")) << "the answer arrives all the same";
  EXPECT_THAT(statuses(ask(post_head("Transfer-Encoding: chunked\r\n") + "80\r\n" + std::string(0x80, ' '))),
              ElementsAre("413"));
  EXPECT_THAT(refusals(), ElementsAre("an HTTP request: body limit exceeded", "an HTTP request: body limit exceeded",
                                      "an HTTP request: body limit exceeded"));
}

TEST_F(HttpConnection, ExpectationsAreNotAnsweredButTheRequestIs) {
  start();
  const Wire wire(server->port());
  wire.say(post_head("Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n"));
  wire.say("{}");
  const std::string answer = wire.hear_all();
  EXPECT_THAT(statuses(answer), ElementsAre("200"));
  EXPECT_THAT(answer, HasSubstr("\"state\":\"ACKNOWLEDGED\""));
  EXPECT_THAT(statuses(ask(post_head("Expect: 100-continue\r\nContent-Length: 1000000\r\n"))), ElementsAre("413"))
      << "before anything of the body is sent";
}

TEST_F(HttpConnection, IsKeptAsTheVersionSays) {
  start();
  const std::string old_get = "GET / HTTP/1.0\r\n\r\n";
  const std::string once = ask(old_get + old_get);
  EXPECT_THAT(statuses(once), ElementsAre("200"));
  EXPECT_THAT(once, StartsWith("HTTP/1.0 200 OK\r\n"));
  EXPECT_THAT(once, EndsWith("\r\n\r\npage\n"));
  const std::string kept = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + old_get);
  EXPECT_THAT(statuses(kept), ElementsAre("200", "200"));
  EXPECT_THAT(kept, HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(ask(kLastGet), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(statuses(ask("GET / HTTP/2.0\r\n\r\n")), ElementsAre("400"));
  const std::string streamed = ask("GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + old_get);
  EXPECT_THAT(statuses(streamed), ElementsAre("200")) << "only the closing says that it was all";
}

TEST_F(HttpConnection, HeadsOfAllKindsOfAnswers) {
  start();
  const auto head = [](const std::string& path) { return "HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; };
  const std::string answers =
      ask(head("/") + head("/assets/large.txt") + head("/metrics") + head("/nothing") + kLastGet);
  EXPECT_THAT(statuses(answers), ElementsAre("200", "200", "200", "404", "404"));
  EXPECT_THAT(answers, HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(answers, HasSubstr("Content-Length: " + std::to_string(large_text().size()) + "\r\n"));
  EXPECT_THAT(answers, Not(HasSubstr("page")));
}

TEST_F(HttpConnection, IdleOnesAreClosedAndSlowOnesRefused) {
  guarded = true;
  options.idle_timeout = std::chrono::milliseconds(400);
  options.request_timeout = std::chrono::milliseconds(800);
  start();
  EXPECT_THAT(statuses(ask(get("/"))), ElementsAre("200")) << "closed after a while of silence";
  EXPECT_THAT(refusals(), IsEmpty());
  EXPECT_THAT(statuses(ask(get("/") + "GET /")), ElementsAre("200"));
  EXPECT_THAT(refusals_once_there_are(1), ElementsAre("an HTTP request: timeout while reading it"));
  const Wire wire(server->port());
  wire.say(post_head("Content-Length: 50\r\n"));
  for (int i = 0; i < 12; ++i) {
    wire.say(" ");
    usleep(100'000);
  }
  EXPECT_EQ(wire.hear_all(), "") << "a byte now and then does not help";
  EXPECT_EQ(refusals_once_there_are(2).size(), 2U);
}

TEST_F(HttpConnection, ACommandThatIsNotAnsweredInTime) {
  options.command_timeout = std::chrono::milliseconds(100);
  commands.answers = false;
  start();
  EXPECT_THAT(statuses(ask(post("{}") + kLastGet)), ElementsAre("504", "404"));
}

TEST_F(HttpConnection, WhatReadersDoNotTakeIsBounded) {
  const std::string huge(64UL * 1024 * 1024, 'x');  // more than the buffers of a socket take
  assets.push_back({"/assets/huge.txt", "text/plain", huge, {}, "\"h\"", false});
  options.max_unsent = 70UL * 1024 * 1024;
  start();
  const std::string close = "Connection: close\r\n";
  {
    const Wire slow(server->port());
    slow.say(get("/assets/huge.txt"));
    EXPECT_THAT(slow.hear_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
    const std::string answer = ask(get("/assets/large.txt", close));
    EXPECT_THAT(statuses(answer), ElementsAre("503"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1"));
    EXPECT_THAT(statuses(ask(get("/", close))), ElementsAre("200")) << "short answers go on";
    EXPECT_THAT(statuses(ask("HEAD /assets/large.txt HTTP/1.1\r\nHost: x\r\n" + close + "\r\n")), ElementsAre("200"));
  }
  std::string again;
  for (int i = 0; i < 500 && !again.starts_with("HTTP/1.1 200"); ++i) {
    if (i > 0) usleep(10'000);
    again = ask(get("/assets/large.txt", close));
  }
  EXPECT_THAT(statuses(again), ElementsAre("200")) << "the slow one is gone";
}

TEST_F(HttpConnection, AReaderThatTakesNothingIsCutOff) {
  const std::string huge(64UL * 1024 * 1024, 'x');  // more than the buffers of a socket take
  assets.push_back({"/assets/huge.txt", "text/plain", huge, {}, "\"h\"", false});
  options.write_timeout = std::chrono::milliseconds(200);
  start();
  const Wire wire(server->port());
  wire.say(get("/assets/huge.txt") + kLastGet);
  usleep(600'000);
  const std::string answer = wire.hear_all();
  EXPECT_THAT(statuses(answer), ElementsAre("200"));
  EXPECT_LT(answer.size(), huge.size());
  server.reset();
}

}  // namespace
}  // namespace weft::api
