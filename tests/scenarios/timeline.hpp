#pragma once
// A scenario written down second by second, for a driver that shows it to real daemons; and what the analyzer says of
// it when it is fed straight.

#include <ostream>

#include "fabric/result.hpp"
#include "tests/scenarios/generate.hpp"

namespace weft::scenarios {

/// Lines of JSON. The first one is the fabric: name, interval and duration (seconds), watcher, nodes and cables. Then a
/// line for each sweep with what is another than in the line before: ports (states, widths, what their registers show)
/// and the nodes that are silent. The last line has the incidents. Nodes are given by their position in the first
/// line. kInvalidArgument for a scenario in which more happens than ports and counters show: cables that change their
/// places, a watcher that sleeps.
Result<void> write_timeline(const Case& scenario, std::ostream& out);

}  // namespace weft::scenarios
