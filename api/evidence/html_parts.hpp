// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the sections of an evidence document are made of.

#include <google/protobuf/timestamp.pb.h>

#include <string>
#include <vector>

namespace weft::api::html_parts {

/// Stands for what is not known.
inline constexpr const char* kNotKnown = "<span class=\"muted\">not known</span>";

/// "2026-01-31 14:00:07 UTC".
std::string when(const google::protobuf::Timestamp& time);
/// The text as HTML; kNotKnown where it is empty.
std::string known(const std::string& text);
/// The text as HTML, which may go on in the next line behind a dot or a line below.
std::string breakable(const std::string& text);
/// A row of a name, which is text, and what is said of it, which is HTML.
std::string row(const std::string& name, const std::string& html);
/// The head of a table: texts.
std::string head(const std::vector<std::string>& names);
/// A row of cells: HTML.
std::string cells(const std::vector<std::string>& html);
/// A table of rows of HTML; a narrow screen scrolls it.
std::string table(const std::string& rows);
/// All of a document that stands before its heading: a page that loads nothing and runs no script. The title is text.
std::string document_head(const std::string& title);
/// A part of the document: its id and title are the program's own, the rest is HTML.
std::string section(const std::string& id, const std::string& title, const std::string& html);

}  // namespace weft::api::html_parts
