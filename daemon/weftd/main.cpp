// weftd: reads its configuration, then runs.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "daemon/config/load.hpp"
#include "daemon/config/reference.hpp"
#include "daemon/weftd/application.hpp"
#include "daemon/weftd/logging.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

/// gRPC 1.51 stops listening for good when accept() finds no free descriptor, and a shell's usual 1024 are soon gone.
void allow_many_descriptors() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(kEnough, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);  // what is refused stays as it was
}

}  // namespace

int main(int argc, char** argv) {
  allow_many_descriptors();
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // what goes wrong with a listener is said by us, once
  CLI::App app{
      "weftd watches InfiniBand subnets: it finds failed, flapping and degrading links and serves what it knows over "
      "gRPC,\n"
      "Prometheus, JSON and a web page."};
  app.set_version_flag("--version", WEFT_VERSION);
  app.footer(
      "Every key of the configuration file is also a flag. With no file and no flags weftd watches every active "
      "InfiniBand\n"
      "port of this machine. Exit codes: 0 stopped, 1 cannot run, 2 wrong configuration or usage.");
  std::string file;
  bool check = false, reference = false, example = false;
  app.add_option("--config", file, "Configuration file (default: /etc/weft/weftd.toml if it exists)")
      ->type_name("FILE");
  app.add_flag("--check-config", check, "Report everything that is wrong with the configuration and exit");
  app.add_flag("--config-reference", reference, "Print the reference of all keys as Markdown and exit");
  app.add_flag("--config-example", example, "Print a configuration file with every key at its default and exit");
  std::map<std::string, std::string> given;
  for (const auto& key : weft::config::describe_keys()) {
    std::string names;
    for (const std::string& flag : key.flags) names += (names.empty() ? "" : ",") + flag;
    app.add_option_function<std::string>(
           names, [&given, name = key.name](const std::string& text) { given[name] = text; },
           key.help + " (default: " + key.default_text + ")")
        ->type_name(key.type)
        ->group(key.name.find('.') == std::string::npos ? "Options" : key.name.substr(0, key.name.find('.')));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (reference) std::cout << weft::config::reference_document();
  if (example) std::cout << weft::config::example_config();
  if (reference || example) return 0;

  std::vector<weft::config::FlagSetting> flags;
  for (const auto& [key, text] : given) flags.push_back({key, text});
  constexpr const char* kUsualFile = "/etc/weft/weftd.toml";
  if (file.empty() && std::filesystem::exists(kUsualFile)) file = kUsualFile;
  const auto outcome =
      weft::config::load(file.empty() ? std::nullopt : std::optional<std::filesystem::path>(file), flags);
  if (!outcome.errors.empty()) {
    std::cerr << weft::config::print(outcome.errors);
    return 2;
  }
  if (check) {
    std::cout << (file.empty() ? "The configuration" : file) << " is good.\n";
    return 0;
  }
  weft::daemon::set_log_level(outcome.config.log_level);
  const auto ended = weft::daemon::run(outcome.config);
  if (ended) return 0;
  std::cerr << "weftd: " << ended.error().message << '\n';
  return ended.error().code == weft::ErrorCode::kInvalidArgument ? 2 : 1;
}
