// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/html_parts.hpp"

#include "api/convert/times.hpp"
#include "api/evidence/style.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/minute_text.hpp"

namespace weft::api::html_parts {

std::string when(const google::protobuf::Timestamp& time) {
  return second_text(from_timestamp(time));
}

std::string known(const std::string& text) {
  return text.empty() ? kNotKnown : html_text(text);
}

std::string breakable(const std::string& text) {
  std::string html;
  for (const char c : html_text(text)) {
    html += c;
    if (c == '.' || c == '_') html += "<wbr>";
  }
  return html;
}

std::string row(const std::string& name, const std::string& html) {
  return "<tr><th scope=\"row\">" + html_text(name) + "<td>" + html + "</tr>\n";
}

std::string head(const std::vector<std::string>& names) {
  std::string html = "<thead><tr>";
  for (const std::string& name : names) html += "<th scope=\"col\">" + html_text(name);
  return html + "</tr></thead>\n";
}

std::string cells(const std::vector<std::string>& html) {
  std::string text = "<tr>";
  for (const std::string& each : html) text += "<td>" + each;
  return text + "</tr>\n";
}

std::string table(const std::string& rows) {
  return "<div class=\"scroll\" tabindex=\"0\"><table>" + rows + "</table></div>\n";
}

std::string document_head(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
         "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\n"
         "<title>" +
         html_text(title) + "</title>\n<style>" + kEvidenceStyle + "</style></head>\n<body><main>\n";
}

std::string section(const std::string& id, const std::string& title, const std::string& html) {
  return "<section id=\"" + id + "\"><h2>" + title + "</h2>\n" + html + "</section>\n";
}

}  // namespace weft::api::html_parts
