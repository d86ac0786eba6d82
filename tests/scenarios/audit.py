"""`hallmark audit`: what a build does not know that it reads.

A rule without a dependency file (pytorch/pytorch#47557), lists of files that are made only when CMake configures
(ROCm/composable_kernel PR#1513), dependencies on temporary files, artifacts that nobody makes any more.
"""

import json
import shutil

import kits
from harness import Scenario, main, needs, with_kits


class Audit(Scenario):
    def audit(self, *options, folder=".", code=1) -> dict:
        return json.loads(self.verb("audit", folder, "--json", *options, code=code).out)

    def gaps(self, told: dict) -> dict:
        return {gap["file"].split("/")[-1]: sorted((r["output"].split("/")[-1], r["how"]) for r in gap["readers"])
                for gap in told["gaps"] if not gap["system"]}

    def write_build(self, kit, prefix="", rest=""):
        self.write_all({"inc/k.h": "#define VAL 1\n", f"a{kit.suffix}": kit.text("k.h"),
                        f"b{kit.suffix}": kit.text("k.h").replace("kernel", "kernel_b")})
        line = " ".join(kit.compile("$in", "$out", "-Iinc"))
        self.write("build.ninja", f"rule cc\n  command = {prefix}{line}\n{rest}"
                                  f"build a.o: cc a{kit.suffix}\nbuild b.o: cc b{kit.suffix}\n")

    @needs("ninja", "g++")
    def test_each_witness(self):
        self.each_witness(kits.KITS["gxx"])

    @needs("ninja")
    @with_kits("nvcc")
    def test_each_witness_of(self, kit):
        self.each_witness(kit)

    def each_witness(self, kit):
        """A rule that orders no dependency file: what is read is told by #include lines, by observing, by records."""
        self.write_build(kit)
        self.ninja()
        before = {name: (self.bytes_of(name), self.path(name).stat().st_mtime_ns) for name in ("a.o", "b.o")}
        told = self.audit()
        self.assertEqual({"k.h": [("a.o", "#include lines"), ("b.o", "#include lines")]}, self.gaps(told))
        told = self.audit("--observe")
        self.assertEqual({"k.h": [("a.o", "observed"), ("b.o", "observed")]}, self.gaps(told))
        self.assertEqual((2, 0), (told["observed"], told["by_includes"]))
        after = {name: (self.bytes_of(name), self.path(name).stat().st_mtime_ns) for name in ("a.o", "b.o")}
        self.assertEqual(before, after, "an audit changes nothing in the build")
        self.assertEqual([], list(self.scratch.iterdir()), "and leaves nothing behind")

        self.write_build(kit, prefix=f"{self.program} run -- ")
        self.ninja()
        told = self.audit()
        self.assertEqual({"k.h": [("a.o", "recorded"), ("b.o", "recorded")]}, self.gaps(told))
        done = self.verb("audit", ".", "--fix", code=1)
        self.assertIn("editing inc/k.h will not rebuild these 2 files (recorded):\n  a.o\n  b.o\n", done.out)
        self.assertIn("hallmark run --depfile $out.d --\n", done.out)

        self.write_build(kit, prefix=f"{self.program} run --depfile $out.d -- ", rest="  depfile = $out.d\n  deps = gcc\n")
        self.ninja()
        self.assertEqual({}, self.gaps(self.audit(code=0)), "repaired as --fix says")

    @needs("ninja", "g++")
    def test_a_dependency_file_that_is_never_written(self):
        """The rule names one, and nobody gives the compiler -MD (shared case of pytorch/pytorch#47557)."""
        self.write_build(kits.KITS["gxx"], rest="  depfile = $out.d\n  deps = gcc\n")
        self.ninja()
        self.write("inc/k.h", "#define VAL 2\n")
        self.assert_no_work()
        self.assertEqual({"k.h": [("a.o", "#include lines"), ("b.o", "#include lines")]}, self.gaps(self.audit()))
        self.assertIn("STALE", self.verb("verify", "a.o", code=1).out)

    @needs("ninja", "g++")
    def test_observing_runs_nothing_but_compilers(self):
        self.write_all({"a.cpp": "int a;\n", "mine/kept": "", "build.ninja":
                        "rule fmt\n  command = echo //formatted >> $in && touch $out\n"
                        "rule pack\n  command = rm -rf mine && mkdir mine && cp $in mine && touch $out\n"
                        "rule keep\n  command = g++ -save-temps=cwd -c $in -o $out\n"
                        "rule move\n  command = g++ -c $in -o x.o && mv x.o $out\n"
                        "build f: fmt a.cpp\nbuild p: pack a.cpp\nbuild k.o: keep a.cpp\nbuild m.o: move a.cpp\n"})
        for name in ("f", "p", "k.o", "m.o"):
            self.write(name, "")
        before = self.everything()
        self.verb("audit", "--observe", ".")
        self.assertEqual(before, self.everything())
        self.assertEqual([], list(self.scratch.iterdir()))

    def everything(self):
        return sorted((str(p), p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else b"") for p in self.tree.rglob("*"))

    @needs("ninja", "g++")
    def test_a_generator_script(self):
        """A script that an edge runs and does not depend on: records tell."""
        self.write_all({"gen.sh": "cat tmpl > table.h; echo > side.o\n", "tmpl": "x\n", "t.cpp": '#include "table.h"\n',
                        "build.ninja": f"rule gen\n  command = {self.program} run -- sh gen.sh\nbuild table.h: gen | tmpl\n"})
        self.ninja()
        told = self.audit()
        self.assertEqual({"gen.sh": [("table.h", "recorded")]}, self.gaps(told))
        self.assertEqual(["undeclared"], [one["kind"] for one in told["findings"]])

    @needs("ninja", "cmake", "g++")
    def test_what_cmake_freezes(self):
        self.write_all({
            "src/a.cpp": '#include "conf.h"\nint a() { return CONF; }\n', "conf.h.in": "#define CONF @N@\n",
            "gen.cmake": 'file(WRITE "${OUT}" "int t() { return 1; }\\n")\n',
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nset(N 1)\nfile(GLOB list src/*.cpp)\n"
                              "configure_file(conf.h.in conf.h)\n"
                              "execute_process(COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/gen/t.cpp -P ${CMAKE_SOURCE_DIR}/gen.cmake)\n"
                              "add_library(k SHARED ${list} ${CMAKE_BINARY_DIR}/gen/t.cpp)\n"
                              "target_include_directories(k PRIVATE ${CMAKE_BINARY_DIR})\n",
        })
        self.run_plain(["cmake", "-G", "Ninja", "-S", ".", "-B", "b"])
        self.ninja("-C", "b")
        objects = self.path("b/CMakeFiles/k.dir/src")
        shutil.copy(objects / "a.cpp.o", objects / "dropped.cpp.o")
        told = self.audit(folder="b")
        self.assertEqual({}, self.gaps(told), "CMake and g++ know all that is read")
        found = {one["kind"]: one["subject"].split("/")[-1] for one in told["findings"]}
        self.assertEqual({"glob": "CMakeLists.txt:4", "made_at_configure": "t.cpp", "no_rule": "dropped.cpp.o"}, found)

    @needs("ninja")
    def test_rebuild_loops(self):
        self.write_all({"in": "", "build.ninja": "rule r\n  command = echo $out: in gone.tmp > $out.d && touch $out\n"
                                                 "  depfile = $out.d\n  deps = gcc\nbuild x: r in\n"})
        self.ninja()
        self.assertNotIn("no work to do", self.ninja().out)
        self.assertEqual([("temporary", "gone.tmp")], [(one["kind"], one["subject"].split("/")[-1]) for one in self.audit()["findings"]])

    @needs("make", "gcc")
    def test_a_makefile(self):
        """A rule that depends on the source alone (HazyResearch/HipKittens PR#66); one that includes what gcc wrote; a sub-make."""
        self.write_all({"inc/k.h": "#define K 1\n", "a.c": '#include "k.h"\n', "b.c": '#include "k.h"\n', "sub/c.c": '#include "../inc/k.h"\n',
                        "Makefile": "all: a.o b.o\n\t$(MAKE) -C sub\na.o: a.c\n\tgcc -Iinc -c $< -o $@\nb.o: b.c\n\tgcc -Iinc -MD -c $< -o $@\n"
                                    "-include b.d\n",
                        "sub/Makefile": "c.o: c.c\n\tgcc -c c.c -o c.o\n"})
        self.make()
        before = self.bytes_of("a.o")
        told = self.audit()
        self.assertEqual({"k.h": [("a.o", "#include lines"), ("c.o", "#include lines")]}, self.gaps(told))
        told = self.audit("--observe")
        self.assertEqual({"k.h": [("a.o", "observed"), ("c.o", "observed")]}, self.gaps(told))
        self.assertEqual(before, self.bytes_of("a.o"))
        self.assertIn("up to date", self.make("a.o", "b.o").out)

    @needs("make", "gcc")
    def test_make_makes_nothing(self):
        """Makefiles that are included have rules (automake's .deps, ./configure); a sub-make has its own."""
        self.write_all({"a.c": '#include "k.h"\n', "k.h": "", "configure": "", "config.mk": "X = 1\n", "sub/s.c": "", "sub/Makefile.in": "",
                        "Makefile": "include config.mk\nall: a.o\n\t$(MAKE) --no-print-directory -C sub\ninclude .deps/a.Po\n"
                                    ".deps/a.Po:\n\t@mkdir -p .deps; echo '# dummy' > $@\nconfig.mk: configure\n\techo ran >> log; touch $@\n"
                                    "a.o: a.c\n\tgcc -MT $@ -MD -MP -MF .deps/a.Tpo -c -o $@ a.c\n\tmv -f .deps/a.Tpo .deps/a.Po\n",
                        "sub/Makefile": "s.o: s.c\n\tgcc -c s.c -o s.o\nMakefile: Makefile.in\n\techo ran >> ../log; touch Makefile\n"})
        self.age("configure", "sub/Makefile.in")
        self.make()
        self.path("log").unlink(missing_ok=True)
        before = self.everything()
        told = self.audit(code=0)
        self.assertEqual(before, self.everything(), "asking makes nothing")
        self.assertEqual(({}, 4), (self.gaps(told), told["edges"]), "with those of the sub-make, and two of makefiles")
        told = self.audit("--observe", code=0)
        self.assertEqual(before, self.everything(), "nor does observing")
        self.assertEqual({}, self.gaps(told))

    @needs("make", "cmake", "g++")
    def test_makefiles_of_cmake(self):
        self.write_all({"ven/v.h": "", "inc/k.h": "#include <v.h>\n", "a.cpp": '#include "k.h"\n',
                        "CMakeLists.txt": 'cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\n'
                                          'set(CMAKE_DEPFILE_FLAGS_CXX "-MMD -MT <DEP_TARGET> -MF <DEP_FILE>")\nadd_library(k SHARED a.cpp)\n'
                                          "target_include_directories(k PRIVATE inc)\ntarget_include_directories(k SYSTEM PRIVATE ven)\n"})
        self.run_plain(["cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "b"])
        self.make("-C", "b")
        self.assertEqual({"v.h": [("a.cpp.o", "#include lines")]}, self.gaps(self.audit(folder="b")))
        self.assertEqual({"v.h": [("a.cpp.o", "observed")]}, self.gaps(self.audit("--observe", folder="b")))

    @needs("gcc")
    def test_compile_commands(self):
        self.write_all({"k.h": "", "a.c": '#include "k.h"\n', "compile_commands.json": json.dumps([
            {"directory": str(self.tree), "file": "a.c", "arguments": ["gcc", "-c", "a.c", "-o", "a.o"]},
            {"directory": str(self.tree), "file": "a.c", "command": "gcc -MD -c a.c -o b.o"}])})
        for output in ("a.o", "b.o"):
            self.run_plain(["gcc", "-MD", "-c", "a.c", "-o", output])
        self.path("a.d").unlink()
        self.assertEqual({"k.h": [("a.o", "observed")]}, self.gaps(self.audit("--observe")))

    def test_bad_input(self):
        self.verb("audit", code=2)
        self.assertIn("it has no build.ninja", self.verb("audit", ".", code=2).err)
        self.write_all({"build.ninja": "build a: cc b\nrule cc\n  command = cc\n", ".ninja_log": "garbage", ".ninja_deps": "garbage"})
        done = self.verb("audit", ".", code=1)
        self.assertIn("nothing was compared", done.err)
        self.assertIn(".ninja_log: it is no log of Ninja", done.err)
        self.assertIn(".ninja_deps: it is no dependency log", done.err)
        self.write("build.ninja", "build all: phony\n")
        self.assertIn("no edge that runs a command", self.verb("audit", ".", code=1).err)
        self.write_all({"m/Makefile": "a: missing\n\ttrue\n", "j/compile_commands.json": "{"})
        self.assertIn("make -n fails", self.verb("audit", "m", code=2).err)
        self.assertIn("no list of compile commands", self.verb("audit", "j", code=2).err)


if __name__ == "__main__":
    main()
