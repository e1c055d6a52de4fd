# SPDX-License-Identifier: Apache-2.0
"""Plays many switches that tell by gNMI: each connection is one of them. What is asked for is told, as far as it has it, at once and then
each interval, a switch's 1/N of an interval after the one before.

  gnmi_targets.py TARGETS PORTS VALUES FORM [CERTIFICATE KEY]

VALUES: counters of each port. FORM: what is in a message: "port", the values of one port that a stream tells, below their common prefix;
"whole", all values of a stream, with whole paths. With files of a certificate and its key it speaks TLS.

Prints its port. Ceases to tell anything when a line comes in, and says what it told: values, messages, bytes, and the longest time, in ms,
between when something was due and when it was handed on. Ends with its standard input.

Messages are made once; then only the times in them change: the message's own, and every counter, which is the time, in ms since 1970, at
which it was due."""

import asyncio
import copy
import json
import sys
import time
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from gnmi_switches import parse_path, pb2  # noqa: E402

MODELS = ("openconfig-interfaces", "openconfig-lldp", "openconfig-qos", "arista-exp-eos")
PORT = "/interfaces/interface[name=Ethernet{N}]"
COUNTERS = [f"{PORT}/state/counters/{name}" for name in
            ("out-octets", "in-octets", "out-pkts", "in-pkts", "out-unicast-pkts", "in-unicast-pkts", "out-multicast-pkts", "in-multicast-pkts",
             "in-errors", "out-errors", "in-discards", "out-discards", "carrier-transitions")] + \
    [f"{PORT}/ethernet/state/counters/{name}" for name in
     ("in-crc-errors", "in-symbol-error", "fec-uncorrectable-blocks", "in-mac-pause-frames", "out-mac-pause-frames")] + \
    [f"{PORT}/ethernet/pfc/priorities/priority[index={priority}]/state/{name}" for priority in range(8) for name in ("in-frames", "out-frames")] + \
    [f"/qos/interfaces/interface[interface-id=Ethernet{{N}}]/output/queues/queue[name={queue}]/state/ecn-marked-pkts" for queue in range(8)]
# Stand for the times in a message that is not sent yet; as long as they are: ms since 1970 have 41 bits until 2039, ns 61.
COUNTER_MARK, TIME_MARK = 0x15A3C5E7B91, 0x1A3C5E7B9D1F3A5C


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes((number,))


def mac(target):
    return f"02:00:00:00:{target >> 8 & 255:02x}:{target & 255:02x}"


def name(target):
    return f"switch{target:06}"


# Stand for the switch itself and for the one at the other end of its cables: two neighbours in the list have cables from port to port.
OWN_MAC, OTHER_MAC, OWN_NAME, OTHER_NAME = "02:ff:ff:ff:ff:00", "02:ff:ff:ff:ff:01", "switch@@@@@0", "switch@@@@@1"


def leaves(ports, values):
    """(path, text) of all that a switch tells; without a text it is a counter."""
    lldp = "/lldp/interfaces/interface[name=Ethernet{N}]/neighbors/neighbor[id=1]/state/"
    texts = {f"{PORT}/state/oper-status": "UP", f"{PORT}/state/admin-status": "UP", f"{PORT}/state/type": "ethernetCsmacd",
             f"{PORT}/state/description": "bench", f"{PORT}/ethernet/state/port-speed": "SPEED_400GB",
             f"{PORT}/ethernet/state/mac-address": OWN_MAC, lldp + "chassis-id": OTHER_MAC, lldp + "chassis-id-type": "MAC_ADDRESS",
             lldp + "port-id": "Ethernet{N}", lldp + "port-id-type": "INTERFACE_NAME", lldp + "system-name": OTHER_NAME}
    one_port = [*texts.items(), *((path, None) for path in COUNTERS[:values])]
    yield from [("/lldp/state/chassis-id", OWN_MAC), ("/lldp/state/chassis-id-type", "MAC_ADDRESS"), ("/lldp/state/system-name", OWN_NAME)]
    for port in range(1, ports + 1):
        for path, text in one_port:
            yield path.replace("{N}", str(port)), text and text.replace("{N}", str(port))


def names(path):
    return [element.name for element in path.elem]


def share_prefix(notification):
    """The same with what all its paths begin with as the prefix."""
    paths = [update.path for update in notification.update]
    shared = min(len(path.elem) for path in paths) - 1
    while any(path.elem[:shared] != paths[0].elem[:shared] for path in paths):
        shared -= 1
    notification.prefix.elem.extend(paths[0].elem[:shared])
    for path in paths:
        del path.elem[:shared]


class Template:
    """A message that is sent again and again."""

    def __init__(self, notification):
        notification.timestamp = TIME_MARK
        self.values = len(notification.update)
        self.bytes = pb2.SubscribeResponse(update=notification).SerializeToString()
        counters = sum(update.val.HasField("uint_val") for update in notification.update)
        if self.bytes.count(varint(TIME_MARK)) != 1 or self.bytes.count(varint(COUNTER_MARK)) != counters:
            sys.exit("gnmi_targets.py: a message cannot be used again and again")

    def of(self, target):
        """The same of one switch."""
        one = copy.copy(self)
        for mark, text in ((OWN_MAC, mac(target)), (OTHER_MAC, mac(target ^ 1)), (OWN_NAME, name(target)), (OTHER_NAME, name(target ^ 1))):
            one.bytes = one.bytes.replace(mark.encode(), text.encode())
        return one

    def filled(self, due):
        return self.bytes.replace(varint(TIME_MARK), varint(due * 1_000_000)).replace(varint(COUNTER_MARK), varint(due))


class Targets:
    def __init__(self, targets, ports, values, form):
        self.targets, self.ports, self.values, self.form = targets, ports, values, form
        self.connections = {}
        self.templates = {}  # by what is asked for
        self.told = {"values": 0, "messages": 0, "bytes": 0, "longest": 0}
        self.ceases = asyncio.Event()
        self.telling = 0

    def messages(self, target, asked):
        wanted = [names(one.path) for one in asked.subscription]
        if str(wanted) not in self.templates:
            self.templates[str(wanted)] = self.templates_of(wanted)
        made = self.templates[str(wanted)]
        return made if asked.subscription[0].mode == pb2.SAMPLE else [one.of(target) for one in made]

    def templates_of(self, wanted):
        found = [[]]
        last = None
        for path, text in leaves(self.ports, self.values):
            parsed = parse_path(path)
            if not any(names(parsed)[:len(one)] == one for one in wanted):
                continue
            port = "".join(f"{element.key}" for element in parsed.elem[:3])
            if self.form == "port" and last not in (None, port):
                found.append([])
            last = port
            found[-1].append(pb2.Update(path=parsed, val=pb2.TypedValue(string_val=text) if text else pb2.TypedValue(uint_val=COUNTER_MARK)))
        made = []
        for updates in found:
            notification = pb2.Notification(update=updates)
            if updates and self.form == "port":
                share_prefix(notification)
            if updates:
                made.append(Template(notification))
        return made

    async def capabilities(self, _request, _context):
        return pb2.CapabilityResponse(supported_models=[pb2.ModelData(name=name) for name in MODELS], supported_encodings=[pb2.PROTO]).SerializeToString()

    async def subscribe(self, requests, context):
        asked = None
        async for request in requests:
            asked = pb2.SubscribeRequest.FromString(request).subscribe
            break
        if not asked or not asked.subscription:
            return
        target = self.connections.setdefault(context.peer(), len(self.connections))
        first = asked.subscription[0]
        interval = max(first.sample_interval, first.heartbeat_interval) // 1_000_000
        messages = self.messages(target, asked)
        phase = interval * (target % self.targets) // self.targets
        due = (int(time.time() * 1000) - phase) // interval * interval + phase
        await self.tell(messages, due, context)
        await context.write(pb2.SubscribeResponse(sync_response=True).SerializeToString())
        while True:
            due += interval
            await asyncio.sleep(max(0, due / 1000 - time.time()))
            if self.ceases.is_set():
                return await asyncio.sleep(3600)
            self.told["longest"] = max(self.told["longest"], int(time.time() * 1000) - due)
            await self.tell(messages, due, context)

    async def tell(self, messages, due, context):
        self.telling += 1
        for message in messages:
            filled = message.filled(due)
            self.told["values"] += message.values
            self.told["bytes"] += len(filled)
            self.told["messages"] += 1
            await context.write(filled)
        self.telling -= 1


async def main():
    targets = Targets(*map(int, sys.argv[1:4]), sys.argv[4])
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("gnmi.gNMI", {
        "Capabilities": grpc.unary_unary_rpc_method_handler(targets.capabilities),
        "Subscribe": grpc.stream_stream_rpc_method_handler(targets.subscribe)})])
    if len(sys.argv) > 6:
        with open(sys.argv[5], "rb") as certificate, open(sys.argv[6], "rb") as key:
            port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key.read(), certificate.read())]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    loop = asyncio.get_running_loop()
    if await loop.run_in_executor(None, sys.stdin.readline):
        targets.ceases.set()
        while targets.telling:
            await asyncio.sleep(0.1)
        print(json.dumps(targets.told), flush=True)
        await loop.run_in_executor(None, sys.stdin.readline)
    await server.stop(0)


asyncio.run(main())
