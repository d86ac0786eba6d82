"""The toolchain changes under the same path: an assembler, a device library, a host compiler, a specs file.

Today: only the path (Ninja) or the driver's file (caches) identifies a compiler, while ptxas, cicc, `as`, cc1plus and the
ROCm bitcode make the code (cupy/cupy PR#10187, llvm/llvm-project PR#176072, ROCm/HIPCC PR#32).
"""

import os
import re
import shutil

import harness
import kits
from harness import Scenario, main, needs, with_kits

FLOATS = "__global__ void k(float* p, float a) { float x = p[threadIdx.x]; p[threadIdx.x] = x * a + p[threadIdx.x + 32]; }\n"


class ToolchainSwap(Scenario):
    def cuda_root(self):
        """Where the toolkit really is. The nvcc of PATH may be a script that starts another one, so nvcc itself is asked."""
        self.write("probe.cu", "")
        words = self.run_plain(["nvcc", "--dryrun", "-c", "probe.cu"]).err
        self.path("probe.cu").unlink()
        here = re.search(r"^#\$ _HERE_=(.+)$", words, re.MULTILINE)
        self.assertTrue(here, f"nvcc --dryrun names no _HERE_: {words}")
        return os.path.dirname(os.path.realpath(here[1]))

    def cuda_toolkit(self):
        """A toolkit of links to the installed one, with a real copy of the small part that is swapped."""
        real = self.cuda_root()
        mine = self.box / "toolkit"
        (mine / "bin").mkdir(parents=True)
        for name in os.listdir(real):
            if name != "bin":
                os.symlink(f"{real}/{name}", mine / name)
        for name in os.listdir(f"{real}/bin"):
            if name in ("nvcc", "nvcc.profile"):  # nvcc finds its parts beside its own real path
                shutil.copy2(f"{real}/bin/{name}", mine / "bin" / name)
            elif name != "ptxas":
                os.symlink(f"{real}/bin/{name}", mine / "bin" / name)
        return mine, f"{real}/bin/ptxas"

    @needs("ninja")
    @with_kits("nvcc")
    def test_ptxas(self, kit):
        toolkit, ptxas = self.cuda_toolkit()
        self.script(toolkit / "bin/ptxas", f'#!/bin/sh\nexec {ptxas} "$@"\n')
        self.write("k.cu", FLOATS)
        compile_line = f"{toolkit}/bin/nvcc -arch=sm_80 -c k.cu -o k.o"
        self.write("build.ninja", f"rule cc\n  command = {self.program} run --depfile $out.d -- {compile_line}\n"
                                  "  depfile = $out.d\n  deps = gcc\nbuild k.o: cc k.cu\n")
        self.ninja()
        self.assert_no_work()
        before = kits.device_code(self.path("k.o"))
        self.script(toolkit / "bin/ptxas", f'#!/bin/sh\nexec {ptxas} --fmad false "$@"\n')
        self.ninja()
        self.assert_no_work()
        after = kits.device_code(self.path("k.o"))
        with self.fresh_copy("k.o"):
            self.run_plain(compile_line.split())
            wanted = kits.device_code(self.path("k.o"))
        self.assertNotEqual(before, wanted, "the swap must matter, else this scenario says nothing")
        self.assertEqual(wanted, after, "device code of a fresh build with the new ptxas")

    @with_kits("nvcc")
    def test_profile(self, kit):
        """nvcc.profile is text that nvcc reads beside itself; it can name include folders and compiler flags."""
        toolkit, ptxas = self.cuda_toolkit()
        os.symlink(ptxas, toolkit / "bin/ptxas")
        self.write_all({"one/val.h": "#define VAL 1\n", "two/val.h": "#define VAL 2\n", "k.cu": kit.text("val.h")})
        profile = (toolkit / "bin/nvcc.profile").read_text()
        command = [toolkit / "bin/nvcc", "-arch=sm_80", "-c", "k.cu", "-o", "k.o"]
        for folder, value in (("one", "1"), ("two", "2")):
            self.write(toolkit / "bin/nvcc.profile", profile + f'\nINCLUDES += "-I{folder}" $(_SPACE_)\n')
            with self.expect(executed=1):
                self.hallmark(command)
            self.assertEqual(value, kits.mark(self.path("k.o")))

    @with_kits("nvcc", "gxx")
    def test_host_compiler_on_path(self, kit):
        """The driver is asked for by name; another folder of PATH now holds another one."""
        real = harness.find_tool("g++")
        for value in ("1", "2"):
            for name in ("g++", "gcc"):
                self.script(f"host{value}/{name}", f'#!/bin/sh\nexec {real} -DVAL={value} "$@"\n')
        self.write_all({"empty.h": "", f"k{kit.suffix}": kit.text("empty.h")})
        command = kit.compile(f"k{kit.suffix}", "k.o")
        path = self.environment["PATH"]
        for round_executed in (1, 0):
            for value in ("1", "2"):
                with self.expect(executed=round_executed):
                    self.hallmark(command, env={"PATH": f"{self.path('host' + value)}:{path}"})
                self.assertEqual(value, kits.mark(self.path("k.o")), f"host compiler {value} is first on PATH")

    @needs("ninja")
    @with_kits("gxx")
    def test_assembler(self, kit):
        """`as` is found through -B; it is replaced under the same path."""
        real = harness.find_tool("as")
        self.script("tools/as", f'#!/bin/sh\nexec {real} --defsym swapped=1 "$@"\n')
        self.write_all({"v.h": "#define VAL 1\n", "k.cpp": kit.text("v.h")})
        self.write("build.ninja", f"rule cc\n  command = {self.program} run -- g++ -Btools/ -MD -MF $out.d -c $in -o $out\n"
                                  "  depfile = $out.d\n  deps = gcc\nbuild k.o: cc k.cpp\n")
        self.ninja()
        self.assert_no_work()
        first = self.bytes_of("k.o")
        self.script("tools/as", f'#!/bin/sh\nexec {real} --defsym swapped=2 "$@"\n')
        self.ninja()
        self.assert_no_work()
        second = self.bytes_of("k.o")
        with self.fresh_copy("k.o"):
            self.run_plain(["g++", "-Btools/", "-c", "k.cpp", "-o", "k.o"])
            wanted = self.bytes_of("k.o")
        self.assertNotEqual(first, wanted, "the swap must matter")
        self.assertEqual(wanted, second)

    @needs("ninja")
    @with_kits("hipcc")
    def test_device_bitcode(self, kit):
        """ROCm's device libraries are linked into each kernel and named in no depfile."""
        found = [p for p in ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode") if os.path.isdir(p)]
        if not found:
            self.skipTest("the ROCm device libraries are not installed")
        bitcode = self.tree / "bc"
        bitcode.mkdir()
        for name in os.listdir(found[0]):
            if name.startswith(("ocml", "ockl", "oclc", "opencl", "hip")):
                shutil.copy(f"{found[0]}/{name}", bitcode / name)
        self.write("k.hip", f"{kit.head}extern \"C\" __attribute__((device)) float __ocml_sin_f32(float);\n"
                            "__global__ void k(float* p) { p[0] = __ocml_sin_f32(p[0]) / p[1]; }\n")
        compile_line = f"hipcc --offload-arch=gfx90a --rocm-device-lib-path={bitcode} -O2 -c k.hip -o k.o"
        self.write("build.ninja", f"rule cc\n  command = {self.program} run -- {compile_line} -MD -MF k.o.d\n"
                                  "  depfile = k.o.d\n  deps = gcc\nbuild k.o: cc k.hip\n")
        self.ninja()
        self.assert_no_work()
        before = kits.device_code(self.path("k.o"))
        for name in ("unsafe_math", "finite_only", "daz_opt"):
            (bitcode / f"oclc_{name}_off.bc").write_bytes((bitcode / f"oclc_{name}_on.bc").read_bytes())
        self.ninja()
        self.assert_no_work()
        after = kits.device_code(self.path("k.o"))
        with self.fresh_copy("k.o"):
            self.run_plain(compile_line.split())
            wanted = kits.device_code(self.path("k.o"))
        self.assertNotEqual(before, wanted, "the swap must matter")
        self.assertEqual(wanted, after)


if __name__ == "__main__":
    main()
