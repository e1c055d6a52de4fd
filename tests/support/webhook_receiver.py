# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks that checks their signature, and can be told to hang, fail, close half-way or answer late."""

import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
import urllib.parse

from quiet_http import QuietHandler, QuietServer

OUT = ("DRAIN_NODE", "ISOLATE_LINK", "RAISE_LINK_COST")


class WebhookReceiver:
    """`orders`: what was taken, each once. `seen`: every request, (method, path, headers, body)."""

    def __init__(self, key: str, certificate: tuple[str, str] | None = None):
        self.key = key.encode()
        self.mood = "well"
        self.orders: list[dict] = []
        self.seen: list[tuple] = []
        self.states: dict[str, str] = {}
        self.done: set[str] = set()
        self.lock = threading.Lock()
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                outer.answer(self, "")

            def do_POST(self):
                outer.answer(self, self.rfile.read(int(self.headers["Content-Length"])).decode())

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{scheme}://127.0.0.1:{self.port}/weft?tenant=a"
        self.status_url = f"{scheme}://127.0.0.1:{self.port}/status"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def signature_is_good(self, handler, text: str) -> bool:
        stamp = handler.headers["Weft-Timestamp"] or "0"
        wanted = "v1=" + hmac.new(self.key, f"{stamp}.{text}".encode(), hashlib.sha256).hexdigest()
        return hmac.compare_digest(wanted, handler.headers["Weft-Signature"] or "") and abs(time.time() - int(stamp)) < 300

    def answer(self, handler, body: str) -> None:
        post = handler.command == "POST"
        self.seen.append((handler.command, handler.path, dict(handler.headers), body))
        if not self.signature_is_good(handler, body if post else handler.path):
            return send(handler, 401, {"error": "signature"})
        if not post:
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query)
            epochs = [order["epoch"] for order in self.orders if "epoch" in order]
            return send(handler, 200, {"state": self.states.get(query["target"][0], "clear"), "detail": "as I know it",
                                       **({"epoch": max(epochs)} if epochs else {})})
        mood = self.mood
        if mood == "refuse":
            return send(handler, 422, {"error": "that node is not mine"})
        if mood == "redirect":
            handler.send_response(307)
            handler.send_header("Location", "http://127.0.0.2:1/elsewhere")
            handler.send_header("Content-Length", "0")
            return handler.end_headers()
        if mood == "fail":
            return send(handler, 500, {"error": "boom"})
        if mood == "hang":
            time.sleep(8)
            return None
        if mood != "drop":
            self.take(handler, json.loads(body))
        if mood == "late":
            time.sleep(4)
        if mood in ("half", "drop"):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            return None
        if mood == "flood":
            return send(handler, 200, {"x": "x" * (1 << 20)})
        if mood == "noise":
            return handler.wfile.write(b"\x00\xff no HTTP at all\r\n\r\n")
        return send(handler, 202, {"ok": True})

    def take(self, handler, order: dict) -> None:
        with self.lock:
            key = handler.headers["Idempotency-Key"]
            if key in self.done:
                return
            self.done.add(key)
            self.orders.append(order)
            self.states[order["target"]["id"]] = "ours" if order["action"] in OUT else "clear"


class EventReceiver(WebhookReceiver):
    """`taken`: events in their order, each key once."""

    def __init__(self, key: str):
        super().__init__(key)
        self.taken: list[dict] = []
        self.keys: list[str] = []  # of all requests that were understood, those sent again too

    def take(self, handler, order: dict) -> None:
        with self.lock:
            key = handler.headers["Idempotency-Key"]
            self.keys.append(key)
            if key not in self.done:
                self.done.add(key)
                self.taken.append(order)

    def told(self, incident: str) -> list[str]:
        """What became of it; on its way up the link is less severe for a moment, or is not, which is left out."""
        return [event["event"] for event in self.taken if event["incident"] == incident and event["event"] != "changed"]


def send(handler, status: int, answer: dict) -> None:
    text = json.dumps(answer).encode()
    try:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)
    except OSError:
        pass  # it went away, which is what is tested
