# SPDX-License-Identifier: Apache-2.0
"""Prometheus, Alertmanager and others that scrape and notify, each in a temporary folder on a free port; and where notifications end."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from child_process import start_child
from program_testing import ROOT, wait_until
from weft_client import WeftClient, free_address

RULES = os.path.join(ROOT, "dashboards", "prometheus", "weft.rules.yml")


def which(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Service:
    """A server of somebody else's. `files` are written into its folder, `command(folder, address)` starts it there."""

    def __init__(self, command, files: dict[str, str], ready: str):
        self.place = tempfile.mkdtemp(prefix="weft-service-")
        self.address = free_address()
        self.client = WeftClient(self.address)
        for name, text in files.items():
            with open(os.path.join(self.place, name), "w", encoding="utf-8") as stream:
                stream.write(text)
        with open(os.path.join(self.place, "log"), "wb") as log:
            self.process = start_child(command(self.place, self.address), cwd=self.place, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
        try:
            wait_until(lambda: self.client.text(ready) or True, 60, why=lambda: f"it did not start: {self.log()}")
        except AssertionError:
            self.stop()
            raise

    def log(self) -> str:
        with open(os.path.join(self.place, "log"), encoding="utf-8", errors="replace") as stream:
            return stream.read()[-2000:]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.place, ignore_errors=True)


class Scraper(Service):
    """Whatever answers PromQL as Prometheus does."""

    def query(self, expression: str, **parameters) -> list[dict]:
        return self.asked("/api/v1/query", query=expression, **parameters)["result"]

    def asked(self, path: str, **parameters):
        """`data` of the answer; an error of the expression is an Answer (weft_client)."""
        return json.loads(self.client.text(path + "?" + urllib.parse.urlencode(parameters, doseq=True)))["data"]


def prometheus(configuration: str, rules: bool = False, *extra: str) -> Scraper:
    files = {"prometheus.yml": configuration}
    if rules:
        with open(RULES, encoding="utf-8") as stream:
            # A test does not wait for what a site evaluates each minute: the configuration says how often.
            files["weft.rules.yml"] = re.sub(r"(?m)^    interval: .*\n", "", stream.read())
    return Scraper(lambda place, address: ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
                                           f"--web.listen-address={address}", "--log.level=warn", *extra], files, "/-/ready")


def alertmanager(configuration: str) -> Service:
    return Service(lambda place, address: ["prometheus-alertmanager", f"--config.file={place}/alertmanager.yml", f"--storage.path={place}/data",
                                           f"--web.listen-address={address}", "--cluster.listen-address=", "--log.level=warn"],
                   {"alertmanager.yml": configuration}, "/-/ready")


class Inbox:
    """Takes what Alertmanager sends to a webhook: (when, path, message)."""

    def __init__(self):
        self.taken: list[tuple[float, str, dict]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.taken.append((time.time(), self.path, message))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def messages(self, status: str, **labels) -> list[tuple[float, str, dict]]:
        """Notifications of that status ("firing", "resolved") that tell of an alert with these labels."""
        return [(when, path, message) for when, path, message in self.taken if message["status"] == status and
                any(labels.items() <= alert["labels"].items() for alert in message["alerts"])]

    def shown(self) -> list[str]:
        return [f"{when:.1f} {path} {message['status']} " + ", ".join(
            f"{alert['status']} {alert['labels'].get('kind', alert['labels']['alertname'])} {alert['labels'].get('incident', '')}"
            for alert in message["alerts"]) for when, path, message in self.taken]
