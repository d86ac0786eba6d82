"""`hallmark inspect`: what libraries say of themselves, kernels without code for a device, symbols defined twice.

A library without code for the running GPU loads and answers (ROCm/aiter PR#3839); of two libraries with one symbol the first
one loaded is used by both (pytorch/pytorch#3059), and statics of templates are shared even under RTLD_LOCAL.
"""

import json

from harness import Scenario, main, needs, with_kits


class Inspect(Scenario):
    def told(self, *names, code=0) -> dict:
        return json.loads(self.verb("inspect", "--json", *names, code=code).out)

    def library(self, name: str, text: str, *options: str):
        self.write(f"{name}.cpp", text)
        self.run_plain(["g++", "-shared", "-fPIC", f"{name}.cpp", "-o", f"{name}.so", *options])

    @needs("g++", "readelf")
    def test_facts(self):
        self.library("a", "int f() { return 1; }\n", "-Wl,-soname,liba.so.1", "-Wl,-rpath,/x/lib", "-Wl,--build-id=0x12345678")
        (one,) = self.told("a.so")["files"]
        facts = one["elf"]
        self.assertEqual(("liba.so.1", "/x/lib", "12345678"), (facts["soname"], facts["runpath"], facts["build_id"]))
        self.assertIn("SONAME    liba.so.1", self.verb("inspect", "a.so").out)
        self.run_plain(["g++", "-shared", "-fPIC", "a.cpp", "-o", "old.so", "-Wl,-rpath,/x", "-Wl,--disable-new-dtags", "-Wl,--build-id=none"])
        facts = self.told("old.so")["files"][0]["elf"]
        self.assertEqual(("/x", None, None), (facts["rpath"], facts["runpath"], facts["build_id"]))

    @needs("g++")
    def test_symbols_defined_twice(self):
        for n in (1, 2):
            text = f'int fmha_launch() {{ return {n}; }}\nextern "C" int api{n}() {{ return fmha_launch(); }}\n'
            self.library(f"l{n}", text)
            self.library(f"s{n}", text, "-Wl,-Bsymbolic")
            self.library(f"u{n}", "template <int N> struct P { static int& c() { static int x = 0; return x; } };\n"
                                  f'extern "C" int bump{n}() {{ return ++P<1>::c(); }}\n')
        (found,) = self.told("l1.so", "l2.so", code=1)["collisions"]
        self.assertEqual(("_Z11fmha_launchv", "strong"), (found["symbol"], found["kind"]))
        self.assertEqual(["l1.so", "l2.so"], [one["file"].split("/")[-1] for one in found["definitions"]], "the first wins")
        self.assertEqual({"no"}, {one["harmless"] for one in self.told("l1.so", "l2.so", code=1)["collisions"]})
        self.assertNotIn("no", [one["harmless"] for one in self.told("s1.so", "s2.so")["collisions"]], "-Bsymbolic")
        unique = [one for one in self.told("u1.so", "u2.so", code=1)["collisions"] if one["harmless"] == "no"]
        self.assertEqual(["unique"], [one["kind"] for one in unique])
        self.assertIn("even with RTLD_LOCAL", self.verb("inspect", "u1.so", "u2.so", code=1).out)
        self.told("l1.so", "u1.so")

    @needs("nvcc")
    @with_kits("nvcc")
    def test_devices_of_each_kernel(self, kit):
        self.write_all({"k.cu": "__global__ void k(int* p) { *p = 1; }\n", "both.cu": "__global__ void both(int* p) { *p = 2; }\n"})
        old = ["-gencode", "arch=compute_80,code=sm_80"]
        new = ["-gencode", "arch=compute_90,code=sm_90"]
        for name, archs in (("k", old), ("both", [*old, *new])):
            self.run_plain(["nvcc", *archs, "-Xcompiler", "-fPIC", "-c", f"{name}.cu", "-o", f"{name}.o"])
        self.run_plain(["g++", "-shared", "k.o", "both.o", "-o", "libk.so", "-Wl,--unresolved-symbols=ignore-all"])
        done = self.verb("inspect", "libk.so", "--arch", "90", code=1)
        self.assertIn("no code for sm_90: _Z1kPi in libk.so (it has sm_80)", done.out)
        self.verb("inspect", "libk.so", "--arch", "80")
        self.verb("inspect", "libk.so", "--arch", "86")
        self.verb("inspect", "libk.so", "--arch", "75", code=1)
        self.assertEqual(["lacks"], [name for name in ("lacks", "unknown") if self.told("libk.so", "--arch", "90", code=1)[name]])

    @needs("g++")
    def test_bad_input(self):
        self.library("a", "int f() { return 1; }\n")
        whole = self.bytes_of("a.so")
        for size in (0, 3, 40, 64, 500, len(whole) // 2, len(whole) - 1):
            self.path("cut.so").write_bytes(whole[:size])
            self.assertIn("cut.so: ", self.verb("inspect", "cut.so", code=2).err, size)
        self.verb("inspect", code=2)
        self.verb("inspect", "none.so", code=2)
        self.write("text", "x")
        self.assertIn("it is no ELF file", self.verb("inspect", "text", code=2).err)


if __name__ == "__main__":
    main()
