"""Client of weftd."""

from weft.client import Client

__all__ = ["Client"]
