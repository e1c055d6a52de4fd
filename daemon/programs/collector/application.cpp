// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/application.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include "api/access/access.hpp"
#include "api/metrics/scrape.hpp"
#include "api/request/target.hpp"
#include "collectors/rdma/kernel_files.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/own_host.hpp"
#include "daemon/programs/collector/metrics_page.hpp"
#include "daemon/programs/collector/node_exporter_page.hpp"
#include "fabric/minute_text.hpp"

namespace weft::collector {
namespace {

namespace asio = boost::asio;

std::shared_ptr<spdlog::logger> log() {
  return daemon::logger("collector");
}

TimePoint wall_clock() {
  return SystemClock().now();
}
/// The beat is kept on a clock that nobody sets.
TimePoint beat_clock() {
  return TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

std::filesystem::path uplink_program(const config::Analyzer& analyzer) {
  if (!analyzer.uplink.empty()) return analyzer.uplink;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "weft-uplink";
}

std::uint64_t resident_bytes() {
  std::ifstream stream("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  stream >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// weftd hears of a renewal that fails while there is still time, and so does whoever asks it.
SourceStatus certificate_status(const uplink::UplinkReport& report) {
  if (report.certificate_trouble == 0) return {"certificate", true, ""};
  const TimePoint end(std::chrono::seconds(report.certificate_end));
  return {"certificate", false,
          "it is not renewed and ends at " + minute_text(end) + "; journalctl -u weft-collector has the reason"};
}

std::string describe(const LinkEvent& event) {
  std::string text = event.device;
  if (event.port != 0) text += " port " + std::to_string(event.port);
  if (!event.netdev.empty() && event.netdev != event.device) text += " (" + event.netdev + ')';
  text += event.up ? " is up" : " is down";
  if (event.administrative) text += " (administratively)";
  if (!event.reason.empty()) text += ": " + event.reason;
  return text;
}

}  // namespace

std::string node_name(const config::CollectorConfig& config) {
  if (!config.node_name.empty()) return config.node_name;
  const std::string name = runtime::own_host_name();
  return name.empty() ? "unknown" : name;
}

HostReaderOptions reader_options(const config::CollectorConfig& config) {
  HostReaderOptions options;
  options.sysfs_root = config.reading.sysfs_root;
  options.raw_names = config.reading.raw_names;
  if (!config.reading.interfaces.empty()) options.interfaces.emplace(config.reading.interfaces);
  options.sysfs = config.sources.sysfs;
  options.rdma_netlink = config.sources.rdma_netlink;
  options.rtnetlink = config.sources.rtnetlink;
  options.ethtool = config.sources.ethtool;
  options.dcb = config.sources.dcb;
  options.module = config.sources.module;
  options.lldp = config.sources.lldp;
  options.lldp_socket = config.reading.lldp_socket;
  options.kernel_log = config.sources.kernel_log;
  options.kernel_log_path = config.reading.kernel_log;
  options.lldp_interval = config.reading.lldp_interval;
  options.module_interval = config.reading.module_interval;
  options.rescan_interval = config.reading.rescan_interval;
  options.facts_interval = config.reading.facts_interval;
  return options;
}

JobOptions job_options(const config::CollectorConfig& config) {
  return {config.jobs.slurm, config.jobs.kubernetes, config.jobs.file, config.jobs.cgroup_root};
}

Application::Application(const config::CollectorConfig& config, std::string version)
    : config_(config),
      node_(node_name(config)),
      version_(std::move(version)),
      signals_(context_, SIGINT, SIGTERM),
      timer_(context_),
      events_(context_),
      reader_(reader_options(config)),
      http_(context_, [this](std::string_view target, api::MetricsFormat format) { return page(target, format); }),
      cadence_(beat_clock(), config.reading.interval),
      groups_(metric_groups(config.metrics.groups, MetricGroups::of_collector(), MetricGroups::of_collector())
                  .value_or(MetricGroups::of_collector())),
      view_(std::make_shared<HostView>()),
      ras_(context_, {config.jobs.nccl_ras, config.jobs.nccl_ras_address, config.jobs.nccl_ras_interval}) {
  if (const auto withheld = config.metrics.withheld()) moves_.emplace(*withheld);
  view_->host = node_;
  view_->collector_version = version_;
  view_->state = CollectorState::kConnected;
  view_->interval = config.reading.interval;
}

Result<void> Application::run() {
  if (auto listening = http_.listen(config_.listen.http.host, config_.listen.http.port); !listening) return listening;
  if (!config_.analyzer.address.empty())
    if (auto opened = open_uplink(); !opened) return opened;
  signals_.async_wait([this](boost::system::error_code error, int) {
    if (!error) context_.stop();
  });
  if (reader_.event_fd() >= 0) {
    events_.assign(::dup(reader_.event_fd()));
    listen_for_events();
  }
  log()->info("reading {} every {} ms; /metrics on port {}", node_,
              std::chrono::duration_cast<std::chrono::milliseconds>(config_.reading.interval).count(), http_.port());
  beat();
  context_.run();
  if (uplink_) uplink_->stop();
  log()->info("stopped");
  return {};
}

Result<void> Application::open_uplink() {
  auto spool = spool::SpoolWriter::open(config_.state_dir / "spool", config_.spool.max_bytes.value);
  if (!spool) return tl::unexpected(spool.error());
  spool_ = std::move(*spool);
  const spool::SpoolStats stats = spool_->stats();
  if (stats.pending != 0) log()->info("{} batches are waiting in the spool", stats.pending);
  if (stats.torn_bytes != 0) log()->warn("removed {} bytes of an incomplete record from the spool", stats.torn_bytes);
  if (stats.corrupt != 0) log()->warn("removed {} damaged segments of the spool", stats.corrupt);
  std::string analyzers;
  for (const std::string& address : config::format_peers(config_.analyzer.address))
    analyzers += (analyzers.empty() ? "" : ",") + address;
  const uplink::Options options{.spool = config_.state_dir / "spool",
                                .analyzers = analyzers,
                                .node_name = node_,
                                .interval = config_.reading.interval,
                                .reconnect_limit = config_.analyzer.reconnect_limit,
                                .log_level = config_.log_level,
                                .authorities = config_.analyzer.authorities,
                                .certificate = config_.analyzer.certificate,
                                .key = config_.analyzer.key,
                                .token_file = config_.analyzer.token_file,
                                .enroll_token_file = config_.analyzer.enroll_token_file,
                                .certificate_folder = config_.state_dir / "certificate"};
  uplink_.emplace(context_, uplink_program(config_.analyzer), options,
                  [this](const uplink::UplinkReport& report) { heard(report); });
  uplink_->start();
  return {};
}

void Application::arm() {
  timer_.expires_at(std::chrono::steady_clock::time_point(cadence_.due().time_since_epoch()));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) beat();
  });
}

void Application::beat() {
  const TimePoint began = beat_clock();
  const TimePoint due = cadence_.due();
  if (!cadence_.take(began)) return arm();
  figures_.missed_readings += static_cast<std::uint64_t>((cadence_.due() - due) / config_.reading.interval - 1);
  // First what was heard: it happened before.
  take_events();
  const TimePoint now = wall_clock();
  find_jobs(now);
  HostBatch batch;
  batch.reading = reader_.read(now);
  batch.reading->jobs = jobs_.jobs;
  if (!jobs_.status.name.empty()) batch.reading->sources.push_back(jobs_.status);
  ras_.look(*batch.reading, now);
  if (uplink_ && !config_.analyzer.enroll_token_file.empty())
    batch.reading->sources.push_back(certificate_status(uplink_->totals()));
  ++figures_.readings;
  figures_.last_reading_seconds = seconds(beat_clock() - began);
  figures_.reading_seconds += figures_.last_reading_seconds;
  put(batch, now);
  view_->heard = now;
  if (moves_) {
    moves_->update(*batch.reading, SystemClock().steady());
    view_->moved = moves_->moved();
  }
  view_->reading = std::make_shared<const HostReading>(std::move(*batch.reading));
  arm();
}

void Application::listen_for_events() {
  events_.async_wait(asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
    if (error) return;
    take_events();
    listen_for_events();
  });
}

void Application::take_events() {
  const TimePoint now = wall_clock();
  HostBatch batch;
  batch.events = reader_.take_events(now);
  if (batch.events.empty()) return;
  for (const LinkEvent& event : batch.events) log()->info("{}", describe(event));
  figures_.link_events += batch.events.size();
  put(batch, now);
}

void Application::find_jobs(TimePoint now) {
  const JobOptions options = job_options(config_);
  if (!options.slurm && !options.kubernetes && options.file.empty()) return;
  const Duration since = now - jobs_found_at_;
  if (since >= Duration::zero() && since < config_.jobs.interval) return;
  jobs_found_at_ = now;
  jobs_ = collector::find_jobs(options);
}

void Application::put(const HostBatch& batch, TimePoint now) {
  if (!spool_) return;
  if (spool_->wants_whole()) encoder_.restart();
  const auto body = encoder_.encode(batch);
  if (!body) {
    spool_->skip();
    return say_spool(body.error().message);
  }
  const auto appended = spool_->append(*body, now);
  say_spool(appended ? "" : appended.error().message);
  uplink_->wake();
}

/// Once when it begins, once when it is over.
void Application::say_spool(const std::string& trouble) {
  if (trouble.empty() == spool_trouble_.empty()) return;
  if (trouble.empty())
    log()->info("the spool is writable again; {} batches were lost so far", spool_->stats().unwritten);
  else
    log()->error("batches are being lost: {}", trouble);
  spool_trouble_ = trouble;
}

void Application::heard(const uplink::UplinkReport& report) {
  spool_->acknowledge(report.acknowledged);
  if (report.corrupt > corrupt_seen_) spool_->rotate();  // behind the damage nothing is read until a segment begins
  corrupt_seen_ = report.corrupt;
}

Result<std::string> Application::page(std::string_view target, api::MetricsFormat format) const {
  const auto asked = api::parse_target(target);
  if (!asked) return tl::unexpected(asked.error());
  const api::access::Permission* const route = api::access::find_route("GET", {"metrics"});
  if (const auto known = api::access::check_parameters(*route, asked->query); !known)
    return tl::unexpected(known.error());
  const auto scrape =
      api::scrape_of(api::MetricsProgram::kCollector, groups_, asked->collect, asked->parameter("names"));
  if (!scrape) return tl::unexpected(scrape.error());
  if (scrape->names == api::MetricNames::kNodeExporter) {
    if (!config_.sources.sysfs)
      return fail(ErrorCode::kInvalidArgument, "names=node_exporter needs sources.sysfs, which is off");
    return node_exporter_page(rdma::read_kernel_files(config_.reading.sysfs_root), format, scrape->groups);
  }
  OwnFigures figures = figures_;
  figures.processor_seconds = processor_seconds();
  figures.resident_bytes = resident_bytes();
  if (spool_) figures.spool = spool_->stats();
  if (uplink_) {
    figures.uplink = uplink_->totals();
    figures.uplink_starts = uplink_->starts();
    figures.analyzers = config::format_peers(config_.analyzer.address);
  }
  return metrics_page(view_, figures, api::ScrapeTime::of(SystemClock()), format, scrape->groups);
}

}  // namespace weft::collector
