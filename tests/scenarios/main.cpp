// SPDX-License-Identifier: Apache-2.0
// weft_scenarios: runs scenarios and reports how well the analyzer judged them. See README.md; tests/scenarios/run
// builds and starts it.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/habits.hpp"
#include "tests/scenarios/report.hpp"
#include "tests/scenarios/scenario_file.hpp"
#include "tests/scenarios/timeline.hpp"

namespace weft::scenarios {
namespace {

struct Options {
  std::string seeds;
  bool quick = false;
  std::vector<std::string> only;
  std::vector<std::string> files;
  std::string json;
  std::string plot;
  bool wrong = false;
  bool table = false;
  std::string before;
  std::uint64_t days = 2;
  bool timeline = false;
};

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

bool parse(const std::string& text, Seeds& seeds) {
  unsigned long long first = 0;
  unsigned long long last = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%llu-%llu%c", &first, &last, &rest) != 2 || first > last || last - first > 1000000)
    return false;
  seeds = {first, last};
  return true;
}

struct Errand {
  std::string group;
  std::uint64_t seed = 0;
  const Case* written = nullptr;  ///< of a file, instead of a generated one
};

std::vector<Outcome> run(const std::vector<Errand>& errands, Scale scale) {
  std::vector<Outcome> outcomes(errands.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto began = std::chrono::steady_clock::now();
  std::mutex speaking;
  auto spoken = began;
  const auto work = [&] {
    for (std::size_t i = next++; i < errands.size(); i = next++) {
      if (const Case* written = errands[i].written) {
        outcomes[i] = judge(written->scenario, written->plan);
      } else {
        const Case made = generate(errands[i].group, errands[i].seed, scale);
        outcomes[i] = judge(made.scenario, made.plan);
      }
      const std::size_t ready = ++done;
      const std::lock_guard lock(speaking);
      const auto now = std::chrono::steady_clock::now();
      if (now - spoken < std::chrono::seconds(5)) continue;
      spoken = now;
      std::fprintf(stderr, "%zu of %zu scenarios, %.0f s\n", ready, errands.size(),
                   std::chrono::duration<double>(now - began).count());
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  }
  std::fprintf(stderr, "%zu scenarios in %.0f s\n", errands.size(),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return outcomes;
}

void show_wrong(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    for (const Alarm& alarm : outcome.alarms)
      if (!alarm.justified)
        std::printf("%s at %.1f s: %s %s: %s\n", outcome.name.c_str(), alarm.at,
                    alarm.unplanted ? "unplanted but real" : "false alarm", to_string(alarm.kind),
                    alarm.summary.c_str());
    for (const Verdict& verdict : outcome.verdicts)
      if (!verdict.found || !verdict.culprit_first || !verdict.right_kind)
        std::printf("%s: %s %s\n", outcome.name.c_str(), to_string(verdict.fault),
                    !verdict.found           ? "was missed"
                    : !verdict.culprit_first ? "was blamed on somebody else first"
                                             : "was called by another name");
    for (const Verdict& verdict : outcome.verdicts)
      if (!verdict.joint && verdict.found && verdict.culprit_first && verdict.right_kind)
        std::printf("%s: the first alarm about %s was not the right one\n", outcome.name.c_str(),
                    to_string(verdict.fault));
    for (const Alarm& alarm : outcome.alarms)
      if (alarm.repeated)
        std::printf("%s at %.1f s: repeated %s: %s\n", outcome.name.c_str(), alarm.at, to_string(alarm.kind),
                    alarm.summary.c_str());
    for (const AdviceVerdict& verdict : outcome.advice)
      if (!verdict.right)
        std::printf("%s: %s\n", outcome.name.c_str(),
                    verdict.given ? ("wrong advice: " + verdict.said).c_str() : "no advice was given");
    for (const HangVerdict& verdict : outcome.hangs)
      if (!verdict.named || verdict.wrong || verdict.incidents > 1)
        std::printf("%s: the hang was %s%s, of %u incidents\n", outcome.name.c_str(),
                    verdict.named ? "named" : "not named", verdict.wrong ? " and blamed on another" : "",
                    verdict.incidents);
    for (const Unplanted& truth : outcome.unplanted)
      if (!truth.found)
        std::printf("%s from %.1f to %.1f s: congestion at %s that nobody planted was missed, it held up %.2f\n",
                    outcome.name.c_str(), truth.from, truth.to, truth.where.c_str(), truth.wait);
  }
}

std::vector<std::string> all_groups() {
  std::vector<std::string> all = groups();
  all.insert(all.end(), further_groups().begin(), further_groups().end());
  return all;
}

bool save(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "can not write %s\n", path.c_str());
  return static_cast<bool>(file);
}

int run(const Options& options) {
  Seeds seeds{1, options.quick ? 4U : 40U};
  if (!options.seeds.empty() && !parse(options.seeds, seeds)) {
    std::fprintf(stderr, "--seeds wants two numbers, the smaller one first: 1-40\n");
    return 2;
  }
  std::string before;
  if (!options.before.empty()) {
    std::ifstream file(options.before);
    if (!file) {
      std::fprintf(stderr, "%s can not be read\n", options.before.c_str());
      return 2;
    }
    std::ostringstream text;
    text << file.rdbuf();
    before = text.str();
  }
  std::vector<Case> written;
  for (const std::string& path : options.files) {
    auto read = read_scenario(path);
    if (!read) {
      std::fprintf(stderr, "%s\n", read.error().message.c_str());
      return 2;
    }
    written.push_back(std::move(*read));
  }
  if (options.timeline) {
    for (const Case& scenario : written)
      if (const auto done = write_timeline(scenario, std::cout); !done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return 2;
      }
    return std::cout.flush() ? 0 : 1;
  }
  std::vector<Errand> errands;
  for (const Case& scenario : written) errands.push_back({"file", scenario.scenario.seed, &scenario});
  if (options.files.empty() || !options.only.empty())
    for (const std::string& group : !options.only.empty() ? options.only : options.table ? all_groups() : groups())
      for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
        if (!is_whole_day(group) || seed < seeds.first + options.days) errands.push_back({group, seed, nullptr});
  const std::vector<Outcome> outcomes = run(errands, options.quick ? Scale::kSmall : Scale::kMixed);
  const Report report = summarise(outcomes, std::to_string(seeds.first) + "-" + std::to_string(seeds.last));
  if (options.wrong) show_wrong(outcomes);
  const bool saved = save(options.json, to_json(report, outcomes)) && save(options.plot, to_svg(report));
  std::string shown = table(report);
  if (options.table) {
    auto made = markdown(report, before);
    if (!made) {
      std::fprintf(stderr, "%s: %s\n", options.before.c_str(), made.error().message.c_str());
      return 2;
    }
    shown = std::move(*made);
  }
  std::fputs(shown.c_str(), stdout);
  std::puts(last_line(report).c_str());
  return saved ? 0 : 1;
}

}  // namespace
}  // namespace weft::scenarios

int main(int argc, char** argv) {
  using namespace weft::scenarios;
  Options options;
  CLI::App app("Runs scenarios of a simulated fabric through the analyzer and reports how well it judged them.");
  app.add_option("--seeds", options.seeds, "seeds of each group, A-B (1-40; 1-4 with --quick)");
  app.add_flag("--quick", options.quick, "few and small scenarios");
  app.add_option("--only", options.only, "groups of scenarios, e.g. quiet,link_down")
      ->delimiter(',')
      ->check(CLI::IsMember(all_groups()));
  CLI::Option* files =
      app.add_option("--file", options.files, "scenario files instead of generated ones; see README.md");
  app.add_option("--json", options.json, "writes all figures there, and each scenario that was misjudged");
  app.add_option("--plot", options.plot, "writes an SVG there");
  app.add_flag("--table", options.table,
               "all groups, those with assumptions and those of everyday work too, as the table of README.md");
  app.add_option("--before", options.before,
                 "figures that --json wrote before, for columns of --table beside those of now");
  app.add_option("--days", options.days, "seeds of the groups that are whole days; each takes a minute");
  app.add_flag("--wrong", options.wrong, "prints each false alarm and each truth that was missed");
  app.add_flag("--timeline", options.timeline,
               "prints what the files' ports show at each sweep, and what is said of it")
      ->needs(files);
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
