// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "daemon/programs/weftctl/new_file.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/incident.hpp"
#include "fabric/result.hpp"

namespace weft::ctl {
namespace {

/// A folder that is made where there is none, and goes again while nothing was kept in it.
class OutputFolder {
 public:
  /// Throws Failure where it cannot be made.
  explicit OutputFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code error;
    is_new_ = std::filesystem::create_directories(path_, error);
    if (!error && std::filesystem::is_directory(path_, error)) return;
    throw Failure(error == std::errc::not_a_directory || error == std::errc::file_exists || !error ? Exit::kWrongUsage
                                                                                                   : Exit::kBadNews,
                  path_.string() + " is no folder, and none can be made there: " +
                      (error ? error.message() : std::string("a file has that name")));
  }
  ~OutputFolder() {
    std::error_code ignored;
    if (is_new_) std::filesystem::remove(path_, ignored);  // only an empty one goes
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  const std::filesystem::path path_;
  bool is_new_ = false;
};

/// weftd chooses it, and it stays in the folder.
std::string checked_name(const std::string& name) {
  const bool is_good = !name.empty() && name.front() != '.' && name.size() <= 200 &&
                       std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c != '/' && c < 0x7f; });
  if (!is_good) throw Failure(Exit::kBadNews, "weftd names no file: it is another version");
  return name;
}

constexpr const char* kAdvice = "name another folder, or replace it with --force";

std::string size_text(std::size_t bytes) {
  return std::to_string((bytes + 1023) / 1024) + " KiB";
}

v1::GetEvidenceRequest request_for(const EvidenceWish& wanted) {
  v1::GetEvidenceRequest request;
  request.set_with_jobs(wanted.with_jobs);
  if (const auto incident = parse_incident_name(wanted.what); incident && !wanted.is_thing) {
    request.set_incident_id(incident_name(*incident));
    return request;
  }
  request.set_what(wanted.what);
  request.set_fabric(wanted.fabric);
  if (wanted.to) set_seconds(*request.mutable_to(), *wanted.to);
  set_seconds(*request.mutable_from(), wanted.from);
  return request;
}

}  // namespace

Exit write_evidence(const Session& session, const EvidenceWish& wanted) {
  const v1::GetEvidenceRequest request = request_for(wanted);
  if (!request.incident_id().empty() && wanted.has_time)
    throw Failure(Exit::kWrongUsage,
                  "--last, --from, --to and --fabric are for a node or port: an incident has a time and a fabric");
  auto pack = session.client.call(session.client.evidence, &v1::EvidenceService::Stub::GetEvidence, request);
  const std::string html = std::move(*pack.mutable_html());
  pack.clear_html();
  if (html.empty()) throw Failure(Exit::kBadNews, "weftd sent no document");
  const std::string json = json_text(pack, false) + '\n';

  const OutputFolder folder(wanted.folder);
  const std::string name = checked_name(pack.file_name());
  const auto existing = wanted.force ? NewFile::Existing::kIsReplaced : NewFile::Existing::kIsRefused;
  NewFile data(folder.file(name + ".json"), existing, kAdvice);
  NewFile document(folder.file(name + ".html"), existing, kAdvice);
  data.append(json);
  document.append(html);
  // Neither has its name before both are whole.
  data.sync();
  document.sync();
  data.keep();
  document.keep();

  if (session.json) {
    session.out << json;
    return Exit::kGood;
  }
  session.out << document.path().string() << ": the document, " << size_text(html.size())
              << ", one file for any browser, and for paper\n"
              << data.path().string() << ": what it was made from, " << size_text(json.size()) << '\n';
  if (!pack.unknown().empty()) {
    session.out << "\nWhat could not be told, and stands in it:\n";
    for (const std::string& sentence : pack.unknown())
      print_hanging(session.out, "  - ", printable(sentence), session.columns);
  }
  session.out
      << (pack.with_jobs()
              ? "\nNames of jobs and of people, and what people wrote, ARE in it (--with-jobs): not for a vendor.\n"
              : "\nNames of jobs and of people, and what people wrote, are not in it; --with-jobs puts them "
                "in.\n")
      << "Names and GUIDs of hosts, switches and ports are in it: read it before you hand it on.\n";
  return Exit::kGood;
}

}  // namespace weft::ctl
