"""Code generators of a build: an edited generator, a grown or shrunk kernel list, outputs that are always rewritten.

Today: generators that run at configure time, lists that are frozen by file(GLOB), and unconditional rewrites either leave
old kernels in the library or rebuild all of them (ROCm/composable_kernel PR#1513, #1635; ROCm/rocm-libraries PR#7970;
vllm-project/vllm PR#7174). As a build-time command under hallmark, with a depfile, the generator runs when it must.
"""

import time

import kits
from harness import PYTHON, Scenario, main, needs

GENERATOR = """\
import os, sys
from names import NAMES, SUFFIX
os.makedirs(sys.argv[1], exist_ok=True)
wanted = set()
for name in NAMES:
    wanted.add(f"{sys.argv[1]}/{name}.cpp")
    with open(f"{sys.argv[1]}/{name}.cpp", "w") as out:
        out.write(open("kernel.in").read().replace("@NAME@", name + SUFFIX))
with open(f"{sys.argv[1]}/all.cpp", "w") as out:
    for name in sorted(wanted):
        out.write(f'#include "{os.path.basename(name)}"\\n')
"""

# Lengths differ at each edit: Python takes a .pyc of the same second and size for up to date.
NAMES = 'NAMES, SUFFIX = ["k_a", "{}"], "{}"\n'

KERNEL = """\
extern const char mark_@NAME@[];
const char mark_@NAME@[] = "MARK:@NAME@ 1:";
"""

BUILD = """\
rule gen
  command = {hallmark} run {restat}--depfile $out.d -- {python} tools/gen.py gen
  depfile = $out.d
{rule_restat}
rule cc
  command = {hallmark} run -- g++ -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build gen/all.cpp | gen/k_a.cpp gen/{second}.cpp: gen
build all.o: cc gen/all.cpp
"""


class CodeGeneration(Scenario):
    def write_manifest(self, restat: bool, second: str = "k_b"):
        self.write("build.ninja", BUILD.format(hallmark=self.program, python=PYTHON, restat="--restat " if restat else "",
                                               rule_restat="  restat = 1\n" if restat else "", second=second))

    def prepare(self, restat: bool):
        self.write_all({"tools/gen.py": GENERATOR, "tools/names.py": NAMES.format("k_b", ""), "kernel.in": KERNEL})
        self.write_manifest(restat)
        self.ninja()
        self.assert_no_work()

    def holds(self, word: str) -> bool:
        return word.encode() in self.bytes_of("all.o")

    @needs("ninja")
    def test_inputs_of_the_generator(self):
        """The generator, a module that it imports, a template that it reads: none is named in build.ninja."""
        for restat in (False, True):
            with self.subTest(restat=restat):
                self.prepare(restat)
                self.write("kernel.in", KERNEL.replace(" 1:", " 2:"))
                self.ninja()
                self.assertTrue(self.holds("k_a 2"), "template")
                self.assert_no_work()
                self.write("tools/gen.py", GENERATOR.replace('name + SUFFIX', 'name + SUFFIX + "_x"'))
                self.ninja()
                self.assertTrue(self.holds("k_a_x 2"), "generator")
                self.assert_no_work()
                self.write("tools/names.py", NAMES.format("k_b", "_y"))
                self.ninja()
                self.assertTrue(self.holds("k_a_y_x 2"), "imported module")
                self.assert_no_work()
                self.write("tools/names.py", NAMES.format("k_cc", "_y"))
                self.write_manifest(restat, second="k_cc")
                self.ninja()
                self.assertTrue(self.holds("k_cc_y_x 2"), "a new kernel")
                self.assertFalse(self.holds("k_b"), "a dropped kernel is gone from the object")
                self.assert_no_work()

    @needs("ninja")
    def test_rewritten_outputs_compile_nothing(self):
        """The generator rewrites all of its files with equal bytes: with restat no compile starts, without it none runs."""
        for restat in (False, True):
            with self.subTest(restat=restat):
                self.prepare(restat)
                before = self.counts()
                self.write("tools/gen.py", GENERATOR + f"# a comment {restat}\n")
                done = self.ninja()
                self.expect_since(before, executed=1, why="the generator only")
                self.assertEqual(1 if restat else 2, self.edges(done))
                self.assert_no_work()

    @needs("ninja")
    def test_listing(self):
        """A generator that lists a folder runs when the list of names changes, whether it grows or shrinks."""
        script = "import glob, sys\nopen(sys.argv[1], 'w').write(' '.join(sorted(glob.glob('kern/*.cu'))))\n"
        self.write_all({"kern/a.cu": "", "list.py": script})
        self.write("build.ninja", f"rule gen\n  command = {self.program} run --depfile $out.d -- {PYTHON} list.py $out\n"
                                  "  depfile = $out.d\nbuild list.txt: gen\n")
        self.ninja()
        self.assert_no_work()
        self.write("kern/b.cu", "")
        self.ninja()
        self.assertEqual("kern/a.cu kern/b.cu", self.read("list.txt"))
        self.assert_no_work()
        self.path("kern/a.cu").unlink()
        self.ninja()
        self.assertEqual("kern/b.cu", self.read("list.txt"))
        self.assert_no_work()
        with self.expect(executed=0, replayed=0, why="content of a listed file is not read"):
            self.write("kern/b.cu", "changed")
            self.ninja()
        self.assert_no_work()

    @needs("ninja", "cmake")
    def test_custom_command(self):
        """The same through add_custom_command with DEPFILE, and the object through the launcher."""
        self.write_all({
            "tools/gen.py": "import sys\nfrom names import NAMES\nopen(sys.argv[1], 'w').write(''.join("
                            "f'extern const char {n}[]; const char {n}[] = \"MARK:{n}:\";\\n' for n in NAMES))\n",
            "tools/names.py": 'NAMES = ["k_a"]\n',
            "CMakeLists.txt": f"""\
cmake_minimum_required(VERSION 3.20)
project(p CXX)
add_custom_command(OUTPUT kernels.cpp
  COMMAND {self.program} run --depfile kernels.d --output kernels.cpp -- {PYTHON} ${{CMAKE_SOURCE_DIR}}/tools/gen.py kernels.cpp
  DEPFILE kernels.d)
add_library(k OBJECT kernels.cpp)
""",
        })
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "b", f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.program};run;--"])
        self.ninja("-C", "b")
        (built,) = self.path("b").rglob("kernels.cpp.o")
        self.assertEqual("k_a", kits.mark(built))
        self.assert_no_work(self.ninja("-C", "b"))
        # Of another size: Python itself takes a .pyc for fresh whose source has the same second and size.
        self.write("tools/names.py", 'NAMES = ["k_other"]\n')
        self.ninja("-C", "b")
        self.assertEqual("k_other", kits.mark(built))
        self.assert_no_work(self.ninja("-C", "b"))

    @needs("ninja")
    def test_command_that_changes_folder(self):
        """Ninja looks in the depfile for its own name of the output, not for the one seen from sub."""
        self.write_all({"sub/keep": "", "in.txt": "one", "build.ninja": f"""\
rule g
  command = cd sub && {self.program} run --depfile b.d --output ../b.txt -- sh -c "cat ../in.txt > ../b.txt"
  depfile = sub/b.d
build b.txt: g
"""})
        self.ninja()
        self.assert_no_work()
        self.write("in.txt", "two")
        self.ninja()
        self.assertEqual("two", self.read("b.txt"))
        self.assert_no_work()

    @needs("ninja", "cmake")
    def test_version_header_of_a_custom_target(self):
        """Its script makes and removes a temporary file in a searched folder that no build statement names, each time."""
        self.write_all({
            "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.20)
project(p C)
add_custom_target(version COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/generated/version.h
  -DIN=${CMAKE_SOURCE_DIR}/version.h.in -P ${CMAKE_SOURCE_DIR}/version.cmake)
add_executable(m m.c)
add_dependencies(m version)
target_include_directories(m PRIVATE ${CMAKE_BINARY_DIR}/generated inc)
""",
            "version.cmake": "configure_file(${IN} ${OUT})\n",
            "version.h.in": "#define V 1\n",
            "inc/l.h": "#define L 1\n",
            "m.c": "#include <l.h>\n#include <version.h>\nint main() { return L + V; }\n",
        })
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "b", f"-DCMAKE_C_COMPILER_LAUNCHER={self.program};run;--"])
        self.ninja("-C", "b")
        for _ in range(3):
            time.sleep(0.05)
            self.assertNotIn("Building", self.ninja("-C", "b").out)
        self.write("version.h.in", "#define V 2\n")
        self.ninja("-C", "b")
        self.ninja("-C", "b")  # no byproduct is declared: Ninja sees the header when it starts the next time
        self.assertEqual(3, self.run_plain(["b/m"], check=False).code)


if __name__ == "__main__":
    main()
