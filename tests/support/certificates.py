# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, by the program openssl."""

import subprocess

NAMES = "DNS:localhost,IP:127.0.0.1"


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {' '.join(arguments)}: {done.stdout}")


def make_certificate(folder: str, name: str = "localhost", names: str = NAMES) -> tuple[str, str]:
    """(certificate, key) of a server, signed by itself, as PEM files."""
    certificate, key = f"{folder}/{name}.crt", f"{folder}/{name}.key"
    _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
             "-addext", f"subjectAltName={names}", "-keyout", key, "-out", certificate)
    return certificate, key


def make_key_pair(folder: str, name: str) -> tuple[str, str]:
    """(public, private) RSA key as PEM files."""
    public, private = f"{folder}/{name}.pub", f"{folder}/{name}.key"
    _openssl("genrsa", "-out", private, "2048")
    _openssl("rsa", "-in", private, "-pubout", "-out", public)
    return public, private


def make_client(folder: str, authority: tuple[str, str], subject: str) -> tuple[str, str]:
    """(certificate, key) of a client, signed by that authority."""
    certificate, key, request = (f"{folder}/client.{suffix}" for suffix in ("crt", "key", "csr"))
    _openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject, "-keyout", key, "-out", request)
    _openssl("x509", "-req", "-in", request, "-CA", authority[0], "-CAkey", authority[1], "-CAcreateserial", "-days", "2", "-out", certificate)
    return certificate, key
