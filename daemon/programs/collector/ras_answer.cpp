// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/ras_answer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::collector {
namespace {

/// Of one communicator, and hosts of one answer: no job has more.
constexpr std::size_t kMostRanks = 1 << 17;
constexpr std::size_t kMostHosts = 1 << 16;
constexpr std::size_t kLongestHost = 64;
/// NCCL has so many levels of objects and arrays.
constexpr std::size_t kDeepest = 16;

/// Adds up what is wrong, the worst of each host.
class RankVerdict {
 public:
  void add(RankTrouble trouble, std::optional<std::uint32_t> rank, std::string_view host) {
    // Of whom nothing is known but a number nobody can be named.
    if (host.empty() || host == "unknown" || host.size() > kLongestHost || host.find(' ') != std::string_view::npos)
      return;
    const auto found = hosts_.find(host);
    if (found == hosts_.end()) {
      if (hosts_.size() < kMostHosts) hosts_.emplace(host, StuckRank{trouble, rank, std::string(host)});
    } else if (trouble > found->second.trouble || (trouble == found->second.trouble && !found->second.rank)) {
      found->second.trouble = trouble;
      if (rank) found->second.rank = rank;
    }
  }
  void count(std::uint64_t ranks) {
    answer_.ranks = std::max(answer_.ranks, static_cast<std::uint32_t>(std::min<std::uint64_t>(ranks, kMostRanks)));
  }
  StuckRanks finish() && {
    for (auto& [host, rank] : hosts_) answer_.stuck.push_back(std::move(rank));
    std::ranges::stable_sort(answer_.stuck, std::ranges::greater{}, &StuckRank::trouble);
    return std::move(answer_);
  }

 private:
  StuckRanks answer_;
  std::map<std::string, StuckRank, std::less<>> hosts_;
};

/// Reads the JSON as it comes: a whole tree of it would be some hundred megabytes on a host that computes.
class StatusReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit StatusReader(RankVerdict& verdict) : verdict_(verdict) {}

  bool is_complete() const { return has_communicators_ && has_ras_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (in({"communicators", "missing_ranks", "status"})) {
      if (keys_.back() == "considered_dead") rank_.dead = value;
      if (keys_.back() == "unresponsive") rank_.silent = value;
    }
    return true;
  }
  bool number_integer(number_integer_t value) override {
    return value < 0 || number(static_cast<std::uint64_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override { return number(value); }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& value) override {
    if (in({"communicators", "ranks"}) || in({"communicators", "missing_ranks"}))
      if (keys_.back() == "host") rank_.host = value.substr(0, kLongestHost + 1);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    if (keys_.size() >= kDeepest) return false;
    if (path_is({"communicators"})) ranks_.clear();
    if (path_is({"communicators", "ranks"}) || path_is({"communicators", "missing_ranks"})) rank_ = {};
    has_ras_ |= path_is({"ras"});
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    keys_.back() = name.substr(0, kLongestHost);
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    if (path_is({"communicators", "ranks"})) {
      if (ranks_.size() >= kMostRanks) return false;
      ranks_.push_back(std::exchange(rank_, {}));
    }
    // One that is reached has left its communicator, or does not know it yet.
    if (path_is({"communicators", "missing_ranks"}) && (rank_.dead || rank_.silent))
      verdict_.add(rank_.dead ? RankTrouble::kDead : RankTrouble::kMissing, rank_.rank, rank_.host);
    if (path_is({"communicators"})) add_behind();
    return true;
  }
  bool start_array(std::size_t) override {
    if (keys_.empty() || keys_.size() >= kDeepest) return false;
    has_communicators_ |= keys_.size() == 1 && keys_.back() == "communicators";
    return true;
  }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Rank {
    std::optional<std::uint32_t> rank{};
    std::string host{};
    std::uint64_t launched = 0;
    bool dead = false;
    bool silent = false;
  };

  /// The keys of the objects that we are in, but the innermost one's.
  bool in(std::initializer_list<std::string_view> path) const {
    return keys_.size() == path.size() + 1 && std::equal(path.begin(), path.end(), keys_.begin());
  }
  /// The same where an object begins or has ended: all of them.
  bool path_is(std::initializer_list<std::string_view> path) const {
    return keys_.size() == path.size() && std::ranges::equal(path, keys_);
  }
  bool number(std::uint64_t value) {
    if (in({"communicators"}) && keys_.back() == "size") verdict_.count(value);
    if ((in({"communicators", "ranks"}) || in({"communicators", "missing_ranks"})) && keys_.back() == "rank" &&
        value <= UINT32_MAX)
      rank_.rank = static_cast<std::uint32_t>(value);
    // Nobody launches so many that the sum would wrap.
    if (in({"communicators", "ranks", "collective_counts"})) rank_.launched += value & (~std::uint64_t{0} >> 8);
    return true;
  }
  void add_behind() {
    if (ranks_.empty()) return;
    const auto [least, most] = std::ranges::minmax(ranks_, {}, &Rank::launched);
    if (least.launched == most.launched) return;
    const auto is_behind = [bound = least.launched](const Rank& rank) { return rank.launched == bound; };
    if (std::ranges::count_if(ranks_, is_behind) * 2 >= static_cast<std::ptrdiff_t>(ranks_.size())) return;
    for (const Rank& rank : ranks_)
      if (is_behind(rank)) verdict_.add(RankTrouble::kBehind, rank.rank, rank.host);
  }

  RankVerdict& verdict_;
  std::vector<std::string> keys_;
  std::vector<Rank> ranks_;
  Rank rank_;
  bool has_communicators_ = false;
  bool has_ras_ = false;
};

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The number behind `mark`.
std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const char* const begin = line.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> rank_in(std::string_view line) {
  const auto rank = number_behind(line, "Rank ");
  return rank && *rank <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*rank)) : std::nullopt;
}

std::string_view host_in(std::string_view line) {
  constexpr std::string_view kMark = " on node ";
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kMark.size());
  return line.substr(0, line.find(' '));
}

/// The last number of a line of numbers: how many GPUs the job has.
bool count_ranks(std::string_view line, RankVerdict& verdict) {
  if (line.find_first_not_of(" 0123456789") != std::string_view::npos) return false;
  line = line.substr(0, line.find_last_not_of(' ') + 1);
  const std::size_t blank = line.find_last_of(' ');
  std::uint64_t value = 0;
  const char* const begin = line.data() + (blank == std::string_view::npos ? 0 : blank + 1);
  if (const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value); error != std::errc())
    return false;
  verdict.count(value);
  return true;
}

/// Text is for people, and changes from release to release: processes and ranks that are missing or dead, and ranks
/// that are listed as those that have launched fewer operations than others.
Result<StuckRanks> parse_text(std::string_view text) {
  enum class Part : std::uint8_t { kNone, kIncomplete, kDead, kCounts };
  struct Launched {
    std::uint64_t operations = 0;
    std::optional<std::uint32_t> rank{};
    std::string_view host{};
  };
  RankVerdict verdict;
  Part part = Part::kNone;
  std::vector<Launched> launched;
  std::uint64_t operations = 0, most = 0;
  bool is_status = false, is_whole = false, has_count = false;
  const auto end_counts = [&] {
    for (const Launched& one : launched)
      if (one.operations < most) verdict.add(RankTrouble::kBehind, one.rank, one.host);
    launched.clear();
    operations = most = 0;
  };
  while (!text.empty()) {
    std::string_view line = next_line(text);
    is_status |= line.starts_with("Job summary");
    if (is_status && !is_whole && !has_count) has_count = count_ranks(line, verdict);
    is_whole |= line.starts_with("Communicators...");
    if (!line.starts_with(' ') && !line.empty()) {
      end_counts();
      part = line.ends_with("INCOMPLETE") ? Part::kIncomplete : line == "DEAD" ? Part::kDead : Part::kNone;
      continue;
    }
    if (line.find("have different") != std::string_view::npos) {
      end_counts();
      part = line.find("operation counts") != std::string_view::npos ? Part::kCounts : Part::kNone;
      continue;
    }
    if (part == Part::kIncomplete || part == Part::kDead) {
      const RankTrouble trouble = part == Part::kDead ? RankTrouble::kDead : RankTrouble::kMissing;
      if (!host_in(line).empty()) verdict.add(trouble, rank_in(line), host_in(line));
    }
    if (part != Part::kCounts) continue;
    if (const auto told = number_behind(line, "launched up to operation ")) operations = *told;
    if (line.find("not launched any operations") != std::string_view::npos) operations = 0;
    most = std::max(most, operations);
    if (!host_in(line).empty() && launched.size() < kMostRanks)
      launched.push_back({operations, rank_in(line), host_in(line)});
  }
  end_counts();
  if (!is_status || !is_whole) return fail(ErrorCode::kProtocol, "no status of NCCL's RAS, or not all of it");
  return std::move(verdict).finish();
}

}  // namespace

std::string ras_query() {
  return "CLIENT PROTOCOL 2\nTIMEOUT 5\nSET FORMAT json\nSTATUS\n";
}

Result<StuckRanks> parse_ras_answer(std::string_view answer) {
  if (!answer.starts_with("SERVER PROTOCOL ")) return fail(ErrorCode::kProtocol, "whoever answers is not NCCL's RAS");
  next_line(answer);
  // The answers to the other commands: OK, or ERROR where it is too old to know one.
  for (int i = 0; i < 2; ++i)
    if (answer.starts_with("OK") || answer.starts_with("ERROR")) next_line(answer);
  if (!answer.starts_with('{')) return parse_text(answer);
  RankVerdict verdict;
  StatusReader reader(verdict);
  if (!nlohmann::json::sax_parse(answer, &reader) || !reader.is_complete())
    return fail(ErrorCode::kProtocol, "a status of NCCL's RAS that cannot be read, or is not all of it");
  return std::move(verdict).finish();
}

}  // namespace weft::collector
