# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the RAS port of NCCL: it answers the commands of its text protocol (src/ras/client_support.cc of github.com/NVIDIA/nccl), and
its status is made of what a test says. It is not NCCL: nothing of a job stands behind it."""

import json
import socketserver
import threading


def status(size: int, missing: dict[int, tuple[str, bool]], host_of) -> str:
    """As rasDumpCommsToJSON() writes it: one communicator; `missing`: rank to its host and whether it is considered dead."""
    counts = {"Broadcast": 1, "Reduce": 0, "AllGather": 40, "ReduceScatter": 40, "AllReduce": 700}
    ranks = [{"rank": rank, "host": host_of(rank), "pid": 1000 + rank, "cuda_dev": rank % 8, "nvml_dev": rank % 8,
              "status": {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False},
              "collective_counts": counts} for rank in range(size) if rank not in missing]
    lost = [{"rank": rank, "host": host, "pid": 1000 + rank, "cuda_dev": 0, "nvml_dev": 0, "status": {"unresponsive": True, "considered_dead": dead}}
            for rank, (host, dead) in missing.items()]
    return json.dumps({"nccl_version": "2.30.7", "cuda_runtime_version": 13000, "cuda_driver_version": 13000, "timestamp": "2026-11-29 13:06:53",
                       "communicators_count": 1, "communicators": [
                           {"hash": "0xae94423cfbb2ef4a", "secondary_hash": "0xb7e7187447156001:0xb8242ed28a71381e", "size": size,
                            "ranks_count": len(ranks), "missing_ranks_count": len(lost), "ranks": ranks, "missing_ranks": lost}],
                       "ras": {"collection_time_sec": 2.05, "timeouts_count": len(lost)}}, indent=2) + "\n"


class RasStandIn:
    """Listens on a free port of the loopback. `answer` is the whole status, which may be changed; `knows_json`: as of NCCL 2.28.7."""

    def __init__(self, answer: str, knows_json: bool = True):
        self.answer, self.knows_json, self.asked = answer, knows_json, 0
        outer = self

        class Session(socketserver.StreamRequestHandler):
            def handle(self):
                for line in self.rfile:
                    command = line.decode("ascii").strip().lower()
                    if command.startswith("client protocol "):
                        self.wfile.write(b"SERVER PROTOCOL 2\n")
                    elif command.startswith("timeout ") or (command == "set format json" and outer.knows_json):
                        self.wfile.write(b"OK\n")
                    elif command in ("status", "verbose status"):
                        outer.asked += 1
                        self.wfile.write(outer.answer.encode("ascii"))
                        return  # the server ends it
                    else:
                        self.wfile.write(f"ERROR: Unknown command {command}\n".encode("ascii"))

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()
