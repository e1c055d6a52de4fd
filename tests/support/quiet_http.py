# SPDX-License-Identifier: Apache-2.0
"""An HTTP server for stand-ins of partners: it says nothing on the terminal, whoever hangs up on it, and ends with the test."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass
