"""The whole way, from a cable to Kubernetes: weftd on ibsim with OpenSM, and an API server whose nodes are its hosts."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from test_kubernetes import EVICTING, GPU, TOKENS, WithServer  # noqa: E402
from weft_testing import fat_tree, wait_until, weftctl, weftctl_json  # noqa: E402

REMEDIES = """
[remedy]
drain_node = "auto"
undrain_node = "auto"
[remedy.kubernetes]
enabled = true
kubeconfig = "{kubeconfig}"
[remedy.limits]
undrain_after = "1s"
reading_interval = "200ms"
failed_readings = 2
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
probation = "3s"
"""


class WeftdAndKubernetes(WithServer, weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        network = fat_tree.build(8, rails=1, radix=8)
        for number, host in enumerate(network.hosts()[:4], 1):
            host.name = f"n{number} mlx5_0"
        return network

    @classmethod
    def setUpClass(cls):
        WithServer.setUpClass.__func__(cls)
        cls.infiniband = REMEDIES.format(kubeconfig=cls.kubeconfig("weftd", {"token": TOKENS["weft"]}))
        weft_testing.SubnetTest.setUpClass.__func__(cls)

    def tearDown(self):
        WithServer.tearDown(self)
        weft_testing.SubnetTest.tearDown(self)

    def plan(self, host: str, action: str, *states: str) -> dict:
        def plans():
            return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

        def there():
            found = [plan for plan in plans() if plan["target"]["host"] == host and plan["action"] == action]
            return found[-1] if found and found[-1]["state"] in states else None

        return wait_until(there, within=90, why=lambda: f"no {action} of {host} is {states}: {plans()}\n{self.weftd.log()}")

    def node(self, name: str) -> dict:
        return self.admin("GET", f"/api/v1/nodes/{name}")

    def test_a_dead_adapter_takes_its_node_out_until_it_is_well(self):
        self.create("n1", taints=[GPU, EVICTING])
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        node = self.node("n1")
        self.assertTrue(node["spec"]["unschedulable"])
        taints = {taint["key"]: taint.get("value") for taint in node["spec"]["taints"]}
        self.assertEqual(plan["id"], taints["weft.dev/unhealthy"])
        self.assertTrue(node["metadata"]["annotations"]["weft.dev/reason"].startswith(f"weft {plan['id']} {plan['incidentId']}: "), node)

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
        wait_until(lambda: not self.weftd.incidents(), within=90, why=lambda: f"it is not over: {self.weftd.incidents()}")
        self.weftd.wait_sweeps(6)
        self.assertTrue(self.node("n2")["spec"]["unschedulable"])
        self.assertEqual(4, weftctl(self.weftd, "undrain", "n2", "--reason", "a mistake").returncode)

    def test_a_node_that_kubernetes_does_not_know(self):
        done = weftctl(self.weftd, "drain", "n3", "--reason", "new memory")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("nothing was done", self.plan("n3", "DRAIN_NODE", "FAILED")["outcome"])


if __name__ == "__main__":
    weft_testing.main()
