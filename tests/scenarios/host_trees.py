# SPDX-License-Identifier: Apache-2.0
"""The hosts of a scenario on the second way in: for each one a sysfs tree as the kernel lays it out for mlx5 adapters, whose files say
what the scenario says, and a weft-collector with its weft-uplink that read it and tell weftd. See real_path.py."""

import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "collector"))

import collector_testing  # noqa: E402
import sysfs_tree  # noqa: E402
from program_testing import wait_until  # noqa: E402

MOST_HOSTS = 16  # of one scenario: each is two processes
# By the catalogue's name: mlx5's file in counters/ and how many of ours are one of its; its file in hw_counters/.
_TRAFFIC = {
    "transmit_bytes": ("port_xmit_data", 4),
    "receive_bytes": ("port_rcv_data", 4),
    "transmit_packets": ("port_xmit_packets", 1),
    "receive_packets": ("port_rcv_packets", 1),
    "unicast_transmit_packets": ("unicast_xmit_packets", 1),
    "unicast_receive_packets": ("unicast_rcv_packets", 1),
}
_ERRORS = {
    "sequence_nak": "packet_seq_err",
    "ack_timeout": "local_ack_timeout_err",
    "out_of_sequence": "out_of_sequence",
    "rnr_nak": "rnr_nak_retry_err",
    "out_of_buffer": "out_of_buffer",
    "retries_exhausted": "req_transport_retries_exceeded",
}
_UP = {"state": "4: ACTIVE", "phys_state": "5: LinkUp"}
_DOWN = {"state": "1: DOWN", "phys_state": "2: Polling"}
# What of an incident's evidence only hosts can tell.
SIGNALS = {"lost_share", *_ERRORS}


class Hosts:
    """Trees and collectors of all hosts of a timeline's first line; none where it names none. Before they are shown a frame, errors
    stand where the host was first read, which may have been after the first frame: from there on they move."""

    def __init__(self, fabric: dict, frames: list[dict] = ()):
        self._hosts = fabric.get("hosts", [])
        self._place = tempfile.mkdtemp(prefix="weft-hosts-")
        self._ports: dict[int, str] = {}  # folder of port 1, by node
        self._by_device: dict[tuple[int, str], str] = {}  # the same by host and device
        self._collectors: list[collector_testing.Collector] = []
        self._dark: set[int] = set()
        for number, host in enumerate(self._hosts):
            root = self.tree(number)
            os.makedirs(os.path.join(root, "class", "net"))
            for rail, node in enumerate(host["adapters"]):
                guid = fabric["nodes"][node]["guid"]
                device = sysfs_tree.add_adapter(root, rail, guid, guid + 1)
                self._ports[node] = self._by_device[number, os.path.basename(device)] = os.path.join(device, "ports", "1")
            sysfs_tree.write(os.path.join(self._place, str(number), "jobs"), "\n".join(host["jobs"]))
        unread = set(range(len(self._hosts)))
        for entry in (entry for frame in frames for entry in frame.get("hosts", [])):
            if entry["host"] in unread:
                self._show_errors(entry)
                unread.remove(entry["host"])

    def tree(self, host: int) -> str:
        return os.path.join(self._place, str(host), "sys")

    def __len__(self) -> int:
        return len(self._hosts)

    def start(self, weftd, interval: str) -> None:
        """All collectors, until weftd has heard each."""
        for number, host in enumerate(self._hosts):
            jobs = os.path.join(self._place, str(number), "jobs")
            collector = collector_testing.Collector(self.tree(number), weftd.grpc, interval, ("--jobs-file", jobs), host["name"])
            self._collectors.append(collector)
            collector.start(wait=False)
        wait_until(lambda: not self._unheard(weftd), why=lambda: "not heard: " + "; ".join(self._unheard(weftd)))

    def _unheard(self, weftd) -> list[str]:
        """Of each collector that weftd has no batch of: what weftd knows of it, and the end of its own log."""
        known = {one["host"]: one for one in weftd.client.json("/api/v1/collectors").get("collectors", [])}
        unheard = []
        for host, collector in zip(self._hosts, self._collectors, strict=True):
            one = known.get(host["name"], {})
            if one.get("state") != "CONNECTED" or int(one.get("batches", 0)) == 0:
                unheard.append(f"{host['name']}: {one}; exit code {collector.process.poll()}; its log:\n{collector.log()}")
        return unheard

    def show_traffic(self, node: int, values: dict) -> None:
        """`values`: the counters of that adapter's port, by the catalogue's names."""
        if port := self._ports.get(node):
            for name, (file, unit) in _TRAFFIC.items():
                if name in values:
                    sysfs_tree.rewrite(os.path.join(port, "counters", file), values[name] // unit)

    def show(self, frame: dict) -> None:
        """All of a frame but traffic."""
        for entry in frame["ports"]:
            if "state" in entry and (port := self._ports.get(entry["node"])):
                for file, text in (_UP if entry["state"]["joined"] else _DOWN).items():
                    sysfs_tree.rewrite(os.path.join(port, file), text)
        for entry in frame.get("hosts", []):
            self._show_errors(entry)
        self._switch_off(set(frame.get("dark", [])))

    def _show_errors(self, entry: dict) -> None:
        for device, values in entry["devices"].items():
            for name, value in values.items():
                sysfs_tree.rewrite(os.path.join(self._by_device[entry["host"], device], "hw_counters", _ERRORS[name]), value)

    def _switch_off(self, dark: set[int]) -> None:
        for host in sorted(dark ^ self._dark):
            if host in dark:
                self._collectors[host].kill()
            else:
                self._collectors[host].start(wait=False)
        self._dark = dark

    def stop(self) -> None:
        for collector in self._collectors:
            if collector.process and collector.process.poll() is None:
                collector.process.terminate()  # all at once; remove() waits for each
        for collector in self._collectors:
            collector.remove()
        shutil.rmtree(self._place, ignore_errors=True)
