# SPDX-License-Identifier: Apache-2.0
"""A node name map names nodes; one that cannot be used stops nothing."""

import os
import tempfile

import weft_testing
from weft_testing import fat_tree, guid_text


class NodeNames(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        return fat_tree.build(16, rails=1, radix=8)

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.names = os.path.join(place.name, "names")
        cls.infiniband = f'node_name_map = "{cls.names}"'
        with open(cls.names, "w", encoding="utf-8") as stream:
            stream.write("0x1 no quotes\n")
        super().setUpClass()

    def switch(self) -> str:
        guid = guid_text(self.network.switches[0].guid)
        return next(node["name"] for node in self.weftd.client.json("/api/v1/topology")["nodes"] if node["guid"] == guid)

    def test_a_map_that_cannot_be_used_is_said_and_the_fabric_is_watched(self):
        self.assertIn(f"{self.names}: line 1:", self.weftd.log())
        self.assertEqual(self.network.switches[0].name, self.switch())
        with open(self.names, "w", encoding="utf-8") as stream:
            stream.write(f'{guid_text(self.network.switches[0].guid)} "row 4, rack 2"\n')
        self.weftd.kill()
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        self.assertEqual("row 4, rack 2", self.switch())


if __name__ == "__main__":
    weft_testing.main()
