// SPDX-License-Identifier: Apache-2.0
#pragma once
// What explicit congestion notification (ECN) shows at a port: all there is to see of congestion where nothing is
// paused.

#include "fabric/ids.hpp"

namespace weft::analyzer {

/// Between the last two readings of one port; negative where it is not known. (Marks: RFC 3168. Notifications: RoCEv2
/// congestion management, InfiniBand Architecture vol. 1, A17.9.)
struct PortMarks {
  float received = -1;  ///< share (0..1) of the packets received that carried a mark
  float made = -1;      ///< share of the packets sent that the port itself marked: a switch tells
  float notified = -1;  ///< congestion notification packets (CNP) obeyed, per second
};

/// The same with the port on its fabric.
struct MarkedPort {
  PortKey port;
  PortMarks marks;
};

}  // namespace weft::analyzer
