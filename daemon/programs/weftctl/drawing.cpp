// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/drawing.hpp"

#include <algorithm>

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

struct Line {
  std::string text;
  std::string note;
};

std::size_t size_of(const Branch& branch) {
  std::size_t size = 1;
  for (const Branch& below : branch.branches) size += size_of(below);
  return size;
}

class Drawer {
 public:
  Drawer(const Pen& pen, std::size_t most_lines) : pen_(pen), left_(most_lines) {}

  void draw(const Branch& branch, const std::string& in_front, const std::string& hanging) {
    lines_.push_back({in_front + printable(branch.text), printable(branch.note)});
    if (left_ > 0) --left_;
    for (std::size_t i = 0; i < branch.branches.size(); ++i) {
      if (left_ == 0) {
        std::size_t more = 0;
        for (std::size_t rest = i; rest < branch.branches.size(); ++rest) more += size_of(branch.branches[rest]);
        lines_.push_back({hanging + pen_.last + "and " + std::to_string(more) + " more", ""});
        return;
      }
      const bool last = i + 1 == branch.branches.size();
      draw(branch.branches[i], hanging + (last ? pen_.last : pen_.fork), hanging + (last ? pen_.below : pen_.beside));
    }
  }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  const Pen& pen_;
  std::size_t left_;
  std::vector<Line> lines_;
};

}  // namespace

Pen::Pen(bool plain)
    : fork(plain ? "|- " : "├─ "),
      last(plain ? "`- " : "└─ "),
      beside(plain ? "|  " : "│  "),
      below("   "),
      arrow(plain ? " -> " : " ─▶ "),
      cut(plain ? " --x-- " : " ──✗── "),
      sick(plain ? " --!-- " : " ──!── "),
      step(plain ? " -> " : " → "),
      cause(plain ? "* " : "● ") {}

std::vector<std::string> draw(const Branch& root, const Pen& pen, std::size_t most_lines) {
  Drawer drawer(pen, most_lines);
  drawer.draw(root, "", "");
  std::size_t widest = 0;
  for (const Line& line : drawer.lines())
    if (!line.note.empty()) widest = std::max(widest, width(line.text));
  std::vector<std::string> lines;
  for (const Line& line : drawer.lines()) {
    std::string text = line.text;
    if (!line.note.empty()) text += std::string(widest - width(line.text) + 2, ' ') + line.note;
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace weft::ctl
