// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/gzip.hpp"

#include <zlib.h>

#include <new>

namespace weft::api {

struct GzipStream::State {
  z_stream stream{};
  ~State() { deflateEnd(&stream); }
};

GzipStream::GzipStream() : state_(std::make_unique<State>()) {
  constexpr int kGzipWrapper = 16;
  if (deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipWrapper, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();  // the only way it fails with these arguments
}
GzipStream::~GzipStream() = default;
GzipStream::GzipStream(GzipStream&&) noexcept = default;
GzipStream& GzipStream::operator=(GzipStream&&) noexcept = default;

void GzipStream::compress(std::string_view in, std::string& out) {
  run(in, Z_NO_FLUSH, out);
}
void GzipStream::finish(std::string& out) {
  run({}, Z_FINISH, out);
}

void GzipStream::run(std::string_view in, int flush, std::string& out) {
  z_stream& stream = state_->stream;
  // zlib does not write to next_in; its type predates const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  constexpr std::size_t kStep = 16 * 1024;
  do {
    const std::size_t before = out.size();
    out.resize(before + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = kStep;
    deflate(&stream, flush);
    out.resize(before + kStep - stream.avail_out);
  } while (stream.avail_out == 0);
}

}  // namespace weft::api
