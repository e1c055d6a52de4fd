#pragma once
// Columns that line up.

#include <ostream>
#include <string>
#include <vector>

namespace weft::ctl {

/// Collects rows, then prints them below the heads, each column as wide as its longest cell (counted in characters, not
/// bytes). Cells are made printable.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  /// As many cells as there are heads.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weft::ctl
