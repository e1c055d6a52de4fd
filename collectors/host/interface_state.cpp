// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/interface_state.hpp"

namespace weft::host {

void add_interface_state(HostPort& port, const ethernet::LinkSource::State& state) {
  port.administratively_down = !state.administratively_up;
  const bool is_alone = port.number == 0;
  if (is_alone) port.state = state.is_up() ? PortState::kActive : PortState::kDown;
  // The RDMA device of a bond is active while any link of the bond is (mlx5_query_port_roce() asks the bond): whether
  // this one is, only its own interface tells.
  const bool hides_its_link = !is_alone && !port.bond.empty();
  if (state.is_up() || !(is_alone || hides_its_link)) return;
  port.rate_bits_per_second = 0;
  if (!hides_its_link) return;
  port.state = PortState::kDown;
  port.physical_state = PortPhysicalState::kDisabled;
}

}  // namespace weft::host
