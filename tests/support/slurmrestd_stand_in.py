# SPDX-License-Identifier: Apache-2.0
"""A stand-in for slurmrestd with API v0.0.39, whose nodes can be changed; Debian's 22.05 has v0.0.38, which cannot.

Faithful to the published OpenAPI in what is used: GET nodes and node/{name} give v0.0.39_nodes_response, POST node/{name} takes
v0.0.39_update_node_msg and gives status; `state` is an array; everything that goes wrong is told in `errors`, an unknown node and a
bad token with HTTP status 500, as slurmrestd does.
"""

import json
import threading
import time

from quiet_http import QuietHandler, QuietServer

ROOT = "/slurm/v0.0.39"


class SlurmrestdStandIn:
    def __init__(self, nodes: dict[str, str], user: str = "weft", token: str = "token"):
        """`nodes`: hostname of each node's name."""
        self.nodes = {name: {"name": name, "hostname": hostname, "address": hostname, "state": ["IDLE"], "reason": "",
                             "reason_set_by_user": ""} for name, hostname in nodes.items()}
        self.user = user
        self.token = token
        self.requests: list[tuple[str, str, dict | None]] = []
        self.before_change = lambda: None
        self.reading_takes = 0.0  # seconds until a node is shown
        self.lock = threading.Lock()
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                outer.answer(self, "GET", None)

            def do_POST(self):
                outer.answer(self, "POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def drain(self, name: str, reason: str, user: str) -> None:
        self.nodes[name].update(state=["IDLE", "DRAIN"], reason=reason, reason_set_by_user=user)

    def answer(self, handler, method: str, body) -> None:
        if method == "GET":
            time.sleep(self.reading_takes)
        with self.lock:
            self.requests.append((method, handler.path, body))
            status, answer = self.handle(handler, method, body)
        text = json.dumps(answer).encode() if isinstance(answer, dict) else answer.encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def handle(self, handler, method: str, body):
        if (handler.headers["X-SLURM-USER-NAME"], handler.headers["X-SLURM-USER-TOKEN"]) != (self.user, self.token):
            return wrong("Authentication failure", 1007)
        if not handler.path.startswith(ROOT + "/"):
            return 404, "Unable find requested URL."
        path = handler.path[len(ROOT):]
        if path == "/nodes" and method == "GET":
            return 200, {"meta": {}, "errors": [], "warnings": [], "nodes": list(self.nodes.values())}
        if not path.startswith("/node/"):
            return 404, "Unable find requested URL."
        name = path[len("/node/"):]
        if name not in self.nodes:
            return wrong("Invalid node name specified", 2009)
        if method == "GET":
            return 200, {"meta": {}, "errors": [], "warnings": [], "nodes": [self.nodes[name]]}
        return self.update(self.nodes[name], body)

    def update(self, node: dict, body: dict):
        self.before_change()
        state = body.get("state", [])
        if not isinstance(state, list):
            return wrong("Failed to parse: state is no array", 9202)
        if "DRAIN" in state:
            node["state"] = [*(item for item in node["state"] if item != "DRAIN"), "DRAIN"]
            node.update(reason=body["reason"], reason_set_by_user=self.user)
        elif "UNDRAIN" in state:
            node["state"] = [item for item in node["state"] if item != "DRAIN"]
            node.update(reason="", reason_set_by_user="")
        else:
            return wrong("Invalid node state specified", 2038)
        return 200, {"meta": {}, "errors": [], "warnings": []}


def wrong(text: str, number: int):
    return 500, {"meta": {}, "errors": [{"description": text, "error_number": number, "error": text, "source": "slurm"}], "warnings": []}
