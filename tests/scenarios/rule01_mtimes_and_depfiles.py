"""Soundness rule 1: mtimes and depfiles. Ninja and Make start a command when, and only when, something it used changed;
they come to rest after one build; and a depfile says nothing that makes them loop.
"""

import contextlib
import os
import time

import kits
from harness import PYTHON, Scenario, depfile_names, main, needs

GXX = kits.KITS["gxx"]
STYLES = {"deps log": "  deps = gcc\n", "plain depfile": "", "restat": "  restat = 1\n"}


class NinjaRests(Scenario):
    """Folders in which the build itself writes are on the search path."""

    def rule(self, style: str, flags: str, extra: str = "") -> str:
        restat = "--restat " if style == "restat" else ""
        return f"""\
rule cc
  command = {self.program} run {restat}--depfile $out.d -- g++ {flags} -c $in -o $out
  depfile = $out.d
{STYLES[style]}rule gen
  command = {self.program} run {restat}--output $out -- {PYTHON} $in $out
{"  restat = 1" if style == "restat" else ""}
build k.o: cc k.cpp{extra}
"""

    @contextlib.contextmanager
    def in_style(self, style: str):
        with self.subTest(style=style):
            for name in os.listdir(self.tree):
                self.run_plain(["rm", "-rf", name])
            self.store = self.box / style.replace(" ", "-")
            self.environment["HALLMARK_STORE"] = str(self.store)
            yield

    @needs("ninja")
    def test_build_folder_on_the_search_path(self):
        """-I. where objects, logs and build.ninja lie: each build changes that folder."""
        for style in STYLES:
            with self.in_style(style):
                self.write_all({"second/cfg.h": "#define VAL 1\n", "k.cpp": GXX.text("cfg.h").replace('"cfg.h"', "<cfg.h>")})
                self.write("build.ninja", self.rule(style, "-I. -Isecond") + "build j.o: cc k.cpp\n")
                self.ninja()
                self.assert_no_work()
                self.write("second/cfg.h", "#define VAL 2\n")
                self.ninja()
                self.assertEqual("2", kits.mark(self.path("k.o")))
                self.assert_no_work()
                with self.expect(executed=0):
                    self.write("unrelated.txt", "")
                    self.ninja()
                self.assert_no_work()

    @needs("ninja")
    def test_generated_header_folder(self):
        """An action of the same build writes into a searched folder; later it writes the very header that shadows."""
        for style in STYLES:
            with self.in_style(style):
                self.write_all({
                    "second/cfg.h": "#define VAL 1\n",
                    "k.cpp": GXX.text("cfg.h").replace("TEXT(VAL)", 'TEXT(VAL) "," TEXT(GEN)').replace("\n", '\n#include "made.h"\n', 1),
                    "gen.py": "import sys\nopen(sys.argv[1], 'w').write('#define GEN 1\\n')\n",
                })
                text = self.rule(style, "-Igen -Isecond", " | gen/made.h") + "build gen/made.h: gen gen.py\n"
                self.write("build.ninja", text)
                self.ninja()
                self.assertEqual("1,1", kits.mark(self.path("k.o")))
                self.assert_no_work()
                self.write("gen.py", "import sys\nopen(sys.argv[1], 'w').write('#define GEN 2\\n')\n")
                self.ninja()
                self.assertEqual("1,2", kits.mark(self.path("k.o")))
                self.assert_no_work()
                # Another action writes an unrelated file there.
                self.write("build.ninja", text + "build gen/unrelated.h: gen gen.py\n")
                with self.expect(executed=1, why="only the new edge"):
                    self.ninja()
                self.assert_no_work()
                # And now one that shadows: hallmark makes the name, so hallmark knows who asked for it in vain.
                self.write("shadow.py", "import sys\nopen(sys.argv[1], 'w').write('#define VAL 7\\n')\n")
                self.write("build.ninja", text + "build gen/unrelated.h: gen gen.py\nbuild gen/cfg.h: gen shadow.py\n")
                self.ninja()
                self.ninja()
                self.assertEqual("7,2", kits.mark(self.path("k.o")), "at the latest the second build sees the shadowing header")
                self.assert_no_work()

    @needs("ninja")
    def test_search_folder_that_does_not_exist_yet(self):
        """Outside the build folder. (Inside it, only what hallmark itself makes can be noticed: see docs/soundness.md.)"""
        for style in STYLES:
            with self.in_style(style):
                self.write_all({"src/second/cfg.h": "#define VAL 1\n", "src/k.cpp": GXX.text("cfg.h")})
                rule = self.rule(style, "-I../src/future/deep -I../src/second").replace("k.cpp", "../src/k.cpp")
                self.write("out/build.ninja", rule)
                self.ninja("-C", "out")
                self.assert_no_work(self.ninja("-C", "out"))
                self.write("src/future/deep/cfg.h", "#define VAL 2\n")
                self.ninja("-C", "out")
                self.assertEqual("2", kits.mark(self.path("out/k.o")))
                self.assert_no_work(self.ninja("-C", "out"))

    @needs("ninja")
    def test_build_folder_beside_the_sources(self):
        """ninja -C: the header is outside the working folder, the searched folder is the source folder."""
        for style in STYLES:
            with self.in_style(style):
                self.write_all({"src/second/cfg.h": "#define VAL 1\n", "src/k.cpp": GXX.text("cfg.h"), "src/first/x.h": ""})
                self.write("out/build.ninja", self.rule(style, "-I../src/first -I../src/second").replace("k.cpp", "../src/k.cpp"))
                self.ninja("-C", "out")
                self.assert_no_work(self.ninja("-C", "out"))
                self.write("src/first/cfg.h", "#define VAL 2\n")
                self.ninja("-C", "out")
                self.assertEqual("2", kits.mark(self.path("out/k.o")))
                self.assert_no_work(self.ninja("-C", "out"))
                with self.expect(executed=0):
                    self.write("src/first/unrelated.h", "")
                    self.ninja("-C", "out")
                self.assert_no_work(self.ninja("-C", "out"))

    @needs("ninja")
    def test_many_edges_one_folder(self):
        """Twenty compiles that write into one folder, which is searched by all: at rest after one build, in any order."""
        self.write_all({"inc/v.h": "#define VAL 1\n", **{f"k{i}.cpp": GXX.text("v.h") for i in range(20)}})
        self.write("build.ninja", self.rule("deps log", "-I. -Iobj -Iinc", "") +
                   "".join(f"build obj/k{i}.o: cc k{i}.cpp\n" for i in range(20)))
        self.write("k.cpp", GXX.text("v.h"))
        self.ninja("-j2")
        self.assert_no_work()
        with self.expect(executed=0, replayed=21):
            self.touch("inc/v.h")
            self.ninja("-j2")
        self.assert_no_work()


class OutputTimes(Scenario):
    def command(self, *options):
        return self.hallmark(["g++", "-c", "k.cpp", "-o", "k.o"], *options)

    def test_replay_gives_a_fresh_mtime(self):
        self.write("k.cpp", "int k;\n")
        self.command()
        for prepare in (lambda: self.age("k.o"), lambda: self.path("k.o").unlink()):
            prepare()
            begin = time.time()
            with self.expect(executed=0, replayed=1):
                self.command()
            self.assertGreaterEqual(self.path("k.o").stat().st_mtime, begin - 0.05)

    def test_restat_keeps_the_mtime_of_equal_bytes(self):
        self.write("k.cpp", "int k;\n")
        self.command("--restat")
        self.age("k.o")
        old = self.path("k.o").stat().st_mtime
        with self.expect(executed=0, replayed=1):
            self.command("--restat")
        self.assertEqual(old, self.path("k.o").stat().st_mtime, "replayed")
        self.write("k.cpp", "int  k;\n")
        with self.expect(executed=1):
            self.command("--restat")
        self.assertEqual(old, self.path("k.o").stat().st_mtime, "executed, same bytes")
        self.write("k.cpp", "int k2;\n")
        self.command("--restat")
        self.assertLess(old, self.path("k.o").stat().st_mtime, "other bytes")


class DepfileText(Scenario):
    def depfile(self, argv, name="k.d", **kwargs) -> dict[str, list[str]]:
        self.hallmark(argv, "--depfile", name, **kwargs)
        return depfile_names(self.read(name))

    def test_spelling(self):
        """The target as the caller wrote it, inputs below the working folder relative, others absolute, each once."""
        outside = self.box / "outside"
        self.write(outside / "far.h", "#define FAR 1\n")
        self.write_all({"sub/k.cpp": '#include "near.h"\n#include <far.h>\n', "sub/near.h": ""})
        rules = self.depfile(["g++", f"-I{outside}", "-c", "./sub/k.cpp", "-o", "k.o"])
        self.assertIn("k.o", rules)
        names = rules["k.o"]
        self.assertIn("sub/k.cpp", names)
        self.assertIn("sub/near.h", names)
        self.assertIn(f"{outside}/far.h", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertFalse([n for n in names if n.endswith(".s") or n.startswith("/tmp/cc")], "no temporaries")
        self.assertNotIn("k.o", names, "no own output")
        self.assertNotIn(".", names, "no folder in which the build writes")
        self.assertNotIn(str(self.tree), names)

    @needs("ninja")
    def test_escapes(self):
        """Spaces, #, $ and % in names: Ninja and Make must read back the very names."""
        odd = "odd dir#1$x%y"
        self.write_all({f"{odd}/v v.h": "#define VAL 1\n", "k.cpp": GXX.text("v v.h"), "odd.rsp": f'"-I{odd}"\n'})
        rules = self.depfile(["g++", "@odd.rsp", "-c", "k.cpp", "-o", "k.o"])
        self.assertIn(f"{odd}/v v.h", rules["k.o"])
        self.write("build.ninja", f"rule cc\n  command = {self.program} run --depfile k.o.d -- g++ @odd.rsp -c $in -o $out\n"
                                  "  depfile = k.o.d\nbuild k.o: cc k.cpp\n")
        self.write("Makefile", f"m.o: k.cpp\n\t{self.program} run --depfile m.d -- g++ @odd.rsp -c k.cpp -o m.o\n-include m.d\n")
        self.ninja()
        self.assert_no_work()
        self.make()
        self.assertIn("up to date", self.make().out)
        self.write(f"{odd}/v v.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")))
        self.assert_no_work()
        self.make()
        self.assertEqual("2", kits.mark(self.path("m.o")))
        self.assertIn("up to date", self.make().out)

    def test_own_depfile_of_the_compiler_is_completed(self):
        """-MMD leaves system headers out; its target and its lines stay as the compiler wrote them."""
        self.write_all({"ven/v.h": "", "k.h": "", "k.cpp": '#include <v.h>\n#include "k.h"\n'})
        argv = ["g++", "-isystem", "ven", "-MMD", "-MT", "odd/target.o", "-MF", "k.d", "-c", "k.cpp", "-o", "k.o"]
        for _ in range(2):
            self.hallmark(argv)
            rules = depfile_names(self.read("k.d"))
            self.assertEqual("odd/target.o", next(iter(rules)))
            self.assertIn("ven/v.h", rules["odd/target.o"])
            self.assertIn("k.h", rules["odd/target.o"])
            self.path("k.d").unlink()
        self.assertEqual(1, self.counts().executed)

    def test_replay_writes_the_same_depfile(self):
        self.write_all({"k.h": "", "k.cpp": '#include "k.h"\n'})
        first = self.depfile(["g++", "-c", "k.cpp", "-o", "k.o"])
        self.path("k.d").unlink()
        with self.expect(executed=0, replayed=1):
            second = self.depfile(["g++", "-c", "k.cpp", "-o", "k.o"])
        self.assertEqual(first, second)

    @needs("make")
    def test_make_survives_a_removed_header(self):
        """A header that is gone, and is included no more, must not stop Make: it is a phony target, as with -MP."""
        self.write_all({"old.h": "", "k.cpp": '#include "old.h"\n',
                        "Makefile": f"k.o: k.cpp\n\t{self.program} run --depfile k.d -- g++ -c k.cpp -o k.o\n-include k.d\n"})
        self.make()
        self.path("old.h").unlink()
        self.write("k.cpp", "int k;\n")
        self.make()
        self.assertIn("up to date", self.make().out)


if __name__ == "__main__":
    main()
