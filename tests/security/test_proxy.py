# SPDX-License-Identifier: Apache-2.0
"""Who a person is, told by a reverse proxy: the real nginx with the guide's own configuration, and requests of those who would like to be believed.

What it leaves out: oauth2-proxy, which is not in Debian. What nginx asks of it is answered by a server of this test."""

import http.server
import os
import re
import shutil
import subprocess
import threading
import unittest

import security_testing
from security_testing import SecurityTest, free_address, program, read, run, wait_until
from test_collector_ways import blocks

SECTION = "People of your site"
PLAN = "/api/v1/plans/PLAN-1/approve"
STOP = "/api/v1/remedy/hands-off"
SECRET = "0123456789abcdef" * 2
PROXY = ('\n[security.proxy]\ncertificates = ["gateway"]\nsecret_file = "{}"\n'
         'group_roles = ["staff=viewer", "fabric-operators=operator", "fabric-owners=admin"]')
USER, GROUPS = "X-Forwarded-User: ", "X-Forwarded-Groups: "


class Provider(http.server.BaseHTTPRequestHandler):
    """As oauth2-proxy answers: 202 with names where the cookie is that of a session, else 401."""

    SESSIONS = {"session=olga": ("olga@example.com", "staff,fabric-operators"), "session=vic": ("vic@example.com", "staff")}

    def do_GET(self):  # noqa: N802, the base class's name
        found = self.SESSIONS.get(self.headers.get("Cookie", ""))
        signing_in = self.path.startswith("/oauth2/sign_in")
        self.send_response(202 if found else 200 if signing_in else 401)
        if found:
            self.send_header("X-Auth-Request-User", found[0])
            self.send_header("X-Auth-Request-Groups", found[1])
        self.send_header("Content-Length", "7" if signing_in else "0")
        self.end_headers()
        if signing_in:
            self.wfile.write(b"sign in")

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Proxy(SecurityTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(os.path.join(security_testing.CERTS, "make-certificates"), cls.ours.place, "--person", "gateway", "--collector", "node7")
        cls.secret_file = os.path.join(cls.place, "secret")
        with open(os.open(cls.secret_file, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as stream:
            stream.write(SECRET + "\n")
        cls.weftd = cls.weftd_with(cls.lines() + PROXY.format(cls.secret_file))

    def whoami(self, *headers: str, person: str | None = "gateway", token: str | None = None):
        status, said = self.ask(self.weftd, "GET", "/api/v1/whoami", token, self.tls(person), headers=headers)
        return (said["name"], said["role"]) if status == 200 else (status, said["message"])

    def refused(self, words: str, *headers: str, person: str | None = "gateway", status: int = 401, token: str | None = None) -> None:
        found = self.whoami(*headers, person=person, token=token)
        self.assertEqual(status, found[0], found)
        self.assertIn(words, found[1])
        self.count += 1

    def setUp(self):
        self.count = 0
        self.before = self.refusals()

    def tearDown(self):
        """What was refused is counted; the figures are those of a moment ago."""
        if self.count:
            wait_until(lambda: self.refusals() >= self.before + self.count, why="not counted")

    def refusals(self) -> float:
        request = f"GET /metrics HTTP/1.0\r\nAuthorization: Bearer {self.tokens['vic']}\r\n\r\n"
        text = self.say(self.weftd, request.encode(), self.tls()).decode()
        return sum(float(value) for value in re.findall(r"(?m)^weft_access_refused_total\{.*\} (\S+)$", text))

    def test_each_group_may_what_its_role_may(self):
        """The table of rights, as for other callers."""
        expected = {"staff": ("viewer", 200, 403, 403), "fabric-operators": ("operator", 200, 404, 200), "staff, fabric-owners": ("admin", 200, 404, 200)}
        for groups, (role, *statuses) in expected.items():
            with self.subTest(groups):
                headers = (USER + "alice", GROUPS + groups)
                self.assertEqual(("alice via gateway", role), self.whoami(*headers))
                asked = [self.ask(self.weftd, method, path, None, self.tls("gateway"), body, headers)[0]
                         for method, path, body in (("GET", "/api/v1/nodes", None), ("POST", PLAN, "{}"), ("POST", STOP, '{"handsOff": true, "reason": "a test"}'))]
                self.assertEqual(statuses, asked)
        self.weftd.wait_log("refused POST /api/v1/plans/{id}/approve from 127.0.0.1:", "by alice via gateway", "permission_denied")
        trail = self.ask(self.weftd, "GET", "/api/v1/audit", self.tokens["vic"])[1]
        self.assertIn("alice via gateway", str(trail))
        # A page elsewhere has the person's session at the proxy, not its own origin.
        evil = self.ask(self.weftd, "POST", PLAN, None, self.tls("gateway"), "{}", (USER + "alice", GROUPS + "fabric-owners", "Origin: https://evil.example"))
        self.assertEqual(403, evil[0])

    def test_nobody_else_is_believed(self):
        words = "X-Forwarded-User counts only from a proxy that is trusted"
        for person in (None, "viewer", "admin", "dgx-01"):
            self.refused(words, USER + "root", GROUPS + "fabric-owners", person=person)
        self.refused(words, USER + "root", person=None, token=self.tokens["root"])
        self.refused("X-Forwarded-Groups counts only", GROUPS + "fabric-owners", person="viewer")
        self.weftd.wait_log("refused GET /api/v1/whoami from 127.0.0.1:", "counts only from a proxy")
        self.assertNotIn("root via", self.weftd.log())
        for headers in ((f"X-Weft-Proxy-Secret: {SECRET[:-1]}x", USER + "root"), ("X-Weft-Proxy-Secret: ", USER + "root"), (f"X-Weft-Proxy-Secret: {SECRET} {SECRET}",)):
            self.refused("the secret of a proxy is wrong", *headers, person=None)
        self.refused("X-Weft-Proxy-Secret was sent twice", *[f"X-Weft-Proxy-Secret: {SECRET}"] * 2, USER + "root", person=None)
        self.assertNotIn(SECRET, self.weftd.log())
        self.assertEqual(("viewer", "viewer"), self.whoami(person="viewer"), "without these headers all is as before")
        self.assertEqual(("olga", "operator"), self.whoami(person=None, token=self.tokens["olga"]))

    def test_what_is_hostile_in_a_proxys_headers(self):
        owner = GROUPS + "fabric-owners"
        for words, *headers in (
                ("X-Forwarded-User was sent twice", USER + "alice", USER + "root", owner),
                ("X-Forwarded-User was sent twice", USER + "alice", "x-forwarded-user: root", owner),
                ("X-Forwarded-Groups was sent twice", USER + "alice", GROUPS + "staff", owner),
                ("X-Forwarded-User was sent with '_'", "X_Forwarded_User: root", owner),
                ("X-Forwarded-User was sent with '_'", USER + "alice", "X-Forwarded_User: root", owner),
                ("X-Forwarded-Groups was sent with '_'", USER + "alice", GROUPS + "staff", "X_FORWARDED_GROUPS: fabric-owners"),
                ("named groups, and no user", owner),
                ("1 to 128 visible characters", USER, owner),
                ("1 to 128 visible characters", USER + " \t ", owner),
                ("1 to 128 visible characters", USER + "a" * 129, owner),
                ("1 to 128 visible characters", USER + "ann, for bob", owner),
                ("1 to 128 visible characters", USER + "root (uid 0)", owner),
                ("1 to 128 visible characters", USER + "jos\u00e9", owner),
                ("too long", USER + "alice", GROUPS + "x," * 4097 + "fabric-owners"),
                ("control characters", USER + "alice", GROUPS + "staff,\tfabric-owners")):
            with self.subTest(words, headers=str(headers)[:200]):
                self.refused(words, *headers)
        self.refused("no group of alice has a role", USER + "alice", GROUPS + "Fabric-Owners, fabric-ownersx", status=403)
        self.refused("no group of alice has a role", USER + "alice", status=403)
        for line in ("X-Forwarded-User: a\x00b", "X-Forwarded-User: a\rX-Y: b", "X-Forwarded-User : root", "X-Forwarded-User: a\x01b"):
            status, _ = self.whoami(line, owner)
            self.assertIn(status, (400, 401), line)
        self.assertEqual(431, self.ask(self.weftd, "GET", "/healthz", None, self.tls("gateway"), headers=(USER + "a" * 20_000,))[0])

    def test_a_proxy_that_names_nobody_is_nobody(self):
        self.assertEqual(401, self.whoami()[0])
        self.assertEqual(200, self.ask(self.weftd, "GET", "/healthz", None, self.tls("gateway"))[0])
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(self.weftd, "gateway"), "/weft.v1.FabricService/ListNodes"), "nor over gRPC")
        self.assertEqual(("vic", "viewer"), self.whoami(USER + "alice", GROUPS + "fabric-owners", token=self.tokens["vic"]), "a token counts alone")

    def test_a_secret_on_this_machine_that_can_be_changed(self):
        folder = os.path.join(self.place, "local")
        os.mkdir(folder)
        path = os.path.join(folder, "secret")

        def write(text: str) -> None:
            with open(path + ".new", "w", encoding="ascii") as stream:
                os.fchmod(stream.fileno(), 0o600)
                stream.write(text)
            os.rename(path + ".new", path)

        write(SECRET)
        weftd = self.weftd_with(f'[security.proxy]\nsecret_file = "{path}"\ndefault_role = "viewer"\ngroup_roles = ["ops=operator"]')

        def who(secret: str | None):
            headers = (USER + "alice", GROUPS + "ops") + ((f"X-Weft-Proxy-Secret: {secret}",) if secret else ())
            return self.ask(weftd, "GET", "/api/v1/whoami", headers=headers, secure=False)
        self.assertEqual((200, {"name": "alice via a local proxy", "role": "operator"}), who(SECRET))
        self.assertEqual(401, who(None)[0], "an address alone is none")
        self.assertEqual(401, self.ask(weftd, "GET", "/api/v1/nodes", secure=False)[0], "everybody says who he is")
        other = SECRET[::-1]
        write(other)
        wait_until(lambda: who(other)[0] == 200, why=weftd.log)
        self.assertEqual(401, who(SECRET)[0])
        write("short")
        weftd.wait_log("were not reloaded", "must hold 32 to 256 visible characters")
        self.assertEqual(200, who(other)[0], "the one before stays")

    def test_a_wrong_configuration_is_refused(self):
        def check(section: str) -> tuple[int, str]:
            path = os.path.join(self.place, "check.toml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(f"state_dir = \"{self.place}/check\"\n[infiniband]\nenabled = false\n[security]\n{section}\n")
            done = subprocess.run([program("weftd"), "--config", path, "--check-config"], capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stdout + done.stderr
        good = self.lines() + PROXY.format(self.secret_file)
        self.assertEqual(0, check(good)[0], check(good)[1])
        os.chmod(self.secret_file, 0o644)
        code, said = check(good)
        os.chmod(self.secret_file, 0o600)
        self.assertEqual(2, code, said)
        self.assertIn("chmod", said)
        for change, words in ((("staff=viewer", "staff=collector"), "no person's"), (("fabric-owners=admin", "fabric-owners"), "GROUP=ROLE"),
                              (('"gateway"', '"operator"'), "has a role by"), (('"gateway"', '"*"'), "without '*'"),
                              (("[security.proxy]", '[security.proxy]\nuser_header = "Cookie"'), "means something else"),
                              (("[security.proxy]", '[security.proxy]\ntrusted_addresses = ["10.0.0.0/8"]'), "trusted_addresses")):
            code, said = check(good.replace(*change))
            self.assertEqual(2, code, change)
            self.assertIn(words, said)


@unittest.skipIf(not shutil.which("nginx"), "nginx is not installed")
class Nginx(SecurityTest):
    """The guide's words: its certificates, its weftd.toml, its nginx."""

    def test_people_come_through_the_real_nginx(self):
        make, weftd_toml, nginx, _, _ = blocks(SECTION)
        etc = os.path.join(self.place, "etc")
        run("sh", "-ec", make.replace("deploy/certs", security_testing.CERTS).replace("/etc/weft", etc).replace("weft.example", "localhost,127.0.0.1")
            .replace("--group weft", "--group root"))
        weftd = self.weftd_with(weftd_toml.split("[security]\n", 1)[1].replace("/etc/weft", etc))
        provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        self.addCleanup(provider.shutdown)
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        port = free_address().rsplit(":", 1)[1]
        certs = os.path.join(etc, "certs")
        for name in ("crt", "key"):
            shutil.copy(os.path.join(certs, f"server.{name}"), os.path.join(certs, f"page.{name}"))
        site = (nginx.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("/etc/nginx/weft", certs).replace("127.0.0.1:4180", f"127.0.0.1:{provider.server_port}")
                .replace("127.0.0.1:9640", weftd.http).replace("weft.example", "localhost"))
        folder = os.path.join(self.place, "nginx")
        os.mkdir(folder)
        path = os.path.join(folder, "nginx.conf")
        temporary = "".join(f"{each}_temp_path {folder}/{each};\n" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{site}\n}}\n")
        process = subprocess.Popen(["nginx", "-c", path, "-p", folder, "-e", f"{folder}/error.log"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (process.terminate(), process.wait(20)))
        page = type("Page", (), {"http": f"127.0.0.1:{port}"})()
        self.ours.place = certs

        def ask(*headers: str, method: str = "GET", path: str = "/api/v1/whoami", body: str | None = None):
            try:
                return self.ask(page, method, path, None, self.tls(), body, headers)
            except ConnectionRefusedError:
                return 0, ""
        wait_until(lambda: ask()[0], why=lambda: read(f"{folder}/error.log").decode())
        olga, vic = "Cookie: session=olga", "Cookie: session=vic"
        self.assertEqual((200, "sign in"), ask(), "who has no session is sent to log in")
        self.assertEqual((200, {"name": "olga@example.com via gateway", "role": "operator"}), ask(olga))
        self.assertEqual((200, {"name": "vic@example.com via gateway", "role": "viewer"}), ask(vic))
        own = f"Origin: https://127.0.0.1:{port}"
        self.assertEqual(404, ask(olga, own, method="POST", path=PLAN, body="{}")[0], "no such plan, but asked")
        self.assertEqual(403, ask(vic, own, method="POST", path=PLAN, body="{}")[0])
        self.assertEqual(403, ask(olga, "Origin: https://evil.example", method="POST", path=PLAN, body="{}")[0])
        self.assertEqual(200, ask(olga, own, method="POST", path=STOP, body='{"handsOff": true, "reason": "a test"}')[0])
        self.assertIn("olga@example.com via gateway", str(ask(vic, path="/api/v1/audit")[1]))
        for forged in (USER + "root", GROUPS + "fabric-owners", "X_Forwarded_User: root", f"X-Weft-Proxy-Secret: {SECRET}"):
            said = ask(vic, forged)
            self.assertTrue(said[0] == 401 or said[1] == {"name": "vic@example.com via gateway", "role": "viewer"}, (forged, said))
        # Around nginx there is no way.
        self.assertEqual(401, self.ask(weftd, "GET", "/api/v1/whoami", headers=(USER + "olga@example.com", GROUPS + "fabric-operators"))[0])


if __name__ == "__main__":
    security_testing.main()
