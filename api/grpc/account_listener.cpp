// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/account_listener.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft::api {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiece = 16UL * 1024;
constexpr mode_t kAnyUser = 0666;
constexpr mode_t kFolder = 0755;

/// `name` may begin with a NUL: an abstract one (unix(7)). The caller has checked that it fits.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path));
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())};
}

template <typename Call>
int with_address(Call call, int socket, const std::string& name) {
  const auto [address, length] = address_of(name);
  return call(socket, reinterpret_cast<const sockaddr*>(&address), length);
}

/// Makes room for our socket: the folder is there, and nothing else is at the path.
Result<void> clear_way(const std::filesystem::path& path) {
  const auto cannot = [&path](const std::string& why) {
    return fail(ErrorCode::kUnavailable, "cannot listen on " + path.string() + ": " + why);
  };
  const std::filesystem::path folder = path.parent_path();
  if (!folder.empty() && ::mkdir(folder.c_str(), kFolder) == 0) ::chmod(folder.c_str(), kFolder);
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return {};
    return cannot(errno_message(errno));
  }
  if (!S_ISSOCK(there.st_mode)) return fail(ErrorCode::kInvalidArgument, path.string() + " is there and is no socket");
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return cannot(errno_message(errno));
  const int connected = with_address(::connect, probe, path.string());
  const int why = errno;
  ::close(probe);
  if (connected == 0 || why == EAGAIN) return cannot("another process listens there");
  if (why != ECONNREFUSED) return cannot(errno_message(why));
  if (::unlink(path.c_str()) != 0) return cannot(errno_message(errno));
  return {};
}

}  // namespace

struct AccountListener::State {
  /// A connection from its acceptance to its end.
  struct Relay {
    Relay(State& the_state, Local::socket the_client, uid_t the_user)
        : state(the_state), client(std::move(the_client)), inner(the_state.context), user(the_user) {
      ++state.connections;
      ++state.of_user[user];
    }
    ~Relay() {
      if (!name.empty()) state.table.end(name);
      --state.connections;
      if (--state.of_user[user] == 0) state.of_user.erase(user);
    }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;
    void close() {
      boost::system::error_code ignored;
      client.close(ignored);
      inner.close(ignored);
    }

    State& state;
    Local::socket client;
    Local::socket inner;
    uid_t user;
    std::string name;  ///< in the table; empty: it is not there
  };

  State(AccountListenerOptions the_options, AccountTable& the_table, access::Gate& the_gate, Serve the_serve)
      : options(std::move(the_options)), table(the_table), gate(the_gate), serve(std::move(the_serve)) {}

  Result<void> listen() {
    const std::string path = options.socket.string();
    if (path.size() >= sizeof(sockaddr_un::sun_path))
      return fail(ErrorCode::kInvalidArgument, path + " is longer than " +
                                                   std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                                                   " bytes, the limit of a socket's path");
    if (auto clear = clear_way(options.socket); !clear) return clear;
    const auto cannot = [&path](const std::string& why) {
      return fail(ErrorCode::kUnavailable, "cannot listen on " + path + ": " + why);
    };
    boost::system::error_code error;
    acceptor.open(Local(), error);
    if (!error) acceptor.bind(Local::endpoint(path), error);
    if (error) return cannot(error.message());
    struct stat made {};
    if (::lstat(path.c_str(), &made) == 0) inode = made.st_ino;
    if (::chmod(path.c_str(), kAnyUser) != 0) return cannot(errno_message(errno));
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return cannot(error.message());
    return {};
  }

  /// Another weftd may have taken the path after us: its socket stays.
  void take_away() const {
    struct stat there {};
    if (inode != 0 && ::lstat(options.socket.c_str(), &there) == 0 && there.st_ino == inode)
      ::unlink(options.socket.c_str());
  }

  asio::awaitable<void> accept_all() {
    asio::steady_timer pause(context);
    for (;;) {
      auto [error, client] = co_await acceptor.async_accept(kTuple);
      if (error == asio::error::operation_aborted || error == asio::error::bad_descriptor) co_return;
      if (error) {
        // Out of descriptors, most likely: give connections time to end.
        pause.expires_after(std::chrono::milliseconds(100));
        co_await pause.async_wait(kTuple);
        continue;
      }
      take(std::move(client));
    }
  }

  void take(Local::socket client) {
    const auto account = access::account_behind(client.native_handle());
    if (!account) return;
    const auto role = access::role_of(*account, options.rights);
    const auto has = of_user.find(account->user);
    if (!role && (connections >= options.max_connections ||
                  (has != of_user.end() && has->second >= options.max_connections_per_user)))
      return gate.refuse({"a connection to the Unix socket",
                          {},
                          "uid " + std::to_string(account->user),
                          {ErrorCode::kResourceExhausted, "too many connections"}});
    const auto relay = std::make_shared<Relay>(*this, std::move(client), account->user);
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return;
    boost::system::error_code ignored;
    relay->inner.assign(Local(), pair[0], ignored);
    if (role) {
      relay->name = table.add({account->user, *role});
      // The address by which gRPC, and so each call, knows this connection.
      if (with_address(::bind, pair[0], '\0' + relay->name) != 0) {
        ::close(pair[1]);
        return;
      }
    }
    serve(role, pair[1]);
    asio::co_spawn(context, pass_on(relay, relay->client, relay->inner), asio::detached);
    asio::co_spawn(context, pass_on(relay, relay->inner, relay->client), asio::detached);
  }

  /// Until one end is closed; then the other is, too.
  static asio::awaitable<void> pass_on(std::shared_ptr<Relay> relay, Local::socket& from, Local::socket& to) {
    std::vector<char> piece(kPiece);
    for (;;) {
      const auto [read_error, size] = co_await from.async_read_some(asio::buffer(piece), kTuple);
      if (read_error) break;
      const auto [write_error, written] = co_await asio::async_write(to, asio::buffer(piece.data(), size), kTuple);
      if (write_error) break;
    }
    relay->close();
  }

  AccountListenerOptions options;
  AccountTable& table;
  access::Gate& gate;
  Serve serve;
  ino_t inode = 0;
  // Before the context: it takes down what is left of the connections, and they count here.
  unsigned connections = 0;
  std::map<uid_t, unsigned> of_user;
  asio::io_context context{1};
  Local::acceptor acceptor{context};
  std::thread thread;
};

Result<std::unique_ptr<AccountListener>> AccountListener::open(const AccountListenerOptions& options,
                                                               AccountTable& table, access::Gate& gate, Serve serve) {
  auto state = std::make_unique<State>(options, table, gate, std::move(serve));
  if (auto listening = state->listen(); !listening) {
    state->take_away();
    return tl::unexpected(listening.error());
  }
  asio::co_spawn(state->context, state->accept_all(), asio::detached);
  state->thread = std::thread([raw = state.get()] {
    pthread_setname_np(pthread_self(), "weft-accounts");
    raw->context.run();
  });
  return std::unique_ptr<AccountListener>(new AccountListener(std::move(state)));
}

AccountListener::AccountListener(std::unique_ptr<State> state) : state_(std::move(state)) {}
AccountListener::~AccountListener() {
  state_->take_away();
  state_->context.stop();
  state_->thread.join();
}

}  // namespace weft::api
