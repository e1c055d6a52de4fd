# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a Kubernetes API server, over TLS: Nodes and Events with what a careful client meets there.

 * every write makes a new resourceVersion; a PUT under an old one, and one that another write overtook, gives 409 with a Status
 * json-patch with `test`; merge-patch and strategic-merge-patch, which both replace the list of taints whole
 * the status subresource: a strategic-merge-patch there joins the conditions by their type
 * bearer tokens and client certificates (401), rights by verb and resource (403)
 * PartialObjectMetadataList and paging, generateName, managedFields of spec.unschedulable

The suite that uses it runs against a real server too: tests/run --kubernetes.
"""

import copy
import json
import ssl
import threading
import time
import urllib.parse
import uuid

from quiet_http import QuietHandler, QuietServer

EVERYTHING = {"nodes": {"get", "list", "update", "patch", "create", "delete"}, "nodes/status": {"patch"}, "events": {"create", "list"}}


class Refused(Exception):
    def __init__(self, code: int, reason: str, message: str):
        super().__init__(message)
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason,
                       "code": code}


class KubernetesStandIn:
    """`tokens`: rights of each bearer token. `certificate`: (certificate, key) of the server; `clients`: the authority of client
    certificates, whose bearers may do everything."""

    def __init__(self, certificate: tuple[str, str], tokens: dict[str, dict], clients: str | None = None):
        self.tokens = tokens
        self.nodes: dict[str, dict] = {}
        self.events: list[dict] = []
        self.requests: list[tuple[str, str]] = []
        self.version = 100
        self.page = 2
        self.mood = "well"
        self.before_put = lambda name: None
        self.lock = threading.RLock()
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                outer.answer(self)

            do_PUT = do_POST = do_PATCH = do_DELETE = do_GET

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        if clients:
            context.load_verify_locations(clients)
            context.verify_mode = ssl.CERT_OPTIONAL
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    # -- requests

    def answer(self, handler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"] or 0))
        address = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        self.requests.append((handler.command, handler.path))
        if self.mood == "hang" and handler.command == "PUT":
            time.sleep(6)
            return
        if self.mood == "fail" and handler.command == "PUT":
            return send(handler, 500, {"kind": "Status", "message": "etcdserver: request timed out", "code": 500})
        try:
            self.before(handler, address.path)
            with self.lock:
                status, answer = self.handle(handler, address.path, query, body)
        except Refused as refused:
            status, answer = refused.status["code"], refused.status
        if self.mood == "half" and handler.command == "PUT":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            return
        send(handler, status, answer)

    def before(self, handler, path: str) -> None:
        if handler.command == "PUT" and path.startswith("/api/v1/nodes/"):
            self.before_put(path.rsplit("/", 1)[-1])

    def handle(self, handler, path: str, query: dict, body: bytes):
        parts = path.strip("/").split("/")
        if parts[:2] != ["api", "v1"]:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        parts = parts[2:]
        if parts[0] == "namespaces" and len(parts) == 3 and parts[2] == "events":
            self.allow(handler, "create", "events")
            return 201, self.create_event(parts[1], json.loads(body))
        if parts[0] == "events":
            self.allow(handler, "list", "events")
            return 200, {"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": self.events}
        if parts[0] != "nodes":
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        manager = query.get("fieldManager", (handler.headers["User-Agent"] or "unknown").split("/")[0])
        return self.handle_node(handler, parts[1:], query, body, manager)

    def handle_node(self, handler, parts: list[str], query: dict, body: bytes, manager: str):
        method = handler.command
        if not parts:
            if method == "POST":
                self.allow(handler, "create", "nodes")
                return 201, self.store({"spec": {}, **json.loads(body)}, None, manager)
            self.allow(handler, "list", "nodes")
            return 200, self.list_nodes(query, "PartialObjectMetadataList" in (handler.headers["Accept"] or ""))
        name = parts[0]
        if parts[1:] == ["status"] and method == "PATCH":
            self.allow(handler, "patch", "nodes/status", name)
            return 200, self.patch_status(name, handler.headers["Content-Type"], json.loads(body))
        verb = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
        self.allow(handler, verb, "nodes", name)
        if name not in self.nodes:
            raise Refused(404, "NotFound", f'nodes "{name}" not found')
        node = self.nodes[name]
        if method == "GET":
            return 200, node
        if method == "DELETE":
            return 200, self.nodes.pop(name)
        if method == "PUT":
            new = json.loads(body)
        else:
            new = patched(node, handler.headers["Content-Type"], json.loads(body))
        return 200, self.store(new, node, manager)

    def allow(self, handler, verb: str, resource: str, name: str = "") -> None:
        header = handler.headers["Authorization"] or ""
        certified = handler.connection.getpeercert()
        rights = EVERYTHING if certified else self.tokens.get(header.removeprefix("Bearer "))
        if rights is None:
            raise Refused(401, "Unauthorized", "Unauthorized")
        if verb not in rights.get(resource, ()):
            raise Refused(403, "Forbidden", f'{resource} "{name}" is forbidden: User "u" cannot {verb} resource "{resource}" in API group ""')

    # -- objects

    def store(self, new: dict, old: dict | None, manager: str) -> dict:
        name = new["metadata"]["name"]
        given = new["metadata"].get("resourceVersion", "")
        if old and given and given != old["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", f'Operation cannot be fulfilled on nodes "{name}": the object has been modified; please apply '
                                           "your changes to the latest version and try again")
        keys = [(taint["key"], taint["effect"]) for taint in new.get("spec", {}).get("taints", [])]
        if len(keys) != len(set(keys)):
            raise Refused(422, "Invalid", f'Node "{name}" is invalid: metadata.taints: Duplicate value')
        stored = copy.deepcopy(new)
        stored.setdefault("spec", {})
        stored.update(kind="Node", apiVersion="v1")
        if stored["spec"].get("unschedulable") is not True:
            stored["spec"].pop("unschedulable", None)
        self.version += 1
        metadata = stored["metadata"]
        metadata.update(resourceVersion=str(self.version), uid=old["metadata"]["uid"] if old else str(uuid.uuid4()))
        before = old["spec"].get("unschedulable", False) if old else False
        now = stored["spec"].get("unschedulable", False)
        if now != before or not old:
            metadata["managedFields"] = [{"manager": manager, "operation": "Update", "fieldsType": "FieldsV1",
                                          "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}] if now else []
        elif old:
            metadata["managedFields"] = old["metadata"].get("managedFields", [])
        if old:
            stored["status"] = old.get("status", {})  # a subresource of its own
        self.nodes[name] = stored
        return stored

    def patch_status(self, name: str, kind: str, patch: dict) -> dict:
        if name not in self.nodes:
            raise Refused(404, "NotFound", f'nodes "{name}" not found')
        if kind != "application/strategic-merge-patch+json":
            raise Refused(415, "UnsupportedMediaType", "the stand-in takes strategic merges of a status only")
        new = copy.deepcopy(self.nodes[name])
        status = new.setdefault("status", {})
        # NodeStatus.conditions has the patchMergeKey type.
        conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
        for condition in patch["status"].pop("conditions", []):
            conditions[condition["type"]] = {**conditions.get(condition["type"], {}), **condition}
        merge(status, patch["status"])
        status["conditions"] = list(conditions.values())
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)
        self.nodes[name] = new
        return new

    def list_nodes(self, query: dict, metadata_only: bool) -> dict:
        names = sorted(self.nodes)
        start = int(query.get("continue", 0))
        end = start + min(int(query.get("limit", len(names) or 1)), self.page)
        items = [self.nodes[name] for name in names[start:end]]
        if metadata_only:
            items = [{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": node["metadata"]} for node in items]
        kind = ("PartialObjectMetadataList", "meta.k8s.io/v1") if metadata_only else ("NodeList", "v1")
        return {"kind": kind[0], "apiVersion": kind[1], "items": items,
                "metadata": {"resourceVersion": str(self.version), **({"continue": str(end)} if end < len(names) else {})}}

    def create_event(self, namespace: str, event: dict) -> dict:
        if event["metadata"].get("namespace", namespace) != namespace or event["involvedObject"].get("namespace", "default") != namespace:
            raise Refused(422, "Invalid", "involvedObject.namespace does not match event.namespace")
        if "name" not in event["metadata"]:
            event["metadata"]["name"] = event["metadata"]["generateName"] + uuid.uuid4().hex[:5]
        self.events.append(event)
        return event


def patched(node: dict, kind: str, patch) -> dict:
    new = copy.deepcopy(node)
    if kind == "application/json-patch+json":
        for step in patch:
            json_patch(new, step)
    elif kind in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
        merge(new, patch)  # NodeSpec.taints has no patchMergeKey: the strategic kind replaces the list as well
    else:
        raise Refused(415, "UnsupportedMediaType", "the body of the request was in an unknown format")
    return new


def merge(target: dict, patch: dict) -> None:
    """RFC 7396: a list is replaced whole, null removes."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            if not isinstance(target.get(key), dict):
                target[key] = {}
            merge(target[key], value)
        else:
            target[key] = value


def json_patch(target: dict, step: dict) -> None:
    """RFC 6902: add, remove, replace, test."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in step["path"].lstrip("/").split("/")]
    place = target
    try:
        for key in keys[:-1]:
            place = place[int(key)] if isinstance(place, list) else place[key]
        last = keys[-1]
        if isinstance(place, list):
            if step["op"] == "add":
                place.insert(len(place) if last == "-" else int(last), step["value"])
                return
            last = int(last)
        if step["op"] == "test" and place[last] != step["value"]:
            raise KeyError(last)
        if step["op"] == "remove":
            del place[last]
        elif step["op"] in ("add", "replace"):
            place[last] = step["value"]
    except (KeyError, IndexError) as error:
        raise Refused(422, "Invalid", f"the server rejected our request due to an error in our request: {error}") from error


def send(handler, status: int, answer: dict) -> None:
    text = json.dumps(answer).encode()
    try:
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)
    except OSError:
        pass  # it went away
