# SPDX-License-Identifier: Apache-2.0
"""From the memory of a module to the history of its port: the kernel serves it, weft-collector reads it, weftd keeps it, and weftctl draws it.
The figures are those that ethtool decodes from the same memory."""

import math

import guest_programs
import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest, wait_until
from machine import Refused
from test_scripted_nic import QSFP28, words


class OpticsHistory(CollectorTest):
    programs = ("weftd", "weft-collector", "weft-uplink", "weftctl")
    rights = guest_programs.WITH_NET_ADMIN
    configuration = """
[analyzer]
address = "127.0.0.1:9641"
[reading]
interval = "500ms"
module_interval = "1s"
"""

    @classmethod
    def set_up_guest(cls):
        cls.nic = stage.ScriptedNic(cls.guest, stage.MLX5)
        for (page, offset), octets in QSFP28.items():
            cls.nic.set_eeprom(page, offset, octets)
        cls.guest.get(f"""cat >/tmp/cabling.dot <<'END'
graph fabric {{ "leaf01":"swp1" -- "{NODE}":"eth0" }}
END""")
        cls.weftd = guest_programs.Weftd(cls.guest, """sweep_interval = "1s"
[ethernet]
cabling = "/tmp/cabling.dot"
interval = "1s"
[store]
history_interval = "1s"
""")
        cls.weftd.start()
        wait_until(cls.weftd.is_ready, why=cls.weftd.log)
        super().set_up_guest()

    def gauges(self) -> dict[str, dict]:
        try:
            ports = self.weftd.json(f"/api/v1/ports/{NODE}/history?points=2000")["ports"]
        except Refused:
            return {}
        return {gauge["gauge"]: gauge for port in ports for gauge in port["gauges"]}

    def wait_gauges(self, wanted) -> dict[str, dict]:
        def found():
            gauges = self.gauges()
            return gauges if len(gauges) == 4 and wanted(gauges) else None

        return wait_until(found, why=lambda: f"{self.gauges()}\n{self.weftd.log()}\n{self.collector.log()}")

    def test_the_weakest_lane_and_its_loss(self):
        told = self.module_readings("eth0")
        gauges = self.wait_gauges(lambda gauges: gauges["module_receive_power"]["bucket"])
        power = min(next(values for name, values in told.items() if name.startswith("Rcvr")))
        expected = {"module_receive_power": power, "module_transmit_power": min(told["Transmit avg optical power"])}
        for name, watts in expected.items():
            self.assertLess(abs(10 * math.log10(gauges[name]["last"][-1] / watts)), 0.16, (name, gauges[name], watts))
        bias = max(told["Laser tx bias current"])
        self.assertAlmostEqual(bias, gauges["module_bias"]["last"][-1], delta=0.03 * bias)
        self.assertAlmostEqual(told["Module temperature"][0], gauges["module_temperature"]["last"][-1], delta=0.76)

        self.nic.set_eeprom(0, 38, words(0))  # lane 3 is dark
        dark = self.wait_gauges(lambda gauges: gauges["module_receive_power"]["last"][-1] == 0)
        self.assertGreater(max(dark["module_receive_power"]["high"]), 0.9 * power)
        drawn = self.guest.get(f"/opt/weft/weftctl --server 127.0.0.1:9641 history {NODE} --last 10m")
        self.assertRegex(drawn, r"\noptical in .* none to -3\.\d, last none dBm\n")
        self.assertRegex(drawn, r"\nlaser bias .* \d\.\d mA\n")


if __name__ == "__main__":
    kernel_testing.main()
