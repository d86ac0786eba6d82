"""A small kernel library with a manifest, and how scenarios look at what `hallmark build` makes of it."""

import ctypes
import json
import time

from harness import PYTHON, Scenario

MANIFEST = """\
schema = 1

[project]
name = "demo"
version = "1.2"

[build]
archs = ["x86-64"]

[toolchain.cpu]
flags = ["-O1"]

[library.fmha]
namespace = "acme::fmha"
include = ["include"]
sources = ["src/*.cpp"]
headers = ["include/acme/*.h"]
exports = ["fmha_*"]
soversion = "1"

[library.fmha.axes]
dtype = ["f32", "f64"]
head_dim = [64, 128]

[[library.fmha.kernel]]
name = "fwd"
source = "kernels/fwd.cpp"

[[library.fmha.kernel]]
name = "bwd"
template = "kernels/bwd.cpp.in"
axes = { dtype = "f32" }
"""

FILES = {
    "hallmark.toml": MANIFEST,
    "include/acme/fmha.h": "#pragma once\nextern \"C\" int fmha_count();\nextern \"C\" int fmha_fwd(int i);\n"
                           "extern \"C\" const char* fmha_where();\n",
    "include/tile.h": "#pragma once\n#define TILE 10\n",
    "include/names.h": "#pragma once\n#define NAME_OF_IT(x) #x\n#define TEXT(x) NAME_OF_IT(x)\n",
    "src/fmha.cpp": """\
#include "acme/fmha.h"
#include "hallmark/fmha_namespace.h"
#include "names.h"
#define HALLMARK_KERNEL(kernel, name, toolchain, arch, dtype, head_dim) int name();
#include "hallmark/fmha_variants.inc"
#undef HALLMARK_KERNEL
#define HALLMARK_KERNEL(kernel, name, toolchain, arch, dtype, head_dim) name,
using Kernel = int (*)();
static Kernel kernels[] = {
#include "hallmark/fmha_variants.inc"
};
int fmha_count() { return sizeof kernels / sizeof *kernels; }
int fmha_fwd(int i) { return kernels[i](); }
const char* fmha_where() { return TEXT(HALLMARK_NAMESPACE); }
int not_exported() { return 1; }
""",
    "kernels/fwd.cpp": """\
#include "tile.h"
#define f32 32
#define f64 64
int HALLMARK_NAME() { return HALLMARK_AXIS_dtype * 1000 + HALLMARK_AXIS_head_dim + TILE; }
""",
    "kernels/bwd.cpp.in": "int @HALLMARK_NAME@() { return @head_dim@; }  // @dtype@\n",
}
UNITS = 1 + 4 + 2
# Of a generator: it, and the copy of what it made. One is hallmark itself.
OWN = 2

GENERATOR = """\
import os, sys
sys.path.insert(0, os.path.dirname(__file__))
kinds = open(os.path.join(os.path.dirname(__file__), "kinds.txt")).read().split()
if sys.argv[1] == "list":
    print("\\n".join(["table.h"] + [f"k_{kind}.cpp" for kind in kinds]))
else:
    out = sys.argv[2]
    open(f"{out}/table.h", "w").write("".join(f"K({kind})\\n" for kind in kinds))
    for kind in kinds:
        open(f"{out}/k_{kind}.cpp", "w").write(f"int k_{kind}() {{ return {len(kind)}; }}\\n")
"""

GENERATED = f"""\
schema = 1
[project]
name = "gen"
[build]
archs = ["x86-64"]

[[codegen]]
name = "instances"
list = ["{PYTHON}", "tools/gen.py", "list"]
generate = ["{PYTHON}", "tools/gen.py", "make", "{{out}}"]

[library.k]
sources = ["src/k.cpp"]
codegen = ["instances"]
"""

GENERATED_FILES = {
    "hallmark.toml": GENERATED,
    "tools/gen.py": GENERATOR,
    "tools/kinds.txt": "a bb ccc",
    "src/k.cpp": """\
#define K(kind) int k_##kind();
#include "table.h"
#undef K
#define K(kind) + k_##kind()
extern "C" int k_sum() { return 0
#include "table.h"
; }
""",
}


class KernelLibrary(Scenario):
    folder = "build/hallmark"

    def build(self, *arguments, **kwargs):
        return self.verb("build", *arguments, **kwargs)

    def built(self, *arguments):
        return json.loads(self.build("--json", *arguments).out)

    def library(self, name, folder=None):
        """A library as its user loads it: a fresh copy, since the loader keeps what it knows."""
        path = self.path(folder or self.folder) / "lib" / name
        copy = self.box / f"loaded-{time.monotonic_ns()}.so"
        copy.write_bytes(path.read_bytes())
        return ctypes.CDLL(str(copy))

    def values(self, folder=None):
        library = self.library("libfmha.so", folder)
        return [library.fmha_fwd(i) for i in range(library.fmha_count())]

    def where(self, folder=None):
        library = self.library("libfmha.so", folder)
        library.fmha_where.restype = ctypes.c_char_p
        return library.fmha_where().decode()

    def mtimes(self, folder=None):
        top = self.path(folder or self.folder)
        return {str(p.relative_to(top)): p.lstat().st_mtime_ns for p in top.rglob("*") if not p.is_dir()}
