"""A small build with stamped artifacts, for the scenarios of stamps."""

import json
import os
import shutil
import struct
from pathlib import Path

from harness import Scenario


def sections(path) -> list[tuple[str, int, bytes]]:
    """Name, type and bytes of each section of an ELF file."""
    data = Path(path).read_bytes()
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    title = headers[names][4]
    named = []
    for name, kind, _, _, offset, length in headers:
        begin = title + name
        named.append((data[begin:data.index(b"\0", begin)].decode(), kind, b"" if kind == 8 else data[offset:offset + length]))
    return named


def place_of(path, name: str) -> int:
    """Where a section's bytes begin in the file."""
    data = Path(path).read_bytes()
    content = next(content for title, _, content in sections(path) if title == name)
    return data.index(content)


class StampedTree(Scenario):
    def write_build(self, folder=None):
        """unit.h -> unit.o (not stamped) -> libunit.so and prog, stamped."""
        folder = folder or self.tree
        (folder / ".hallmark").mkdir(exist_ok=True)
        for name, text in {
            "unit.h": "#define UNIT 7\n",
            "unit.cpp": '#include "unit.h"\n#include <stdexcept>\nint table[] = {1, 2, 3};\n'
                        'int unit(int n) { if (n > 9) throw std::runtime_error("large"); return UNIT + table[n % 3]; }\n',
            "prog.cpp": "int unit(int);\nint main(int n, char**) { return unit(n); }\n",
        }.items():
            self.write(folder / name, text)

    def build(self, folder=None):
        folder = folder or self.tree
        self.hallmark(["g++", "-g", "-O1", "-fPIC", "-c", "unit.cpp", "-o", "unit.o"], cwd=folder)
        self.hallmark(["g++", "-shared", "unit.o", "-o", "libunit.so"], "--stamp", cwd=folder)
        self.hallmark(["g++", "prog.cpp", "-o", "prog", "-L.", "-lunit", f"-Wl,-rpath,{self.tree}"], "--stamp", cwd=folder)

    def install(self, *names) -> list[Path]:
        """Copies artifacts with their attestations to another folder."""
        prefix = self.box / "prefix"
        prefix.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(self.path(name), prefix)
            shutil.copy(self.path(name + ".intoto.json"), prefix)
        return [prefix / Path(name).name for name in names]

    def forget(self):
        """As on another machine: the store is gone."""
        shutil.rmtree(self.store)

    def told(self, artifact, *options) -> dict:
        done = self.verb("verify", "--json", *options, artifact, check=False)
        told = json.loads(done.out)["artifacts"][0]
        self.assertEqual(0 if told["verdict"] == "FRESH" else 1, done.code, done)
        return told

    def judged(self, artifact, *options) -> tuple[str, str]:
        told = self.told(artifact, *options)
        return told["verdict"], told["basis"]

    def chain(self, artifact) -> list[str]:
        told = self.told(artifact)
        return [os.path.basename(step["output"]) for step in told["chain"]] + [
            os.path.basename(told["chain"][-1]["differences"][0]["subject"])]
