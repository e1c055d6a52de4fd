# SPDX-License-Identifier: Apache-2.0
"""How ports and adapters are set up, as the collector tells it, beside what ethtool, ip, dcb, devlink, rdma and lspci print: settings are made with
the ordinary tool where it can, read by both, and must be the same. Then PCIe links: what is short by lspci's numbers is told, and nothing else."""

import base64
import json
import re
import struct
import time

import guest_programs
import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest, wait_until
from machine import Refused
from test_scripted_nic import QSFP28, QSFP_DD

MODEL = "DGXH100"
# Two PCIe functions below root ports that name Intel as their maker, for links below qemu's own are not told of. The first has error reporting
# (AER), the second virtual functions.
HARDWARE = ("-machine", "q35", "-smbios", f"type=1,manufacturer=Test,product={MODEL}",
            "-device", "ioh3420,id=slot1,chassis=1,port=1", "-device", "e1000e,bus=slot1",
            "-device", "ioh3420,id=slot2,chassis=2,port=2", "-device", "nvme-subsys,id=both",
            "-device", "nvme,serial=1,subsys=both,bus=slot2,sriov_max_vfs=2,sriov_vq_flexible=4,sriov_vi_flexible=2,max_ioqpairs=6,msix_qsize=5")
FUNCTIONS = ("8086 10d3", "1b36 0010")  # vendor and device of both

# Words of the PCI Express capability (PCI Express Base 5.0, 7.5.3; linux/pci_regs.h) and the codes of speeds in them.
LINK_CAPABILITIES, LINK_STATUS, LINK_CAPABILITIES_2 = 0x0C, 0x10, 0x2C
SPEEDS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5}

# Identity of a module: where each standard has it, how long it is, and how ethtool calls it.
IDENTITY = {"module_vendor": ("Vendor name", "ACME OPTICS"), "module_part": ("Vendor PN", "AO-100G-SR4"), "module_revision": ("Vendor rev", "B2"),
            "module_serial": ("Vendor SN", "SN0123456789")}
PLACES = {"SFF-8636": (QSFP28, ((148, 16), (168, 16), (184, 2), (196, 16))), "CMIS": (QSFP_DD, ((129, 16), (148, 16), (164, 2), (166, 16)))}


class Facts(CollectorTest):
    programs = ("weftd", "weft-collector", "weft-uplink")
    adapters = 0
    hardware = HARDWARE
    rights = guest_programs.WITH_NET_ADMIN
    configuration = """
[analyzer]
address = "127.0.0.1:9641"
[reading]
interval = "500ms"
module_interval = "1s"
rescan_interval = "1s"
facts_interval = "1s"
[metrics]
zeros = true
"""

    @classmethod
    def set_up_guest(cls):
        cls.nic = stage.ScriptedNic(cls.guest, stage.MLX5, functions=FUNCTIONS)
        cls.guest.get("ip link set eth1 up && insmod /modules/aer_inject.ko")
        cls.addresses = {f"mlx5_{i}": cls.guest.get(f"basename $(readlink /sys/class/net/eth{i}/device)").strip() for i in range(2)}
        cls.ports = {device: cls.guest.get(f"basename $(readlink -f /sys/class/infiniband/{device}/device/..)").strip() for device in cls.addresses}
        cls.weftd = guest_programs.Weftd(cls.guest, """[analyzer]
telemetry_start_grace = "2s"
[parts]
pcie_hold = "1s"
""")
        cls.weftd.start()
        wait_until(cls.weftd.is_ready, why=cls.weftd.log)
        super().set_up_guest()

    def facts(self, device: str) -> dict[str, str]:
        return self.weftd.facts(NODE).get(device, {})

    def expect_facts(self, told, device: str = "mlx5_0") -> dict[str, str]:
        """Waits until the facts are those that `told()` makes of a tool's words; these."""
        last: list = [None, None]

        def same():
            last[:] = told(), self.facts(device)
            return last[0] if last[0].items() <= last[1].items() else None

        return wait_until(same, why=lambda: f"tools say {last[0]}, the collector {last[1]}\n{self.collector.log()}")

    def degraded(self) -> set[str]:
        try:
            return {one["summary"] for one in self.weftd.json("/api/v1/incidents?state=open").get("incidents", []) if one["kind"] == "HOST_DEGRADED"}
        except Refused:
            return set()

    # -- what tools say, in our words

    def ethtool_text(self, options: str) -> dict[str, str]:
        return {name.strip(): value.strip() for name, value in (line.split(":", 1) for line in self.guest.get(f"ethtool {options}").splitlines() if ":" in line)}

    def pause(self) -> dict[str, str]:
        # Not --json: ethtool 6.1 writes there that everything is on.
        told = self.ethtool_text("-a eth0")
        on = [ours for name, ours in (("Autonegotiate", "autoneg"), ("RX", "rx"), ("TX", "tx")) if told[name] == "on"]
        return {"pause": ",".join(on) or "none"}

    def fec(self) -> dict[str, str]:
        told = self.guest.json("ethtool --json --show-fec eth0")[0]
        names = {"Auto": "auto", "RS": "RS", "BaseR": "BASER", "Off": "None"}
        return {"fec_setting": ",".join(names[name] for name in told["config"]), "fec_active": names[told["active"][0]].replace("None", "none")}

    def dcb(self) -> dict[str, str]:
        pfc, ets, apps = (json.loads(self.guest.get(f"dcb -j {what} show dev eth0").strip() or "{}") for what in ("pfc", "ets", "app"))
        shares = [f"{share}%" if choice == "ets" else choice for choice, share in zip(ets["tc_tsa"], ets["tc_bw"])]
        return {"pfc_priorities": ",".join(str(number) for number, on in enumerate(pfc["prio_pfc"]) if on) or "none",
                "ets_priorities": ",".join(map(str, ets["prio_tc"])), "ets_classes": ",".join(shares),
                "dscp_priorities": ranges(apps.get("dscp_prio", [])) or "none"}

    def lspci(self, function: str, word: str) -> tuple[float, int]:
        """GT/s and lanes in the line of that name: LnkCap, LnkSta."""
        text = self.guest.get(f"lspci -vv -s {function}")
        speed, lanes = re.search(rf"{word}:.*Speed ([0-9.]+)GT/s.*?, Width x(\d+)", text).groups()
        return float(speed), int(lanes)

    def pcie(self, device: str) -> dict[str, str]:
        function = self.addresses[device]
        now, most, above = self.lspci(function, "LnkSta"), self.lspci(function, "LnkCap"), self.lspci(self.ports[device], "LnkCap")
        return {"pcie_speed": f"{now[0]:.1f} GT/s PCIe", "pcie_width": str(now[1]), "pcie_speed_max": f"{most[0]:.1f} GT/s PCIe",
                "pcie_width_max": str(most[1]), "pcie_links": f"{function} {rate(now)}/{rate(most)}/{rate(above)}"}

    def set_link(self, now: tuple[float, int], below: tuple[float, int], above: tuple[float, int]) -> None:
        """Of the second adapter: what its link runs at, what it can, and what the port above can."""
        function, port = self.addresses["mlx5_1"], self.ports["mlx5_1"]
        for place, (speed, lanes) in ((function, below), (port, above)):
            self.nic.set_register(place, LINK_CAPABILITIES, lanes << 4 | SPEEDS[speed])
            self.nic.set_register(place, LINK_CAPABILITIES_2, (2 << SPEEDS[speed]) - 2)
        self.nic.set_register(function, LINK_STATUS, (now[1] << 4 | SPEEDS[now[0]]) << 16)

    # -- settings

    def test_1_who_it_is(self):
        def told():
            ethtool = self.ethtool_text("-i eth0")
            rdma = next(one for one in self.guest.json("rdma -d -j dev") if one["ifname"] == "mlx5_0")
            versions = self.guest.json("devlink -j dev info")["info"][f"pci/{self.addresses['mlx5_0']}"]["versions"]
            self.assertEqual([ethtool["firmware-version"]] * 2, [rdma["fw"], versions["running"]["fw"]])
            self.assertNotEqual(versions["running"], versions["stored"])  # what runs is told, not what waits for a reset
            slot = dict(line.split(":\t", 1) for line in self.guest.get(f"lspci -vmmn -s {self.addresses['mlx5_0']}").splitlines() if line)
            return {"firmware": versions["running"]["fw"], "driver_version": ethtool["version"],
                    "pci_ids": "0x{Vendor}:0x{Device} 0x{SVendor}:0x{SDevice}".format(**slot)}

        self.expect_facts(told)
        self.assertEqual(MODEL, self.facts("")["host_model"])
        self.assertTrue(self.ethtool_text("-i eth0")["driver"].startswith(self.facts("mlx5_0")["driver"]))
        for device, interface in (("mlx5_0", "eth0"), ("mlx5_1", "eth1")):
            labels = [one for one in self.page().series("weft_port_info") if one["device"] == device]
            parent = self.guest.json(f"ip -d -j link show {interface}")[0]["parentdev"]
            self.assertEqual([(parent, interface)], [(one["pci_address"], one["netdev"]) for one in labels])

    def test_2_mtu_pause_and_fec(self):
        seen = []
        for mtu, pause, fec in ((9000, "autoneg on rx on tx off", "auto"), (4200, "autoneg off rx off tx off", "off"),
                                (1500, "autoneg off rx on tx on", "baser")):
            self.guest.get(f"ip link set eth0 mtu {mtu}; ethtool -A eth0 {pause}; ethtool --set-fec eth0 encoding {fec}")
            seen.append(self.expect_facts(lambda: {"mtu": str(self.guest.json("ip -d -j link show eth0")[0]["mtu"])} | self.pause() | self.fec()))
        self.assertEqual([("9000", "autoneg,rx", "auto", "RS"), ("4200", "none", "None", "none"), ("1500", "rx,tx", "BASER", "BASER")],
                         [tuple(facts.values()) for facts in seen])

    def test_3_what_dcb_sets(self):
        self.expect_facts(self.dcb)
        self.guest.get("""dcb pfc set dev eth0 prio-pfc all:off 3:on 6:on
dcb ets set dev eth0 prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60
dcb app add dev eth0 dscp-prio 0:0 1:0 2:0 26:3 48:6""")
        facts = self.expect_facts(self.dcb)
        self.assertEqual(["3,6", "0,1,2,3,4,5,6,7", "40%,strict,strict,60%,strict,strict,strict,strict", "0-2=0 26=3 48=6"], list(facts.values()))
        self.guest.get("dcb app flush dev eth0; dcb pfc set dev eth0 prio-pfc all:off")
        self.assertEqual("none", self.expect_facts(self.dcb)["dscp_priorities"])

    def test_4_who_made_the_module(self):
        for standard, (memory, places) in PLACES.items():
            with self.subTest(standard):
                # The identifier comes last: with it the module is plugged in, and its name is read once.
                for (place, size), (_, text) in zip(places, IDENTITY.values(), strict=True):
                    self.nic.set_eeprom(0, place, text.ljust(size).encode())
                for (page, offset), octets in memory.items():
                    self.nic.set_eeprom(page, offset, octets)

                def told():
                    printed = self.ethtool_text("-m eth0")
                    return {fact: printed[name] for fact, (name, _) in IDENTITY.items()}

                self.assertEqual({fact: text for fact, (_, text) in IDENTITY.items()}, self.expect_facts(told))

    # -- PCIe

    def test_5_virtual_functions(self):
        folder = f"/sys/bus/pci/devices/{self.addresses['mlx5_1']}"
        for count in (2, 0):
            self.guest.get(f"echo {count} >{folder}/sriov_numvfs")
            told = self.expect_facts(lambda: {"virtual_functions": re.search(r"Number of VFs: (\d+)", self.guest.get(f"lspci -vv -s {self.addresses['mlx5_1']}"))[1]},
                                     "mlx5_1")
            self.assertEqual(str(count), told["virtual_functions"])
            self.assertEqual(2 + count, len(self.guest.json("rdma -j dev")))
            self.assertEqual({"", "mlx5_0", "mlx5_1"}, set(self.weftd.facts(NODE)), "virtual functions have facts")

    def test_6_links(self):
        """What lspci calls downgraded is no trouble where the slot can no more."""
        name = f"Adapter of {NODE} mlx5_1 port 1 (eth1): PCIe link {self.addresses['mlx5_1']} runs at "
        full = (32, 16)
        for now, below, above, short in ((full, full, full, None), ((16, 8), full, (16, 8), None), ((32, 2), full, full, "x2 of x16"),
                                         ((8, 16), full, (16, 16), "8 of 16 GT/s, which is enough for its ports"),
                                         ((2.5, 1), full, (16, 8), "2.5 GT/s x1 of 16 GT/s x8"), (full, full, full, None)):
            with self.subTest(now=now, below=below, above=above):
                self.set_link(now, below, above)
                self.expect_facts(lambda: self.pcie("mlx5_1"), "mlx5_1")
                self.assertEqual(now != below, "(downgraded)" in self.guest.get(f"lspci -vv -s {self.addresses['mlx5_1']}"))
                if not short:
                    time.sleep(3)
                expected = {name + short} if short else set()
                wait_until(lambda: self.degraded() == expected, why=lambda: f"{self.degraded()}\n{self.facts('mlx5_1')}\n{self.weftd.log()}")
        self.expect_facts(lambda: self.pcie("mlx5_0"))  # as qemu has it

    def test_7_errors(self):
        """By the kernel's own injector: qemu 7.2 sets the registers of an error alone, and sends nobody a message of it."""
        function, port = self.addresses["mlx5_0"], self.ports["mlx5_0"]
        for place, correctable in ((function, 1), (function, 1 << 6), (port, 1), (function, 1)):
            self.inject(place, correctable=correctable)
        self.expect_same(lambda page: self.error_differences(page, function, port))
        time.sleep(3)
        self.assertEqual(set(), self.degraded())
        self.inject(function, uncorrectable=1 << 14)  # completion timeout, which is not fatal
        page = self.expect_same(lambda page: self.error_differences(page, function, port))
        self.assertEqual((4, 1, 0), tuple(page.get(f"weft_port_pcie_{kind}_errors_total", node=NODE, device="mlx5_0")
                                          for kind in ("correctable", "nonfatal", "fatal")))
        expected = {f"Adapter of {NODE} mlx5_0 port 1 (eth0): PCIe transactions fail"}
        wait_until(lambda: self.degraded() == expected, why=lambda: f"{self.degraded()}\n{self.weftd.log()}")

    def error_differences(self, page, *functions: str) -> list[str]:
        lines = []
        log = self.guest.get("dmesg")
        for kind, words in (("correctable", "Corrected"), ("nonfatal", r"Uncorrected \(Non-Fatal\)"), ("fatal", r"Uncorrected \(Fatal\)")):
            said = sum(len(re.findall(rf"AER: {words} error message received from {function}", log)) for function in functions)
            shown = page.get(f"weft_port_pcie_{kind}_errors_total", node=NODE, device="mlx5_0")
            if shown != said:
                lines.append(f"{kind}: the kernel's log has {said}, shown {shown}")
        return lines

    def inject(self, function: str, correctable: int = 0, uncorrectable: int = 0) -> None:
        """One error, bits as in the status registers of AER (linux/pci_regs.h), and waits until the kernel has it. The structure is that of
        drivers/pci/pcie/aer_inject.c: bus, device, function, both words, the header that failed, domain."""
        domain, bus, device, number = (int(word, 16) for word in re.split("[:.]", function))
        order = struct.pack("<BBBxIIIIIII", bus, device, number, uncorrectable, correctable, 0, 0, 0, 0, domain)
        before = self.guest.get("dmesg").count("AER: ")
        self.guest.get(f"echo {base64.b64encode(order).decode()} | base64 -d >/tmp/error && cat /tmp/error >/dev/aer_inject")
        wait_until(lambda: self.guest.get("dmesg").count("AER: ") > before, 30, why="the kernel did not notice the error")


def rate(link: tuple[float, int]) -> str:
    return f"{link[0]:g}x{link[1]}"


def ranges(pairs: list[list[int]]) -> str:
    """[[0, 0], [1, 0], [26, 3]]: "0-1=0 26=3"."""
    words: list[list[int]] = []  # first, last, priority
    for value, priority in sorted(pairs):
        if words and words[-1][1] == value - 1 and words[-1][2] == priority:
            words[-1][1] = value
        else:
            words.append([value, value, priority])
    return " ".join(f"{first}={priority}" if first == last else f"{first}-{last}={priority}" for first, last, priority in words)


if __name__ == "__main__":
    kernel_testing.main()
