# SPDX-License-Identifier: Apache-2.0
"""test_kubernetes.py, test_node_conditions.py and test_weftd_kubernetes.py against a real kube-apiserver on etcd; see
support/kube_apiserver.py. Only with
WEFT_KUBERNETES=real, as tests/run --kubernetes sets it."""

import os
import sys

if os.environ.get("WEFT_KUBERNETES") != "real":
    print("skipped: only tests/run --kubernetes runs it")
    sys.exit(77)

from test_kubernetes import Draining, Rights, main  # noqa: E402, F401
from test_node_conditions import NodeConditions  # noqa: E402, F401
from test_weftd_kubernetes import WeftdAndKubernetes  # noqa: E402, F401

if __name__ == "__main__":
    main()
