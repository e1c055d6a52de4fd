# SPDX-License-Identifier: Apache-2.0
"""What the demonstration on a simulated subnet breaks, one thing after the other, and by which incident each should be known."""

import netfile
from fault import Fault
from physical_layer import Snapshot
from simulated_subnet import SimulatedSubnet
from weft_client import guid_text


def _link(network: netfile.Network, node: netfile.Node, port: int) -> tuple[set[tuple[str, int]], str]:
    end = node.ports[port]
    peer = network.nodes[end.node]
    return ({(guid_text(node.guid), port), (guid_text(peer.guid), end.port)},
            f"{node.name} port {port} - {peer.name} port {end.port}")


def _near(network: netfile.Network, keep_away: set[str]) -> set[str]:
    """Those nodes and what they are cabled to."""
    return {end.node for name in keep_away for end in network.nodes[name].ports.values()} | keep_away


def harmless_cable(network: netfile.Network, keep_away: set[str]) -> tuple[netfile.Node, int] | None:
    """A cable that anybody may pull: between switches that have others and are not beside a node in `keep_away`; where there is none, of a
    host that is not in `keep_away`. One end of it, or nothing."""
    near = _near(network, keep_away)
    trunks = network.trunks()
    ends = [node.identity for trunk in trunks for node in (trunk[0], trunk[2])]
    spare = [trunk for trunk in trunks if all(node.identity not in near and ends.count(node.identity) > 1 for node in (trunk[0], trunk[2]))]
    if spare:
        return spare[len(spare) // 2][:2]
    hosts = [node for node in network.hosts() if node.identity not in keep_away and node.ports]
    return (hosts[-1], min(hosts[-1].ports)) if hosts else None


def spare_trunks(network: netfile.Network, keep_away: set[str]) -> list:
    """Links between switches none of which is beside a node in `keep_away`; where there is none, all."""
    near = _near(network, keep_away)
    return [trunk for trunk in network.trunks() if trunk[0].identity not in near and trunk[2].identity not in near] or network.trunks()


def schedule(subnet: SimulatedSubnet, keep_away: set[str], round_number: int = 0) -> list[Fault]:
    """Faults that the subnet's shape allows, the plainest first; none cuts off the nodes in `keep_away`. Each round takes
    other links: one that goes down again and again flaps."""
    network = subnet.network
    near = _near(network, keep_away)
    trunks = spare_trunks(network, keep_away)
    hosts = [node for node in network.hosts() if node.identity not in keep_away and node.ports]
    found: list[Fault] = []

    def pick(things, number):
        return things[((number + round_number) * 7919) % len(things)]

    def unplugged(node, port):
        ends, words = _link(network, node, port)
        return Fault(f"unplugging {words}", ("LINK_DOWN", "NODE_DOWN"), ends,
                     lambda: subnet.unlink(node.identity, port), lambda: subnet.relink(node.identity, port))

    def noisy(node, port):
        ends, words = _link(network, node, port)

        def count(second):
            subnet.set_counter(node.identity, port, "PortCounters.SymbolErrorCounter", min(2500 * (second + 1), 65000))

        return Fault(f"symbol errors on {words}", ("LINK_ERRORS",), ends, lambda: count(0), lambda: None, count)

    def flapping(node, port):
        ends, words = _link(network, node, port)

        peer = network.nodes[node.ports[port].node]
        state = {"downs": 0, "down": False}

        def up():
            if state["down"]:
                subnet.relink(node.identity, port)
                state["down"] = False

        def flap(second):
            if state["down"]:
                up()
            elif state["downs"] < 5:
                subnet.unlink(node.identity, port)
                state.update(down=True, downs=state["downs"] + 1)
                for end, number in ((node, port), (peer, node.ports[port].port)):
                    subnet.set_counter(end.identity, number, "PortCounters.LinkDownedCounter", state["downs"])

        return Fault(f"flapping {words}", ("LINK_FLAP",), ends, lambda: None, up, flap, damped=True)

    def silent(node):
        # A subnet manager that asks meanwhile takes the link out of service: that is the same incident.
        return Fault(f"{node.name} does not answer", ("TELEMETRY_LOST",), {(guid_text(node.guid), 0)},
                     lambda: subnet.drop_requests(node.identity, 100), lambda: subnet.drop_requests(node.identity, 0))

    def cut_off(node):
        pulled = []  # a link that is disabled is down already, and stays so when the switch is back

        def begin():
            ports = Snapshot.of(subnet).ports
            for port, end in node.ports.items():
                if "Disabled" not in (ports[node.identity, port].physical, ports[end.node, end.port].physical):
                    subnet.unlink(node.identity, port)
                    pulled.append(port)

        def repair():
            while pulled:
                subnet.relink(node.identity, pulled.pop())

        return Fault(f"cutting off {node.name}", ("SWITCH_DOWN",), {(guid_text(node.guid), 0)}, begin, repair)

    if trunks:
        found.append(unplugged(*pick(trunks, 3)[:2]))
    if hosts:
        found.append(unplugged(pick(hosts, 5), min(pick(hosts, 5).ports)))
    if trunks:
        found.append(noisy(*pick(trunks, 11)[:2]))
        found.append(flapping(*pick(trunks, 17)[:2]))
    tops = [switch for switch in network.switches if switch.identity not in near and
            all(network.nodes[end.node].is_switch for end in switch.ports.values())]
    if len(tops) > 2:
        found.append(cut_off(pick(tops, 1)))
    if hosts:
        found.append(silent(pick(hosts, 9)))
    return found
