// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/ras_client.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "daemon/programs/collector/ras_answer.hpp"

namespace weft::collector {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kRasPatience = std::chrono::seconds(20);

/// Lives as long as an operation of it is pending.
class Question : public std::enable_shared_from_this<Question> {
 public:
  Question(asio::io_context& context, RasAnswered answered) : stream_(context), answered_(std::move(answered)) {}

  void ask(const tcp::endpoint& endpoint) {
    stream_.expires_after(kRasPatience);  // for all of it
    stream_.async_connect(endpoint, [self = shared_from_this()](error_code error) {
      if (error) return self->give_up(error);
      asio::async_write(self->stream_, asio::buffer(self->query_), [self](error_code failed, std::size_t) {
        if (failed) return self->give_up(failed);
        self->read();
      });
    });
  }

 private:
  void read() {
    asio::async_read(stream_, asio::dynamic_buffer(answer_, kMostRasBytes),
                     [self = shared_from_this()](error_code error, std::size_t) {
                       // The server ends it. A full buffer ends without an error.
                       if (error && error != asio::error::eof) return self->give_up(error);
                       if (!error)
                         return self->tell(fail(ErrorCode::kResourceExhausted, "the answer of NCCL's RAS is too long"));
                       self->tell(parse_ras_answer(self->answer_));
                     });
  }
  void give_up(error_code error) {
    tell(fail(ErrorCode::kUnavailable, error == beast::error::timeout ? "NCCL's RAS does not answer in time"
                                                                      : "NCCL's RAS: " + error.message()));
  }
  void tell(Result<StuckRanks> result) {
    error_code ignored;
    stream_.socket().close(ignored);
    answered_(std::move(result));
  }

  beast::tcp_stream stream_;
  RasAnswered answered_;
  std::string query_ = ras_query();
  std::string answer_;
};

}  // namespace

void ask_ras(asio::io_context& context, const config::Address& address, RasAnswered answered) {
  error_code wrong;
  const asio::ip::address host = asio::ip::make_address(address.host, wrong);
  if (wrong) {
    asio::post(context, [answered = std::move(answered), host = address.host] {
      answered(fail(ErrorCode::kInvalidArgument, host + " is no address"));
    });
    return;
  }
  std::make_shared<Question>(context, std::move(answered))->ask({host, address.port});
}

}  // namespace weft::collector
