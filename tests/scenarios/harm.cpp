// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/harm.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace weft::scenarios {

void HarmLedger::pass(const Loads& loads, double to) {
  const double seconds = to - passed_;
  passed_ = std::max(passed_, to);
  if (seconds <= 0) return;
  for (const Bottleneck& bottleneck : loads.bottlenecks)
    for (const ResourceIndex held : bottleneck.held)
      if (held < ports_)
        waited_[std::uint64_t{bottleneck.resource} << 32U | held] += seconds * static_cast<double>(loads.waiting[held]);
}

void HarmLedger::close(double at) {
  std::map<ResourceIndex, double> longest;
  for (const auto& [who, seconds] : waited_) {
    double& known = longest[static_cast<ResourceIndex>(who >> 32U)];
    known = std::max(known, at > opened_ ? seconds / (at - opened_) : 0);
  }
  Window& window = windows_.emplace_back();
  window.end = at;
  window.waited.assign(longest.begin(), longest.end());
  if (longest.size() > 1) {
    std::map<std::uint32_t, ResourceIndex> first;  // by who waits: the first for which it does
    for (const auto& [who, seconds] : waited_) {
      const auto full = static_cast<ResourceIndex>(who >> 32U);
      const auto [known, is_new] = first.emplace(static_cast<std::uint32_t>(who), full);
      if (!is_new) window.together.emplace_back(std::minmax(known->second, full));
    }
    std::ranges::sort(window.together);
    const auto rest = std::ranges::unique(window.together);
    window.together.erase(rest.begin(), rest.end());
  }
  waited_.clear();
  opened_ = at;
}

double HarmLedger::worst(const Window& window, std::span<const ResourceIndex> resources) {
  double worst = 0;
  for (const ResourceIndex resource : resources) {
    const auto found = std::ranges::lower_bound(window.waited, resource, {}, &std::pair<ResourceIndex, double>::first);
    if (found != window.waited.end() && found->first == resource) worst = std::max(worst, found->second);
  }
  return worst;
}

bool HarmLedger::congested_after(std::span<const ResourceIndex> resources, std::size_t windows, double margin) const {
  unsigned harmful = 0;
  for (std::size_t back = 1; back <= std::min<std::size_t>(windows, kHarmWindows); ++back)
    harmful += worst(windows_[windows - back], resources) >= harm_ * margin;
  return harmful >= kHarmSweeps || mean_wait(resources, windows) >= harm_ * margin;
}

double HarmLedger::mean_wait(std::span<const ResourceIndex> resources, std::size_t windows) const {
  double sum = 0;
  for (std::size_t back = 1; back <= std::min<std::size_t>(windows, kLongHarmWindows); ++back)
    sum += worst(windows_[windows - back], resources);
  return sum / kLongHarmWindows;
}

bool HarmLedger::congested(std::span<const ResourceIndex> resources, double at) const {
  const auto end = std::ranges::upper_bound(windows_, at, {}, &Window::end);
  const auto windows = static_cast<std::size_t>(end - windows_.begin());
  // Windows end where sweeps begin, and nodes are read in the course of them: the last readings are of the next window.
  return congested_after(resources, windows) || (windows < windows_.size() && congested_after(resources, windows + 1));
}

bool HarmLedger::ever_congested(std::span<const ResourceIndex> resources, double from, double to) const {
  for (std::size_t windows = 1; windows <= windows_.size(); ++windows) {
    const double end = windows_[windows - 1].end;
    if (end > from && end <= to && congested_after(resources, windows)) return true;
  }
  return false;
}

std::vector<Episode> HarmLedger::episodes(unsigned least, double margin) const {
  struct Run {
    ResourceIndex resource;
    std::size_t first, last;  // windows
    double wait = 0;
  };
  // Which windows each was full in, then the runs of windows after which it was real congestion.
  std::map<ResourceIndex, std::vector<std::size_t>> full;
  for (std::size_t window = 0; window < windows_.size(); ++window)
    for (const auto& [resource, share] : windows_[window].waited)
      if (resource < ports_ && share > 0) full[resource].push_back(window);
  std::vector<Run> runs;
  for (const auto& [resource, seen] : full) {
    std::optional<Run> run;
    const auto finish = [&] {
      if (run && run->last - run->first + 1 >= least) runs.push_back(*run);
      run.reset();
    };
    std::size_t next = 0;
    for (const std::size_t at : seen)
      for (next = std::max(next, at); next < std::min(at + kHarmWindows, windows_.size()); ++next) {
        if (!congested_after({&resource, 1}, next + 1, margin)) continue;
        if (run && next > run->last + kLongHarmWindows) finish();
        if (!run) run = Run{resource, next, next, 0};
        run->last = next;
        run->wait = std::max(run->wait, mean_wait({&resource, 1}, next + 1));
      }
    finish();
  }
  // Runs at the same time that hold up the same are one.
  std::vector<std::size_t> tree(runs.size());
  std::iota(tree.begin(), tree.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (tree[i] != i) i = tree[i];
    return i;
  };
  const auto share_waiters = [&](const Run& a, const Run& b) {
    const std::pair<ResourceIndex, ResourceIndex> both = std::minmax(a.resource, b.resource);
    for (std::size_t window = std::max(a.first, b.first); window <= std::min(a.last, b.last); ++window)
      if (std::ranges::binary_search(windows_[window].together, both)) return true;
    return a.resource == b.resource && a.first <= b.last && b.first <= a.last;
  };
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = i + 1; j < runs.size(); ++j)
      if (root(i) != root(j) && share_waiters(runs[i], runs[j])) tree[root(j)] = root(i);
  std::map<std::size_t, Episode> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto [known, is_new] = found.try_emplace(root(i));
    Episode& episode = known->second;
    const double from = windows_[runs[i].first].end;
    episode.from = is_new ? from : std::min(episode.from, from);
    episode.to = std::max(episode.to, windows_[runs[i].last].end);
    episode.resources.push_back(runs[i].resource);
    episode.wait = std::max(episode.wait, runs[i].wait);
  }
  std::vector<Episode> episodes;
  for (auto& [tree_root, episode] : found) {
    std::ranges::sort(episode.resources);
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

std::vector<ResourceIndex> resources_of(const Plan& plan, const Place& place, bool receiving) {
  std::vector<ResourceIndex> resources;
  const auto add = [&](PortIndex port) {
    const PortIndex peer = plan.ports[port].peer;
    if (peer == kNoIndex) return;
    const std::uint32_t endpoint = plan.endpoint_at(port);
    if (receiving) {
      if (endpoint != kNoIndex) resources.push_back(static_cast<ResourceIndex>(plan.ports.size()) + endpoint);
      return;
    }
    resources.push_back(port);
    resources.push_back(peer);
  };
  for (NodeIndex node = 0; node < plan.nodes.size(); ++node) {
    const Node& here = plan.nodes[node];
    if (here.guid != place.a.node && here.guid != place.b.node) continue;
    for (PortIndex port = here.first_port; port < here.first_port + here.port_entries(); ++port) {
      if (place.kind == EntityKind::kNode) {
        // A switch is blamed for its links to other switches.
        if (plan.tiers[node] == Tier::kAdapter || plan.endpoint_at(port) == kNoIndex) add(port);
      } else if (plan.key_of(port) == place.a || plan.key_of(port) == place.b) {
        add(port);
      }
    }
  }
  return resources;
}

}  // namespace weft::scenarios
