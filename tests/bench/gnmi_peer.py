# SPDX-License-Identifier: Apache-2.0
"""The peer of gnmi.py: subscribes with python3-grpcio to what weft-switches subscribes to, and only counts the values.

  gnmi_peer.py ADDRESS*TARGETS,... CA       an empty CA is no TLS

Prints "ready" when every stream has told its first values. For each line that comes in it prints the values and messages since the line
before. Ends with its standard input."""

import asyncio
import json
import sys
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from gnmi_switches import parse_path, pb2  # noqa: E402

INTERVAL, HEARTBEAT = 1_000_000_000, 30_000_000_000
# As collectors/gnmi/leaf_table.cpp asks an Arista switch.
ON_CHANGE = (("/interfaces/interface[name=*]/state/oper-status", "/interfaces/interface[name=*]/state/admin-status",
              "/interfaces/interface[name=*]/state/type", "/interfaces/interface[name=*]/state/description",
              "/interfaces/interface[name=*]/ethernet/state/port-speed", "/interfaces/interface[name=*]/ethernet/state/mac-address"),
             ("/lldp/state", "/lldp/interfaces/interface[name=*]/neighbors/neighbor[id=*]/state"))
SAMPLED = (("/interfaces/interface[name=*]/state/counters",), ("/interfaces/interface[name=*]/ethernet/state/counters",),
           ("/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=*]/state/ecn-marked-pkts",),
           ("/interfaces/interface[name=*]/ethernet/pfc/priorities/priority[index=*]/state",))


def requests():
    for paths in (*ON_CHANGE, *SAMPLED):
        one = pb2.SubscriptionList(mode=pb2.SubscriptionList.STREAM, encoding=pb2.PROTO)
        for path in paths:
            if paths in SAMPLED:
                one.subscription.add(path=parse_path(path), mode=pb2.SAMPLE, sample_interval=INTERVAL)
            else:
                one.subscription.add(path=parse_path(path), mode=pb2.ON_CHANGE, heartbeat_interval=HEARTBEAT)
        yield pb2.SubscribeRequest(subscribe=one)


class Count:
    def __init__(self):
        self.values = self.messages = self.synced = 0

    async def follow(self, channel, request):
        call = channel.stream_stream("/gnmi.gNMI/Subscribe", request_serializer=lambda message: message.SerializeToString(),
                                     response_deserializer=pb2.SubscribeResponse.FromString)()
        await call.write(request)
        async for response in call:
            self.messages += 1
            self.values += len(response.update.update)
            self.synced += response.sync_response


async def main():
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.ssl_target_name_override", "localhost")]
    count = Count()
    channels, tasks = [], []
    for word in sys.argv[1].split(","):
        address, _, targets = word.partition("*")
        for _ in range(int(targets)):
            if sys.argv[2]:
                with open(sys.argv[2], "rb") as stream:
                    channels.append(grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(stream.read()), options))
            else:
                channels.append(grpc.aio.insecure_channel(address, options))
            tasks += [asyncio.create_task(count.follow(channels[-1], request)) for request in requests()]
    while count.synced < len(tasks):
        await asyncio.sleep(0.1)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps({"values": count.values, "messages": count.messages}), flush=True)
        count.values = count.messages = 0
    for task in tasks:
        task.cancel()


asyncio.run(main())
