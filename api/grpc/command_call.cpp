#include "api/grpc/command_call.hpp"

#include <string_view>

#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kLongestName = 256;

}  // namespace

std::string for_the_record(const std::string& text, std::size_t longest) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::size_t more = utf8_sequence_length(std::string_view(text).substr(length));
    if (more == 0 || length + more > longest) break;
    length += more;
  }
  return text.substr(0, length);
}

std::string who_asks(const std::string& named, const grpc::CallbackServerContext& context) {
  return named.empty() ? context.peer() : for_the_record(named, kLongestName);
}

}  // namespace weft::api
