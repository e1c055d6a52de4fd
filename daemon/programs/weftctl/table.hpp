// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns that line up.

#include <ostream>
#include <string>
#include <vector>

#include "daemon/programs/weftctl/sheet.hpp"

namespace weft::ctl {

/// One column of a table. A text stands at the left. Where a table is wider than the terminal, sentences go on below
/// themselves, then columns that can be spared are left out, what states have in brackets goes on below, and only
/// then other texts are shortened in their middle; what says which row it is stays whole. Where even that is too wide,
/// sentences stand below their rows.
struct Column {
  /// A column of texts; an implicit conversion.
  Column(const char* the_head) : head(the_head) {}  // NOLINT(google-explicit-constructor): heads are written as words
  std::string head;
  bool right = false;   ///< a number: at the right, never shortened
  bool moving = false;  ///< an age, a rate: differs each time, and marks no row as changed
  bool story = false;   ///< a sentence: goes on below itself on a narrow terminal
  bool judged = false;  ///< a state or a verdict: coloured by what it says
  bool spare = false;   ///< can be left out
  bool whole = false;   ///< a text that is never shortened, such as a time
  bool link = false;    ///< the two ends of a link: the first stays whole, the other gives way
  bool key = false;     ///< with the others of the kind it says which row it is; without any, the first column does
};
/// A column of numbers, at the right.
Column number(const char* head);
/// A number that differs each time.
Column rate(const char* head);
/// An age.
Column age(const char* head);
/// A column of sentences.
Column story(const char* head);
/// A column of states or verdicts, which are coloured.
Column judged(const char* head);
/// A column of texts that says which row it is.
Column key(const char* head);
/// A column of texts that are never shortened.
Column whole(const char* head);
/// A column of links as plans name them, "leaf-1 port 7 - spine-2 port 1", or of hosts.
Column link(const char* head);
/// The same column, which can be left out.
Column spare(Column column);
/// A number that is part of the key.
Column number_key(const char* head);

/// Collects rows, then prints them below the heads, each column as wide as its longest cell in a terminal's columns.
/// Cells are made printable.
class Table {
 public:
  /// No rows yet.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Whole, without colour.
  void print(std::ostream& out) const { print(Sheet{.out = out}); }
  /// As `sheet` says: its width, colour and memory of the page before.
  void print(const Sheet& sheet) const;

 private:
  using Row = std::vector<std::string>;
  struct Layout {
    std::vector<std::size_t> widths;  ///< of each column; 0: it is left out, or is a sentence below
    bool below = false;               ///< sentences stand below their rows
  };
  /// Such that all fit into `limit` if that can be; 0: no limit.
  Layout layout(std::size_t limit) const;
  std::vector<std::string> parts(const std::string& cell, std::size_t column, std::size_t wide, bool plain) const;
  void print_below(const Sheet& sheet, const Row& row, const std::string& margin) const;
  bool is_whole(std::size_t column) const;
  bool changed(const Row& row, RowMemory& memory) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace weft::ctl
