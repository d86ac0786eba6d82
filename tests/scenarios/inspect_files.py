#!/usr/bin/env python3
"""`hallmark inspect`: what libraries and device code say of themselves, kernels without code, symbols defined twice."""

from __future__ import annotations

import json
import re

from harness import Scenario, find_tool, main, needs, with_kits

# A library with a kernel, for nvcc and for hipcc.
KERNEL_LIBRARY = """\
{head}
__global__ void forward(int* p) {{ *p = 1; }}
#if {second}
__global__ void backward(int* p) {{ *p = 2; }}
#endif
extern "C" int api() {{ return 1; }}
"""


class Inspect(Scenario):
    def inspect(self, *words, code=0):
        return self.verb("inspect", *words, code=code)

    def facts(self, *words, code=0):
        return json.loads(self.inspect("--json", *words, code=code).out)

    def shared(self, name: str, source: str, *flags: str) -> None:
        self.write(f"{name}.cpp", source)
        self.run_plain(["g++", "-shared", "-fPIC", *flags, f"{name}.cpp", "-o", f"lib{name}.so"])

    # ---- one file ----------------------------------------------------------------------------------------------------

    @needs("g++", "readelf")
    def test_says_what_readelf_says(self):
        self.shared("a", "int f(){return 1;}", "-Wl,-soname,liba.so.3,-rpath,$ORIGIN/../x,--build-id")
        for tag in ("--enable-new-dtags", "--disable-new-dtags"):
            self.shared("b", "int g(){return 1;}", f"-Wl,{tag},-rpath,/opt/one:/opt/two,-Bsymbolic", "-L.", "-la")
            for name in ("liba.so", "libb.so"):
                elf = self.facts(name)["files"][0]["elf"]
                told = self.run_plain(["readelf", "-dnW", name]).out
                self.assertEqual(elf["needed"], re.findall(r"\(NEEDED\).*\[(.*)\]", told))
                for field, tag_name in (("soname", "SONAME"), ("rpath", "RPATH"), ("runpath", "RUNPATH")):
                    self.assertEqual([elf[field]] if elf[field] else [], re.findall(rf"\({tag_name}\).*\[(.*)\]", told))
                self.assertEqual(elf["build_id"], re.search(r"Build ID: (\w+)", told)[1])
                self.assertEqual(elf["symbolic"], "SYMBOLIC" in told)
                symbols = self.run_plain(["readelf", "--dyn-syms", "-W", name]).out
                exported = re.findall(r"(?:GLOBAL|WEAK|UNIQUE) +(?:DEFAULT|PROTECTED) +\d+ (\w+)", symbols)
                self.assertEqual(sorted(e["name"] for e in elf["exports"]), sorted(exported))

    @needs("g++")
    def test_what_cannot_be_read_is_said(self):
        self.shared("a", "int f(){return 1;}")
        whole = self.bytes_of("liba.so")
        for size in (0, 4, 40, 64, 500, len(whole) - 1):
            self.write("cut.so", whole[:size])
            done = self.inspect("cut.so", code=2)
            self.assertIn("cut.so: ", done.err)
            self.assertIn({0: "empty", 4: "malformed"}.get(size, "truncated"), done.err)
        self.write("notes.txt", "hello\n")
        self.assertIn("notes.txt: it is no ELF file", self.inspect("notes.txt", code=2).err)
        self.assertIn("No such file", self.inspect("nothing.so", code=2).err)
        self.assertIn("name a FILE", self.inspect(code=2).err)
        self.assertIn("names no device", self.inspect("--arch", "fast", "liba.so", code=2).err)
        # What can be read is shown all the same.
        self.assertIn("liba.so: shared library", self.inspect("cut.so", "liba.so", code=2).out)

    @needs("g++")
    def test_no_kernel_is_no_proof_that_it_runs(self):
        self.shared("a", "int f(){return 1;}")
        self.assertIn("none of the files holds a kernel", self.inspect("--arch", "sm_90", "liba.so", code=1).out)

    # ---- symbols that several libraries export -----------------------------------------------------------------------

    @needs("g++")
    def test_a_helper_in_two_libraries(self):
        """The case r19: with default visibility the first library's helper serves both."""
        for n in (1, 2):
            source = f'int fmha_launch(){{return {n};}} extern "C" int api{n}(){{return fmha_launch();}}'
            self.shared(f"k{n}", source)
            self.shared(f"s{n}", source, "-Wl,-Bsymbolic")
        found = self.facts("libk1.so", "libk2.so", code=1)["collisions"]
        self.assertEqual([(c["symbol"], c["kind"], c["harmless"]) for c in found], [("_Z11fmha_launchv", "strong", "no")])
        self.assertEqual([d["file"] for d in found[0]["definitions"]], ["libk1.so", "libk2.so"])
        self.assertIn("libk2.so wins", self.inspect("libk2.so", "libk1.so", code=1).out)
        symbolic = self.facts("libs1.so", "libs2.so")["collisions"]
        self.assertEqual([c["harmless"] for c in symbolic], ["own"])
        # One file under two names is loaded once.
        self.path("again.so").symlink_to("libk1.so")
        self.assertEqual(self.facts("libk1.so", "again.so")["collisions"], [])
        # And the loader does as is said.
        self.write("main.cpp", 'extern "C" int api1(); extern "C" int api2(); int main(){return api1() * 10 + api2();}')
        self.run_plain(["g++", "main.cpp", "-L.", "-lk1", "-lk2", "-Wl,-rpath,.", "-o", "main"])
        self.run_plain(["./main"], code=11)
        self.run_plain(["g++", "main.cpp", "-L.", "-ls1", "-ls2", "-Wl,-rpath,.", "-o", "main"])
        self.run_plain(["./main"], code=12)

    @needs("g++")
    def test_a_static_of_a_template_is_shared_by_all(self):
        """The other half of r19: STB_GNU_UNIQUE is one for the process, even under RTLD_LOCAL."""
        for n in (1, 2):
            self.shared(f"u{n}", "template<int N> struct P{static int& c(){static int x=0;return x;}};"
                                  f'extern "C" int bump{n}(){{return ++P<1>::c();}}')
        found = self.facts("libu1.so", "libu2.so", code=1)["collisions"]
        self.assertEqual([(c["symbol"], c["kind"]) for c in found if c["harmless"] == "no"],
                         [("_ZZN1PILi1EE1cEvE1x", "unique")])
        self.assertIn("even with RTLD_LOCAL", self.inspect("libu1.so", "libu2.so", code=1).out)

    @needs("g++")
    def test_ordinary_templates_drown_nobody(self):
        for n in (1, 2):
            self.shared(f"w{n}", "#include <string>\n#include <vector>\n"
                                  "inline int same(int a) { return a * 3; }\n"
                                  f'extern "C" int use{n}(int a) {{ std::vector<std::string> x;'
                                  "x.push_back(std::to_string(a)); return same(a) + int(x.size()); }")
        done = self.inspect("libw1.so", "libw2.so")
        self.assertLessEqual(len(done.out.splitlines()), 20, done.out)
        self.assertIn("of the C++ library's templates", done.out)
        self.assertIn("_Z4samei", self.inspect("--all", "libw1.so", "libw2.so").out)
        # The same inline function with another body is another matter.
        self.shared("w2", self.read("w2.cpp").replace("a * 3", "a * 3 + 1"))
        self.assertIn("_Z4samei: libw1.so wins, libw2.so", self.inspect("libw1.so", "libw2.so", code=1).out)

    # ---- device code -------------------------------------------------------------------------------------------------

    def kernel_library(self, kit, name: str, archs: list[str], second: str = "1") -> None:
        self.write(f"{name}{kit.suffix}", KERNEL_LIBRARY.format(head=kit.head, second=second))
        if kit.name == "nvcc":
            codes = [f"-gencode=arch=compute_{a.split('_')[1]},code={a}" for a in archs]
            flags = [*codes, "-Xcompiler", "-fPIC"]
        else:
            flags = [*(f"--offload-arch={a}" for a in archs), "-nogpulib", "-fPIC"]
        self.run_plain([kit.tool, *flags, "-c", f"{name}{kit.suffix}", "-o", f"{name}.o"])

    @with_kits("nvcc")
    def test_a_kernel_without_code_for_the_device(self, kit):
        """The case r34: a library for other devices links, loads and passes an import test."""
        self.kernel_library(kit, "k", ["sm_80"])
        self.run_plain(["nvcc", "-shared", "k.o", "-o", "libk.so"])
        for name in ("k.o", "libk.so"):
            self.inspect("--arch", "sm_80", "--arch", "8.6", name)
            told = self.inspect("--arch", "sm_90", name, code=1).out
            self.assertIn(f"no code for sm_90: _Z7forwardPi in {name} (it has sm_80)", told)
        self.kernel_library(kit, "k", ["sm_80", "compute_80"])
        self.inspect("--arch", "sm_90", "k.o")
        self.kernel_library(kit, "k", ["sm_90a", "compute_100f"])
        self.inspect("--arch", "sm_90", "--arch", "sm_103", "k.o")
        self.assertIn("(it has sm_90a, compute_100f)", self.inspect("--arch", "sm_120", "k.o", code=1).out)

    @with_kits("nvcc")
    def test_a_kernel_that_lacks_what_its_siblings_have(self, kit):
        self.kernel_library(kit, "k", ["sm_80", "sm_90"], "!defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900")
        told = self.inspect("k.o").out
        self.assertIn("1 kernel for sm_90; not for sm_80, as others\n      _Z8backwardPi\n", told)
        self.assertIn("_Z8backwardPi", self.inspect("--arch", "sm_80", "k.o", code=1).out)

    @with_kits("nvcc")
    def test_says_what_cuobjdump_says(self, kit):
        cuobjdump = find_tool("cuobjdump")
        if cuobjdump is None:
            self.skipTest("cuobjdump is not installed")
        self.kernel_library(kit, "k", ["sm_80", "sm_90a", "compute_90"])
        told = self.run_plain([cuobjdump, "-lelf", "-lptx", "k.o"]).out
        wanted = {f"sm_{a}" if kind == "cubin" else f"compute_{a}" for a, kind in re.findall(r"sm_(\w+)\.(cubin|ptx)", told)}
        self.assertEqual(set(self.facts("k.o")["files"][0]["device"]["targets"]), wanted)

    @with_kits("nvcc")
    def test_code_that_waits_for_a_device_link(self, kit):
        self.kernel_library(kit, "k", ["sm_80"])
        self.run_plain(["nvcc", "-rdc=true", "-gencode=arch=compute_80,code=[sm_80,lto_80]", "-Xcompiler", "-fPIC", "-c",
                        "k.cu", "-o", "k.o"])
        self.assertEqual(self.facts("k.o")["files"][0]["device"]["targets"], ["sm_80", "lto_80"])
        self.run_plain(["nvcc", "-arch=sm_80", "-shared", "-rdc=true", "k.o", "-o", "libk.so"])
        device = self.facts("libk.so")["files"][0]["device"]
        self.assertEqual((device["targets"], device["unread"]), (["sm_80"], []))
        self.assertIn("_Z7forwardPi", [k["name"] for k in device["kernels"]])
        self.run_plain(["ar", "rc", "k.a", "k.o"])
        archive = self.facts("k.a")["files"][0]
        self.assertEqual((archive["members"], archive["device"]["images"][0]["member"]), (1, "k.o"))

    @with_kits("hipcc")
    def test_amd_targets_and_their_features(self, kit):
        self.kernel_library(kit, "k", ["gfx90a:xnack-", "gfx1100"])
        device = self.facts("k.o")["files"][0]["device"]
        self.assertEqual(device["targets"], ["gfx1100", "gfx90a:xnack-"])
        self.assertEqual([k["name"] for k in device["kernels"]], ["_Z7forwardPi", "_Z8backwardPi"])
        self.inspect("--arch", "gfx1100", "--arch", "gfx90a:xnack-", "k.o")
        self.assertIn("no code for gfx942", self.inspect("--arch", "gfx942", "k.o", code=1).out)
        self.assertIn("no code for gfx90a", self.inspect("--arch", "gfx90a", "k.o", code=1).out)

    @with_kits("hipcc")
    def test_a_kernel_of_two_libraries_has_one_handle(self, kit):
        for name in ("a", "b"):
            self.kernel_library(kit, name, ["gfx90a"])
            self.run_plain(["g++", "-shared", f"{name}.o", "-o", f"lib{name}.so"])
        found = self.facts("liba.so", "libb.so", code=1)["collisions"]
        kernels = {c["symbol"] for c in found if c["kind"] == "kernel" and c["harmless"] == "no"}
        self.assertIn("_Z7forwardPi", kernels)
        self.assertIn("defined twice, kernels:", self.inspect("liba.so", "libb.so", code=1).out)


if __name__ == "__main__":
    main()
