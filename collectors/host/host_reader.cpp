// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_reader.hpp"

#include <utility>

#include "collectors/host/sources.hpp"

namespace weft {

HostReader::HostReader(HostReaderOptions options) : sources_(std::make_unique<host::Sources>(std::move(options))) {}
HostReader::~HostReader() = default;
HostReader::HostReader(HostReader&&) noexcept = default;
HostReader& HostReader::operator=(HostReader&&) noexcept = default;

HostReading HostReader::read(TimePoint now) {
  return sources_->read(now);
}

int HostReader::event_fd() const {
  return sources_->event_fd();
}

std::vector<LinkEvent> HostReader::take_events(TimePoint now) {
  return sources_->take_events(now);
}

}  // namespace weft
