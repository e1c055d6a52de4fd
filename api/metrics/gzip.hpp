// SPDX-License-Identifier: Apache-2.0
#pragma once
// gzip of a stream, piece by piece.

#include <memory>
#include <string>
#include <string_view>

namespace weft::api {

/// Compresses at zlib's fastest level: an exposition repeats itself so much that it shrinks to a thirtieth even so.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(GzipStream&&) noexcept;
  GzipStream& operator=(GzipStream&&) noexcept;

  /// Appends to `out` what `in` gives; that may be nothing yet.
  void compress(std::string_view in, std::string& out);
  /// Appends the end. Nothing may follow.
  void finish(std::string& out);

 private:
  void run(std::string_view in, int flush, std::string& out);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::api
