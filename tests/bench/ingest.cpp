// SPDX-License-Identifier: Apache-2.0
// Many simulated collectors on one machine: each a stream of its own that says Hello and then tells one reading each
// interval, as weft-collector's would be. Prints what was sent and acknowledged as one line of JSON.
//
//   ingest SERVER COLLECTORS VALUES SECONDS CONNECTIONS [FIRST [storm]]
//
// Their hosts are node-FIRST (0) and so on. Their traffic moves and their errors stand still; in a storm every second
// link of each host goes down with each reading.
// A real collector has a connection of its own. With fewer connections than collectors streams share them, at most 100
// each, and the server saves the rest.

#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/telemetry/batch_codec.hpp"
#include "weft/v1/telemetry.grpc.pb.h"

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

struct Tally {
  std::atomic<std::uint64_t> welcomed{0}, sent{0}, skipped{0}, acknowledged{0}, ended{0}, bytes{0};
};

std::shared_ptr<const weft::HostInventory> make_inventory(unsigned values) {
  auto inventory = std::make_shared<weft::HostInventory>();
  constexpr unsigned kPorts = 8;
  for (unsigned i = 0; i < kPorts; ++i) {
    weft::HostPort port;
    port.device = "mlx5_" + std::to_string(i);
    port.number = 1;
    port.netdev = "eth" + std::to_string(i);
    port.pci_address = "0000:17:00." + std::to_string(i);
    port.driver = "mlx5";
    port.link_layer = weft::LinkLayer::kEthernet;
    port.state = weft::PortState::kActive;
    port.physical_state = weft::PortPhysicalState::kLinkUp;
    port.rate_bits_per_second = 400'000'000'000;
    inventory->ports.push_back(port);
  }
  const auto catalogue = weft::counter_catalogue();
  for (unsigned i = 0; i < values; ++i) {
    weft::HostSeries series;
    series.device = inventory->ports[i % kPorts].device;
    series.port = 1;
    series.name = i / kPorts < catalogue.size() ? std::string(catalogue[i / kPorts].name) : "more_" + std::to_string(i);
    series.is_raw = i / kPorts >= catalogue.size();
    inventory->series.push_back(series);
  }
  return inventory;
}

/// What each reading adds to each series: nothing to errors, waits and gauges, unless links shall flap.
std::vector<std::uint64_t> make_movement(const weft::HostInventory& inventory, bool is_storm) {
  std::vector<std::uint64_t> movement;
  for (std::size_t i = 0; i < inventory.series.size(); ++i) {
    const weft::HostSeries& series = inventory.series[i];
    const auto info = std::ranges::find(weft::counter_catalogue(), series.name, &weft::CounterInfo::name);
    const bool is_traffic = info != weft::counter_catalogue().end() && !info->is_error && !info->is_gauge &&
                            (info->unit == weft::CounterUnit::kBytes || info->unit == weft::CounterUnit::kPackets);
    const bool is_flap = is_storm && series.name == "link_downed" && i % 2 == 0;
    movement.push_back(is_traffic ? 1'000'003 * (i + 1) : is_flap ? 1 : 0);
  }
  return movement;
}

/// One collector. Writes are started by the pacing thread alone; a batch whose turn comes while the last one is still
/// on its way is skipped and counted.
class Collector final : public grpc::ClientBidiReactor<weft::v1::CollectorMessage, weft::v1::AnalyzerMessage> {
 public:
  Collector(weft::v1::TelemetryService::Stub& stub, unsigned number,
            const std::shared_ptr<const weft::HostInventory>& inventory, const std::vector<std::uint64_t>& movement,
            Tally& tally)
      : movement_(movement), tally_(tally) {
    reading_.inventory = inventory;
    reading_.values.assign(inventory->series.size(), number);
    reading_.present.assign(inventory->series.size(), 1);
    reading_.sources = {{"sysfs", true, ""}};
    reading_.jobs = {"slurm:" + std::to_string(number / 16)};
    auto& hello = *out_.mutable_hello();
    hello.set_protocol(1);
    hello.set_host("node-" + std::to_string(number));
    hello.set_spool(number + 1);
    hello.set_version("bench");
    hello.set_interval_milliseconds(1000);
    stub.async()->Stream(&context_, this);
    writing_ = true;
    StartWrite(&out_);
    StartRead(&in_);
    AddHold();
    StartCall();
  }

  /// Sends the next reading, or the answer to a clock probe.
  void turn() {
    {
      const std::lock_guard lock(mutex_);
      if (!welcomed_ || ended_) return;
      if (writing_) {
        ++tally_.skipped;
        return;
      }
      writing_ = true;
    }
    out_.Clear();
    if (const std::uint64_t probe = probe_.exchange(0)) {
      out_.mutable_clock_reply()->set_id(probe);
      out_.mutable_clock_reply()->set_host_time(weft::SystemClock().now().time_since_epoch().count());
      StartWrite(&out_);
      return;
    }
    reading_.taken = weft::SystemClock().now();
    for (std::size_t i = 0; i < reading_.values.size(); ++i) reading_.values[i] += movement_[i];
    weft::HostBatch batch;
    batch.reading = reading_;
    const auto body = encoder_.encode(batch);
    if (!body) std::abort();
    out_.mutable_batch()->set_sequence(++sequence_);
    out_.mutable_batch()->set_body(body->data(), body->size());
    tally_.bytes += body->size();
    ++tally_.sent;
    StartWrite(&out_);
  }
  void cancel() {
    context_.TryCancel();
    RemoveHold();
  }
  bool done() const { return done_; }

 private:
  void OnWriteDone(bool) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  void OnReadDone(bool ok) override {
    if (!ok) {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      return;
    }
    if (in_.has_welcome()) {
      ++tally_.welcomed;
      const std::lock_guard lock(mutex_);
      welcomed_ = true;
      sequence_ = acknowledged_ = in_.welcome().sequence();
    } else if (in_.has_acknowledgement()) {
      tally_.acknowledged += in_.acknowledgement().sequence() - acknowledged_;
      acknowledged_ = in_.acknowledgement().sequence();
    } else {
      probe_ = in_.clock_probe().id();
    }
    StartRead(&in_);
  }
  void OnDone(const grpc::Status& status) override {
    if (status.error_code() != grpc::StatusCode::CANCELLED) {
      ++tally_.ended;
      std::fprintf(stderr, "stream ended: %s\n", status.error_message().c_str());
    }
    done_ = true;
  }

  const std::vector<std::uint64_t>& movement_;
  Tally& tally_;
  grpc::ClientContext context_;
  weft::v1::CollectorMessage out_;
  weft::v1::AnalyzerMessage in_;
  weft::HostReading reading_;
  weft::api::BatchEncoder encoder_;
  std::uint64_t sequence_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::atomic<std::uint64_t> probe_{0};
  std::mutex mutex_;
  bool welcomed_ = false;
  bool writing_ = false;
  bool ended_ = false;
  std::atomic<bool> done_{false};
};

}  // namespace

int main(int argc, char** argv) {
  const bool is_storm = argc == 8 && std::string_view(argv[7]) == "storm";
  if (argc != 6 && argc != 7 && !is_storm)
    return std::fprintf(stderr, "ingest SERVER COLLECTORS VALUES SECONDS CONNECTIONS [FIRST [storm]]\n"), 2;
  const auto count = static_cast<unsigned>(std::atoi(argv[2]));
  const auto first = argc >= 7 ? static_cast<unsigned>(std::atoi(argv[6])) : 0U;
  const auto connections = std::max(1, std::atoi(argv[5]));
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  std::vector<std::unique_ptr<weft::v1::TelemetryService::Stub>> stubs;
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("weft.bench.connection", i);  // else gRPC shares one connection
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stubs.push_back(weft::v1::TelemetryService::NewStub(
        grpc::CreateCustomChannel(argv[1], grpc::InsecureChannelCredentials(), arguments)));
  }
  const auto inventory = make_inventory(static_cast<unsigned>(std::atoi(argv[3])));
  const auto movement = make_movement(*inventory, is_storm);
  Tally tally;
  std::vector<std::unique_ptr<Collector>> collectors;
  for (unsigned i = 0; i < count; ++i) {
    collectors.push_back(std::make_unique<Collector>(*stubs[i % stubs.size()], first + i, inventory, movement, tally));
    if (i % 200 == 199) std::this_thread::sleep_for(50ms);
  }
  for (int i = 0; i < 600 && tally.welcomed < count; ++i) std::this_thread::sleep_for(100ms);
  std::fprintf(stderr, "welcomed %llu\n", static_cast<unsigned long long>(tally.welcomed));
  std::printf("ready\n");
  std::fflush(stdout);
  // Their turns are spread over the second, as those of machines that were started at different times.
  constexpr unsigned kSlices = 100;
  auto next = Steady::now();
  const auto end = next + std::chrono::seconds(std::atoi(argv[4]));
  for (unsigned slice = 0; Steady::now() < end; slice = (slice + 1) % kSlices, next += 1000ms / kSlices) {
    std::this_thread::sleep_until(next);
    for (unsigned i = slice; i < count; i += kSlices) collectors[i]->turn();
  }
  std::this_thread::sleep_for(3s);
  std::printf(
      "{\"collectors\": %llu, \"sent\": %llu, \"skipped\": %llu, \"acknowledged\": %llu, \"ended\": %llu, "
      "\"bytes\": %llu}\n",
      static_cast<unsigned long long>(tally.welcomed), static_cast<unsigned long long>(tally.sent),
      static_cast<unsigned long long>(tally.skipped), static_cast<unsigned long long>(tally.acknowledged),
      static_cast<unsigned long long>(tally.ended), static_cast<unsigned long long>(tally.bytes));
  std::fflush(stdout);
  for (auto& collector : collectors) collector->cancel();
  for (auto& collector : collectors)
    for (int i = 0; i < 100 && !collector->done(); ++i) std::this_thread::sleep_for(10ms);
  std::_Exit(0);  // what gRPC still winds up is of no interest
}
