"""A header appears earlier in the search path, or a probed header appears at all.

Today: the recorded dependencies name only the header that used to win, and a probe that found nothing leaves no trace
(ccache/ccache#504, #1443, #811; mozilla/sccache#2766).
"""

import kits
from harness import Scenario, main, needs, with_kits

PROBE = """\
#if __has_include("fast.h")
#include "fast.h"
#else
#define VAL 1
#endif
"""


class ShadowingHeader(Scenario):
    def rule(self, kit, *, deps: str) -> str:
        compile_line = " ".join(kit.compile("$in", "$out", "-Ifirst", "-Isecond", "-MD", "-MF", "$out.d"))
        return f"""\
rule cc
  command = {self.program} run --depfile $out.d -- {compile_line}
  depfile = $out.d
{deps}
build k.o: cc k{kit.suffix}
"""

    def shadow(self, kit, deps: str):
        self.write_all({"first/other.h": "", "second/cfg.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("cfg.h")})
        self.write("build.ninja", self.rule(kit, deps=deps))
        self.ninja()
        self.assertEqual("1", kits.mark(self.path("k.o")))
        self.assert_no_work()

        self.write("first/cfg.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")), "the earlier header must win")
        self.assert_no_work()

        with self.expect(executed=0, why="an unrelated new name in a searched folder may cost a replay, never a compile"):
            self.write("first/unrelated.h", "")
            self.ninja()
        self.assert_no_work()

        with self.expect(executed=0, replayed=1, why="the first state is known"):
            self.path("first/cfg.h").unlink()
            self.ninja()
        self.assertEqual("1", kits.mark(self.path("k.o")), "the later header is back")
        self.assert_no_work()

    @needs("ninja")
    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_ninja_with_deps_log(self, kit):
        self.shadow(kit, "  deps = gcc")

    @needs("ninja")
    @with_kits("gxx")
    def test_ninja_with_plain_depfile(self, kit):
        self.shadow(kit, "")

    @needs("ninja")
    @with_kits("gxx")
    def test_ninja_with_restat(self, kit):
        self.shadow(kit, "  restat = 1")

    @needs("ninja")
    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_probe(self, kit):
        """__has_include finds nothing at first."""
        text = kit.text("cfg.h").replace('#include "cfg.h"\n', PROBE)
        self.write_all({"first/other.h": "", "second/other.h": "", f"k{kit.suffix}": text})
        self.write("build.ninja", self.rule(kit, deps="  deps = gcc"))
        self.ninja()
        self.assertEqual("1", kits.mark(self.path("k.o")))
        self.write("second/fast.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")), "the probed header is there now")
        self.assert_no_work()

    @needs("make")
    @with_kits("gxx")
    def test_make(self, kit):
        compile_line = " ".join(kit.compile("k.cpp", "k.o", "-Ifirst", "-Isecond"))
        self.write_all({
            "first/other.h": "",
            "second/cfg.h": "#define VAL 1\n",
            "k.cpp": kit.text("cfg.h"),
            "Makefile": f"k.o: k.cpp\n\t{self.program} run --depfile k.d -- {compile_line}\n-include k.d\n",
        })
        self.make()
        self.assertIn("up to date", self.make().out)
        self.write("first/cfg.h", "#define VAL 2\n")
        self.make()
        self.assertEqual("2", kits.mark(self.path("k.o")))
        self.assertIn("up to date", self.make().out)
        self.path("first/cfg.h").unlink()
        self.make()
        self.assertEqual("1", kits.mark(self.path("k.o")), "a vanished header is no error: it is a phony target")
        self.assertIn("up to date", self.make().out)

    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_cache_hit_is_refused(self, kit):
        """Started by hand, as a compiler cache is used: a hit would be wrong after the header appeared."""
        self.write_all({"first/other.h": "", "second/cfg.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("cfg.h")})
        command = kit.compile(f"k{kit.suffix}", "k.o", "-Ifirst", "-Isecond")
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.hallmark(command)
        self.write("first/cfg.h", "#define VAL 2\n")
        with self.expect(executed=1):
            self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")))


if __name__ == "__main__":
    main()
