// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/table.hpp"

#include <algorithm>
#include <cstdint>

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

constexpr std::size_t kGap = 2;
// Below these a cell says nothing any more; the terminal breaks the line then.
constexpr std::size_t kLeastText = 12;
constexpr std::size_t kLeastStory = 24;
constexpr std::size_t kLeastEnd = 8;  // of a link's second end
constexpr std::size_t kBelow = 4;     // how far a sentence below its row is indented
constexpr const char* kBracket = " (";

Column made(const char* head, bool Column::*first, bool Column::*second = nullptr) {
  Column column(head);
  column.*first = true;
  if (second != nullptr) column.*second = true;
  return column;
}

/// What stands before the second end of a link.
std::string nearer_end(const std::string& text) {
  return text.substr(0, text.find(" - "));
}

/// As shortened(), but it is the second end that gives way.
std::string shortened_link(const std::string& text, std::size_t columns, bool plain) {
  const std::string near = nearer_end(text);
  const std::string gap = plain ? ".." : "…";
  const std::string head = near + " - ";
  if (width(text) <= columns || near == text || width(near) + width(gap) + 1 > columns)
    return shortened(text, columns, plain);
  if (columns < width(head) + kLeastEnd) return near + ' ' + gap;
  return head + shortened(text.substr(head.size()), columns - width(head), plain);
}

/// The least that a state takes which is never shortened: "PROPOSED", and below it what stands in brackets.
std::size_t least_state(const std::string& text) {
  const std::size_t bracket = text.find(kBracket);
  if (bracket == std::string::npos) return width(text);
  return std::max(width(text.substr(0, bracket)), std::min(width(text.substr(bracket + 1)), kLeastStory));
}

std::size_t sum(const std::vector<std::size_t>& widths) {
  std::size_t all = 0;
  for (const std::size_t one : widths) all += one == 0 ? 0 : one + kGap;
  return all - std::min(all, kGap);
}

}  // namespace

Column number(const char* head) {
  return made(head, &Column::right);
}
Column rate(const char* head) {
  return made(head, &Column::right, &Column::moving);
}
Column age(const char* head) {
  return made(head, &Column::moving);
}
Column story(const char* head) {
  return made(head, &Column::story);
}
Column judged(const char* head) {
  return made(head, &Column::judged);
}
Column key(const char* head) {
  return made(head, &Column::key);
}
Column whole(const char* head) {
  return made(head, &Column::whole);
}
Column link(const char* head) {
  return made(head, &Column::link);
}
Column spare(Column column) {
  column.spare = true;
  return column;
}
Column number_key(const char* head) {
  return made(head, &Column::right, &Column::key);
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

bool Table::is_whole(std::size_t column) const {
  const bool keyed = std::ranges::any_of(columns_, &Column::key);
  const Column& one = columns_[column];
  return one.right || one.judged || one.whole || (keyed ? one.key : column == 0);
}

Table::Layout Table::layout(std::size_t limit) const {
  std::vector<std::size_t> wanted, least;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t head = width(columns_[i].head);
    std::size_t widest = head, nearer = kLeastText, state = 0;
    for (const Row& row : rows_) {
      widest = std::max(widest, width(row[i]));
      state = std::max(state, least_state(row[i]));
      if (columns_[i].link) nearer = std::max(nearer, width(nearer_end(row[i])) + kGap + 1);
    }
    wanted.push_back(widest);
    const std::size_t bearable = columns_[i].story    ? kLeastStory
                                 : columns_[i].judged ? state
                                 : is_whole(i)        ? widest
                                                      : nearer;
    least.push_back(std::min(widest, std::max(head, bearable)));
  }
  std::vector<std::size_t> fitting = wanted;
  if (limit == 0) return {fitting};
  enum class Kind : std::uint8_t { kStory, kState, kOther };
  const auto kind_of = [](const Column& column) {
    return column.story ? Kind::kStory : column.judged ? Kind::kState : Kind::kOther;
  };
  const auto shrink = [&](Kind kind) {
    while (sum(fitting) > limit) {
      std::size_t at = fitting.size();
      for (std::size_t i = 0; i < fitting.size(); ++i)
        if (kind_of(columns_[i]) == kind && fitting[i] > least[i] && (at == fitting.size() || fitting[i] > fitting[at]))
          at = i;
      if (at == fitting.size()) return;
      fitting[at] -= kind == Kind::kStory ? std::min(sum(fitting) - limit, fitting[at] - least[at]) : 1;
    }
  };
  const auto leave_out = [&] {
    shrink(Kind::kStory);
    for (std::size_t i = columns_.size(); i-- > 0 && sum(fitting) > limit;) {
      if (!columns_[i].spare) continue;
      wanted[i] = least[i] = 0;
      fitting = wanted;  // a sentence may have more room again
      shrink(Kind::kStory);
    }
  };
  Layout found;
  leave_out();
  shrink(Kind::kState);
  shrink(Kind::kOther);
  if (sum(fitting) > limit && std::ranges::any_of(columns_, &Column::story)) {
    found.below = true;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].story) wanted[i] = least[i] = 0;
    fitting = wanted;
    shrink(Kind::kState);
    shrink(Kind::kOther);
  }
  found.widths = std::move(fitting);
  return found;
}

std::vector<std::string> Table::parts(const std::string& cell, std::size_t column, std::size_t wide, bool plain) const {
  const Column& of = columns_[column];
  if (wide == 0) return {""};
  if (of.story) return wrapped(cell, wide);
  if (of.link) return {shortened_link(cell, wide, plain)};
  if (!of.judged || width(cell) <= wide) return {shortened(cell, wide, plain)};
  const std::size_t bracket = cell.find(kBracket);
  std::vector<std::string> lines{cell.substr(0, bracket)};
  if (bracket != std::string::npos)
    for (std::string& line : wrapped(cell.substr(bracket + 1), wide)) lines.push_back(std::move(line));
  return lines;
}

void Table::print_below(const Sheet& sheet, const Row& row, const std::string& margin) const {
  const bool named = std::ranges::count_if(columns_, &Column::story) > 1;
  const std::string front = margin + std::string(kBelow, ' ');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].story || row[i].empty()) continue;
    const std::string text = named ? columns_[i].head + ": " + row[i] : row[i];
    for (const std::string& line : wrapped(text, std::max(sheet.columns, front.size() + kLeastStory) - front.size()))
      sheet.out << front << line << '\n';
  }
}

bool Table::changed(const Row& row, RowMemory& memory) const {
  const bool keyed = std::ranges::any_of(columns_, &Column::key);
  std::string name = columns_.front().head, content;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (keyed ? columns_[i].key : i == 0) name += '\t' + row[i];
    if (!columns_[i].moving) content += '\t' + row[i];
  }
  return memory.changed(name, content);
}

void Table::print(const Sheet& sheet) const {
  const std::string margin = sheet.memory ? "  " : "";
  const Layout fitted = layout(sheet.columns > margin.size() ? sheet.columns - margin.size() : sheet.columns);
  const std::vector<std::size_t>& wide = fitted.widths;
  const auto print_line = [&](const Row& cells, const std::string& front, bool head) {
    std::string line = front;
    std::size_t owed = 0;  // spaces, written when something follows
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (wide[i] == 0) continue;
      const std::size_t has = width(cells[i]);
      const std::size_t fill = wide[i] - std::min(has, wide[i]);
      if (columns_[i].right) owed += fill;
      if (!cells[i].empty()) {
        line.append(owed, ' ');
        owed = 0;
        const Tone tone = columns_[i].judged ? tone_of(cells[i]) : Tone::kNone;
        line += !sheet.colour ? cells[i] : head ? "\x1b[1m" + cells[i] + "\x1b[0m" : toned(cells[i], tone);
      }
      owed += (columns_[i].right ? 0 : fill) + kGap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    sheet.out << line << '\n';
  };
  Row heads;
  for (const Column& column : columns_) heads.push_back(column.head);
  print_line(heads, margin, true);
  if (fitted.below && std::ranges::count_if(columns_, &Column::story) == 1) print_below(sheet, heads, margin);
  for (const Row& row : rows_) {
    const bool mark = sheet.memory != nullptr && changed(row, *sheet.memory);
    std::vector<std::vector<std::string>> pieces;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      pieces.push_back(parts(row[i], i, wide[i], sheet.plain));
      lines = std::max(lines, pieces.back().size());
    }
    for (std::size_t at = 0; at < lines; ++at) {
      Row cells;
      for (auto& part : pieces) cells.push_back(at < part.size() ? part[at] : "");
      const std::string front = mark && at == 0 ? (sheet.colour ? "\x1b[1;36m>\x1b[0m " : "> ") : margin;
      print_line(cells, front, false);
    }
    if (fitted.below) print_below(sheet, row, margin);
  }
  std::string left_out;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (wide[i] == 0 && !(fitted.below && columns_[i].story))
      left_out += (left_out.empty() ? "" : ", ") + columns_[i].head;
  if (left_out.empty()) return;
  for (const std::string& line : wrapped("Columns left out: " + left_out + ".", sheet.columns))
    sheet.out << (sheet.colour ? toned(line, Tone::kFaint) : line) << '\n';
}

}  // namespace weft::ctl
