// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "daemon/programs/sweeper/frame.hpp"
#include "fuzz.hpp"

namespace {

using namespace weft;
using weft::fuzz::demand;

/// A stream of bytes that ends.
class Stream {
 public:
  explicit Stream(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool fill(std::span<std::byte> wanted) {
    if (wanted.size() > rest_.size()) return false;
    std::copy_n(rest_.begin(), wanted.size(), wanted.begin());
    rest_ = rest_.subspan(wanted.size());
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

void check(const ActingWeftds& acting) {
  demand(acting.others.size() <= ActingWeftds::kMostOthers, "others are bounded");
  std::vector<std::byte> written;
  sweeper::FrameWriter writer([&](std::span<const std::byte> bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
    return true;
  });
  demand(writer.write(acting) && writer.write(sweeper::Trouble{"over"}), "a memory takes everything");
  Stream stream(written);
  sweeper::FrameReader reader([&](std::span<std::byte> wanted) { return stream.fill(wanted); });
  demand(reader.read() && reader.acting() == acting, "what we write we read");
}

void check(const Sweep& sweep) {
  demand(sweep.topology != nullptr && sweep.counters != nullptr, "a sweep is whole");
  demand(Topology::validate(sweep.topology->nodes(), sweep.topology->ports()).empty(), "its graph is sound");
  const std::size_t rows = sweep.topology->ports().size();
  demand(sweep.counters->rows() == rows && sweep.state_read_at.size() == rows, "a row for each port");
  demand(sweep.details == nullptr || sweep.details->rows() == rows, "a detail row for each port");
  if (sweep.routes) {
    demand(sweep.routes->epoch() == sweep.topology->epoch(), "routes of this graph");
    for (NodeIndex node = 0; node < sweep.routes->nodes(); ++node) {
      demand(node < sweep.topology->nodes().size(), "nodes of this graph have tables");
      for (std::uint32_t lid = 0; lid <= 0xFFFF; lid += 61)
        (void)sweep.routes->egress(node, Lid{static_cast<std::uint16_t>(lid)});
    }
  }
  for (const Node& node : sweep.topology->nodes()) demand(to_string(node.type) != nullptr, "types have names");
  for (const Port& port : sweep.topology->ports()) demand(to_string(port.state) != nullptr, "states have names");
}

/// What was read can be written, and reads the same again.
void round_trip(const Sweep& sweep) {
  std::vector<std::byte> written;
  sweeper::FrameWriter writer([&](std::span<const std::byte> bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
    return true;
  });
  demand(writer.write(sweep), "a memory takes everything");
  Stream stream(written);
  sweeper::FrameReader reader([&](std::span<std::byte> wanted) { return stream.fill(wanted); });
  const auto again = reader.read();
  demand(again && std::holds_alternative<Sweep>(*again), "what we write we read");
  const auto& same = std::get<Sweep>(*again);
  demand(same.number == sweep.number && same.fabric == sweep.fabric, "the same sweep");
  demand((same.routes == nullptr) == (sweep.routes == nullptr), "the same routes");
  demand(std::ranges::equal(same.counters->raw_values(), sweep.counters->raw_values()), "the same readings");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Stream stream(std::as_bytes(std::span(data, size)));
  sweeper::FrameReader reader([&](std::span<std::byte> wanted) { return stream.fill(wanted); });
  bool first = true;
  while (true) {
    const auto frame = reader.read();
    if (!frame) {
      demand(frame.error().code == ErrorCode::kUnavailable || frame.error().code == ErrorCode::kCorrupt,
             "a stream ends or is corrupt");
      return 0;
    }
    check(reader.acting());
    if (const auto* sweep = std::get_if<Sweep>(&*frame)) {
      check(*sweep);
      if (first) round_trip(*sweep);
      first = false;
    }
  }
}
