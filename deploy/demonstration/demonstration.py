#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs weftd and shows what it finds: on this host's InfiniBand adapters, on a simulated subnet, or on an Ethernet fabric
of network namespaces; in these two things are broken on a schedule. deploy/quickstart builds the programs and calls this."""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import ethernet
import fat_tree
import faults
import netfile
import simulated_subnet
from fault import NetworkError
from physical_layer import PhysicalLayer
from watching import NO_FILE, Failure, Programs, play, play_all, say, wait_for_end

ADAPTERS_A_SECOND = 500  # whose links the physical layer looks at: ibsim answers nobody meanwhile


def check_topology(options) -> None:
    """Raises Failure where weftd would refuse the file as an expected topology."""
    command = [os.path.join(options.programs, "weftd"), *NO_FILE, "--infiniband-expected-topology", options.topology, "--check-config"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"weftd does not accept the topology: {done.stderr.strip()}")


def to_try(programs: Programs, trunks: list) -> str:
    """Commands that take a link out of service and bring it back; empty where no link has a way round."""
    if len(trunks) < 2:
        return ""
    node, port = trunks[len(trunks) // 3][:2]
    weftctl = f"{os.path.relpath(programs.weftctl)} --server unix:{programs.socket}"
    return (f"    take a link out of service: {weftctl} isolate '{node.name}:{port}' --reason 'a try'\n"
            f"    and bring it back:          {weftctl} restore '{node.name}:{port}'\n"
            f"    at most six are taken out in an hour (remedy.limits.budget.actions_per_hour)\n")


def to_break(subnet: simulated_subnet.SimulatedSubnet, keep_away: set[str]) -> str:
    """Commands that pull a cable and put it back; empty where each cable is of a node in `keep_away`."""
    cable = faults.harmless_cable(subnet.network, keep_away)
    if not cable:
        return ""
    node, port = cable
    end = f"\"{node.identity}\"[{port}]"
    return (f"    break something yourself: echo 'Unlink {end}' > {subnet.console_path}  # {node.name} port {port}\n"
            f"    and repair it:            echo 'ReLink {end}' > {subnet.console_path}\n")


def diags_in(subnet: simulated_subnet.SimulatedSubnet) -> str:
    """A command line that asks the simulated subnet, for a shell. The simulated adapter leaves files where it is used."""
    there = subnet.environment(subnet.manager_host, {})
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in there.items())
    return f"(cd $(mktemp -d) && env {settings} ibswitches)"


def demonstrate(options) -> int:
    stop = threading.Event()
    network = simulated_subnet.load(options.topology, options.adapters, say)
    if options.topology:
        check_topology(options)
    if len(network.hosts()) < 2:
        raise Failure("the topology has fewer than two adapters: one for the subnet manager, one to watch from")
    place = tempfile.mkdtemp(prefix="weft-demonstration-")
    subnet = simulated_subnet.SimulatedSubnet(network, directory=place, say=say)
    programs = None
    try:
        say(f"simulated subnet: {len(network.adapters)} adapters, {len(network.switches)} switches, {network.links()} links")
        subnet.start_ibsim()
        say("simulator is up; starting OpenSM …")
        say(f"OpenSM has configured the subnet in {subnet.start_opensm():.1f} s; starting weftd …")
        programs = Programs(options.programs, options)
        watcher = network.hosts()[-1].identity
        keep_away = {subnet.manager_host, watcher}
        state_dir = os.path.join(place, "state")
        os.mkdir(state_dir)
        extra = [*NO_FILE, "--sweep-interval", "1s"]
        if subnet.small_buffers:
            extra += ["--infiniband-window", str(simulated_subnet.WINDOW_WITH_SMALL_BUFFERS)]

        def start_weftd():
            return programs.start_weftd(state_dir, subnet.environment(watcher), extra, os.path.join(place, "weftd.log"))

        def schedule(round_number: int = 0):
            return faults.schedule(subnet, keep_away, round_number)

        process = start_weftd()
        say(f"weftd is running (process {process.pid}, log {os.path.join(place, 'weftd.log')})")
        print(programs.addresses(), flush=True)
        print(to_break(subnet, keep_away) + f"    use infiniband-diags:     {diags_in(subnet)}\n"
              + to_try(programs, faults.spare_trunks(network, keep_away)), flush=True)
        if options.once:
            plan = schedule()
            if not plan:
                raise Failure("the topology has nothing that can be broken without cutting off the watcher")
            if missed := play(plan[0], programs.client, stop):
                raise Failure(missed)
            say("demonstration: the first fault was found, named and cleared")
            return 0
        # ibsim leaves the link of a disabled port up; hardware does not.
        with PhysicalLayer(subnet, every=max(0.5, len(network.adapters) / ADAPTERS_A_SECOND)):
            programs.start_view()
            player = threading.Thread(target=play_all, args=(schedule, programs.client, stop), daemon=True)
            player.start()
            return wait_for_end(process, subnet.ended, start_weftd)
    finally:
        stop.set()
        if programs:
            programs.stop()
        subnet.stop()
        shutil.rmtree(place, ignore_errors=True)


def watch_adapters(options) -> int:
    """The adapters of this host. Nothing is broken; --once ends with 0 after the first complete sweep."""
    programs = Programs(options.programs, options)
    os.makedirs(options.state_dir, exist_ok=True)
    log_path = os.path.join(options.state_dir, "weftd.log")
    try:
        process = programs.start_weftd(options.state_dir, dict(os.environ), [], log_path)
        say(f"weftd watches the InfiniBand ports of this host (process {process.pid}, log {log_path})")
        print(programs.addresses(), flush=True)
        if options.once:
            return 0
        programs.start_view()
        return wait_for_end(process)
    finally:
        programs.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, metavar="DIR", help="where weftd, weft-sweeper and weftctl are")
    parser.add_argument("--adapter", action="store_true", help="watch this host's adapters instead of a simulated subnet")
    parser.add_argument("--ethernet", action="store_true", help="an Ethernet fabric instead of a simulated subnet; needs root")
    parser.add_argument("--topology", metavar="FILE")
    parser.add_argument("--adapters", type=int, default=512)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--http", default="127.0.0.1:9640")
    parser.add_argument("--grpc", default="127.0.0.1:9641")
    parser.add_argument("--state-dir", default="/var/lib/weft")
    options = parser.parse_args()
    options.programs = os.path.abspath(options.programs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    try:
        if options.ethernet:
            return ethernet.demonstrate(options)
        return watch_adapters(options) if options.adapter else demonstrate(options)
    except KeyboardInterrupt:
        say("stopped")
        return 0
    except (Failure, NetworkError, netfile.NetfileError, fat_tree.SizeError, OSError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
