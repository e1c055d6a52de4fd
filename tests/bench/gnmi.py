#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""weft-switches and many switches that tell by gNMI, everything on this machine: its share of the CPU, its memory, and whether all that was
told is taken.

gnmi_targets.py plays the switches, each on a connection of its own, from prebuilt messages in as many processes as are asked for: what
weft-switches asks for is told each second, a switch's 1/N of a second after the one before. weft-switches is the program as weftd starts it;
what it hands on is read here, as weftd would, and counted. What weftd then does with readings is the subject of `ingest`. Compared with one
core, and with a client in Python (python3-grpcio, its messages decoded by C++) that subscribes to the same of fewer switches and only counts
the values: values a second of processor time, by /proc. Ratios: limit / ours, and ours / the peer's.
"""

import argparse
import contextlib
import json
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import bench_lib as bench
from ingest import cpu_seconds, megabytes

sys.path.insert(0, str(bench.ROOT / "tests" / "support"))

import certificates  # noqa: E402

HERE = Path(__file__).parent
READING, STATES = 1, 2  # frames, as daemon/programs/switches/frame.cpp has them
READING_STATE = 1       # SwitchTargetState::kReading
FIGURES_EVERY = 5       # s: weft-switches tells its own figures


class Talker:
    """A process that answers lines with lines."""

    def __init__(self, *command, first=""):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(first)
        self.process.stdin.flush()
        self.greeting = self.process.stdout.readline().strip()

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Fields:
    """The fields of a message of daemon/platform/runtime/child_options.hpp."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def number(self, kind):
        value, = struct.unpack_from("<" + kind, self.content, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def text(self):
        size = self.number("I")
        self.at += size
        return self.content[self.at - size:self.at].decode()


class Switches:
    """weft-switches, and what it hands on."""

    def __init__(self, program, targets, credentials):
        ours, its = socket.socketpair()
        self.socket = ours.makefile("rb", buffering=1 << 20)
        # It finds its end of the socket as descriptor 3.
        self.process = subprocess.Popen(["/bin/sh", "-c", f'exec "$0" 3<&{its.fileno()}', program], pass_fds=(its.fileno(),), stdin=subprocess.DEVNULL)
        its.close()
        texts = ("", str(targets), credentials)
        content = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in texts)
        # Interval and longest wait, ns; bytes of a message; values a second, ports, targets: as switches::Options has them.
        content += struct.pack("<qqQIII", 1_000_000_000, 60_000_000_000, 4 << 20, 100_000, 1024, 10_000)
        ours.sendall(struct.pack("<II", 0x4F505453, len(content)) + content)
        self.ours = ours
        self.lock = threading.Lock()
        self.last, self.readings, self.longest_gap = {}, 0, 0.0
        self.states = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while header := self.socket.read(12):
            _magic, kind, size = struct.unpack("<III", header)
            content = self.socket.read(size)
            with self.lock:
                if kind == READING:
                    name, now = Fields(content).text(), time.monotonic()
                    self.longest_gap = max(self.longest_gap, now - self.last.get(name, now))
                    self.last[name] = now
                    self.readings += 1
                elif kind == STATES:
                    self._take(Fields(content))
                else:
                    print(content.decode(), file=sys.stderr)

    def _take(self, fields):
        for _ in range(fields.number("I")):
            name = fields.text()
            fields.text()
            state = fields.number("I")
            fields.number("q"), fields.number("q")
            reason = fields.text()
            fields.text(), fields.text()
            messages, values, unknown, bad, left_out, connects = (fields.number("Q") for _ in range(6))
            fields.number("q")
            self.states[name] = {"read": state == READING_STATE, "reason": reason, "messages": messages, "values": values, "unknown": unknown,
                                 "bad": bad, "left_out": left_out, "connects": connects}

    def ask(self):
        """What was seen since it was asked before; of its own figures the sums, ever."""
        with self.lock:
            seen = {"readings": self.readings, "longest_gap": self.longest_gap}
            self.readings, self.longest_gap = 0, 0.0
            for figure in ("read", "messages", "values", "unknown", "bad", "left_out", "connects"):
                seen[figure] = sum(one[figure] for one in self.states.values())
            return seen

    def reasons(self):
        return sorted({one["reason"] for one in self.states.values()})

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.ours.shutdown(socket.SHUT_RDWR)
        self.process.terminate()
        self.process.wait(30)


@contextlib.contextmanager
def played(options, count):
    """The switches, in some processes: [(process, how many of the switches)]."""
    files = (options.certificate, options.key) if options.tls else ()
    shares = [len(range(at, count, options.generators)) for at in range(min(options.generators, count))]
    with contextlib.ExitStack() as stack:
        yield [(stack.enter_context(Talker(sys.executable, str(HERE / "gnmi_targets.py"), str(share), str(options.ports), str(options.values),
                                           options.form, *files)), share) for share in shares]


def stop(told):
    """What they told in all, from when they have ceased."""
    said = [talker.ask() for talker, _ in told]
    return {name: (max if name == "longest" else sum)(one[name] for one in said) for name in said[0]}


def measure(options, pid, ask, told):
    """(what was seen, cores that the process took, those that the switches took) meanwhile."""
    pids = [pid, *(talker.process.pid for talker, _ in told)]
    ask()
    before, began = [cpu_seconds(each) for each in pids], time.monotonic()
    time.sleep(options.seconds)
    saw, took = ask(), time.monotonic() - began
    cores = [(cpu_seconds(each) - earlier) / took for each, earlier in zip(pids, before)]
    return saw, cores[0], sum(cores[1:]), took


def ours(options, folder):
    """Values that it takes in a second of one core."""
    with played(options, options.switches) as told:
        words = "certificate=localhost" if options.tls else "tls=off"
        targets = Path(folder) / "targets"
        targets.write_text("".join(f"bench{number}x{at} 127.0.0.1:{talker.greeting} {words}\n" for number, (talker, share) in enumerate(told)
                                   for at in range(share)), encoding="ascii")
        with Switches(options.program or bench.program(options.build, "weft-switches"), targets, folder if options.tls else "") as reader:
            for _ in range(options.patience):
                time.sleep(1)
                if reader.ask()["read"] == options.switches:
                    break
            else:
                sys.exit(f"not all switches are read: {reader.ask()}, {reader.reasons()}")
            time.sleep(FIGURES_EVERY + 1)
            before = reader.ask()
            saw, cores, telling, took = measure(options, reader.process.pid, reader.ask, told)
            resident, highest = megabytes(reader.process.pid, "VmRSS"), megabytes(reader.process.pid, "VmHWM")
            sent = stop(told)
            time.sleep(FIGURES_EVERY + 1)
            taken = reader.ask()
    rate = (saw["values"] - before["values"]) / took
    bench.say(f"weft-switches: {cores:.2f} of a core for about {rate:,.0f} values a second, {resident:.0f} MB ({highest:.0f} at the most); the switches "
              f"{telling:.2f} of a core, the longest handed on {sent['longest']} ms after it was due; {sent['messages']:,} messages of "
              f"{sent['bytes'] / max(1, sent['messages']):,.0f} bytes in all")
    bench.say(f"{saw['readings']:,} readings in {took:.1f} s; the longest time between two of a switch {saw['longest_gap']:.2f} s; {taken['connects']} connections")
    bench.say(f"values: {sent['values']:,} told, {taken['values']:,} taken, {taken['unknown']} unknown, {taken['bad']} bad, {taken['left_out']} left out")
    name = f"gnmi: {options.switches} switches × {options.ports} ports × {options.values} values at 1 s, messages by {options.form}"
    bench.report(f"{name}: CPU, cores (limit)", f"{cores:.2f}", "1.00", bench.ratio(1 / cores))
    bench.report(f"{name}: resident memory, MB", f"{resident:.0f}", "none set", "")
    bench.report(f"{name}: values taken, of those told", f"{taken['values']:,}", f"{sent['values']:,}", bench.ratio(taken["values"] / sent["values"]))
    bench.report(f"{name}: readings, of those due", f"{saw['readings']:,}", f"{options.switches * took:,.0f}",
                 bench.ratio(saw["readings"] / (options.switches * took)))
    return min(rate, options.switches * options.ports * options.values) / cores


def peer(options):
    """Values that it counts in a second of one core."""
    with played(options, options.peer_switches) as told:
        addresses = ",".join(f"127.0.0.1:{talker.greeting}*{share}" for talker, share in told)
        with Talker(sys.executable, str(HERE / "gnmi_peer.py"), addresses, options.certificate if options.tls else "") as client:
            saw, cores, _, took = measure(options, client.process.pid, client.ask, told)
            resident = megabytes(client.process.pid, "VmRSS")
    wanted = options.peer_switches * options.ports * options.values
    bench.say(f"python3-grpcio: {options.peer_switches} switches, {cores:.2f} of a core, {resident:.0f} MB, {saw['values'] / took:,.0f} of {wanted:,} "
              f"values a second")
    return saw["values"] / took / cores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=bench.ROOT / "build" / "bench", help="the build folder (default: build/bench)")
    parser.add_argument("--program", help="another weft-switches than that of the build")
    parser.add_argument("--switches", type=int, default=200)
    parser.add_argument("--ports", type=int, default=64, help="of each switch (default: 64)")
    parser.add_argument("--values", type=int, default=40, help="counters of each port, at most 42 (default: 40)")
    parser.add_argument("--seconds", type=int, default=30, help="that are measured (default: 30)")
    parser.add_argument("--form", choices=("port", "whole"), default="whole",
                        help="what is in one message: a port's values of a stream below a common prefix, or all values of a stream with whole paths "
                             "(default: whole)")
    parser.add_argument("--tls", action="store_true", help="the switches speak TLS")
    parser.add_argument("--generators", type=int, default=1, help="processes that play the switches (default: 1)")
    parser.add_argument("--patience", type=int, default=120, help="seconds until all switches are read (default: 120)")
    parser.add_argument("--peer-switches", type=int, default=20, help="that the client in Python reads; 0: it is left out (default: 20)")
    options = bench.parse(parser)
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        if options.tls:
            options.certificate, options.key = certificates.make_certificate(folder, "server")
            Path(folder, "default.ca").write_bytes(Path(options.certificate).read_bytes())
        rate = ours(options, folder)
        if options.peer_switches:
            beside = peer(options)
            bench.report("gnmi: values of one core a second, beside python3-grpcio that counts them", bench.count(rate), bench.count(beside),
                         bench.ratio(rate / beside))


if __name__ == "__main__":
    sys.exit(main())
