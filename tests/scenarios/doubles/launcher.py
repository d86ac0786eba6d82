#!/usr/bin/env python3
"""A stand-in for the program under test that shows that the scenarios can fail.

HALLMARK_DOUBLE=plain   runs every command, observes nothing: what the build tools know today
HALLMARK_DOUBLE=naive   a cache of the usual kind: the key is the arguments and the content of the files named there

Neither writes a depfile. Both count like the real program.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys

KIND = os.environ.get("HALLMARK_DOUBLE", "plain")
STORE = os.environ.get("HALLMARK_STORE", "/nonexistent")
COUNTERS = ("replayed", "executed", "unproven", "failed", "uncacheable")


def count(name: str) -> None:
    os.makedirs(STORE, exist_ok=True)
    with open(os.path.join(STORE, "counters"), "a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(name + "\n")


def counts() -> dict[str, int]:
    try:
        with open(os.path.join(STORE, "counters")) as file:
            words = file.read().split()
    except FileNotFoundError:
        words = []
    return {name: words.count(name) for name in COUNTERS}


def run(arguments: list[str]) -> int:
    options, command = [], arguments
    if "--" in arguments:
        at = arguments.index("--")
        options, command = arguments[:at], arguments[at + 1 :]
    outputs = [command[i + 1] for i, word in enumerate(command[:-1]) if word in ("-o", "-MF")]
    outputs += [options[i + 1] for i, word in enumerate(options[:-1]) if word == "--output"]
    if KIND == "naive":
        key = hashlib.sha256("\0".join(command).encode())
        for word in command:
            if os.path.isfile(word) and word not in outputs:
                with open(word, "rb") as file:
                    key.update(file.read())
        kept = os.path.join(STORE, key.hexdigest())
        if os.path.isdir(kept):
            for i, name in enumerate(outputs):
                if os.path.exists(f"{kept}/{i}"):
                    shutil.copyfile(f"{kept}/{i}", name)
            count("replayed")
            return 0
    try:
        code = subprocess.call(command, close_fds=False)
    except FileNotFoundError:
        return 127
    count("failed" if code else "executed")
    if KIND == "naive" and code == 0:
        os.makedirs(kept, exist_ok=True)
        for i, name in enumerate(outputs):
            if os.path.exists(name):
                shutil.copyfile(name, f"{kept}/{i}")
    return code if code >= 0 else 128 - code


def main() -> int:
    verb, *rest = sys.argv[1:] or [""]
    if verb == "run":
        return run(rest)
    if verb == "cache":
        print(json.dumps(counts()))
    return 0


sys.exit(main())
