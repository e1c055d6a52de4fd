// SPDX-License-Identifier: Apache-2.0
// Asks HealthService and an echo server in turn, at a fixed rate each, and then for many nodes at once.
//
//   health_client HEALTH_PORT ECHO_PORT LEAVES HOSTS_PER_LEAF RATE SECONDS BULKS
//
// Or asks for hosts PREFIXFIRST and so on, of one server after the other, each at that rate:
//
//   health_client beside RATE SECONDS [WHAT PORT PREFIX FIRST COUNT]...
//
// A call's time runs from the moment at which it was due, so that a pause counts for all that it held up. Prints lines
// of: what, calls, failures, median, 99th percentile and longest in milliseconds, and, of ours, how many answers
// were of hosts that are not healthy, and how many bytes an answer had.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "weft/v1/health.grpc.pb.h"

namespace {

using namespace weft;
using Steady = std::chrono::steady_clock;
constexpr std::chrono::seconds kDeadline{10};

class Tally {
 public:
  void begin() { ++under_way_; }
  void end(const grpc::Status& status, Steady::time_point due, bool unhealthy, std::size_t bytes) {
    const double took = std::chrono::duration<double, std::milli>(Steady::now() - due).count();
    {
      const std::lock_guard lock(mutex_);
      if (!status.ok()) ++failed_;
      times_.push_back(took);
      unhealthy_ += unhealthy;
      bytes_ = std::max(bytes_, bytes);
    }
    --under_way_;
  }
  void wait() const {
    while (under_way_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void print(const char* what) {
    wait();
    const std::lock_guard lock(mutex_);
    std::ranges::sort(times_);
    const auto at = [&](double share) {
      return times_.empty() ? 0.0
                            : times_[std::min(times_.size() - 1,
                                              static_cast<std::size_t>(share * static_cast<double>(times_.size())))];
    };
    std::printf("%s %zu %zu %.3f %.3f %.3f %zu %zu\n", what, times_.size(), failed_, at(0.5), at(0.99), at(1.0),
                unhealthy_, bytes_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::atomic<int> under_way_ = 0;
  std::mutex mutex_;
  std::vector<double> times_;
  std::size_t failed_ = 0, unhealthy_ = 0, bytes_ = 0;
};

/// One call with all that must live until it ends.
template <typename Request, typename Response>
struct Call {
  grpc::ClientContext context;
  Request request;
  Response response;
};

std::shared_ptr<grpc::Channel> connect(const char* port) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(std::string("127.0.0.1:") + port, grpc::InsecureChannelCredentials(), arguments);
}

class Client {
 public:
  Client(const char* health, const char* echo)
      : health_(v1::HealthService::NewStub(connect(health))), echo_(connect(echo)) {}

  void get(const std::string& node, Steady::time_point due, Tally& tally) {
    auto call = std::make_shared<Call<v1::GetHealthRequest, v1::NodeHealth>>();
    call->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    call->request.set_node(node);
    tally.begin();
    health_->async()->Get(
        &call->context, &call->request, &call->response, [call, due, &tally](const grpc::Status& status) {
          tally.end(status, due, call->response.verdict() != v1::NodeHealth::HEALTHY, call->response.ByteSizeLong());
        });
  }

  void bulk(const std::vector<std::string>& nodes, Tally& tally) {
    auto call = std::make_shared<Call<v1::BatchGetHealthRequest, v1::BatchGetHealthResponse>>();
    call->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    for (const std::string& node : nodes) call->request.add_nodes(node);
    tally.begin();
    const auto due = Steady::now();
    health_->async()->BatchGet(
        &call->context, &call->request, &call->response, [call, due, &tally](grpc::Status status) {
          if (status.ok() && call->response.nodes_size() != call->request.nodes_size())
            status = {grpc::StatusCode::DATA_LOSS, "not all of them"};
          const bool unhealthy = std::ranges::any_of(call->response.nodes(), [](const v1::NodeHealth& node) {
            return node.verdict() != v1::NodeHealth::HEALTHY;
          });
          tally.end(status, due, unhealthy, call->response.ByteSizeLong());
        });
    tally.wait();
  }

  void job(const std::vector<std::string>& nodes, Tally& tally) {
    auto call = std::make_shared<Call<v1::GetJobHealthRequest, v1::JobHealth>>();
    call->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    call->request.set_job("slurm:1");
    for (const std::string& node : nodes) call->request.add_nodes(node);
    tally.begin();
    const auto due = Steady::now();
    health_->async()->GetJobHealth(
        &call->context, &call->request, &call->response, [call, due, &tally](grpc::Status status) {
          if (status.ok() && call->response.not_followed_size() > 0)
            status = {grpc::StatusCode::DATA_LOSS, "not all ways"};
          tally.end(status, due, call->response.verdict() != v1::NodeHealth::HEALTHY, call->response.ByteSizeLong());
        });
    tally.wait();
  }

  void echo(const grpc::ByteBuffer& bytes, Steady::time_point due, Tally& tally) {
    auto call = std::make_shared<Call<grpc::ByteBuffer, grpc::ByteBuffer>>();
    call->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    call->request = bytes;
    tally.begin();
    echo_.UnaryCall(
        &call->context, "/bench.Echo/Echo", {}, &call->request, &call->response,
        [call, due, &tally](const grpc::Status& status) { tally.end(status, due, false, call->response.Length()); });
  }

 private:
  std::unique_ptr<v1::HealthService::Stub> health_;
  grpc::GenericStub echo_;
};

grpc::ByteBuffer bytes_of(std::size_t count) {
  const grpc::Slice slice(std::string(count, 'x'));
  return {&slice, 1};
}

/// The time between two calls at that rate.
Steady::duration step_of(const char* rate) {
  return std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(1.0 / std::atof(rate)));
}

/// Hosts of one server, and how long it took to tell of them.
struct Question {
  Question(const char* the_what, const char* port) : what(the_what), client(port, port) {}

  const char* const what;
  Client client;
  std::vector<std::string> hosts;
  Tally gets;
};

/// See the top of the file; `arguments` follow "beside".
int ask_beside(std::vector<char*> arguments) {
  constexpr std::size_t kOfOne = 5;
  std::vector<std::unique_ptr<Question>> questions;
  for (std::size_t at = 2; at + kOfOne <= arguments.size(); at += kOfOne) {
    char** const one = &arguments[at];
    questions.push_back(std::make_unique<Question>(one[0], one[1]));
    for (int host = 0; host < std::atoi(one[4]); ++host)
      questions.back()->hosts.push_back(std::string(one[2]) + std::to_string(std::atoi(one[3]) + host));
  }
  Tally first;
  for (int warm = 0; warm < 50; ++warm)
    for (const auto& question : questions) {
      question->client.get(question->hosts[0], Steady::now(), first);
      first.wait();
    }
  const auto step = step_of(arguments[0]);
  const auto between = step / std::max<std::ptrdiff_t>(1, std::ssize(questions));
  const auto calls = static_cast<std::size_t>(std::atof(arguments[0]) * std::atof(arguments[1]));
  std::mt19937 random(1);
  auto start = Steady::now();
  for (std::size_t call = 0; call < calls; ++call, start += step) {
    auto due = start;
    for (const auto& question : questions) {
      std::this_thread::sleep_until(due);
      question->client.get(question->hosts[random() % question->hosts.size()], due, question->gets);
      due += between;
    }
  }
  for (const auto& question : questions) question->gets.print(question->what);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 9 && (argc - 4) % 5 == 0 && std::string(argv[1]) == "beside") return ask_beside({argv + 2, argv + argc});
  if (argc != 8) {
    std::fprintf(stderr,
                 "usage: health_client HEALTH_PORT ECHO_PORT LEAVES HOSTS_PER_LEAF RATE SECONDS BULKS\n"
                 "   or: health_client beside RATE SECONDS [WHAT PORT PREFIX FIRST COUNT]...\n");
    return 2;
  }
  std::vector<std::string> hosts;
  for (int leaf = 0; leaf < std::atoi(argv[3]); ++leaf)
    for (int host = 0; host < std::atoi(argv[4]); ++host)
      hosts.push_back("host-" + std::to_string(leaf) + '-' + std::to_string(host));
  Client client(argv[1], argv[2]);
  Tally first, gets, echoes, bulks, bulk_echoes, jobs, whole_jobs;
  for (int warm = 0; warm < 50; ++warm) {
    client.get(hosts[0], Steady::now(), first);
    client.echo(bytes_of(100), Steady::now(), first);
    first.wait();
  }
  const grpc::ByteBuffer small = bytes_of(first.bytes());
  const auto step = step_of(argv[5]);
  const auto calls = static_cast<std::size_t>(std::atof(argv[5]) * std::atof(argv[6]));
  std::mt19937 random(1);
  auto due = Steady::now();
  for (std::size_t call = 0; call < calls; ++call, due += step) {
    std::this_thread::sleep_until(due);
    client.get(hosts[random() % hosts.size()], due, gets);
    // Half a step later, so that neither has the other's answer in its way.
    std::this_thread::sleep_until(due + step / 2);
    client.echo(small, due + step / 2, echoes);
  }
  gets.wait();
  echoes.wait();
  const double seconds = std::chrono::duration<double>(Steady::now() - (due - step * static_cast<long>(calls))).count();
  for (int bulk = 0; bulk < std::atoi(argv[7]); ++bulk) {
    client.bulk(hosts, bulks);
    client.echo(bytes_of(bulks.bytes()), Steady::now(), bulk_echoes);
    bulk_echoes.wait();
  }
  std::ranges::shuffle(hosts, random);
  for (int job = 0; job < 5; ++job) {
    client.job({hosts.begin(), hosts.begin() + std::min<std::ptrdiff_t>(1000, std::ssize(hosts))}, jobs);
    client.job(hosts, whole_jobs);
  }
  gets.print("get");
  echoes.print("echo");
  bulks.print("bulk");
  bulk_echoes.print("bulk_echo");
  jobs.print("job");
  whole_jobs.print("whole_job");
  std::printf("seconds %.3f\n", seconds);
  return 0;
}
