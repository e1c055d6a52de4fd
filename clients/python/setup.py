# SPDX-License-Identifier: Apache-2.0
"""Generates weft/v1 from the protos while the package is built: with protoc and grpc_python_plugin (Debian: protobuf-compiler,
protobuf-compiler-grpc), or with grpc_tools where that is installed. Reads the version, which is Weft's. All else is in pyproject.toml."""

import glob
import os
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))


def protos() -> str:
    """Beside this file in a source distribution, in api/proto in the repository."""
    for place in (os.path.join(HERE, "proto"), os.path.join(HERE, "..", "..", "api", "proto")):
        if os.path.isdir(os.path.join(place, "weft", "v1")):
            return os.path.abspath(place)
    sys.exit("weft-client: there are no protos beside this package")


def version() -> str:
    """From the file VERSION: beside this file in a source distribution, at the top of the repository."""
    for place in (HERE, os.path.join(HERE, "..", "..")):
        file = os.path.join(place, "VERSION")
        if os.path.isfile(file):
            with open(file, encoding="utf-8") as stream:
                return stream.read().strip()
    sys.exit("weft-client: there is no file VERSION beside this package")


def compiler() -> list:
    plugin = shutil.which("grpc_python_plugin")
    if shutil.which("protoc") and plugin:
        return ["protoc", f"--plugin=protoc-gen-grpc_python={plugin}"]
    return [sys.executable, "-m", "grpc_tools.protoc"]


class Generate(build_py):
    def run(self):
        super().run()
        root = protos()
        names = sorted(os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "weft", "v1", "*.proto")))
        out = self.build_lib
        subprocess.run([*compiler(), f"-I{root}", f"--python_out={out}", f"--grpc_python_out={out}", *names], check=True)
        with open(os.path.join(out, "weft", "v1", "__init__.py"), "w", encoding="utf-8") as stream:
            stream.write('"""Messages and stubs of the proto package weft.v1, generated."""\n')


class WithProtos(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copytree(os.path.join(protos(), "weft"), os.path.join(base_dir, "proto", "weft"), dirs_exist_ok=True)
        with open(os.path.join(base_dir, "VERSION"), "w", encoding="utf-8") as stream:
            stream.write(version() + "\n")


setup(version=version(), cmdclass={"build_py": Generate, "sdist": WithProtos})
