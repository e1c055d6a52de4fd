# SPDX-License-Identifier: Apache-2.0
"""Switches that tell by gNMI: stand-ins on loopback, from our own copy of the published interface (api/proto/gnmi/gnmi.proto), with
what vendors do differently, and what can go wrong, as data. There is no real target in Debian."""

import concurrent.futures
import copy
import dataclasses
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what clients do wrong is what tests are about

import grpc  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_generated = tempfile.TemporaryDirectory(prefix="weft-proto-")


def _load():
    proto = os.path.join(ROOT, "api", "proto")
    subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={_generated.name}", "gnmi/gnmi.proto"], check=True)
    sys.path.insert(0, os.path.join(_generated.name, "gnmi"))
    return importlib.import_module("gnmi_pb2")


pb2 = _load()


@dataclasses.dataclass
class Quirks:
    """How a target differs from the specification, or from others."""
    models: tuple[str, ...] = ("openconfig-interfaces", "openconfig-lldp")
    encodings: tuple[int, ...] = (pb2.PROTO, pb2.JSON_IETF)
    has_capabilities: bool = True
    refuses: tuple[str, ...] = ()          # beginnings of paths: INVALID_ARGUMENT
    refuses_on_change: bool = False        # INVALID_ARGUMENT for any ON_CHANGE
    tells_sync: bool = True
    json: bool = False                     # values as JSON of the whole container, as Cumulus, NVOS and SONiC tell them
    login: tuple[str, str] | None = None   # that it wants, as metadata
    basic: str = ""                        # that it wants, as the header "authorization"
    clock: float = 0                       # seconds, added to the time
    hangs: bool = False                    # takes the stream and says nothing
    big: int = 0                           # bytes of a value that it tells with its counters
    flood: int = 0                         # messages of unknown values, as fast as they go
    strange: bool = False                  # tells values that nobody knows, and that cannot be
    native: str = ""                       # "srlinux": ports by its own model as well; "sonic": a leaf is set by an object
    get_trouble: str = ""                  # what goes wrong with Get: "hang"
    set_trouble: str = ""                  # what goes wrong with Set: see SET_TROUBLES


# "refuse": PERMISSION_DENIED. "missing": UNIMPLEMENTED. "before": it hangs, and nothing is done unless it is released. "after": it is
# done, and the answer hangs. "lost": it is done, and UNAVAILABLE is the answer. "dropped": the same, and nothing is done. "late": it hangs,
# and is done when it is released, though nobody waits any more. "ignore": it is accepted, and nothing is done.
SET_TROUBLES = ("refuse", "missing", "before", "after", "lost", "dropped", "late", "ignore")


@dataclasses.dataclass
class Port:
    oper: str = "UP"
    admin: str = "UP"
    enabled: bool = True                   # as configured
    speed: str = "SPEED_400GB"
    transitions: int = 1
    counters: dict[str, int] = dataclasses.field(default_factory=dict)
    neighbour: dict[str, str] | None = None


def parse_path(text: str):
    """A Path of "/a/b[name=x]/c"."""
    path = pb2.Path()
    for name, keys in re.findall(r"/([^/\[]+)((?:\[[^\]]*\])*)", text):
        element = path.elem.add(name=name)
        for key, value in re.findall(r"\[([^=]+)=([^\]]*)\]", keys):
            element.key[key] = value
    return path


def without_modules(path):
    """The path without the names of modules before its elements, as SONiC wants them."""
    plain = pb2.Path()
    for element in path.elem:
        plain.elem.add(name=element.name.rpartition(":")[2]).key.update(element.key)
    return plain


def path_text(path) -> str:
    return "".join(f"/{element.name}" + "".join(f"[{key}={value}]" for key, value in sorted(element.key.items())) for element in path.elem)


def pattern_of(path) -> re.Pattern:
    """What is at the path or below it; "*" is any value of a key."""
    text = "".join("/" + re.escape(element.name) + "".join(rf"\[{re.escape(key)}=" + ("[^]]*" if value == "*" else re.escape(value)) + r"\]"
                                                            for key, value in sorted(element.key.items())) for element in path.elem)
    return re.compile(text + r"(?:/|$)")


def typed(value):
    if isinstance(value, bool):
        return pb2.TypedValue(bool_val=value)
    if isinstance(value, int):
        return pb2.TypedValue(uint_val=value) if value >= 0 else pb2.TypedValue(int_val=value)
    if isinstance(value, float):
        return pb2.TypedValue(double_val=value)
    return pb2.TypedValue(string_val=value)


class Switch:
    """One target. Its ports are those of the fabric's cables."""

    def __init__(self, name: str, mac: str, address: str):
        self.name, self.mac, self.address = name, mac, address
        self.quirks = Quirks()
        self.ports: dict[str, Port] = {}
        self.subscriptions: list[str] = []  # "ON_CHANGE /interfaces/…", as they came
        self.sets: list[tuple[str, bool]] = []  # port and whether it is enabled, of each Set that came
        self.on_set = lambda port, enabled: None
        self.reached, self.released = threading.Event(), threading.Event()  # a call hangs; it goes on
        self.changed = threading.Condition()
        self._server = None
        self._arguments = (None, None)

    # ---- serving

    def start(self, certificate: tuple[str, str] | None = None, client_authority: str | None = None) -> "Switch":
        """With a certificate (PEM files) by TLS; with an authority clients must show a certificate of it."""
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=32), options=[("grpc.so_reuseport", 0)])
        handlers = {
            "Capabilities": grpc.unary_unary_rpc_method_handler(self._capabilities, request_deserializer=pb2.CapabilityRequest.FromString,
                                                                response_serializer=pb2.CapabilityResponse.SerializeToString),
            "Get": grpc.unary_unary_rpc_method_handler(self._get, request_deserializer=pb2.GetRequest.FromString,
                                                       response_serializer=pb2.GetResponse.SerializeToString),
            "Set": grpc.unary_unary_rpc_method_handler(self._set, request_deserializer=pb2.SetRequest.FromString,
                                                       response_serializer=pb2.SetResponse.SerializeToString),
            "Subscribe": grpc.stream_stream_rpc_method_handler(self._subscribe, request_deserializer=pb2.SubscribeRequest.FromString,
                                                               response_serializer=pb2.SubscribeResponse.SerializeToString)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("gnmi.gNMI", handlers),))
        if certificate:
            pair = tuple(open(path, "rb").read() for path in (certificate[1], certificate[0]))
            authority = open(client_authority, "rb").read() if client_authority else None
            bound = server.add_secure_port(self.address, grpc.ssl_server_credentials([pair], authority, authority is not None))
        else:
            bound = server.add_insecure_port(self.address)
        if not bound:
            raise AssertionError(f"{self.address} is taken")
        server.start()
        self._server, self._arguments = server, (certificate, client_authority)
        return self

    def stop(self) -> None:
        """All streams break at once."""
        server, self._server = self._server, None
        if server:
            with self.changed:
                self.changed.notify_all()
            server.stop(None).wait()

    def restart(self) -> None:
        """As after a new start of its agent: counters begin at zero."""
        self.stop()
        for port in self.ports.values():
            port.counters = dict.fromkeys(port.counters, 0)
            port.transitions = 0 if port.oper == "DOWN" else 1
        self.start(*self._arguments)

    def change(self, what) -> None:
        """Calls `what` and tells the streams."""
        with self.changed:
            what()
            self.changed.notify_all()

    # ---- what it tells

    def values(self) -> dict[str, object]:
        told: dict[str, object] = {"/lldp/state/chassis-id": self.mac, "/lldp/state/chassis-id-type": "MAC_ADDRESS",
                                   "/lldp/state/system-name": self.name}
        for name, port in self.ports.items():
            at = f"/interfaces/interface[name={name}]"
            told |= {f"{at}/state/oper-status": port.oper, f"{at}/state/admin-status": port.admin, f"{at}/state/type": "ethernetCsmacd",
                     f"{at}/config/enabled": port.enabled, f"{at}/ethernet/state/port-speed": port.speed, f"{at}/state/counters/carrier-transitions": port.transitions}
            if self.quirks.native == "srlinux":
                told |= {f"/interface[name={name}]/admin-state": "enable" if port.enabled else "disable",
                         f"/interface[name={name}]/oper-state": port.oper.lower()}
            told |= {f"{at}/{'ethernet/' if leaf.startswith('in-crc') else ''}state/counters/{leaf}": value for leaf, value in port.counters.items()}
            if port.neighbour:
                told |= {f"/lldp/interfaces/interface[name={name}]/neighbors/neighbor[id=1]/state/{leaf}": value
                         for leaf, value in port.neighbour.items()}
        told["/interfaces/interface[name=Vlan10]/state/type"] = "l3ipvlan"
        told["/interfaces/interface[name=Vlan10]/state/oper-status"] = "UP"
        if self.quirks.strange:
            told |= {"/interfaces/interface[name=Ethernet1]/state/counters/in-strange-pkts": 5, "/system/state/hostname": "x" * 1000,
                     "/interfaces/interface[name=Ethernet1]/state/counters/in-discards": -7,
                     "/interfaces/interface[name=Ethernet1]/state/counters/in-errors": "many"}
        return told

    def _notification(self, values: dict[str, object], gone: list[str]):
        notification = pb2.Notification(timestamp=int((time.time() + self.quirks.clock) * 1e9))
        if self.quirks.json:
            containers: dict[str, dict[str, object]] = {}
            for path, value in values.items():
                place, _, leaf = path.rpartition("/")
                # RFC 7951: 64-bit numbers are texts.
                containers.setdefault(place, {})["openconfig-x:" + leaf] = str(value) if isinstance(value, int) else value
            for place, leaves in containers.items():
                notification.update.add(path=parse_path(place), val=pb2.TypedValue(json_ietf_val=json.dumps(leaves).encode()))
        else:
            for path, value in values.items():
                notification.update.add(path=parse_path(path), val=typed(value))
        for path in gone:
            notification.delete.add().CopyFrom(parse_path(path))
        return notification

    def _update(self, values: dict[str, object], gone: list[str]):
        return pb2.SubscribeResponse(update=self._notification(values, gone))

    # ---- the calls

    def _admit(self, context) -> None:
        shown = dict(context.invocation_metadata())
        if self.quirks.login and (shown.get("username"), shown.get("password")) != self.quirks.login:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "unknown user or wrong password")
        if self.quirks.basic and shown.get("authorization") != self.quirks.basic:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "HTTP Basic is wanted")

    def _capabilities(self, _, context):
        self._admit(context)
        if not self.quirks.has_capabilities:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "no Capabilities here")
        return pb2.CapabilityResponse(supported_models=[pb2.ModelData(name=name) for name in self.quirks.models],
                                      supported_encodings=self.quirks.encodings, gNMI_version="0.10.0")

    def _hang(self, context) -> bool:
        """Until it is released; whether anybody still waits for the answer."""
        self.reached.set()
        while not self.released.wait(0.05) and context.is_active():
            pass
        return context.is_active()

    def _get(self, request, context):
        self._admit(context)
        if self.quirks.get_trouble == "hang":
            self._hang(context)
        response = pb2.GetResponse()
        with self.changed:
            values = self.values()
        for path in request.path:
            pattern = pattern_of(without_modules(path))
            found = {at: value for at, value in values.items() if pattern.match(at)}
            if not found:
                context.abort(grpc.StatusCode.NOT_FOUND, f"no such path {path_text(path)}")
            response.notification.append(self._notification(found, []))
        return response

    def _set(self, request, context):
        self._admit(context)
        [update] = request.update
        text = path_text(without_modules(update.path))
        leaf = {"srlinux": r"/interface\[name=(.*)\]/admin-state"}.get(self.quirks.native, r"/interfaces/interface\[name=(.*)\]/config/enabled")
        found = re.fullmatch(leaf, text)
        if not found or found[1] not in self.ports or (self.quirks.native == "sonic") != (request.prefix.target == "OC-YANG"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no such path {text}")
        value = json.loads(update.val.json_ietf_val)
        value = {"srlinux": {"enable": True, "disable": False}.get(value if isinstance(value, str) else ""),
                 "sonic": value["enabled"] if isinstance(value, dict) else None}.get(self.quirks.native, value)
        if not isinstance(value, bool):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"a value of another type at {text}")
        trouble = self.quirks.set_trouble
        self.sets.append((found[1], value))
        if trouble == "refuse":
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "this user may only read")
        if trouble == "missing":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "there is no Set here")
        if trouble in ("before", "late") and not self._hang(context) and trouble == "before":
            return pb2.SetResponse()
        if trouble == "late":
            self.released.wait(60)
        if trouble not in ("ignore", "dropped"):
            self.on_set(found[1], value)
        if trouble == "after":
            self._hang(context)
        if trouble in ("lost", "dropped"):
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        return pb2.SetResponse(response=[pb2.UpdateResult(path=update.path, op=pb2.UpdateResult.UPDATE)])

    def _subscribe(self, requests, context):
        self._admit(context)
        wanted = next(requests).subscribe
        subscriptions = list(wanted.subscription)
        paths = [path_text(one.path) for one in subscriptions]
        on_change = any(one.mode == pb2.ON_CHANGE for one in subscriptions)
        self.subscriptions += [f"{'ON_CHANGE' if on_change else 'SAMPLE'} {path}" for path in paths]
        if any(path.startswith(self.quirks.refuses) for path in paths) and self.quirks.refuses:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"unknown path {paths[0]}")
        if on_change and self.quirks.refuses_on_change:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "ON_CHANGE is not supported")
        patterns = [pattern_of(one.path) for one in subscriptions]
        if not any(pattern.match(path) for path in self.values() for pattern in patterns) and "/lldp" not in paths[0]:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no such path {paths[0]}")
        yield from self._stream(context, patterns, on_change, min(one.sample_interval for one in subscriptions) / 1e9)

    def _stream(self, context, patterns, on_change: bool, interval: float):
        told: dict[str, object] = {}
        synced = False
        server = self._server
        while context.is_active() and self._server is server:
            if self.quirks.hangs:
                time.sleep(0.1)
                continue
            with self.changed:
                now = {path: copy.copy(value) for path, value in self.values().items() if any(pattern.match(path) for pattern in patterns)}
            news = {path: value for path, value in now.items() if not on_change or told.get(path) != value}
            gone = sorted({re.sub(r"(neighbor\[id=1\]).*", r"\1", path) for path in told if path not in now})
            if self.quirks.big and not on_change:
                news["/interfaces/interface[name=Ethernet1]/state/counters/in-comment"] = "x" * self.quirks.big
            if news or gone:
                yield self._update(news, gone)
            told = now
            if not synced and self.quirks.tells_sync:
                yield pb2.SubscribeResponse(sync_response=True)
            synced = True
            for number in range(self.quirks.flood):
                if not context.is_active() or not self.quirks.flood:
                    break
                yield self._update({f"/flood/value[n={number}-{each}]": each for each in range(100)}, [])
            with self.changed:
                self.changed.wait(0.2 if on_change else interval)


class SwitchFabric:
    """Switches and the cables between their ports: (switch, port, switch, port), or a host's name and interface at one end."""

    def __init__(self, cables: list[tuple[str, str, str, str]], switches: list[str], addresses: list[str]):
        self.switches = {name: Switch(name, f"00:1c:73:00:00:{number:02x}", address)
                         for number, (name, address) in enumerate(zip(switches, addresses), start=1)}
        self.cables = cables
        self.pulled: set[tuple[str, str, str, str]] = set()
        for switch in self.switches.values():
            switch.on_set = lambda port, enabled, name=switch.name: self.set_port(name, port, enabled)
        self._macs = {name: one.mac for name, one in self.switches.items()}
        for a, p, b, q in cables:
            for name, port in ((a, p), (b, q)):
                if name in self.switches:
                    self.switches[name].ports[port] = Port(counters={"in-octets": 0, "out-octets": 0, "in-pkts": 0, "out-pkts": 0, "in-errors": 0,
                                                                     "in-discards": 0, "out-discards": 0, "in-crc-errors": 0})
                self._macs.setdefault(name, f"02:00:00:00:01:{len(self._macs):02x}")
            self._hear((a, p), (b, q))
            self._hear((b, q), (a, p))

    def _hear(self, at: tuple[str, str], other: tuple[str, str]) -> None:
        if at[0] not in self.switches:
            return
        self.switches[at[0]].ports[at[1]].neighbour = {
            "chassis-id": self._macs[other[0]], "chassis-id-type": "MAC_ADDRESS", "port-id": other[1], "port-id-type": "INTERFACE_NAME",
            "system-name": other[0], "port-description": other[1]}

    def _each_end(self, cable, what) -> None:
        a, p, b, q = cable
        for at, other in (((a, p), (b, q)), ((b, q), (a, p))):
            if at[0] in self.switches:
                switch = self.switches[at[0]]
                switch.change(lambda at=at, other=other, switch=switch: what(switch.ports[at[1]], at, other))

    def _settle(self, cable) -> None:
        """Its ends are up where it is plugged in and both are enabled."""
        ends = [self.switches[name].ports[port] for name, port in (cable[:2], cable[2:]) if name in self.switches]
        is_up = cable not in self.pulled and all(port.enabled for port in ends)

        def settle(port, at, other):
            port.admin = "UP" if port.enabled else "DOWN"
            if (port.oper == "UP") != is_up:
                port.oper, port.transitions = "UP" if is_up else "DOWN", port.transitions + 1
            if is_up:
                self._hear(at, other)
            else:
                port.neighbour = None
        self._each_end(cable, settle)

    def set_port(self, switch: str, port: str, enabled: bool) -> None:
        """As by Set, or by somebody at the switch."""
        self.switches[switch].ports[port].enabled = enabled
        self._settle(next(cable for cable in self.cables if (switch, port) in (cable[:2], cable[2:])))

    def pull(self, cable) -> None:
        self.pulled.add(cable)
        self._settle(cable)

    def plug(self, cable) -> None:
        self.pulled.discard(cable)
        self._settle(cable)

    def carry(self, packets: int = 1_000_000) -> None:
        """Traffic over each link that is up."""
        for switch in self.switches.values():
            with switch.changed:
                for port in switch.ports.values():
                    if port.oper == "UP":
                        for leaf in ("in-octets", "out-octets"):
                            port.counters[leaf] = port.counters.get(leaf, 0) + packets * 1000
                        for leaf in ("in-pkts", "out-pkts"):
                            port.counters[leaf] = port.counters.get(leaf, 0) + packets
