// SPDX-License-Identifier: Apache-2.0
#include "api/convert/audit_search.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/convert/pages.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/text_search.hpp"
#include "api/convert/times.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kReadAtOnce = 1000;

bool is_search(const v1::ListAuditRequest& request) {
  return request.has_from() || request.has_to() || !request.who().empty() || !request.what().empty();
}

bool is_wanted(const AuditRecord& record, const v1::ListAuditRequest& request) {
  return (!request.has_from() || record.at >= from_timestamp(request.from())) &&
         (!request.has_to() || record.at < from_timestamp(request.to())) && contains(record.who, request.who()) &&
         contains(record.what, request.what());
}

/// From the newest record backwards, until the page is full, the trail is at its beginning, or the records are all
/// older than what is asked for. It keeps itself while records are being read.
class Search : public std::enable_shared_from_this<Search> {
 public:
  Search(RemedyCommands& commands, v1::ListAuditRequest request, AuditRange range,
         std::function<void(Result<v1::ListAuditResponse>)> done)
      : commands_(commands), request_(std::move(request)), range_(range), done_(std::move(done)) {}

  void go_on() {
    commands_.audit(range_.before, kReadAtOnce,
                    [self = shared_from_this()](const Result<std::vector<AuditRecord>>& read) { self->take(read); });
  }

 private:
  void take(const Result<std::vector<AuditRecord>>& read) {
    if (!read) return done_(tl::unexpected(read.error()));
    bool is_too_old = request_.has_from();
    for (auto record = read->rbegin(); record != read->rend(); ++record) {
      if (found_.size() >= range_.limit || bytes_ >= kPageBytes) return finish(true);
      range_.before = record->sequence;
      is_too_old = is_too_old && record->at < from_timestamp(request_.from());
      if (!is_wanted(*record, request_)) continue;
      bytes_ += record->who.size() + record->what.size() + record->detail.size() + record->hash.size();
      found_.push_back(*record);
    }
    searched_ += read->size();
    // Of a clock that was set back, single records are older than those before them; not a thousand.
    if (read->empty() || range_.before <= 1 || is_too_old) return finish(false);
    if (searched_ >= kMostAuditSearched && !found_.empty()) return finish(true);
    if (searched_ >= kMostAuditSearched)
      return done_(fail(ErrorCode::kResourceExhausted, "none of the " + std::to_string(searched_) +
                                                           " records before this matches; to search older "
                                                           "ones go on with the page token " +
                                                           std::to_string(range_.before)));
    go_on();
  }

  void finish(bool has_more) {
    std::ranges::reverse(found_);
    v1::ListAuditResponse page;
    to_proto(found_, page);
    // What did not fit into the message is what the next page begins with.
    const bool is_cut = static_cast<std::size_t>(page.records_size()) < found_.size();
    const std::uint64_t before = is_cut ? page.records(0).sequence() : range_.before;
    page.set_next_page_token(is_cut || has_more ? std::to_string(before) : "");
    done_(std::move(page));
  }

  RemedyCommands& commands_;
  const v1::ListAuditRequest request_;
  AuditRange range_;  ///< `before` goes down with what is searched
  const std::function<void(Result<v1::ListAuditResponse>)> done_;
  std::vector<AuditRecord> found_;  ///< the newest first
  std::size_t bytes_ = 0;
  std::size_t searched_ = 0;
};

}  // namespace

void search_audit(RemedyCommands& commands, const v1::ListAuditRequest& request,
                  std::function<void(Result<v1::ListAuditResponse>)> done) {
  const auto range = parse_audit_request(request);
  if (!range) return done(tl::unexpected(range.error()));
  if (const auto good = check_span(request); !good) return done(tl::unexpected(good.error()));
  if (is_search(request)) return std::make_shared<Search>(commands, request, *range, std::move(done))->go_on();
  commands.audit(range->before, range->limit, [done = std::move(done)](const Result<std::vector<AuditRecord>>& read) {
    if (!read) return done(tl::unexpected(read.error()));
    v1::ListAuditResponse page;
    to_proto(*read, page);
    done(std::move(page));
  });
}

}  // namespace weft::api
