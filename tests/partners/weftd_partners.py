# SPDX-License-Identifier: Apache-2.0
"""What the tests of weftd with a scheduler share: hosts n1 to n4 on a small subnet, remedies turned on, and waiting for plans."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from slurm_cluster import SlurmCluster  # noqa: E402
from weft_testing import fat_tree, wait_until, weftctl, weftctl_json  # noqa: E402, F401

REMEDIES = """
[remedy]
drain_node = "auto"
undrain_node = "auto"
{scheduler}
[remedy.limits]
undrain_after = "1s"
reading_interval = "200ms"
failed_readings = 2
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
probation = "3s"
"""
SLURM = """\
[remedy.slurm]
enabled = true
slurm_conf = "{slurm_conf}"
"""
NAMED = ("n1", "n2", "n3", "n4")
MARK = r"weft {plan}\.[0-9a-f]{{16}} {incident}: "  # what weftd writes on a node: a plan, the store's id, an incident


class WithScheduler(weft_testing.SubnetTest):
    """Set `infiniband` by remedies() before the class's weftd is started. The node name map confirms who the hosts of `confirmed` are;
    without it automation waits for a person."""

    confirmed = ("n1", "n2", "n3", "n4")

    @classmethod
    def make_network(cls):
        network = fat_tree.build(8, rails=1, radix=8)
        for name, host in zip(NAMED, network.hosts()):
            host.name = f"{name} mlx5_0"
        return network

    @classmethod
    def remedies(cls, scheduler: str) -> str:
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        names = os.path.join(place.name, "names")
        with open(names, "w", encoding="utf-8") as stream:
            for host in cls.make_network().hosts()[:len(NAMED)]:
                if host.name.split()[0] in cls.confirmed:
                    stream.write(f'{weft_testing.guid_text(host.guid)} "{host.name}"\n')
        return f'node_name_map = "{names}"\n' + REMEDIES.format(scheduler=scheduler)

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def plan(self, host: str, action: str, *states: str) -> dict:
        """The newest one, as soon as it is in one of the states."""
        def there():
            found = [plan for plan in self.plans() if plan["target"]["host"] == host and plan["action"] == action]
            return found[-1] if found and found[-1]["state"] in states else None

        return wait_until(there, within=90, why=lambda: f"no {action} of {host} is {states}: {self.plans()}\n{self.weftd.log()}")

    def wait_until_well(self) -> None:
        wait_until(lambda: not self.weftd.incidents(), within=90, why=lambda: f"it is not over: {self.weftd.incidents()}")
        self.weftd.wait_sweeps(6)


class WithSlurm(WithScheduler):
    """The scheduler is a real Slurm with a node for each host."""

    @classmethod
    def setUpClass(cls):
        cls.slurm = SlurmCluster(len(NAMED))
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.infiniband = cls.remedies(SLURM.format(slurm_conf=cls.slurm.configuration))
        super().setUpClass()
