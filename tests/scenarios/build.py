"""`hallmark build`: kernel libraries from one manifest."""

import json
import os
import time

from harness import main, with_kits
from kernel_library import FILES, GENERATED_FILES, MANIFEST, OWN, UNITS, KernelLibrary


class Build(KernelLibrary):
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


if __name__ == "__main__":
    main()
