"""A header that the rule's depfile does not name is edited; the build must see it.

Today: a rule that names a depfile which the tool never writes, and -MMD, which leaves out every header found through
-isystem, both let Ninja say "no work to do" (pytorch/pytorch#47557, mesonbuild/meson#11969, ninja-build/ninja PR#1624).
"""

import kits
from harness import Scenario, main, needs, with_kits


class HeaderMissingFromDepfile(Scenario):
    @needs("ninja")
    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_tool_that_writes_no_depfile(self, kit):
        """`hallmark run --depfile` in the rule: the tool itself is not asked for dependencies at all."""
        self.write_all({"inc/k.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("k.h")})
        compile_line = " ".join(kit.compile("$in", "$out", "-Iinc"))
        self.write("build.ninja", f"""\
rule cc
  command = {self.program} run --depfile $out.d -- {compile_line}
  depfile = $out.d
  deps = gcc
build k.o: cc k{kit.suffix}
""")
        self.ninja()
        self.assertEqual("1", kits.mark(self.path("k.o")))
        self.assert_no_work()
        self.write("inc/k.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")), "the object must show the edited header")
        self.assert_no_work()
        with self.expect(executed=0, replayed=1):
            self.write("inc/k.h", "#define VAL 1\n")
            self.ninja()
        self.assertEqual("1", kits.mark(self.path("k.o")))
        self.assert_no_work()

    @needs("ninja")
    @with_kits("gxx", "clang", "nvcc")
    def test_user_headers_only(self, kit):
        """-MMD as compilers write it, hallmark only as a launcher: it adds what is missing to the tool's own depfile."""
        self.write_all({"ven/v.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("v.h").replace('"v.h"', "<v.h>")})
        compile_line = " ".join(kit.compile("$in", "$out", "-isystem", "ven", "-MMD", "-MF", "$out.d"))
        self.write("build.ninja", f"""\
rule cc
  command = {self.program} run -- {compile_line}
  depfile = $out.d
  deps = gcc
build k.o: cc k{kit.suffix}
""")
        self.ninja()
        self.write("ven/v.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")), "the object must show the edited header of -isystem")
        self.assert_no_work()

    @needs("ninja", "cmake")
    def test_cmake_launcher(self):
        """The same through CMAKE_CXX_COMPILER_LAUNCHER, with a system include folder of an imported library."""
        kit = kits.KITS["gxx"]
        self.write_all({
            "ven/v.h": "#define VAL 1\n",
            "k.cpp": kit.text("v.h").replace('"v.h"', "<v.h>"),
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nadd_library(k OBJECT k.cpp)\n"
                              "target_include_directories(k SYSTEM PRIVATE ven)\n",
        })
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "b", "-DCMAKE_DEPENDS_USE_COMPILER=TRUE",
                        "-DCMAKE_CXX_FLAGS=-MMD -MF k.extra.d",
                        f"-DCMAKE_CXX_COMPILER_LAUNCHER={self.program};run;--"])
        self.ninja("-C", "b")
        (built,) = self.path("b").rglob("k.cpp.o")
        self.assertEqual("1", kits.mark(built))
        self.assert_no_work(self.ninja("-C", "b"))
        self.write("ven/v.h", "#define VAL 2\n")
        self.ninja("-C", "b")
        self.assertEqual("2", kits.mark(built))
        self.assert_no_work(self.ninja("-C", "b"))

    @needs("make")
    def test_make(self):
        """A Makefile that includes the depfile of a compiler that was asked for user headers only."""
        kit = kits.KITS["gxx"]
        self.write_all({
            "ven/v.h": "#define VAL 1\n",
            "k.cpp": kit.text("v.h").replace('"v.h"', "<v.h>"),
            "Makefile": f"k.o: k.cpp\n\t{self.program} run -- g++ -isystem ven -MMD -MP -MF k.d -c k.cpp -o k.o\n-include k.d\n",
        })
        self.make()
        self.write("ven/v.h", "#define VAL 2\n")
        self.make()
        self.assertEqual("2", kits.mark(self.path("k.o")))
        self.assertIn("up to date", self.make().out)


if __name__ == "__main__":
    main()
