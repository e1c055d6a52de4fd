# SPDX-License-Identifier: Apache-2.0
"""Starts programs that do not outlive us."""

import os
import subprocess


def start_child(command: list[str], signal: str = "KILL", env: dict | None = None, **how) -> subprocess.Popen:
    """Starts `command`; the kernel sends it `signal` when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG). `how` is for
    subprocess.Popen. A program that cannot be run ends with 126 or 127, and says why (setpriv(1)).

    setpriv asks the kernel, not code of ours between fork and exec: a process that uses gRPC may end in the handlers that gRPC
    has for a fork, when one of its thread pools is just closing (gRPC 1.51, src/core/lib/event_engine/thread_pool.cc). Without
    such code Python calls vfork, which runs no handlers."""
    env = dict(os.environ if env is None else env)
    preload = env.pop("LD_PRELOAD", None)  # for the program alone: setpriv would become a client of ibsim
    give = ["env", f"LD_PRELOAD={preload}"] if preload else []
    return subprocess.Popen(["setpriv", "--pdeathsig", signal, "--", *give, *command], env=env, **how)
