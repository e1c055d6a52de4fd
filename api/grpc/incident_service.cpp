#include "api/grpc/incident_service.hpp"

#include <mutex>

#include "api/convert/incidents.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/times.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/feeds.hpp"
#include "api/grpc/watch_stream.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

/// A call that waits for the daemon's answer. The reader's cancelling or deadline ends it earlier; the command is
/// carried out all the same. Whichever comes first finishes, and the other finds that out.
class CommandCall final : public grpc::ServerUnaryReactor {
 public:
  explicit CommandCall(v1::Incident* response) : state_(std::make_shared<State>()) {
    state_->call = this;
    state_->response = response;
  }

  Commands::Callback callback() {
    return [state = state_](Result<Incident> result) {
      const std::lock_guard lock(state->mutex);
      if (!state->call) return;
      if (result) to_proto(*result, *state->response);
      state->finish(result ? grpc::Status::OK : to_status(result.error()));
    };
  }

 private:
  struct State {
    std::mutex mutex;
    CommandCall* call = nullptr;  ///< until it is finished
    v1::Incident* response = nullptr;

    void finish(const grpc::Status& status) {
      if (CommandCall* const open = std::exchange(call, nullptr)) open->Finish(status);
    }
  };

  void OnCancel() override {
    const auto state = state_;
    const std::lock_guard lock(state->mutex);
    state->finish({grpc::StatusCode::CANCELLED, "cancelled; the command may still be carried out"});
  }
  void OnDone() override {
    // Whoever called Finish() may still hold the lock for an instant; the state is theirs as well.
    delete this;
  }

  std::shared_ptr<State> state_;
};

constexpr std::size_t kLongestName = 256;  ///< octets; every command writes it into the record, which is kept long

/// The name for the record, cut between two characters where it is too long.
std::string who_asks(const std::string& named, const grpc::CallbackServerContext& context) {
  if (named.empty()) return context.peer();
  std::size_t length = 0;
  while (length < named.size()) {
    const std::size_t more = utf8_sequence_length(std::string_view(named).substr(length));
    if (more == 0 || length + more > kLongestName) break;
    length += more;
  }
  return named.substr(0, length);
}

Result<std::uint64_t> parse_id(const std::string& text) {
  const auto id = parse_incident_name(text);
  if (!id) return fail(ErrorCode::kInvalidArgument, "an incident's id is like INC-17");
  return *id;
}

}  // namespace

grpc::ServerUnaryReactor* IncidentService::List(grpc::CallbackServerContext* context,
                                                const v1::ListIncidentsRequest* request,
                                                v1::ListIncidentsResponse* response) {
  return answer(context, list_incidents(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* IncidentService::Get(grpc::CallbackServerContext* context,
                                               const v1::GetIncidentRequest* request, v1::Incident* response) {
  return answer(context, get_incident(*publication_.load(), request->id()), response);
}

grpc::ServerWriteReactor<v1::WatchIncidentsResponse>* IncidentService::Watch(grpc::CallbackServerContext*,
                                                                             const v1::WatchIncidentsRequest* request) {
  return WatchStream<IncidentFeed>::start(hall_, IncidentFeed(*request));
}

grpc::ServerUnaryReactor* IncidentService::Acknowledge(grpc::CallbackServerContext* context,
                                                       const v1::AcknowledgeIncidentRequest* request,
                                                       v1::Incident* response) {
  const auto id = parse_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  auto* call = new CommandCall(response);
  commands_.acknowledge(*id, who_asks(request->who(), *context), call->callback());
  return call;
}

grpc::ServerUnaryReactor* IncidentService::Silence(grpc::CallbackServerContext* context,
                                                   const v1::SilenceIncidentRequest* request, v1::Incident* response) {
  const auto id = parse_id(request->id());
  if (!id) return answer<v1::Incident>(context, tl::unexpected(id.error()), response);
  const TimePoint until = from_timestamp(request->until());
  if (!request->has_until() || until <= clock_.now())
    return answer<v1::Incident>(context, fail(ErrorCode::kInvalidArgument, "until must be a time to come"), response);
  auto* call = new CommandCall(response);
  commands_.silence(*id, until, who_asks(request->who(), *context), call->callback());
  return call;
}

}  // namespace weft::api
