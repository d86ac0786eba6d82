"""`hallmark build`: kernel libraries from one manifest.

The eight ways in which real pipelines go stale (a prebuilt keyed by too little is in prebuilt.py): a generator's exit code that nobody looks
at, instances that outlive a filter, a library harvested from a failed build, a configuration header in the source tree, headers that no build
tool knows, generators that rewrite everything, a dispatch table of the last run alone, and a source cut short that is used for ever.
"""

import ctypes
import json
import os
import signal
import time

from harness import PYTHON, Scenario, main, with_kits

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


class Build(Scenario):
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

    # ---- one manifest ------------------------------------------------------------------------------------------------

    def test_builds_what_the_manifest_says(self):
        self.write_all(FILES)
        with self.expect(executed=UNITS + 1 + OWN):
            told = self.built()
        self.assertEqual([(lib["name"], lib["variants"]) for lib in told["libraries"]], [("fmha", 6)])
        self.assertEqual(told["units"], UNITS)
        self.assertEqual(self.values(), [32074, 32138, 64074, 64138, 64, 128])
        self.assertEqual(self.where(), "acme::fmha")
        library = self.library("libfmha.so")
        self.assertFalse(hasattr(library, "not_exported") or hasattr(library, "fwd_f32_64"), "only exports are seen")
        self.assertEqual(os.readlink(self.path(f"{self.folder}/lib/libfmha.so")), "libfmha.so.1")
        self.assertEqual(self.read(f"{self.folder}/include/acme/fmha.h"), FILES["include/acme/fmha.h"])
        described = json.loads(self.read(f"{self.folder}/share/hallmark/demo.json"))
        self.assertEqual((described["project"], described["version"], described["archs"]), ("demo", "1.2", ["x86-64"]))
        self.assertEqual([v["name"] for v in described["libraries"][0]["variants"]],
                         ["fwd_f32_64", "fwd_f32_128", "fwd_f64_64", "fwd_f64_128", "bwd_f32_64", "bwd_f32_128"])
        self.assertIn("lib/libfmha.so.1", [f["path"] for f in described["files"]])
        self.assertNotIn(str(self.tree), self.read(f"{self.folder}/share/hallmark/demo.json"))

    def test_nothing_changed_touches_nothing(self):
        self.write_all(FILES)
        self.build()
        before = self.mtimes()
        with self.expect(executed=0, replayed=0):
            done = self.build()
        self.assertIn("no work to do", done.err)
        changed = {n for n, t in self.mtimes().items() if before.get(n) != t and not n.startswith(".")}
        self.assertEqual(changed, set())

    def test_the_library_is_proven(self):
        self.write_all(FILES)
        self.build()
        library = f"{self.folder}/lib/libfmha.so.1"
        self.assertIn("FRESH", self.verb("verify", library).out)
        copied = self.box / "elsewhere.so"
        copied.write_bytes(self.bytes_of(library))
        self.write("include/tile.h", "#pragma once\n#define TILE 11\n")
        self.assertIn("STALE", self.verb("verify", library, code=1).out)
        self.assertIn("tile.h", self.verb("verify", library, code=1).out)
        self.build()
        self.assertIn("FRESH", self.verb("verify", library).out)

    def test_what_is_generated_is_in_the_chain(self):
        self.write_all(FILES)
        self.build()
        library = f"{self.folder}/lib/libfmha.so.1"
        for name in ("kernels/bwd.cpp.in", "hallmark.toml"):
            before = self.read(name)
            self.write(name, before + "\n")
            self.assertIn(name, self.verb("verify", library, code=1).out)
            with self.expect(executed=1 if name == "hallmark.toml" else 4, replayed=None):
                self.build()
            self.assertIn("FRESH", self.verb("verify", library).out)

    def test_a_generator_is_in_the_chain(self):
        self.write_all(GENERATED_FILES)
        self.build()
        library = f"{self.folder}/lib/libk.so"
        self.assertIn("FRESH", self.verb("verify", library).out)
        self.write("tools/kinds.txt", "a bb ccc dddd")
        told = self.verb("verify", library, code=1).out
        self.assertIn("STALE", told)
        self.assertIn("kinds.txt", told)

    def test_libraries_that_link_each_other_archives_and_embedded_objects(self):
        self.write_all({
            "hallmark.toml": """\
schema = 1
[project]
name = "three"
[build]
archs = ["x86-64"]
[library.top]
sources = ["top.cpp"]
links = ["base", "-lm"]
[library.base]
sources = ["base.cpp"]
embed = { files = ["blobs/*.bin"], symbol = "blob_{stem}" }
[library.parts]
kind = "static"
sources = ["p/*.cpp"]
""",
            "top.cpp": 'extern "C" int base_sum();\n#include <math.h>\nextern "C" int top() { return base_sum() + (int)sqrt(16.0); }\n',
            "base.cpp": '#include "hallmark/base_embedded.h"\nextern "C" int base_sum() { int s = 0; for (auto p = blob_one; p != blob_one_end; '
                        "++p) s += *p; return s + (int)blob_one_size; }\n",
            "blobs/one.bin": "\x01\x02\x03",
            "p/a.cpp": "int part_a() { return 1; }\n",
            "p/b.cpp": "int part_b() { return 2; }\n",
        })
        self.build()
        lib = self.path(f"{self.folder}/lib")
        self.assertEqual(self.run_plain(["python3", "-c", f"import ctypes; print(ctypes.CDLL('{lib}/libtop.so').top())"]).out, "13\n")
        members = self.run_plain(["ar", "t", lib / "libparts.a"]).out.split()
        self.assertEqual(members, ["a.cpp.o", "b.cpp.o"])
        for name in ("libtop.so", "libbase.so", "libparts.a"):
            self.assertIn("FRESH", self.verb("verify", lib / name).out)
        self.write("blobs/one.bin", "\x05")
        self.path("p/b.cpp").unlink()
        self.build()
        self.assertEqual(self.run_plain(["python3", "-c", f"import ctypes; print(ctypes.CDLL('{lib}/libtop.so').top())"]).out, "10\n")
        self.assertEqual(self.run_plain(["ar", "t", lib / "libparts.a"]).out.split(), ["a.cpp.o"])
        self.write("p/c.cpp", "int part_c() { return 3; }\n")
        self.build()
        self.assertEqual(self.run_plain(["ar", "t", lib / "libparts.a"]).out.split(), ["a.cpp.o", "c.cpp.o"])
        self.assertIn("no work to do", self.build().err)

    def test_bad_manifests_say_where(self):
        self.write_all(FILES)
        for wrong, right, told in (
            ('namspace = "a"', 'namespace = "acme::fmha"', ':14:1: [library.fmha]: unknown key "namspace"; did you mean "namespace"?'),
            ('sources = ["scr/*.cpp"]', 'sources = ["src/*.cpp"]', ':16:12: "scr/*.cpp" matches no file'),
        ):
            self.write("hallmark.toml", MANIFEST.replace(right, wrong))
            done = self.build(code=2)
            self.assertIn(told, done.err)
            self.assertFalse(self.path("build").exists())
        done = self.verb("build", cwd=self.box, code=3)
        self.assertIn("no hallmark.toml in", done.err)

    @with_kits("nvcc")
    def test_cuda_kernels(self, kit):
        self.write_all({
            "hallmark.toml": """\
schema = 1
[project]
name = "gpu"
[build]
archs = ["sm_80", "sm_90"]
[toolchain.cuda]
flags = ["-O1"]
[library.gpu]
exports = ["gpu_*"]
sources = ["wrap.cpp"]
axes = { dtype = ["float", "double"] }
[[library.gpu.kernel]]
name = "scale"
source = "scale.cu"
[[library.gpu.kernel]]
name = "add"
source = "add.cu"
axes = { dtype = "float" }
per_arch = true
""",
            "tile.cuh": "#pragma once\n#define TILE 2\n",
            "scale.cu": '#include "tile.cuh"\nstatic __global__ void k_scale(HALLMARK_AXIS_dtype* p) { *p *= TILE; }\n'
                        "void HALLMARK_NAME(void* p) { k_scale<<<1, 1>>>((HALLMARK_AXIS_dtype*)p); }\n",
            "add.cu": "#define TEXT(x) #x\n#define NAME(x) TEXT(x)\nstatic __global__ void k_add(float* p) { *p += 1; }\n"
                      'extern "C" const char gpu_arch[] = "arch " NAME(HALLMARK_ARCH);\n'.replace("gpu_arch", "HALLMARK_NAME"),
            "wrap.cpp": 'extern "C" int gpu_count() { return 0\n#define HALLMARK_KERNEL(kernel, name, toolchain, arch, dtype) + 1\n'
                        '#include "hallmark/gpu_variants.inc"\n; }\n',
        })
        with self.expect(executed=1 + 2 + 2 + 1 + OWN):
            self.build()
        self.assertEqual(self.library("libgpu.so").gpu_count(), 4)
        table = self.read(f"{self.folder}/gen/hallmark/include/hallmark/gpu_variants.inc")
        self.assertIn("HALLMARK_KERNEL(add, add_float_sm_90, cuda, sm_90, float)", table)
        self.assertIn("HALLMARK_KERNEL(scale, scale_double, cuda, _, double)", table)
        library = f"{self.folder}/lib/libgpu.so"
        for arch in ("sm_80", "sm_90"):
            self.verb("inspect", "--arch", arch, f"{self.folder}/obj/gpu/scale_float.o")
        self.assertIn("FRESH", self.verb("verify", library).out)
        self.write("tile.cuh", "#pragma once\n#define TILE 3\n")
        with self.expect(executed=2 + 1):
            self.build()
        done = self.build("--arch", "sm_1", code=2)
        self.assertIn('"sm_1" is no known arch', done.err)
        done = self.build("--arch", "sm_20", code=2)
        self.assertIn('cannot make code for "sm_20"', done.err)

    def test_one_header_compiles_exactly_who_reads_it(self):
        self.write_all(FILES)
        self.build()
        self.write("include/tile.h", "#pragma once\n#define TILE 20\n")
        with self.expect(executed=4 + 1):
            self.build()
        self.assertEqual(self.values(), [32084, 32148, 64084, 64148, 64, 128])

    def test_a_clean_checkout_with_a_warm_store_compiles_nothing(self):
        self.write_all(FILES)
        self.build()
        wanted = self.bytes_of(f"{self.folder}/lib/libfmha.so.1")
        other = self.box / "other"
        other.mkdir()
        for name, text in FILES.items():
            path = other / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        time.sleep(0.05)
        with self.expect(executed=0, replayed=UNITS + 1 + OWN):
            self.build(cwd=other)
        self.assertEqual((other / self.folder / "lib/libfmha.so.1").read_bytes(), wanted)

    def test_a_namespace_compiles_only_the_wrapper(self):
        self.write_all(FILES)
        self.build()
        self.write("hallmark.toml", MANIFEST.replace("acme::fmha", "other::place"))
        with self.expect(executed=1 + 1 + OWN):
            self.build()
        self.assertEqual(self.where(), "other::place")

    def test_an_option_is_part_of_every_key(self):
        option = MANIFEST + '\n[option.rounding]\nvalues = ["rne", "rtz"]\ndefine = "ROUNDING"\n'
        self.write_all(FILES)
        self.write("hallmark.toml", option)
        self.build()
        with self.expect(executed=UNITS + 1, replayed=None):  # what is generated is the same: its copy is replayed
            self.build("--option", "rounding=rtz")
        with self.expect(executed=0, replayed=None):
            self.build()
        self.assertIn("rounding", self.build("--option", "rounding=up", code=2).err)

    def test_a_compiler_that_is_missing_is_told(self):
        self.write_all(FILES)
        self.write("hallmark.toml", MANIFEST.replace('[build]\narchs = ["x86-64"]', '[build]\narchs = ["x86-64", "gfx90a"]') + """
[toolchain.hip]
compiler = "no-such-hipcc"
[[library.fmha.kernel]]
name = "gpu"
source = "kernels/gpu.hip"
""")
        self.write("kernels/gpu.hip", "\n")
        done = self.build("--json")
        self.assertIn("not built: fmha: gpu (hip): the manifest names no-such-hipcc, which is not there", done.err)
        self.assertEqual(json.loads(done.out)["not_built"][0]["kernel"], "gpu")
        self.assertEqual(len(self.values()), 6)
        self.write("hallmark.toml", self.read("hallmark.toml").replace('"no-such-hipcc"', '"no-such-hipcc"\nrequired = true'))
        self.assertIn("toolchain hip is required", self.build(code=3).err)

    # ---- the ways to go stale ----------------------------------------------------------------------------------------

    def test_a_changed_selection_never_keeps_the_old_library(self):
        self.write_all(FILES)
        self.build()
        self.write("hallmark.toml", MANIFEST.replace('dtype = ["f32", "f64"]', 'dtype = ["f32"]'))
        self.build()
        self.assertEqual(self.values(), [32074, 32138, 64, 128])
        self.assertFalse(self.path(f"{self.folder}/obj/fmha/fwd_f64_64.o").exists(), "objects of nobody go")

    def test_a_generator_that_fails_fails_the_build(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.write("tools/gen.py", GENERATOR + "\nsys.exit(sys.argv[1] != 'list')\n")
        done = self.build(code=1)
        self.assertIn("generator instances failed with exit code 1", done.err)
        self.assertFalse(self.path(f"{self.folder}/share/hallmark/gen.json").exists())

    def test_what_a_generator_no_longer_lists_is_gone(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.write("tools/kinds.txt", "a dddd")
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 5)
        self.assertEqual(sorted(os.listdir(self.path(f"{self.folder}/gen/instances"))),
                         ["k_a.cpp", "k_dddd.cpp", "table.h"])
        self.assertFalse(hasattr(self.library("libk.so"), "_Z4k_bbv"))

    def test_a_generator_that_rewrites_all_compiles_nothing(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.write("tools/gen.py", GENERATOR + "\n# a comment\n")
        with self.expect(executed=2, replayed=None):  # the list and the files; no compile, no link
            self.build()
        with self.expect(executed=0):
            self.assertIn("no work to do", self.build().err)

    def test_a_failed_build_leaves_nothing_to_harvest(self):
        self.write_all(FILES)
        self.build()
        description = self.path(f"{self.folder}/share/hallmark/demo.json")
        self.assertTrue(description.exists())
        self.write("kernels/fwd.cpp", "#error broken\n")
        done = self.build(code=1)
        self.assertIn("the build failed", done.err)
        self.assertFalse(description.exists())
        self.write("kernels/fwd.cpp", FILES["kernels/fwd.cpp"])
        self.build()
        self.assertTrue(description.exists())

    def test_profiles_build_side_by_side_and_leave_the_sources_alone(self):
        self.write_all(FILES)
        self.write("hallmark.toml", MANIFEST + """
[profile.small]
axes = { dtype = "f32" }
namespace = { fmha = "small::place" }
""")
        before = {p: p.stat().st_mtime_ns for p in self.tree.rglob("*") if p.is_file()}
        both = [self.start([self.program, "build", *profile]) for profile in ([], ["--profile", "small"])]
        for process in both:
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err.decode())
        self.assertEqual((self.where(), self.where("build/hallmark-small")), ("acme::fmha", "small::place"))
        self.assertEqual((len(self.values()), len(self.values("build/hallmark-small"))), (6, 4))
        after = {p: p.stat().st_mtime_ns for p in self.tree.rglob("*") if p.is_file() and not {"build", ".hallmark"} & set(p.parts)}
        self.assertEqual(before, after)

    def test_a_header_of_a_pin_is_seen(self):
        """A pin bump that changes headers only, in a place that no list of the manifest names."""
        files = dict(FILES)
        files["include/tile.h"] = '#pragma once\n#include "../third_party/up/deep.h"\n'
        files["third_party/up/deep.h"] = "#define TILE 1\n"
        self.write_all(files)
        self.build()
        self.write("third_party/up/deep.h", "#define TILE 2\n")
        with self.expect(executed=4 + 1):
            self.build()
        self.assertEqual(self.values()[0], 32066)

    def test_the_table_is_the_union_of_all_kernels(self):
        self.write_all(FILES)
        self.build()
        table = self.read(f"{self.folder}/gen/hallmark/include/hallmark/fmha_variants.inc")
        self.assertEqual(table.count("\nHALLMARK_KERNEL("), 6)
        self.write("hallmark.toml", MANIFEST.replace('axes = { dtype = "f32" }', 'axes = { dtype = "f64" }'))
        self.build()
        table = self.read(f"{self.folder}/gen/hallmark/include/hallmark/fmha_variants.inc")
        self.assertEqual((table.count("(fwd,"), table.count("(bwd,"), table.count("bwd_f64_64")), (4, 2, 1))

    def test_a_generated_source_that_is_cut_short_is_made_again(self):
        self.write_all(GENERATED_FILES)
        self.build()
        for damage in (b"", b"int k_a() { ret"):
            self.write(f"{self.folder}/gen/instances/k_a.cpp", damage)
            self.build()
            self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.path(f"{self.folder}/gen/instances/k_bb.cpp").unlink()
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)

    def test_killed_anywhere_the_next_build_is_right(self):
        self.write_all(GENERATED_FILES)
        for delay_ms in (5, 20, 40, 80, 160, 320):
            process = self.start([self.program, "build"])
            time.sleep(delay_ms / 1000)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.assertIn("no work to do", self.build().err)

    def test_a_second_build_waits_and_says_for_whom(self):
        self.write_all(FILES)
        self.write("kernels/fwd.cpp", FILES["kernels/fwd.cpp"])
        lock = self.path(f"{self.folder}/.hallmark-lock")
        lock.parent.mkdir(parents=True)
        holder = self.start(["flock", str(lock), "-c", "echo held; sleep 1"])
        self.assertEqual(holder.stdout.readline(), b"held\n")
        done = self.build()
        self.assertIn(f"waiting for another build of {lock.parent}", done.err)


if __name__ == "__main__":
    main()
