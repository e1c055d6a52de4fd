#include "daemon/ctl/table.hpp"

#include <algorithm>

#include "daemon/ctl/text.hpp"

namespace weft::ctl {
void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < heads_.size(); ++column) {
    std::size_t widest = width(heads_[column]);
    for (const auto& row : rows_) widest = std::max(widest, width(row[column]));
    widths.push_back(widest);
  }
  const auto print_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      line += cells[column];
      if (column + 1 < cells.size()) line.append(widths[column] - width(cells[column]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_row(heads_);
  for (const auto& row : rows_) print_row(row);
}

}  // namespace weft::ctl
