# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the one part of UFM Enterprise that an actuator asks: its list of unhealthy ports, as the REST API guide has it
(GET and PUT /ufmRest/app/unhealthy_ports, basic authentication). What is asked for is done a moment later, as the guide warns."""

import base64
import http.server
import json
import re
import ssl
import threading
import time

PATH = "/ufmRest/app/unhealthy_ports"
_PORT = re.compile(r"^([0-9a-f]{16})_([0-9]{1,3})$")


class FakeUfm:
    """`known`: names of the fabric's ports, others are refused with 400. Everything is on the loopback address, over TLS where a
    certificate is given."""

    def __init__(self, known, certificate: tuple[str, str] | None = None, user: str = "weft", password: str = "se:cret", delay: float = 0.3):
        self.known = set(known)
        self.delay = delay
        self.changes: list[dict] = []  # PUTs that were taken
        self.trouble = ""  # "hang", "junk", "drop", or a status to answer with
        self.reading_takes = 0.0  # seconds until the list is given
        self._pending: list[tuple[float, str, str | None]] = []  # when, port, its condition or None
        self._unhealthy: dict[str, str] = {}
        self._lock = threading.Lock()
        self._authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def mark(self, port: str, condition: str | None) -> None:
        """Somebody else puts a port on the list, or takes it off."""
        with self._lock:
            self._pending.append((0, port, condition))

    def unhealthy(self) -> dict[str, str]:
        """Ports and their conditions as of now."""
        with self._lock:
            now = time.monotonic()
            for _, port, condition in [entry for entry in self._pending if entry[0] <= now]:
                if condition is None:
                    self._unhealthy.pop(port, None)
                else:
                    self._unhealthy[port] = condition
            self._pending = [entry for entry in self._pending if entry[0] > now]
            return dict(self._unhealthy)

    def _change(self, request: dict) -> str:
        """What is wrong with it; empty: taken."""
        ports, policy, action = request.get("ports"), request.get("ports_policy"), request.get("action")
        if policy not in ("HEALTHY", "UNHEALTHY") or not isinstance(ports, list) or not ports:
            return "ports and ports_policy are needed"
        if policy == "UNHEALTHY" and action not in ("isolate", "no_discover"):
            return "action must be isolate or no_discover"
        for port in ports:
            if not isinstance(port, str) or not _PORT.match(port) or port not in self.known:
                return f"no port {port}"
        with self._lock:
            self.changes.append(request)
            for port in ports:
                self._pending.append((time.monotonic() + self.delay, port, "MANUAL" if policy == "UNHEALTHY" else None))
        return ""

    def _list(self) -> list[dict]:
        entries = []
        for number, (port, condition) in enumerate(sorted(self.unhealthy().items())):
            guid, _, port_number = port.partition("_")
            # Older releases tell one condition as text, newer ones a list.
            entries.append({"UnhealthyGUID": guid, "UnhealthyPortNumber": int(port_number), "UnhealthyPortDname": port_number,
                            "Condition": [condition] if number % 2 else condition, "State": "Info", "PeerGUID": "",
                            "StatusTime": time.strftime("%a %b %d %H:%M:%S %Y")})
        return entries

    def _handler(self):
        ufm = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format, *arguments):
                pass

            def answer(self, status: int, body: str) -> None:
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def is_fine(self) -> bool:
                if ufm.trouble == "hang":
                    time.sleep(4)
                    self.close_connection = True
                elif ufm.trouble == "junk":
                    self.answer(200, "<html>")
                elif ufm.trouble.isdigit():
                    self.answer(int(ufm.trouble), "Internal Server Error")
                elif self.path.split("?")[0] != PATH:
                    self.answer(404, "Not Found")
                elif self.headers.get("Authorization") != ufm._authorization:
                    self.answer(401, "Unauthorized")
                else:
                    return True
                return False

            def do_GET(self):
                time.sleep(ufm.reading_takes)
                if self.is_fine():
                    self.answer(200, json.dumps(ufm._list()))

            def do_PUT(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not self.is_fine():
                    return
                try:
                    wrong = ufm._change(json.loads(body))
                except ValueError:
                    wrong = "no JSON"
                if ufm.trouble == "drop":  # taken, but nobody hears of it
                    self.close_connection = True
                    return
                self.answer(400 if wrong else 200, wrong)

        return Handler
