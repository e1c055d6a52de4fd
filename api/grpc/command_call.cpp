#include "api/grpc/command_call.hpp"

#include <string_view>

#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kLongestName = 256;

}  // namespace

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

}  // namespace weft::api
