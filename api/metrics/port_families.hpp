// SPDX-License-Identifier: Apache-2.0
#pragma once
// The families of port series: by far the most of an exposition, written straight from the sweep's tables, each
// followed by what collectors read in the same family.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/metrics/family.hpp"
#include "api/metrics/host_rows.hpp"
#include "api/metrics/labels.hpp"
#include "api/metrics/port_family_table.hpp"
#include "api/metrics/scrape_time.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Writes the families of port_family_table() one after the other (the formats want a family's series together), port
/// after port, some 128 KiB at a time. It allocates per scrape and per family, not per series.
class PortFamilies {
 public:
  /// Families of other groups are left out.
  PortFamilies(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricsFormat format,
               MetricGroups groups = MetricGroups::all());
  ~PortFamilies();
  PortFamilies(PortFamilies&&) noexcept;

  /// The next piece, good until the next call; empty at the end.
  std::string_view next();

 private:
  struct View;
  struct Line;

  const PortFamily& family() const;
  void begin_family();
  void write_family();
  template <typename Row>
  void rows(Row&& row);
  void write_counter();
  void write_rate(double PortRates::*field);
  void write_saturated();
  void write_info();

  std::shared_ptr<const Snapshot> snapshot_;
  ScrapeTime now_;
  MetricsFormat format_;
  MetricGroups groups_;
  std::vector<View> views_;
  std::vector<char> buffer_;
  char* at_ = nullptr;
  const char* full_ = nullptr;  ///< beyond it there is still room for the series of one port

  // Where the next call goes on.
  std::size_t family_ = 0;
  std::size_t fabric_ = 0;
  PortIndex port_ = 0;
  bool begun_ = false;
  bool headed_ = false;
  std::string head_;
  HostRows hosts_;
};

}  // namespace weft::api
