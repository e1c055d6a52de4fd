# SPDX-License-Identifier: Apache-2.0
"""Client of weftd."""

from weft.client import Client

__all__ = ["Client"]
