// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scenario written down second by second, for a driver that shows it to real daemons; and what the analyzers say of
// it when they are fed straight.

#include <ostream>

#include "fabric/result.hpp"
#include "tests/scenarios/generate.hpp"

namespace weft::scenarios {

/// Lines of JSON. The first one is the fabric: name, interval and duration (seconds), watcher, nodes, cables, and the
/// hosts that have collectors with their adapters and their jobs. Then a line for each sweep with what is another than
/// in the line before: ports (states, widths, what their registers show), the nodes that are silent, what the hosts'
/// collectors read of RDMA errors, and the hosts without power. Their traffic is not repeated: it is that of their
/// adapters' ports. A frame is one moment, though a sweep reads node after node: what shows it is read within
/// milliseconds. The last line has the incidents. Nodes and hosts are given by their position in the first line.
/// What adapters tell of PCIe stays out, in the frames and for the analyzers: no file of sysfs shows it.
/// kInvalidArgument for a scenario in which more happens than ports and counters show: cables that change their places,
/// a watcher that sleeps.
Result<void> write_timeline(const Case& scenario, std::ostream& out);

}  // namespace weft::scenarios
