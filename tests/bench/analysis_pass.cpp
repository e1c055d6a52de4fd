// SPDX-License-Identifier: Apache-2.0
// One analysis pass over a whole fabric: quiet, with some incasts, and with half of all links held back. Processor time
// of one core, so that other work on the machine does not count; and the most memory that the process had until then.
// Usage: analysis_pass SPINES LEAVES HOSTS_PER_LEAF. Prints lines of fabric, ports, counters, seconds, bytes, tab
// separated.

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "analyzer/fabric_analyzer.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft {
namespace {

constexpr int kPasses = 12;

double processor_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) * 1e-9;
}

/// The greatest resident set so far, bytes.
long most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// The counters that are read seldom, here with every sweep: all present, none at its end, bit errors that FEC repairs
/// growing as they do on a sound link.
std::shared_ptr<const SampleTable> details(const Sweep& sweep, int pass) {
  auto table = SampleTable::of_group(CounterGroup::kDetail, sweep.topology->ports().size());
  const SampleTable::Column repaired = table.column(CounterId::kRsFecCorrectedSymbols);
  for (std::size_t port = 0; port < table.rows(); ++port) {
    for (SampleTable::Column column = 0; column < table.columns(); ++column)
      table.set(port, column, column == repaired ? 1000 * static_cast<std::uint64_t>(pass) + port % 7 : 0, false);
    table.set_read_at(port, sweep.finished);
  }
  return std::make_shared<const SampleTable>(std::move(table));
}

using Change = void (*)(fakes::FabricBuilder&, std::mt19937&);

void nothing(fakes::FabricBuilder&, std::mt19937&) {}

// The first host of every eighth leaf gets more than it can take; the first eight leaves send it.
void incasts(fakes::FabricBuilder& fabric, std::mt19937&) {
  const auto& ports = fabric.ports();
  for (PortIndex egress = 0; egress < ports.size(); ++egress) {
    const Port& port = ports[egress];
    if (port.peer == kNoIndex || port.number.value == 0) continue;
    const Node& behind = fabric.nodes()[ports[port.peer].node];
    const Node& from = fabric.nodes()[port.node];
    if (behind.type != NodeType::kSwitch && behind.name.ends_with("-0 mlx5_0") && ports[egress].node % 8 == 0)
      fabric.load(egress, 0.7, 0);
    else if (from.type == NodeType::kSwitch && behind.type == NodeType::kSwitch && ports[port.peer].node % 8 == 0)
      fabric.load(egress, 0, 0.3);
  }
}

void half_held_back(fakes::FabricBuilder& fabric, std::mt19937& random) {
  std::bernoulli_distribution held(0.5);
  for (PortIndex egress = 0; egress < fabric.ports().size(); ++egress)
    if (fabric.ports()[egress].peer != kNoIndex && held(random)) fabric.load(egress, 0, 0.4);
}

void measure(fakes::FabricBuilder& fabric, const char* what, Change change) {
  analyzer::FabricAnalyzer analyzer(fabric.name(), {});
  std::mt19937 random(7);
  double slowest = 0;
  std::size_t findings = 0, counters = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    fabric.traffic(random);
    change(fabric, random);
    Sweep sweep = fabric.sweep();
    sweep.details = details(sweep, pass);
    counters = sweep.counters->columns() + sweep.details->columns();
    const double before = processor_seconds();
    const analyzer::Analysis analysis = analyzer.analyze(sweep, fabric.now());
    // The first two see everything for the first time: a discovery, not a sweep.
    if (pass >= 2) slowest = std::max(slowest, processor_seconds() - before);
    findings = analysis.findings.size();
  }
  std::fprintf(stderr, "%s: %zu findings in the last pass\n", what, findings);
  std::printf("%s\t%zu\t%zu\t%.6f\t%ld\n", what, fabric.ports().size(), counters, slowest, most_memory());
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  if (argc != 4) return 2;
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  auto fabric = fakes::FabricBuilder::fat_tree(number(1), number(2), number(3));
  fabric.route();
  measure(fabric, "quiet", nothing);
  measure(fabric, "incasts", incasts);
  measure(fabric, "half of all links held back", half_held_back);
}
