#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a rail-optimised fat tree as an ibnetdiscover file, for ibsim or as an expected topology.

A host has one adapter on each rail; the adapters of one rail in a group of hosts meet at one leaf switch, so traffic
between equal ranks of neighbouring hosts crosses one switch. Leaves use half their ports downwards and half upwards.
Two levels join all leaves by spines; three join the leaves of a pod by spines and the pods by cores. Names and GUIDs
depend on nothing but the sizes.

  fat_tree.py --adapters 512                       # 48 switches, 32 ports each
  fat_tree.py --adapters 2048 --radix 64           # 96 switches
  fat_tree.py --adapters 2000 --levels 3 --radix 20 --rails 5   # 500 switches
  fat_tree.py --adapters 10240 --levels 3 --radix 64            # 896 switches
  fat_tree.py --adapters 39936 --levels 3 --radix 64            # 3,520 switches
"""

import argparse
import signal
import sys

import netfile

ADAPTER_GUIDS = 0x0EC0_DE01_0000_0000
LEAF_GUIDS = 0x0EC0_DE02_0000_0000
SPINE_GUIDS = 0x0EC0_DE03_0000_0000
CORE_GUIDS = 0x0EC0_DE04_0000_0000
SWITCH_DEVICE = 0xD2F2
ADAPTER_DEVICE = 0x1021


class SizeError(ValueError):
    """The sizes asked for do not make a fat tree; says which and why."""


def build(adapters: int = 512, rails: int = 8, levels: int = 0, radix: int = 0, speed: str = "HDR") -> netfile.Network:
    """The network; `levels` and `radix` 0 choose: two levels of 32 ports, then of 64, then three levels of 64."""
    if adapters < 1 or rails < 1 or adapters % rails:
        raise SizeError(f"{adapters} adapters cannot be shared out over {rails} rails evenly")
    for try_levels, try_radix in ((2, 32), (2, 64), (3, 64)):
        chosen = (levels or try_levels, radix or try_radix)
        try:
            return _build(adapters, rails, *chosen, speed)
        except SizeError:
            if (levels and radix) or (try_levels, try_radix) == (3, 64):
                raise
    raise AssertionError("unreachable")


def _build(adapters: int, rails: int, levels: int, radix: int, speed: str) -> netfile.Network:
    if radix < 2 or radix % 2:
        raise SizeError(f"radix {radix} is not an even number of ports")
    if levels not in (2, 3):
        raise SizeError(f"{levels} levels: a fat tree here has 2 or 3")
    down = radix // 2
    if levels == 3 and down % rails:
        raise SizeError(f"a pod has {down} leaves, which {rails} rails cannot share evenly")
    hosts = adapters // rails
    groups = -(-hosts // down)
    network = netfile.Network()
    leaves = [_switch(network, LEAF_GUIDS, group * rails + rail, radix, f"leaf-r{rail}-p{group + 1:02d}")
              for group in range(groups) for rail in range(rails)]
    if levels == 2:
        _join_by_spines(network, leaves, radix, down, speed)
    else:
        _join_by_pods(network, leaves, radix, down, speed)
    for host in range(hosts):
        for rail in range(rails):
            guid = ADAPTER_GUIDS + (host + 1) * 0x1000 + rail * 0x10
            adapter = network.add(netfile.ADAPTER, guid, 1, f"gpu-{host + 1:04d} mlx5_{rail}", ADAPTER_DEVICE)
            network.connect(leaves[host // down * rails + rail], host % down + 1, adapter, 1, speed=speed)
    return network


def _switch(network: netfile.Network, guids: int, index: int, ports: int, name: str) -> netfile.Node:
    return network.add(netfile.SWITCH, guids + (index + 1) * 0x100, ports, name, SWITCH_DEVICE)


def _fewest(uplinks: int, below: int, radix: int) -> int:
    """The fewest switches, a divisor of `uplinks`, that have ports enough for `below` switches with `uplinks` each."""
    for count in range(1, uplinks + 1):
        if uplinks % count == 0 and below * (uplinks // count) <= radix:
            return count
    raise SizeError(f"{below} switches of {uplinks} uplinks cannot meet at switches of {radix} ports")


def _join_by_spines(network, leaves, radix, down, speed):
    count = _fewest(down, len(leaves), radix)
    each = down // count
    for number in range(count):
        spine = _switch(network, SPINE_GUIDS, number, len(leaves) * each, f"spine-{number + 1:02d}")
        for position, leaf in enumerate(leaves):
            for strand in range(each):
                network.connect(leaf, down + number * each + strand + 1, spine, position * each + strand + 1, speed=speed)


def _join_by_pods(network, leaves, radix, down, speed):
    pods = [leaves[first:first + down] for first in range(0, len(leaves), down)]
    count = _fewest(down, len(pods), radix)
    each = down // count
    spines = []
    for pod, members in enumerate(pods):
        for number in range(down):
            spine = _switch(network, SPINE_GUIDS, pod * down + number, radix, f"spine-p{pod + 1:02d}-{number + 1:02d}")
            spines.append(spine)
            for position, leaf in enumerate(members):
                network.connect(leaf, down + number + 1, spine, position + 1, speed=speed)
    for plane in range(down):
        for number in range(count):
            index = plane * count + number
            core = _switch(network, CORE_GUIDS, index, len(pods) * each, f"core-{index + 1:04d}")
            for pod in range(len(pods)):
                spine = spines[pod * down + plane]
                for strand in range(each):
                    network.connect(spine, down + number * each + strand + 1, core, pod * each + strand + 1, speed=speed)


def main() -> int:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--adapters", type=int, default=512, help="channel adapters in all (default: 512)")
    size.add_argument("--hosts", type=int, help="hosts in all: adapters = hosts x rails")
    parser.add_argument("--rails", type=int, default=8, help="adapters of a host (default: 8)")
    parser.add_argument("--levels", type=int, default=0, choices=(2, 3), help="levels of switches (default: as few as do)")
    parser.add_argument("--radix", type=int, default=0, help="ports of a switch (default: 32, or 64 where 32 do not do)")
    parser.add_argument("--speed", default="HDR", choices=netfile.IBSIM_SPEEDS, help="of every link (default: HDR)")
    parser.add_argument("--narrow", action="append", default=[], metavar="NODE:PORT",
                        help="brings this link up at 1X; may be given several times")
    parser.add_argument("--ibsim-arguments", action="store_true",
                        help="print the table sizes that ibsim needs for it, instead of the topology")
    parser.add_argument("--output", metavar="FILE", help="write here instead of to standard output")
    options = parser.parse_args()
    adapters = options.hosts * options.rails if options.hosts is not None else options.adapters
    try:
        network = build(adapters, options.rails, options.levels, options.radix, options.speed)
        for link in options.narrow:
            name, _, port = link.rpartition(":")
            network.set_width(network.find(name).identity, int(port), 1)
    except (SizeError, KeyError, ValueError) as error:
        print(f"fat_tree.py: {error}", file=sys.stderr)
        return 2
    if options.ibsim_arguments:
        print(" ".join(network.ibsim_arguments()))
        return 0
    if options.output:
        with open(options.output, "w", encoding="utf-8") as stream:
            network.write(stream)
    else:
        network.write(sys.stdout)
    print(f"{len(network.adapters)} adapters, {len(network.switches)} switches, {network.links()} links, "
          f"{network.port_entries()} ports", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
