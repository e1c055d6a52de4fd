// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/one_port.hpp"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collectors/gnmi/port_setting.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/programs/switches/connection.hpp"
#include "daemon/programs/switches/notification.hpp"
#include "daemon/programs/switches/target_list.hpp"
#include "fabric/host_names.hpp"
#include "gnmi/gnmi.grpc.pb.h"

namespace weft::switches {
namespace {

using namespace std::chrono_literals;
using switch_port::Answer;
using switch_port::Outcome;
using switch_port::Question;
using switch_port::Wanted;

/// A switch puts into force what it has accepted within this, or says so later.
constexpr auto kSettling = 2s;
constexpr auto kLookAgain = 100ms;

/// Nothing was changed: the specification has a Set done as a whole or not at all (gNMI, 3.4.3), and these answers are
/// given before. After any other one it may have been.
bool is_refusal(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
    case grpc::StatusCode::UNIMPLEMENTED:
      return true;
    default:
      return false;
  }
}

class OnePort {
 public:
  explicit OnePort(const Question& question)
      : question_(question), end_(std::chrono::system_clock::now() + question.timeout) {}

  Answer ask() {
    if (auto found = find(); !found) return nothing(Outcome::kRefused, found.error().message);
    if (auto known = learn(); !known)
      return nothing(known.error().code == ErrorCode::kFailedPrecondition ? Outcome::kRefused : Outcome::kUnread,
                     known.error().message);
    if (auto seen = read(); !seen) return nothing(Outcome::kUnread, seen.error().message);
    if (question_.wanted == Wanted::kRead) return answer(Outcome::kRead);
    if (is_so()) return answer(Outcome::kAlready);
    return set();
  }

 private:
  Result<void> find() {
    auto targets = read_targets(question_.targets, question_.targets_file, question_.max_targets);
    if (!targets) return tl::unexpected(targets.error());
    auto line = std::ranges::find(*targets, question_.target, &TargetLine::name);
    // A cabling file may name it with its domain, or without.
    const auto is_it = [this](const TargetLine& one) { return same_host(one.name, question_.target); };
    if (line == targets->end() && std::ranges::count_if(*targets, is_it) == 1)
      line = std::ranges::find_if(*targets, is_it);
    if (line == targets->end())
      return fail(ErrorCode::kNotFound, question_.target + " is no longer in gnmi.targets, nor in gnmi.targets_file");
    line_ = std::move(*line);
    auto connection = connect(line_, question_.credentials_directory, question_.max_message_bytes);
    if (!connection) return tl::unexpected(connection.error());
    connection_ = std::move(*connection);
    stub_ = ::gnmi::gNMI::NewStub(connection_.channel);
    return {};
  }

  /// How this target is asked and set.
  Result<void> learn() {
    grpc::ClientContext context;
    prepare(context);
    ::gnmi::CapabilityResponse told;
    const grpc::Status status = stub_->Capabilities(&context, {}, &told);
    if (!status.ok() && status.error_code() != grpc::StatusCode::UNIMPLEMENTED) return failed(status);
    std::vector<std::string> models;
    for (const auto& model : told.supported_models()) models.push_back(model.name());
    row_ = port_setting_of(line_, models);
    if (row_ == nullptr)
      return fail(ErrorCode::kFailedPrecondition,
                  line_.set == "off" ? question_.target + ": its line in gnmi.targets says set=off"
                                     : question_.target + " tells no model by which Weft can set a port");
    encoding_ = encoding_of(told);
    const auto& known = told.supported_encodings();
    const auto has = [&known](::gnmi::Encoding one) { return std::ranges::find(known, one) != known.end(); };
    // Values are set as JSON: a target need not have others (2.3.1).
    has_json_alone_ = has(::gnmi::JSON) && !has(::gnmi::JSON_IETF);
    return {};
  }

  Result<void> read() {
    gnmi::PortTold told;
    auto state = get({row_->state, row_->oper}, told);
    if (!state) return state;
    // Some tell no leaf that nobody has set, and some no neighbours.
    if (row_->leaf != row_->state) (void)get({row_->leaf}, told);
    (void)get({row_->neighbours}, told);
    told_ = std::move(told);
    if (!told_.is_shut() && !told_.is_enabled())
      return fail(ErrorCode::kNotFound, label() + ": the switch tells nothing of whether it is enabled");
    return {};
  }

  Result<void> get(const std::vector<std::string_view>& paths, gnmi::PortTold& told) {
    ::gnmi::GetRequest request;
    set_prefix(*request.mutable_prefix());
    request.set_encoding(encoding_);
    for (const std::string_view path : paths)
      if (auto put = put_path(path, *request.add_path()); !put) return put;
    grpc::ClientContext context;
    prepare(context);
    ::gnmi::GetResponse response;
    const grpc::Status status = stub_->Get(&context, request, &response);
    if (!status.ok()) return failed(status);
    gnmi::Path path;
    for (const auto& notification : response.notification())
      for (const auto& update : notification.update()) {
        path.clear();
        if (append(notification.prefix(), path) && append(update.path(), path))
          gnmi::take_port(path, value_of(update.val()), question_.port, told);
      }
    return {};
  }

  bool is_so() const { return question_.wanted == Wanted::kShut ? told_.is_shut() : told_.is_enabled(); }

  Answer set() {
    ::gnmi::SetRequest request;
    set_prefix(*request.mutable_prefix());
    ::gnmi::Update& update = *request.add_update();
    if (auto put = put_path(row_->leaf, *update.mutable_path()); !put)
      return answer(Outcome::kRefused, put.error().message);
    const std::string json = gnmi::setting_json(*row_, question_.wanted == Wanted::kEnable);
    if (has_json_alone_)
      update.mutable_val()->set_json_val(json);
    else
      update.mutable_val()->set_json_ietf_val(json);
    if (question_.before && runtime::boot_time() >= *question_.before)
      return answer(Outcome::kLate, "the time to send it is over");
    grpc::ClientContext context;
    prepare(context);
    ::gnmi::SetResponse response;
    const grpc::Status status = stub_->Set(&context, request, &response);
    if (!status.ok() && is_refusal(status.error_code()))
      return answer(Outcome::kRefused,
                    "the switch refused it: " + told_reason(status, line_, question_.max_message_bytes));
    if (!status.ok())
      return answer(Outcome::kUnclear,
                    "Set was sent without an answer: " + told_reason(status, line_, question_.max_message_bytes));
    for (const auto until = std::min(end_, std::chrono::system_clock::now() + kSettling);;) {
      if (read() && is_so()) return answer(Outcome::kDone);
      if (std::chrono::system_clock::now() + kLookAgain >= until) break;
      std::this_thread::sleep_for(kLookAgain);
    }
    return answer(Outcome::kUnclear, "the switch accepted it, and it is not so yet");
  }

  void prepare(grpc::ClientContext& context) const {
    context.set_deadline(end_);
    for (const auto& [name, value] : connection_.login) context.AddMetadata(name, value);
  }
  void set_prefix(::gnmi::Path& prefix) const {
    if (!row_->target.empty()) prefix.set_target(std::string(row_->target));
    if (!row_->origin.empty()) prefix.set_origin(std::string(row_->origin));
  }
  Result<void> put_path(std::string_view path, ::gnmi::Path& to) const {
    const auto text = gnmi::path_of_port(path, question_.port);
    const auto parsed = text ? gnmi::parse_path(*text) : std::nullopt;
    if (!parsed) return fail(ErrorCode::kInvalidArgument, "'" + plain(question_.port) + "' can be in no path");
    append(*parsed, to);
    return {};
  }
  Result<void> failed(const grpc::Status& status) const {
    return fail(ErrorCode::kUnavailable,
                line_.name + " (" + line_.address + "): " + told_reason(status, line_, question_.max_message_bytes));
  }
  std::string label() const { return question_.target + ' ' + question_.port; }

  static Answer nothing(Outcome outcome, std::string why) {
    Answer answer;
    answer.outcome = outcome;
    answer.detail = std::move(why);
    return answer;
  }
  Answer answer(Outcome outcome, const std::string& why = {}) const {
    Answer answer;
    answer.outcome = outcome;
    answer.is_known = told_.is_shut() || told_.is_enabled();
    answer.is_shut = told_.is_shut();
    answer.is_up = told_.oper_up.value_or(false);
    for (const std::string& system : told_.systems) answer.systems += plain(system) + '\n';
    answer.detail = label() + (answer.is_known ? ": " + to_text(told_) : "") + (why.empty() ? "" : "; " + why);
    return answer;
  }

  const Question& question_;
  const std::chrono::system_clock::time_point end_;
  TargetLine line_;
  Connection connection_;
  std::unique_ptr<::gnmi::gNMI::Stub> stub_;
  const gnmi::PortSetting* row_ = nullptr;
  ::gnmi::Encoding encoding_{};
  bool has_json_alone_ = false;
  gnmi::PortTold told_;
};

}  // namespace

Answer ask_port(const Question& question) {
  return OnePort(question).ask();
}

}  // namespace weft::switches
