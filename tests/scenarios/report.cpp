// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/scenarios/generate.hpp"

namespace weft::scenarios {
namespace {

constexpr double kPortDays = 100'000;

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

/// Losses below this share of the packets are as rare as those of a healthy path.
constexpr double kPlainLoss = 1e-6;

bool is_loss(FaultKind fault) {
  return fault == FaultKind::kLossOnLink || fault == FaultKind::kLossInSwitch;
}

void add(Row& row, const Outcome& outcome) {
  ++row.scenarios;
  row.port_days += outcome.port_days;
  row.without_effect += outcome.without_effect;
  for (const Unplanted& truth : outcome.unplanted)
    for (Share* share : {&row.joint, &row.unplanted_found}) {
      ++share->whole;
      share->part += truth.found;
    }
  for (const Alarm& alarm : outcome.alarms) {
    ++row.strict.whole;
    row.strict.part += (alarm.justified || alarm.unplanted) && !alarm.repeated;
    row.repeated += alarm.repeated;
    if (alarm.unplanted) {
      ++row.unplanted;
      continue;
    }
    ++row.precision.whole;
    if (alarm.justified)
      ++row.precision.part;
    else
      ++row.false_alarms;
  }
  for (const AdviceVerdict& verdict : outcome.advice) {
    ++row.advice.whole;
    row.advice.part += verdict.right;
    ++row.clear.whole;
    row.clear.part += verdict.clear;
    row.clear_right.whole += verdict.clear;
    row.clear_right.part += verdict.clear && verdict.right;
  }
  for (const HangVerdict& verdict : outcome.hangs) {
    ++row.hangs.whole;
    row.hangs.part += verdict.named;
    ++row.wrong_hangs.whole;
    row.wrong_hangs.part += verdict.wrong;
    ++row.single_hangs.whole;
    row.single_hangs.part += verdict.incidents <= 1;
    if (verdict.named) row.hang_delays.push_back(verdict.delay);
  }
  for (const Verdict& verdict : outcome.verdicts) {
    ++row.recall.whole;
    if (is_loss(verdict.fault) && verdict.amount >= kPlainLoss) {
      ++row.plain_losses.whole;
      row.plain_losses.part += verdict.found;
    }
    ++row.joint.whole;
    row.joint.part += verdict.joint;
    ++row.wrong_blame.whole;
    row.wrong_blame.part += verdict.wrong_blame;
    if (!verdict.found) continue;
    row.alarms_about += verdict.alarms;
    ++row.recall.part;
    ++row.culprit.whole;
    ++row.kind.whole;
    row.culprit.part += verdict.culprit_first;
    row.kind.part += verdict.right_kind;
    row.delays.push_back(verdict.delay);
    if (verdict.hard) row.hard_delays.push_back(verdict.delay);
  }
}

std::string cell(const Share& share) {
  if (share.whole == 0) return format("%-19s", "-");
  const Interval interval = share.interval();
  return format("%.3f %.3f-%.3f  ", share.value(), interval.low, interval.high);
}

std::string line(const Row& row) {
  const Interval alarms = row.alarm_interval();
  std::string text = format("%-18s%6llu  ", row.group.c_str(), static_cast<unsigned long long>(row.scenarios));
  text += cell(row.precision) + cell(row.recall) + cell(row.culprit) + cell(row.kind);
  const double median = quantile(row.delays, 0.5);
  const double high = quantile(row.delays, 0.95);
  text += row.delays.empty() ? format("%6s %6s ", "-", "-") : format("%6.1f %6.1f ", median, high);
  const auto share = [](const Share& of) {
    return of.whole == 0 ? std::string("     -") : format("%6.3f", of.value());
  };
  text += cell(row.joint) + share(row.wrong_blame) + share(row.strict) + share(row.unplanted_found);
  text += row.recall.part == 0 ? format("%7s ", "-") : format("%7.2f ", row.alarms_per_truth());
  text += format("%6llu %6llu %6llu %10.0f (%.0f-%.0f)\n", static_cast<unsigned long long>(row.without_effect),
                 static_cast<unsigned long long>(row.unplanted), static_cast<unsigned long long>(row.false_alarms),
                 row.alarm_rate(), alarms.low, alarms.high);
  return text;
}

nlohmann::json to_json(const Share& share) {
  nlohmann::json json{{"part", share.part}, {"whole", share.whole}};
  if (share.whole == 0) return json;
  const Interval interval = share.interval();
  json["value"] = share.value();
  json["interval"] = {interval.low, interval.high};
  return json;
}

nlohmann::json to_json(const Row& row) {
  const Interval alarms = row.alarm_interval();
  nlohmann::json json{{"group", row.group},
                      {"scenarios", row.scenarios},
                      {"precision", to_json(row.precision)},
                      {"recall", to_json(row.recall)},
                      {"culprit", to_json(row.culprit)},
                      {"kind", to_json(row.kind)},
                      {"false_alarms", row.false_alarms},
                      {"unplanted_but_real", row.unplanted},
                      {"planted_without_effect", row.without_effect},
                      {"port_days", row.port_days},
                      {"joint", to_json(row.joint)},
                      {"wrong_blame", to_json(row.wrong_blame)},
                      {"unplanted_recall", to_json(row.unplanted_found)},
                      {"strict_precision", to_json(row.strict)},
                      {"recall_of_losses_from_1e-6", to_json(row.plain_losses)},
                      {"right_advice", to_json(row.advice)},
                      {"clear_advice", to_json(row.clear)},
                      {"right_of_clear_advice", to_json(row.clear_right)},
                      {"named_hangs", to_json(row.hangs)},
                      {"wrong_hangs", to_json(row.wrong_hangs)},
                      {"hangs_of_one_incident", to_json(row.single_hangs)},
                      {"repeated_alarms", row.repeated},
                      {"alarms_about_found_truths", row.alarms_about},
                      {"false_alarms_per_100k_port_days", row.alarm_rate()},
                      {"false_alarms_per_100k_port_days_interval", {alarms.low, alarms.high}}};
  if (!row.delays.empty()) {
    json["delay_samples_median"] = quantile(row.delays, 0.5);
    json["delay_samples_95"] = quantile(row.delays, 0.95);
  }
  if (!row.hard_delays.empty()) json["hard_delay_samples_median"] = quantile(row.hard_delays, 0.5);
  return json;
}

}  // namespace

double Row::alarms_per_truth() const {
  return recall.part == 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(alarms_about) / static_cast<double>(recall.part);
}

double Row::alarm_rate() const {
  return port_days > 0 ? static_cast<double>(false_alarms) / port_days * kPortDays
                       : std::numeric_limits<double>::quiet_NaN();
}

Interval Row::alarm_interval() const {
  const Interval count = poisson_interval(false_alarms);
  const double scale = port_days > 0 ? kPortDays / port_days : std::numeric_limits<double>::infinity();
  return {count.low * scale, count.high * scale};
}

Report summarise(const std::vector<Outcome>& outcomes, std::string seeds) {
  Report report;
  report.seeds = std::move(seeds);
  report.all.group = "all";
  const auto row_of = [&](const std::string& group) -> Row& {
    const auto found = std::ranges::find(report.rows, group, &Row::group);
    if (found != report.rows.end()) return *found;
    report.rows.emplace_back().group = group;
    return report.rows.back();
  };
  for (const auto* names : {&groups(), &further_groups()})
    for (const std::string& group : *names)
      if (std::ranges::any_of(outcomes, [&](const Outcome& outcome) { return outcome.group == group; })) row_of(group);
  for (const Outcome& outcome : outcomes) {
    add(row_of(outcome.group), outcome);
    add(report.all, outcome);
  }
  return report;
}

std::string advice_table(const Report& report) {
  if (report.all.advice.whole == 0) return {};
  std::string text =
      "\n| group | links | right first advice | clear | right where clear |\n| --- | --: | --: | --: | --: |\n";
  const auto share = [](const Share& of) {
    return of.whole == 0 ? std::string("-")
                         : format("%.3f (%.2f-%.2f)", of.value(), of.interval().low, of.interval().high);
  };
  const auto add_row = [&](const Row& row) {
    if (row.advice.whole == 0) return;
    text +=
        format("| %s | %llu | %s | %s | %s |\n", row.group.c_str(), static_cast<unsigned long long>(row.advice.whole),
               share(row.advice).c_str(), share(row.clear).c_str(), share(row.clear_right).c_str());
  };
  for (const Row& row : report.rows) add_row(row);
  add_row(report.all);
  return text;
}

std::string hang_table(const Report& report) {
  if (report.all.hangs.whole == 0) return {};
  std::string text =
      "\n| group | hangs | named with the suspect | another named | one incident | delay, median s |\n| --- | --: | "
      "--: "
      "| --: | --: | --: |\n";
  const auto add_row = [&](const Row& row) {
    if (row.hangs.whole == 0) return;
    text += format("| %s | %llu | %.3f (%.2f-%.2f) | %.3f | %.3f | %.0f |\n", row.group.c_str(),
                   static_cast<unsigned long long>(row.hangs.whole), row.hangs.value(), row.hangs.interval().low,
                   row.hangs.interval().high, row.wrong_hangs.value(), row.single_hangs.value(),
                   quantile(row.hang_delays, 0.5));
  };
  for (const Row& row : report.rows) add_row(row);
  add_row(report.all);
  return text;
}

std::string table(const Report& report) {
  std::string text =
      format("seeds %s; shares with the 95 %% interval of Wilson, alarms with the exact one of Poisson\n",
             report.seeds.c_str());
  text += format("%-18s%6s  %-19s%-19s%-19s%-19s%6s %6s %-19s%6s%6s%6s%7s %6s %6s %6s %s\n", "group", "runs",
                 "precision", "recall", "culprit", "kind", "delay", "95 %", "joint", "wrong", "once", "unpl.", "alarms",
                 "mute", "real", "false", "per 100,000 port-days");
  for (const Row& row : report.rows) text += line(row);
  return text + line(report.all) + advice_table(report) + hang_table(report);
}

Result<std::string> markdown(const Report& report, std::string_view before) {
  nlohmann::json earlier;
  if (!before.empty()) {
    earlier = nlohmann::json::parse(before, nullptr, false);
    if (!earlier.is_object() || !earlier.contains("all"))
      return fail(ErrorCode::kInvalidArgument, "the figures of before are none that --json wrote");
  }
  const auto row_before = [&](const std::string& group) {
    if (group == "all") return earlier.value("all", nlohmann::json::object());
    for (const auto& row : earlier.value("groups", nlohmann::json::array()))
      if (row.value("group", "") == group) return row;
    return nlohmann::json::object();
  };
  const auto value_before = [](const nlohmann::json& row, const char* key) {
    const nlohmann::json share = row.value(key, nlohmann::json::object());
    return share.contains("value") ? format(" %.3f |", share.value("value", 0.0)) : std::string(" - |");
  };
  const auto share = [](const Share& of) {
    if (of.whole == 0) return std::string(" - |");
    const Interval interval = of.interval();
    return format(" %.3f (%.2f-%.2f) |", of.value(), interval.low, interval.high);
  };
  const auto plain = [](const Share& of) {
    return of.whole == 0 ? std::string(" - |") : format(" %.3f |", of.value());
  };
  const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::string text = "| group | runs |";
  if (!before.empty()) text += " joint before |";
  text += " joint | wrong blame | recall | right culprit | right kind | alarms a truth |";
  if (!before.empty()) text += " right and once before |";
  text += " right and once | not planted, found | mute |";
  if (!before.empty()) text += " false before |";
  text += " false | port-days | false in 100,000 port-days |\n";
  const auto columns = static_cast<std::size_t>(std::ranges::count(text, '|')) - 2;
  text += "| --- |";
  for (std::size_t i = 0; i < columns; ++i) text += " --: |";
  text += "\n";
  std::vector<const Row*> rows;
  for (const Row& row : report.rows) rows.push_back(&row);
  rows.push_back(&report.all);
  for (const Row* row : rows) {
    const Interval alarms = row->alarm_interval();
    const nlohmann::json old = before.empty() ? nlohmann::json() : row_before(row->group);
    text += format("| %s | %llu |", row->group.c_str(), count(row->scenarios));
    if (!before.empty()) text += value_before(old, "joint");
    text += share(row->joint);
    for (const Share* of : {&row->wrong_blame, &row->recall, &row->culprit, &row->kind}) text += plain(*of);
    text += row->recall.part == 0 ? " - |" : format(" %.2f |", row->alarms_per_truth());
    if (!before.empty()) text += value_before(old, "strict_precision");
    text += plain(row->strict);
    text += row->unplanted_found.whole == 0
                ? " - |"
                : format(" %llu of %llu |", count(row->unplanted_found.part), count(row->unplanted_found.whole));
    text += format(" %llu |", count(row->without_effect));
    if (!before.empty())
      text += old.contains("false_alarms") ? format(" %llu |", count(old.value("false_alarms", std::uint64_t{0})))
                                           : std::string(" - |");
    text += format(" %llu | %.0f | %.0f (%.0f-%.0f) |\n", count(row->false_alarms), row->port_days, row->alarm_rate(),
                   alarms.low, alarms.high);
  }
  text += advice_table(report) + hang_table(report);
  if (report.all.plain_losses.whole > 0)
    text += format("\nOf %llu planted losses of at least 1e-6 of the packets %llu were found: %.3f.\n",
                   count(report.all.plain_losses.whole), count(report.all.plain_losses.part),
                   report.all.plain_losses.value());
  return text;
}

std::string last_line(const Report& report) {
  const Row& all = report.all;
  return format(
      "precision=%.4f recall=%.4f culprit=%.4f kind=%.4f delay_samples=%.1f "
      "false_alarms_per_100k_port_days=%.2f scenarios=%llu joint=%.4f wrong_blame=%.4f",
      all.precision.value(), all.recall.value(), all.culprit.value(), all.kind.value(), quantile(all.hard_delays, 0.5),
      all.alarm_rate(), static_cast<unsigned long long>(all.scenarios), all.joint.value(), all.wrong_blame.value());
}

std::string to_json(const Report& report, const std::vector<Outcome>& outcomes) {
  nlohmann::json json{{"seeds", report.seeds}, {"all", to_json(report.all)}};
  for (const Row& row : report.rows) json["groups"].push_back(to_json(row));
  // What went wrong, so that it can be run again by its name and seed.
  for (const Outcome& outcome : outcomes) {
    nlohmann::json wrong{{"name", outcome.name}, {"seed", outcome.seed}};
    for (const Alarm& alarm : outcome.alarms)
      if (!alarm.justified && !alarm.unplanted)
        wrong["false_alarms"].push_back(
            {{"at", alarm.at}, {"kind", to_string(alarm.kind)}, {"summary", alarm.summary}});
    for (const Verdict& verdict : outcome.verdicts)
      if (!verdict.found || !verdict.culprit_first || !verdict.right_kind)
        wrong["misjudged"].push_back({{"fault", to_string(verdict.fault)},
                                      {"found", verdict.found},
                                      {"culprit_first", verdict.culprit_first},
                                      {"right_kind", verdict.right_kind}});
    for (const Verdict& verdict : outcome.verdicts)
      if (!verdict.joint)
        wrong["not_joint"].push_back({{"fault", to_string(verdict.fault)},
                                      {"amount", verdict.amount},
                                      {"found", verdict.found},
                                      {"wrong_blame", verdict.wrong_blame},
                                      {"alarms", verdict.alarms}});
    for (const Unplanted& truth : outcome.unplanted)
      if (!truth.found)
        wrong["unplanted_missed"].push_back(
            {{"from", truth.from}, {"to", truth.to}, {"where", truth.where}, {"wait", truth.wait}});
    if (wrong.size() > 2) json["wrong"].push_back(std::move(wrong));
  }
  return json.dump(1) + "\n";
}

std::string to_svg(const Report& report) {
  constexpr int kLeft = 150, kPanel = 250, kGap = 30, kTop = 70, kRow = 18;
  std::vector<const Row*> rows;
  for (const Row& row : report.rows)
    if (row.recall.whole > 0) rows.push_back(&row);
  rows.push_back(&report.all);
  const int height = kTop + kRow * static_cast<int>(rows.size()) + 30;
  const std::pair<const char*, Share Row::*> panels[] = {
      {"found (recall)", &Row::recall}, {"right culprit first", &Row::culprit}, {"right kind", &Row::kind}};
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"20\" font-size=\"14\">Scenarios: %llu, seeds %s</text>\n"
      "<text x=\"10\" y=\"38\" fill=\"#555\">bar: share; line: 95 %% interval</text>\n",
      kLeft + 3 * (kPanel + kGap), height, static_cast<unsigned long long>(report.all.scenarios), report.seeds.c_str());
  for (int panel = 0; panel < 3; ++panel) {
    const int x = kLeft + panel * (kPanel + kGap);
    svg += format("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", x, kTop - 12, panels[panel].first);
    for (int tick = 0; tick <= 4; ++tick)
      svg += format(
          "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>"
          "<text x=\"%d\" y=\"%d\" fill=\"#777\" text-anchor=\"middle\">%g</text>\n",
          x + tick * kPanel / 4, x + tick * kPanel / 4, kTop - 4, height - 25, x + tick * kPanel / 4, height - 12,
          0.25 * tick);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int y = kTop + kRow * static_cast<int>(i);
      if (panel == 0)
        svg += format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", kLeft - 8, y + 12,
                      rows[i]->group.c_str());
      const Share& share = rows[i]->*panels[panel].second;
      if (share.whole == 0) continue;
      const Interval interval = share.interval();
      svg += format(
          "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"12\" fill=\"%s\"/>"
          "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"black\"/>\n",
          x, y + 2, share.value() * kPanel, share.value() >= 0.97 ? "#7fb77e" : "#d98880", x + interval.low * kPanel,
          x + interval.high * kPanel, y + 8, y + 8);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace weft::scenarios
