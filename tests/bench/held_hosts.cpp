// SPDX-License-Identifier: Apache-2.0
// How long a review of plans takes, with the question which incidents they look after, while plans hold some of many
// hosts drained. Processor time of one core, the worst of five; the first look at the hosts is not among them.
// Usage: held_hosts HOSTS HELD
// Prints a line of name, ours, limit, ratio, tab separated.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/plan_manager.hpp"
#include "analyzer/remedy/windows.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
constexpr int kTries = 5;
constexpr double kLimit = 0.050;  // seconds

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

std::string name_of(unsigned host) {
  return "gpu-" + std::to_string(100'000 + host);
}

int run(unsigned count, unsigned held) {
  std::vector<std::shared_ptr<const HostView>> hosts;
  std::vector<NodeHealth> health(count);
  for (unsigned i = 0; i < count; ++i) {
    auto host = std::make_shared<HostView>();
    host->host = name_of(i) + ".cluster.example.org";
    host->state = CollectorState::kConnected;
    host->reading = std::make_shared<HostReading>();
    hosts.push_back(std::move(host));
    health[i].node = name_of(i);
    health[i].verdict = HealthVerdict::kHealthy;
  }
  TimePoint now(std::chrono::hours(24 * 365));
  RemedyMemory memory;
  std::vector<std::shared_ptr<const Incident>> incidents;
  for (unsigned i = 0; i < held; ++i) {
    Plan& plan = memory.plans.emplace_back();
    plan.id = plan.incident = i + 1;
    plan.action = RemedyAction::kDrainNode;
    plan.state = PlanState::kCommitted;
    plan.in_force = true;
    plan.requested_by = plan.approved_by = kOurselves;
    plan.target = host_entity(name_of(i * (count / held)));
    plan.actuator = "slurm";
    plan.started = plan.finished = now - 5h;
    auto incident = std::make_shared<Incident>();
    incident->id = plan.id;
    incident->finding.kind = IncidentKind::kLinkErrors;
    incident->finding.severity = Severity::kWarning;
    incident->finding.cause = plan.target;
    incident->opened = now - 6h;
    incident->beginnings = {now - 6h};
    incident->state = IncidentState::kResolved;
    incident->updated = incident->resolved = now - 4h;
    incidents.push_back(std::move(incident));
  }
  RemedySettings settings;
  settings.actuators.fill("slurm");
  PlanManager book(settings, memory, now, now.time_since_epoch());
  // Before their returns are due, and while these are proposed.
  double before = 0, proposed = 0;
  std::size_t looked_after = 0;
  for (int attempt = 0; attempt <= 2 * kTries + 1; ++attempt) {
    now += attempt == kTries + 1 ? Duration(settings.limits.undrain_after + 1min) : Duration(1s);
    const RemedyView seen{now, {}, incidents, hosts, health, {}, {}, now.time_since_epoch()};
    const RemedyView asked = seen;
    const double began = processor_seconds();
    book.review(seen);
    for (const PlanPtr& plan : *book.all()) looked_after += is_looked_after(*plan, asked) ? 1 : 0;
    const double took = processor_seconds() - began;
    if (attempt > 0 && attempt <= kTries) before = std::max(before, took);
    if (attempt > kTries + 1) proposed = std::max(proposed, took);
    for (const RemedyOrder& order : book.drain_changes(now).orders)
      book.answer_reading(order.number, TargetReading{TargetState::kOurs, ""}, now);
  }
  if (looked_after == 0 || book.all()->size() != 2 * std::size_t{held}) {
    std::fprintf(stderr, "%zu plans for %u hosts\n", book.all()->size(), held);
    return 1;
  }
  const std::string where = std::to_string(held) + " of " + std::to_string(count) + " hosts held drained";
  const auto report = [&where](const char* what, double seconds) {
    std::printf("%s%s, s of one core (limit)\t%.4f\t%.3f\t%.2f\n", where.c_str(), what, seconds, kLimit,
                kLimit / seconds);
  };
  report("", before);
  report(" and their returns proposed", proposed);
  return 0;
}

}  // namespace
}  // namespace weft::analyzer

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto number = [argv](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  return number(2) == 0 || number(1) < number(2) ? 2 : weft::analyzer::run(number(1), number(2));
}
