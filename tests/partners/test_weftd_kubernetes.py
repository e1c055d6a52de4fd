# SPDX-License-Identifier: Apache-2.0
"""The whole way, from a cable to Kubernetes: weftd on ibsim with OpenSM, and an API server whose nodes are its hosts."""

import weftd_partners
from test_kubernetes import EVICTING, GPU, TOKENS, WithServer
from weftd_partners import wait_until, weft_testing, weftctl

KUBERNETES = """\
[remedy.kubernetes]
enabled = true
kubeconfig = "{kubeconfig}"
"""


class WeftdAndKubernetes(WithServer, weftd_partners.WithScheduler):
    @classmethod
    def setUpClass(cls):
        WithServer.setUpClass.__func__(cls)
        cls.infiniband = cls.remedies(KUBERNETES.format(kubeconfig=cls.kubeconfig("weftd", {"token": TOKENS["weft"]})))
        weftd_partners.WithScheduler.setUpClass.__func__(cls)

    def tearDown(self):
        WithServer.tearDown(self)
        weftd_partners.WithScheduler.tearDown(self)

    def node(self, name: str) -> dict:
        return self.admin("GET", f"/api/v1/nodes/{name}")

    def test_a_dead_adapter_takes_its_node_out_until_it_is_well(self):
        self.create("n1", taints=[GPU, EVICTING])
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        node = self.node("n1")
        self.assertTrue(node["spec"]["unschedulable"])
        taints = {taint["key"]: taint.get("value") for taint in node["spec"]["taints"]}
        self.assertRegex(taints["weft.dev/unhealthy"], f"^{plan['id']}\\.[0-9a-f]{{16}}$")
        self.assertRegex(node["metadata"]["annotations"]["weft.dev/reason"],
                         "^" + weftd_partners.MARK.format(plan=plan["id"], incident=plan["incidentId"]))

        self.subnet.relink("n1 mlx5_0", 1)
        self.assertEqual(plan["id"], self.plan("n1", "UNDRAIN_NODE", "COMMITTED")["undoes"])
        node = self.node("n1")
        self.assertFalse(node["spec"].get("unschedulable", False))
        self.assertLessEqual({GPU["key"], EVICTING["key"]}, {taint["key"] for taint in node["spec"]["taints"]}, "taints of others survive")
        self.assertNotIn("weft.dev/unhealthy", {taint["key"] for taint in node["spec"]["taints"]})

    def test_what_somebody_cordoned_stays_cordoned(self):
        self.create("n2", unschedulable=True)
        self.subnet.unlink("n2 mlx5_0", 1)
        self.assertIn("somebody else", self.plan("n2", "DRAIN_NODE", "EXPIRED")["outcome"])
        self.subnet.relink("n2 mlx5_0", 1)
        self.wait_until_well()
        self.assertTrue(self.node("n2")["spec"]["unschedulable"])
        self.assertEqual(4, weftctl(self.weftd, "undrain", "n2", "--reason", "a mistake").returncode)

    def test_what_others_cordoned_counts(self):
        names = [f"login-{number}" for number in range(12)]
        for name in names:
            self.create(name, unschedulable=True)
        self.create("n4")

        def told():
            return weftctl(self.weftd, "drain", "n4", "--dry-run", "--reason", "new memory").stdout

        # The list is read once a minute.
        wait_until(lambda: "10 (remedy.limits.budget.out_minimum), with 12 hosts that others drained" in told(), within=90, why=told)
        for name in names:
            self.admin("DELETE", f"/api/v1/nodes/{name}")
        wait_until(lambda: "within all budgets" in told(), within=90, why=told)

    def test_a_node_that_kubernetes_does_not_know(self):
        done = weftctl(self.weftd, "drain", "n3", "--reason", "new memory")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("not done", self.plan("n3", "DRAIN_NODE", "FAILED")["outcome"])


if __name__ == "__main__":
    weft_testing.main()
