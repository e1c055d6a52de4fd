# SPDX-License-Identifier: Apache-2.0
"""What the InfiniBand benchmarks share: simulated subnets of fixed sizes, the peers' rates, and the table's lines.

A line of the table is tab-separated: name, ours, peer, ratio. Remarks go to standard error. Every benchmark runs with
--build FOLDER (default: build/bench), a build of the preset "bench" with the targets bench_programs, weft-sweeper and weftd.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "deploy" / "demonstration"))

import fat_tree  # noqa: E402
import simulated_subnet  # noqa: E402

# adapters: (rails, levels, radix); the sizes of the table in the recipe that the goals are set for.
SHAPES = {512: (8, 2, 32), 2000: (5, 3, 20), 2048: (8, 2, 64), 10240: (8, 3, 64), 39936: (8, 3, 64)}
SBIN = ":/usr/sbin:/sbin"


def say(text):
    print(text, file=sys.stderr, flush=True)


def report(name, ours, peer, ratio):
    print(f"{name}\t{ours}\t{peer}\t{ratio}", flush=True)


def arguments(description, sizes):
    """The parser that all benchmarks share; see parse()."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench", help="the build folder (default: build/bench)")
    parser.add_argument("--adapters", type=int, nargs="+", default=sizes, choices=sorted(SHAPES), help=f"sizes (default: {sizes})")
    parser.add_argument("--realtime", action="store_true",
                        help="measure with real-time scheduling, for a machine that has other work (needs the right to)")
    return parser


def parse(parser):
    options = parser.parse_args()
    say(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the start")
    if getattr(options, "realtime", False):  # those who run no ibsim do not offer it
        global _realtime
        _realtime = True
    return options


_realtime = False


def children(name):
    """Process ids of our own children that are called that."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return [int(pid) for pid in pids if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == name]


class Measured:
    """While it is entered, clients and ibsim are measured: at real-time priority if that was asked for."""

    def __init__(self):
        self._processes = (*children("ibsim"), 0) if _realtime else ()

    def __enter__(self):
        for process in self._processes:
            os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(1))

    def __exit__(self, *exception):
        if self._processes:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def network(adapters):
    rails, levels, radix = SHAPES[adapters]
    return fat_tree.build(adapters, rails, levels, radix)


def program(build, name):
    """A program of the build, or an end with the words that say how to build it."""
    for place in (build / "bin" / name, build / "bench" / name):
        if place.exists():
            return str(place.resolve())
    sys.exit(f"{name} is not built in {build}: cmake --preset bench -B {build} && "
             f"cmake --build {build} --target bench_programs weft-sweeper weftd")


class Placement:
    """CPUs of this process and of all it starts while it is entered."""

    def __init__(self, *cpus):
        self.cpus = set(cpus) & os.sched_getaffinity(0) or os.sched_getaffinity(0)

    def __enter__(self):
        self._before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, self.cpus)
        return self

    def __exit__(self, *exception):
        os.sched_setaffinity(0, self._before)


# Where processes run changes rates manifold. ibsim and the subnet manager stay on the first CPU; a client with many
# requests outstanding is fastest on another, one with a single request beside them.
SIMULATOR = (0,)
BESIDE = (0,)
APART = (1,)
PLACES = {"beside ibsim": BESIDE, "on another CPU": APART}


@contextlib.contextmanager
def subnet(adapters, with_manager=True):
    """A simulated subnet that is up, stopped in the end. Without a subnet manager its ports stay in Initialize, which directed
    routes pass."""
    net = simulated_subnet.SimulatedSubnet(network(adapters), say=say)
    try:
        with Placement(*SIMULATOR):
            net.start_ibsim()
            if with_manager:
                say(f"{adapters} adapters: OpenSM took {net.start_opensm():.1f} s")
        yield net
    finally:
        net.stop()


def environment(net, build, delay_us=0, meter=None):
    """For a client of the subnet; with a delay in each direction, or with its performance requests metered into a file."""
    variables = net.environment(net.network.hosts()[-1].identity)
    if delay_us or meter:
        variables["LD_PRELOAD"] += " " + program(build, "mad_shim.so")
    if delay_us:
        variables["WEFT_BENCH_DELAY_US"] = str(delay_us)
    if meter:
        variables["WEFT_BENCH_METER"] = str(meter)
    variables["PATH"] = os.environ.get("PATH", "") + SBIN
    return variables


def run(command, variables, timeout):
    """(seconds, standard output) of a client, run in a folder of its own as libumad2sim wants it."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        began = time.monotonic()
        done = subprocess.run([shutil.which(command[0], path=variables["PATH"]) or command[0], *command[1:]], env=variables,
                              cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout, check=False)
        seconds = time.monotonic() - began
    if done.returncode not in (0, 1):  # ibqueryerrors gives 1 when it found errors
        raise RuntimeError(f"{command[0]} gave {done.returncode}: {done.stderr[-400:]}")
    return seconds, done.stdout


def fastest(command, variables, timeout, rounds=2):
    """The shortest run of a client, beside ibsim or on another CPU, whichever suits it."""
    times = []
    for place in PLACES.values():
        with Placement(*place):
            for _ in range(rounds):
                times.append(run(command, variables, timeout)[0])
                if times[-1] > 20:
                    break
    return min(times)


def sweeper(net, build, sweeps, variables, *more, timeout=600):
    """What weft-sweeper says of its discovery, and of each sweep."""
    command = [program(build, "weft-sweeper"), "--benchmark-sweeps", str(sweeps), *more]
    lines = [json.loads(line) for line in run(command, variables, timeout)[1].splitlines()]
    return lines[0], lines[1:]


def count(number):
    return f"{number:,.0f}"


def ratio(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def targets(net, folder):
    """A file of "LID FIRST LAST" for bare_umad_loop, with the LIDs that OpenSM gave."""
    lids = {}
    with open(os.path.join(net.directory, "guid2lid"), encoding="ascii") as stream:
        for line in stream:
            words = line.split()
            if len(words) == 3:
                lids[int(words[0], 16)] = int(words[1], 16)
    path = Path(folder) / "targets"
    with open(path, "w", encoding="ascii") as stream:
        for node in net.network.nodes.values():
            if node.is_switch:
                stream.write(f"{lids[node.guid]} 1 {node.port_count}\n")
            else:
                for port in sorted(node.ports):
                    stream.write(f"{lids[node.port_guid(port)]} {port} {port}\n")
    return path


def bare_loop(net, build, windows=(1, 8, 64, 256, 1024), delay_us=0):
    """{window: MADs a second} of the bare loop; a window that lost datagrams is left out."""
    if net.small_buffers:
        windows = [window for window in windows if window <= simulated_subnet.WINDOW_WITH_SMALL_BUFFERS]
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        command = [program(build, "bare_umad_loop"), str(targets(net, folder)), *map(str, windows)]
        _, output = run(command, environment(net, build, delay_us), 600)
    rates = {}
    for line in output.splitlines():
        window, _, _, rate, lost = line.split("\t")
        if int(lost) == 0:
            rates[int(window)] = float(rate)
    return rates


def perfmgr_rate(net, build, outstanding, sweeps=4, timeout=900):
    """MADs a second of OpenSM's PerfMgr: its best sweep, as mad_shim.so sees the requests leave."""
    net.kill_opensm(hard=False)
    net.free_dead_clients()
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        place = Path(folder)
        meter = place / "meter"
        (place / "opensm.conf").write_text(
            "force_log_flush TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 2\nperfmgr_ignore_cas FALSE\nperfmgr_redir FALSE\n"
            f"perfmgr_max_outstanding_queries {outstanding}\nperfmgr_query_cpi TRUE\nperfmgr_rm_nodes FALSE\n",
            encoding="ascii")
        variables = environment(net, build, meter=meter)
        variables.update(SIM_HOST=net.manager_host, OSM_CACHE_DIR=folder, OSM_TMP_DIR=folder)
        command = ["/usr/sbin/opensm", "-F", str(place / "opensm.conf"), "-e", "-f", str(place / "log"), "-s", "0", "-R", "updn"]
        with open(place / "out", "wb") as out:
            opensm = subprocess.Popen(command, env=variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            ports = sum(node.port_count if node.is_switch else len(node.ports) for node in net.network.nodes.values())
            bursts = wait_for_bursts(opensm, meter, 2 * ports, sweeps, timeout)
        finally:
            opensm.terminate()
            try:
                opensm.wait(20)
            except subprocess.TimeoutExpired:
                opensm.kill()
                opensm.wait()
            net.free_dead_clients()
    return max(count / seconds for count, seconds in bursts)


def wait_for_bursts(process, meter, full, sweeps, timeout):
    """Bursts that asked for (nearly) every port's both attributes."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("OpenSM ended")
        if meter.exists():
            bursts = [(int(line.split()[0]), float(line.split()[1])) for line in meter.read_text().splitlines()]
            whole = [burst for burst in bursts if burst[0] >= 0.9 * full]
            if len(whole) >= sweeps:
                return whole
        time.sleep(0.2)
    raise RuntimeError(f"PerfMgr made no {sweeps} sweeps in {timeout} s: {meter.read_text() if meter.exists() else 'none'}")
