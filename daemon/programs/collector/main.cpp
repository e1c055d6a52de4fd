// SPDX-License-Identifier: Apache-2.0
// weft-collector: reads its configuration, then runs, or prints one reading.

#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <iostream>
#include <utility>
#include <vector>

#include "api/access/own_certificate.hpp"
#include "daemon/config/command_line.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/regular_file.hpp"
#include "daemon/programs/collector/application.hpp"
#include "daemon/programs/collector/manual.hpp"
#include "daemon/programs/collector/reading_json.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using weft::config::CollectorConfig;

/// Every counter in sysfs is a file that stays open; a host with many virtual functions has thousands.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // what is refused stays as it was
}

int print_reading(const CollectorConfig& config) {
  weft::HostReader reader(weft::collector::reader_options(config));
  weft::HostReading reading = reader.read(weft::SystemClock().now());
  reading.jobs = weft::collector::find_jobs(weft::collector::job_options(config)).jobs;
  std::cout << weft::collector::to_json(weft::collector::node_name(config), reading) << '\n';
  return std::cout.good() ? 0 : 1;
}

/// What is wrong with the files that the configuration names. That of jobs may come and go.
std::vector<weft::Error> check_named_files(const CollectorConfig& config, const weft::config::Doubts&) {
  constexpr std::size_t kMostBytes = 1UL << 20;
  std::vector<weft::Error> errors;
  const weft::config::Analyzer& to = config.analyzer;
  for (const auto& [key, path] :
       {std::pair{"analyzer.authorities: ", to.authorities}, std::pair{"analyzer.certificate: ", to.certificate},
        std::pair{"analyzer.key: ", to.key}, std::pair{"analyzer.token_file: ", to.token_file}})
    if (!path.empty())
      if (const auto read = weft::runtime::read_regular(path, kMostBytes); !read)
        errors.push_back({read.error().code, key + read.error().message});
  // A token is needed once, and may come later.
  const std::filesystem::path& token_file = config.analyzer.enroll_token_file;
  if (std::error_code ignored; !token_file.empty() && std::filesystem::exists(token_file, ignored)) {
    const auto text = weft::runtime::read_regular(token_file, kMostBytes);
    if (!text)
      errors.push_back(text.error());
    else if (const auto token = weft::api::access::parse_enroll_text(*text);
             !token && !weft::api::access::is_no_token(*text))
      errors.push_back({token.error().code, token_file.string() + ": " + token.error().message});
  }
  return errors;
}

weft::config::CommandLine<CollectorConfig> read_command_line(int argc, char** argv, bool& once) {
  CLI::App app{
      "weft-collector reads what the fabric does to this host (RDMA errors, PFC, ECN, pauses, discards, optics, link "
      "events), shows it on /metrics and tells it to weftd."};
  app.set_version_flag("--version", WEFT_VERSION);
  app.footer(
      "Every key of the configuration file is also a flag. Exit codes: 0 stopped, 1 cannot run, 2 wrong configuration "
      "or usage.");
  app.add_flag("--once", once, "Print one reading as JSON and exit");
  return weft::config::read_command_line<CollectorConfig>(app, argc, argv, weft::collector::manual(WEFT_VERSION),
                                                          check_named_files, &once);
}

}  // namespace

int main(int argc, char** argv) {
  bool once = false;
  const auto command = read_command_line(argc, argv, once);
  if (command.exit) return *command.exit;
  ::malloc_trim(0);  // the schema and the parser are done with
  allow_many_descriptors();
  weft::daemon::set_log_level(command.config.log_level);
  if (once) return print_reading(command.config);
  const auto ended = weft::collector::Application(command.config, WEFT_VERSION).run();
  if (ended) return 0;
  std::cerr << "weft-collector: " << ended.error().message << '\n';
  return ended.error().code == weft::ErrorCode::kInvalidArgument ? 2 : 1;
}
