"""The hash of rows as docs/row-hash.md describes it, written from that page alone.

Reads lines of JSON, each a row: a list of [column, type, value]; prints one hash a line.
A value of type "array" or "struct" is a list of [type, value]; type "null" has the value null.
"""

import json
import struct
import sys

import xxhash

OWN = {"updated", "content_hash"}
PATHS = {"source_file", "primary_report_identifier", "diagnosis_id"}
NUMBERS = {"integer": (2, "<i"), "date": (3, "<i"), "timestamp": (4, "<q"), "boolean": (5, "<?")}


def text(string):
    data = string.encode("utf-8")
    return struct.pack("<I", len(data)) + data


def encode(kind, value):
    if kind == "null":
        return b"\0"
    if kind == "string":
        return b"\1" + text(value)
    if kind in NUMBERS:
        tag, layout = NUMBERS[kind]
        return bytes([tag]) + struct.pack(layout, value)
    tag = {"array": 6, "struct": 7}[kind]
    return struct.pack("<BI", tag, len(value)) + b"".join(encode(*item) for item in value)


def row_hash(columns):
    parts = []
    for name, kind, value in sorted(columns, key=lambda column: column[0].encode("utf-8")):
        if kind == "null" or name in OWN:
            continue
        if name in PATHS:
            value = value.rpartition(".zip/")[2]
        parts.append(text(name) + encode(kind, value))
    return xxhash.xxh3_128(b"".join(parts)).hexdigest()


if __name__ == "__main__":
    for line in sys.stdin:
        print(row_hash(json.loads(line)))
