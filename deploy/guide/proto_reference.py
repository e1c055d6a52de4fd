#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the reference of the gRPC API, made from the comments in api/proto: every service, method, message and value.

    deploy/guide/proto_reference.py > deploy/guide/reference/grpc.md
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROTOS = os.path.join(ROOT, "api", "proto")

HEAD = """\
# The gRPC API, package weft.v1

Made from `api/proto` by `deploy/guide/proto_reference.py`. The same messages are the JSON of HTTP ([http.md](../http.md)) and of
`weftctl --json`, by protobuf's JSON mapping: fields in lowerCamelCase, 64-bit numbers as texts, times as "2026-01-31T12:00:00Z".

A field that is not set is unknown, never zero. A message that is not here is one of protobuf's own (`google.protobuf`).
"""

# Numbers of the fields of FileDescriptorProto, DescriptorProto, EnumDescriptorProto and ServiceDescriptorProto, of which
# paths in SourceCodeInfo are made (descriptor.proto).
MESSAGE, ENUM, SERVICE, PACKAGE = 4, 5, 6, 2
FIELD, NESTED_MESSAGE, NESTED_ENUM = 2, 3, 4
VALUE, METHOD = 2, 2

SCALARS = {number: name[5:].lower() for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()}


def read_protos() -> list[descriptor_pb2.FileDescriptorProto]:
    names = sorted(os.path.relpath(path, PROTOS) for path in glob.glob(os.path.join(PROTOS, "weft", "v1", "*.proto")))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "set")
        subprocess.run(["protoc", f"--proto_path={PROTOS}", "--include_source_info", f"--descriptor_set_out={out}", *names], check=True)
        with open(out, "rb") as stream:
            return list(descriptor_pb2.FileDescriptorSet.FromString(stream.read()).file)


class Comments:
    def __init__(self, file: descriptor_pb2.FileDescriptorProto):
        self._of = {tuple(place.path): place for place in file.source_code_info.location}

    def at(self, *path: int) -> str:
        place = self._of.get(path)
        if place is None:
            return ""
        text = " ".join((place.leading_comments + " " + place.trailing_comments).split())
        return text.replace("|", "\\|").replace("<", "&lt;")

    def above_package(self) -> str:
        return self.at(PACKAGE)


def short(type_name: str) -> str:
    return type_name.removeprefix(".weft.v1.").removeprefix(".")


def anchor(heading: str) -> str:
    """As GitHub makes one of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def linked(type_name: str) -> str:
    name = short(type_name)
    return f"[{name}](#{anchor(name)})" if type_name.startswith(".weft.v1.") else f"`{name}`"


def type_of(field: descriptor_pb2.FieldDescriptorProto, maps: dict) -> str:
    if field.type_name in maps:
        key, value = maps[field.type_name].field
        return f"map from {type_of(key, maps)} to {type_of(value, maps)}"
    text = linked(field.type_name) if field.type_name else SCALARS[field.type]
    if field.label == field.LABEL_REPEATED:
        return "list of " + text
    return text + (", may be absent" if field.proto3_optional else "")


def print_enum(name: str, enum, comments: Comments, path: tuple) -> None:
    print(f"\n### {name}\n")
    if text := comments.at(*path):
        print(text + "\n")
    print("| value | number | meaning |\n| --- | --- | --- |")
    for i, value in enumerate(enum.value):
        print(f"| `{value.name}` | {value.number} | {comments.at(*path, VALUE, i)} |")


def print_message(name: str, message, comments: Comments, path: tuple) -> None:
    print(f"\n### {name}\n")
    if text := comments.at(*path):
        print(text + "\n")
    maps = {f".weft.v1.{name}.{one.name}": one for one in message.nested_type if one.options.map_entry}
    if message.field:
        print("| field | type | meaning |\n| --- | --- | --- |")
        for i, field in enumerate(message.field):
            choice = ""
            if field.HasField("oneof_index") and not field.proto3_optional:
                choice = f"One of `{message.oneof_decl[field.oneof_index].name}`. "
            print(f"| `{field.name}` | {type_of(field, maps)} | {choice}{comments.at(*path, FIELD, i)} |")
    else:
        print("No fields.")
    for i, enum in enumerate(message.enum_type):
        print_enum(f"{name}.{enum.name}", enum, comments, (*path, NESTED_ENUM, i))
    for i, nested in enumerate(message.nested_type):
        if not nested.options.map_entry:
            print_message(f"{name}.{nested.name}", nested, comments, (*path, NESTED_MESSAGE, i))


def print_file(file: descriptor_pb2.FileDescriptorProto) -> None:
    comments = Comments(file)
    print(f"\n## {os.path.basename(file.name)}\n")
    if text := comments.above_package():
        print(text)
    for i, service in enumerate(file.service):
        print(f"\n### {service.name}\n")
        if text := comments.at(SERVICE, i):
            print(text + "\n")
        print("| method | takes | gives | |\n| --- | --- | --- | --- |")
        for j, method in enumerate(service.method):
            takes = ("stream of " if method.client_streaming else "") + linked(method.input_type)
            gives = ("stream of " if method.server_streaming else "") + linked(method.output_type)
            print(f"| `{method.name}` | {takes} | {gives} | {comments.at(SERVICE, i, METHOD, j)} |")
    for i, enum in enumerate(file.enum_type):
        print_enum(enum.name, enum, comments, (ENUM, i))
    for i, message in enumerate(file.message_type):
        print_message(message.name, message, comments, (MESSAGE, i))


def main() -> int:
    print(HEAD, end="")
    for file in read_protos():
        print_file(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
