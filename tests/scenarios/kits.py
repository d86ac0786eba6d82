"""Kits: the tools that scenarios and mutations drive, behind one face.

Each kit turns one source file into one result, in which a marker shows the values that the inputs had: `MARK:1,2,3:`. The
common layout (see write_base) is the same for every kit, so that one mutation works on all of them:

    src/unit.EXT    A from "a.h", SYS from <sys.h>, DEEP from "sub/deep.h" -> "../peer.h", OPT from "opt.h" if it is there
    inc1 inc2 ven   the search path in this order; a.h, sub/ and peer.h lie in inc2, sys.h in ven
    flags.rsp       -DRSP=n, given as a response file
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import harness

BASE_HEADERS = {
    "inc1/other.h": "#define OTHER 1\n",
    "inc2/a.h": "#define A 1\n",
    "inc2/sub/deep.h": '#include "../peer.h"\n#define DEEP PEER\n',
    "inc2/peer.h": "#define PEER 1\n",
    "ven/sys.h": "#define SYS 1\n",
    "unread.h": "#define UNREAD 1\n",
}

UNIT = """\
#include "a.h"
#include <sys.h>
#include "sub/deep.h"
#if __has_include("opt.h")
#include "opt.h"
#else
#define OPT 0
#endif
#ifndef RSP
#define RSP 0
#endif
#ifndef EXTRA
#define EXTRA 0
#endif
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
extern const char mark[];
const char mark[] = "MARK:" TEXT(A) "," TEXT(SYS) "," TEXT(DEEP) "," TEXT(OPT) "," TEXT(RSP) "," TEXT(EXTRA) ":";
"""

KERNEL = """\
__global__ void kernel(int* p) { *p = A + 10 * OPT + 100 * RSP; }
"""

# What the host side of a HIP kernel needs, without the 200,000 lines of hip_runtime.h.
HIP_HEAD = """\
struct dim3 { unsigned x, y, z; };
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, void**);
#define __global__ __attribute__((global))
"""

# Reads the same headers in the same way as a compiler would, so that the same mutations apply.
GENERATOR = """\
import os, re, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import style

values = {"OPT": "0", "RSP": "0", "EXTRA": "0"}
folders = []

def take(path):
    here = os.path.dirname(path)
    with open(path) as text:
        for line in text:
            found = re.match(r'#include "(.*)"', line)
            if found:
                take(os.path.join(here, found[1]))
            found = re.match(r"#define (\\w+) (.*)", line)
            if found:
                values[found[1]] = values.get(found[2], found[2])

def search(name, required=True):
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return take(path)
    if required:
        sys.exit(f"no {name}")

def option(word):
    if word.startswith("-I"):
        folders.append(word[2:])
    elif word.startswith("-D"):
        name, _, value = word[2:].partition("=")
        values[name] = value
    elif word.startswith("@"):
        with open(word[1:]) as text:
            for inner in text.read().split():
                option(inner)

for word in sys.argv[2:]:
    option(word)
folders += [f for f in os.environ.get("CPATH", "").split(":") if f]
folders.insert(0, os.path.dirname(os.path.abspath(__file__)))
search("a.h")
search("sys.h")
search("sub/deep.h")
search("opt.h", required=False)
if values["A"] == "3":
    print("note: A is 3", file=sys.stderr)
with open(sys.argv[1], "w") as out:
    out.write(style.line([values[n] for n in ("A", "SYS", "DEEP", "OPT", "RSP", "EXTRA")]))
"""

STYLE = """\
def line(values):
    return "MARK:" + ",".join(values) + ":\\n"
"""


@dataclass(frozen=True)
class Kit:
    name: str
    tool: str
    suffix: str
    flags: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    body: str = ""
    response: str = "@{}"
    device: bool = False  # compiles for a device as well as for the host
    head: str = ""  # what a kernel needs before it
    device_pass: str = ""  # the macro that is defined in the device pass only

    def missing(self) -> str | None:
        return None if harness.find_tool(self.tool) else f"{self.tool} is not installed"

    @property
    def source(self) -> str:
        return f"src/unit{self.suffix}"

    @property
    def output(self) -> str:
        return "unit.o"

    @property
    def searched(self) -> tuple[str, ...]:
        """Folders in which the tool looks for headers, by name."""
        return ("inc1", "inc2", "ven", "src", ".")

    def options(self) -> tuple[str, ...]:
        """What `hallmark run` needs to replay this tool when it is started by hand."""
        return ()

    def compile(self, source: str, output: str, *more: str) -> list[str]:
        return [self.tool, *self.flags, *more, "-c", source, "-o", output]

    def base_command(self, *more: str, depfile: bool = True) -> list[str]:
        """The command of the common layout."""
        searched = ["-Iinc1", "-Iinc2", "-isystem", "ven"]
        made = ["-MD", "-MF", "unit.d"] if depfile else []
        return self.compile(self.source, self.output, *searched, *self.response.format("flags.rsp").split(), *made, *more)

    def base_files(self) -> dict[str, str]:
        return {self.source: self.head + UNIT + self.body, "flags.rsp": "-DRSP=1\n", **BASE_HEADERS}

    def normal(self, data: bytes) -> bytes:
        """The result without what the tool itself makes differ from run to run, each documented where it is known."""
        return data

    def text(self, header: str, value: str = "VAL") -> str:
        """A source file that includes `header` and marks `value`."""
        return (
            f'{self.head}#include "{header}"\n#define TEXT2(x) #x\n#define TEXT(x) TEXT2(x)\nextern const char mark[];\n'
            f'const char mark[] = "MARK:" TEXT({value}) ":";\n' + (f"__global__ void kernel(int* p) {{ *p = {value}; }}\n" if self.device else "")
        )


@dataclass(frozen=True)
class NvccKit(Kit):
    def normal(self, data: bytes) -> bytes:
        # nvcc names an intermediate file after its own process number, and the name stays as a FILE symbol.
        return re.sub(rb"tmpxft_[0-9a-f]{8}_[0-9a-f]{8}", b"tmpxft", data)


@dataclass(frozen=True)
class PythonKit(Kit):
    @property
    def searched(self) -> tuple[str, ...]:
        # Not the folder of the script: an import of a module that is not loaded yet lists it (site packages of some
        # interpreters load more of them), and each name in it could be that module.
        return tuple(folder for folder in super().searched if folder != "src")

    def missing(self) -> str | None:
        return None

    @property
    def output(self) -> str:
        return "unit.txt"

    def options(self) -> tuple[str, ...]:
        return ("--output", self.output)

    def base_command(self, *more: str, depfile: bool = True) -> list[str]:
        return [harness.PYTHON, self.source, self.output, "-Iinc1", "-Iinc2", "-Iven", "@flags.rsp", *more]

    def base_files(self) -> dict[str, str]:
        return {self.source: GENERATOR, "src/lib/style.py": STYLE, "flags.rsp": "-DRSP=1\n", **BASE_HEADERS}


KITS: dict[str, Kit] = {
    "gxx": Kit("gxx", "g++", ".cpp", ("-O1",)),
    "clang": Kit("clang", "clang++", ".cpp", ("-O1",)),
    "nvcc": NvccKit("nvcc", "nvcc", ".cu", ("-arch=sm_80",), {}, KERNEL, "-optf {}", True,
                    device_pass="__CUDA_ARCH__"),
    "hipcc": Kit("hipcc", "hipcc", ".hip", ("--offload-arch=gfx90a", "-nogpulib"), {"HIP_PLATFORM": "amd"},
                 KERNEL, "@{}", True, HIP_HEAD, "__HIP_DEVICE_COMPILE__"),
    "python": PythonKit("python", "python3", ".py"),
}


def mark(path: Path) -> str:
    """The values that the inputs had when `path` was made."""
    return mark_in(Path(path).read_bytes())


def mark_in(data: bytes) -> str:
    found = re.search(rb"MARK:([^:\0]*):", data)
    return found[1].decode() if found else "no mark"


def device_code(path: Path) -> bytes:
    """The device part of an object: the fat binary of nvcc or the offload bundle of clang."""
    import struct

    data = Path(path).read_bytes()
    if data[:4] != b"\x7fELF":
        return b""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    text = headers[names]
    for name, _, _, _, start, length in headers:
        begin = text[4] + name
        title = data[begin : data.index(b"\0", begin)]
        if title in (b".nv_fatbin", b".hip_fatbin", b"__CLANG_OFFLOAD_BUNDLE__"):
            return data[start : start + length]
    return b""
