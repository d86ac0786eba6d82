"""`hallmark verify` and `hallmark why ARTIFACT`: an artifact is FRESH, STALE with the chain that says why, or UNKNOWN.

Today an edited header leaves a library that nobody rebuilt, an old copy is what gets loaded, and the test passes.
"""

import json
import os
import shutil

import kits
from harness import PYTHON, Scenario, find_tool, main, needs, with_kits

GENERATOR = """\
import sys
value = open("value.txt").read().strip()
open(sys.argv[1], "w").write(f"#define VALUE {value}\\n")
"""


class Verify(Scenario):
    def verdicts(self, *artifacts, options=(), cwd=None) -> list[str]:
        done = self.verb("verify", *options, *artifacts, check=False, cwd=cwd)
        words = [line.split()[0] for line in done.out.splitlines() if line.startswith(("FRESH", "STALE", "UNKNOWN"))]
        self.assertEqual(0 if set(words) == {"FRESH"} else 1, done.code, done)
        return words

    def told(self, artifact) -> dict:
        return json.loads(self.verb("verify", "--json", artifact, check=False).out)["artifacts"][0]

    def chain(self, artifact) -> list[str]:
        """The artifact, what it was made of down to the cause, and the cause: base names."""
        told = self.told(artifact)
        links = [os.path.basename(step["output"]) for step in told["chain"]]
        return links + [os.path.basename(told["chain"][-1]["differences"][0]["subject"])]

    # ---- a build of four kinds of step ---------------------------------------------------------------------------------

    def write_build(self):
        """value.txt -> gen.h -> unit.o -> libunit.so, and a copy that nobody recorded."""
        run = f"{self.program} run"
        self.write_all({
            "value.txt": "1\n",
            "gen.py": GENERATOR,
            "unit.cpp": '#include "gen.h"\n#include "unit.h"\nint unit() { return VALUE + UNIT; }\n',
            "include/unit.h": "#define UNIT 1\n",
            "other.cpp": "int other() { return 2; }\n",
            "build.ninja": f"""\
rule gen
  command = {run} --depfile $out.d -- {PYTHON} gen.py $out
  depfile = $out.d
rule cc
  command = {run} -- g++ -fPIC -Iout -Iinclude -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = {run} -- g++ -shared $in -o $out
build out/gen.h: gen
build out/unit.o: cc unit.cpp || out/gen.h
build out/other.o: cc other.cpp
build out/libunit.so: link out/unit.o out/other.o
""",
        })
        self.ninja()

    @needs("ninja", "g++")
    def test_a_chain_of_steps(self):
        self.write_build()
        installed = self.box / "prefix/libunit.so"
        installed.parent.mkdir()
        shutil.copy(self.path("out/libunit.so"), installed)
        self.assertEqual(["FRESH"] * 4, self.verdicts("out/libunit.so", "out/unit.o", "out/gen.h", installed))

        self.write("value.txt", "2\n")
        self.assertEqual(["libunit.so", "unit.o", "gen.h", "value.txt"], self.chain("out/libunit.so"))
        self.assertEqual(["libunit.so", "unit.o", "gen.h", "value.txt"], self.chain(installed))
        self.assertEqual(["FRESH"], self.verdicts("out/other.o"))

        with self.expect(executed=3, why="generator, compile and link; verify executed nothing"):
            self.ninja()
        self.assertEqual(["FRESH", "STALE"], self.verdicts("out/libunit.so", installed))
        self.assert_no_work()
        self.assertEqual(["FRESH", "STALE"], self.verdicts("out/libunit.so", installed))

        self.write("value.txt", "1\n")
        self.assertEqual(["STALE", "FRESH"], self.verdicts("out/libunit.so", installed))
        with self.expect(executed=0, replayed=3, why="the first state is known"):
            self.ninja()
        self.assertEqual(["FRESH", "FRESH"], self.verdicts("out/libunit.so", installed))

    @needs("ninja", "g++")
    def test_without_the_build_folder_and_from_elsewhere(self):
        self.write_build()
        copy = self.box / "libunit.so"
        shutil.copy(self.path("out/libunit.so"), copy)
        shutil.rmtree(self.path("out"))
        self.assertEqual(["FRESH"], self.verdicts(copy, cwd="/"))
        self.write("include/unit.h", "#define UNIT 2\n")
        self.assertEqual(["libunit.so", "unit.o", "unit.h"], self.chain(copy))
        aside = self.box / "moved"
        os.rename(self.tree, aside)
        told = json.loads(self.verb("verify", "--json", copy, check=False, cwd="/").out)["artifacts"][0]
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("--root", told["chain"][0]["doubts"][0], "says what to do")
        self.assertEqual(["STALE"], self.verdicts(copy, options=("--root", aside), cwd="/"))
        (aside / "include/unit.h").write_text("#define UNIT 1\n")
        self.assertEqual(["FRESH"], self.verdicts(copy, options=("--root", aside), cwd="/"))
        os.rename(aside, self.tree)

    @needs("ninja", "g++")
    def test_a_step_that_was_skipped(self):
        """The object was made anew, the library was not linked again."""
        self.write_build()
        self.write("include/unit.h", "#define UNIT 2\n")
        self.ninja("out/unit.o")
        self.assertEqual(["FRESH", "STALE"], self.verdicts("out/unit.o", "out/libunit.so"))
        self.assertEqual(["libunit.so", "unit.o", "unit.h"], self.chain("out/libunit.so"))
        self.write("include/unit.h", "#define UNIT 1\n")
        self.assertEqual(["STALE", "FRESH"], self.verdicts("out/unit.o", "out/libunit.so"), "linked of what the sources give again")

    @needs("ninja", "g++")
    def test_a_step_that_hallmark_did_not_run(self):
        self.write_build()
        plain = self.read("build.ninja").replace(f"{self.program} run --depfile $out.d -- ", "").replace("  depfile = $out.d\nrule cc", "rule cc")
        self.assertNotIn("--depfile", plain)
        shutil.rmtree(self.path("out"))
        self.path(".ninja_log").unlink()
        shutil.rmtree(self.store)
        self.write("build.ninja", plain)
        self.ninja()
        told = self.told("out/libunit.so")
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertTrue(told["chain"][-1]["output"].endswith("gen.h"), told["chain"][-1])
        self.assertFalse(told["chain"][-1]["recorded"])
        self.assertIn("nobody recorded it", told["chain"][-1]["doubts"][0])
        self.write("include/unit.h", "#define UNIT 2\n")
        self.assertEqual(["STALE"], self.verdicts("out/libunit.so"), "whatever is not known besides")

    @needs("ninja", "g++", "strip")
    def test_other_bytes_are_unknown(self):
        self.write_build()
        self.run_plain(["strip", "-o", "stripped.so", "out/libunit.so"])
        told = self.told("stripped.so")
        self.assertEqual(("UNKNOWN", []), (told["verdict"], told["chain"]))
        self.assertIn("stripped", told["doubt"])
        with self.expect(executed=1, why="a recorded strip is a step of the chain"):
            self.hallmark(["strip", "-o", "stripped.so", "out/libunit.so"], "--output", "stripped.so")
        self.assertEqual(["FRESH"], self.verdicts("stripped.so"))
        self.write("value.txt", "2\n")
        self.assertEqual(["stripped.so", "libunit.so", "unit.o", "gen.h", "value.txt"], self.chain("stripped.so"))

    # ---- a second checkout ---------------------------------------------------------------------------------------------

    @needs("ninja", "g++")
    def test_each_checkout_is_judged_by_its_own_files(self):
        (self.tree / ".hallmark").mkdir()
        self.write_build()
        second = self.box / "second"
        second.mkdir()
        for name in (".hallmark", "include"):
            shutil.copytree(self.path(name), second / name)
        for name in ("value.txt", "gen.py", "unit.cpp", "other.cpp", "build.ninja"):
            shutil.copy(self.path(name), second / name)
        with self.expect(executed=0, replayed=4):
            self.ninja(cwd=second)
        self.write("include/unit.h", "#define UNIT 2\n")
        self.assertEqual(["STALE"], self.verdicts("out/libunit.so"))
        self.assertEqual(["FRESH"], self.verdicts("out/libunit.so", cwd=second))
        (second / "value.txt").write_text("5\n")
        self.assertEqual(["STALE"], self.verdicts("out/libunit.so", cwd=second))
        self.write("include/unit.h", "#define UNIT 1\n")
        self.assertEqual(["FRESH"], self.verdicts(self.path("out/libunit.so"), cwd="/"))

    # ---- a whole build, and a process ----------------------------------------------------------------------------------

    @needs("ninja", "g++")
    def test_a_build_folder_of_ninja(self):
        self.write_build()
        done = self.verb("verify", "--build-dir", ".")
        self.assertEqual("4 fresh, 0 stale, 0 unknown\n", done.out)
        self.write("other.cpp", "int other() { return 3; }\n")
        done = self.verb("verify", "--build-dir", self.tree, cwd="/", code=1)
        self.assertIn("2 fresh, 2 stale, 0 unknown", done.out)
        self.assertNotIn("FRESH", done.out)
        self.run_plain(["touch", "by_hand.o"])
        self.write("build.ninja", self.read("build.ninja") + "rule touch\n  command = touch $out\nbuild by_hand.o: touch\n")
        self.ninja()
        done = self.verb("verify", "--build-dir", ".", code=1)
        self.assertIn("UNKNOWN by_hand.o", done.out)
        self.assertIn("4 fresh, 0 stale, 1 unknown", done.out)

    @needs("make", "g++")
    def test_a_build_folder_of_make(self):
        run = f"{self.program} run --"
        self.write_all({"a.cpp": '#include "a.h"\nint main() { return A; }\n', "a.h": "#define A 1\n",
                        "Makefile": f"prog: a.o\n\t{run} g++ a.o -o prog\na.o: a.cpp\n\t{run} g++ -c a.cpp -o a.o\n"})
        self.make()
        self.assertEqual("2 fresh, 0 stale, 0 unknown\n", self.verb("verify", "--build-dir", ".").out)
        self.write("a.h", "#define A 2\n")
        self.assertIn("up to date", self.make().out, "make knows nothing of the header")
        self.assertIn("0 fresh, 2 stale, 0 unknown", self.verb("verify", "--build-dir", ".", code=1).out)

    @needs("ninja", "g++")
    def test_what_a_process_runs(self):
        (self.tree / ".hallmark").mkdir()
        self.write_build()
        self.write("prog.cpp", "#include <unistd.h>\nint unit();\nint main() { write(1, \"on\", 2); pause(); return unit(); }\n")
        self.hallmark(["g++", "prog.cpp", "-o", "prog", "out/libunit.so", f"-Wl,-rpath,{self.tree}/out"])
        process = self.start([self.path("prog")])
        self.assertEqual(b"on", process.stdout.read(2))

        def judged(code):
            told = json.loads(self.verb("verify", "--json", "--pid", str(process.pid), code=code).out)
            self.assertGreater(told["not_judged"], 0, "the system's libraries")
            return {os.path.basename(a["artifact"]): a["verdict"] for a in told["artifacts"]}

        self.assertEqual({"prog": "FRESH", "libunit.so": "FRESH"}, judged(0))
        self.write("include/unit.h", "#define UNIT 2\n")
        self.assertEqual({"prog": "STALE", "libunit.so": "STALE"}, judged(1), "prog was linked with the library")
        self.ninja()
        self.assertEqual(["FRESH"], self.verdicts("out/libunit.so"))
        loaded = judged(1)["libunit.so"]
        self.assertEqual("STALE" if os.geteuid() == 0 else "UNKNOWN", loaded, "the process still runs the old one")
        text = self.verb("verify", "--pid", str(process.pid), code=1).out
        self.assertIn("further files are not judged", text)
        process.kill()
        process.wait()
        self.verb("verify", "--pid", str(process.pid), code=3)

    @needs("g++")
    def test_a_replay_in_a_tree_without_any_mark(self):
        """The object was made in one tree and replayed in another: each is judged by the files beside it."""
        trees = [self.box / "one", self.box / "two"]
        for tree in trees:
            tree.mkdir()
            (tree / "a.cpp").write_text("int a() { return 1; }\n")
        for tree in trees:
            self.hallmark(["g++", "-fPIC", "-c", "a.cpp", "-o", "a.o"], cwd=tree)
            self.hallmark(["g++", "-shared", "a.o", "-o", "l.so"], cwd=tree)
        self.assertEqual(2, self.counts().replayed)
        (trees[1] / "a.cpp").write_text("int a() { return 2; }\n")
        self.assertEqual(["FRESH", "STALE"], self.verdicts(trees[0] / "l.so", trees[1] / "l.so"))
        shutil.rmtree(trees[0])
        self.assertEqual(["STALE"], self.verdicts(trees[1] / "l.so"))

    @needs("make", "g++")
    def test_recursive_make(self):
        """Each Makefile's folder is a build folder of its own, and yet the chain goes through both."""
        (self.tree / ".hallmark").mkdir()
        run = f"{self.program} run --"
        self.write_all({
            "Makefile": f"all:\n\t$(MAKE) -C sub gen.h\n\t{run} g++ -c u.cpp -o u.o\n",
            "sub/Makefile": f"gen.h: value.txt\n\t{run} {PYTHON} gen.py gen.h\n",
            "sub/gen.py": GENERATOR, "sub/value.txt": "1\n", "u.cpp": '#include "sub/gen.h"\nint u() { return VALUE; }\n'})
        self.make()
        self.assertEqual(["FRESH"], self.verdicts("u.o"))
        self.write("sub/value.txt", "2\n")
        self.assertEqual(["u.o", "gen.h", "value.txt"], self.chain("u.o"))

    def test_a_generator_whose_run_could_not_be_recorded(self):
        net = "import socket, sys\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))\nopen(sys.argv[1], 'w').write('1')\n"
        use = "import sys\nopen(sys.argv[2], 'w').write(open(sys.argv[1]).read() * 2)\n"
        self.write_all({"net.py": net, "use.py": use})
        with self.expect(executed=1, unproven=1):
            self.hallmark([PYTHON, "net.py", "made.txt"], "--output", "made.txt")
            self.hallmark([PYTHON, "use.py", "made.txt", "used.txt"], "--output", "used.txt")
        self.assertEqual(["UNKNOWN", "UNKNOWN"], self.verdicts("made.txt", "used.txt"))
        self.assertIn("could not be recorded", self.told("used.txt")["chain"][-1]["doubts"][0])

    # ---- why -----------------------------------------------------------------------------------------------------------

    @needs("ninja", "g++")
    def test_why_draws_the_tree(self):
        self.write_build()
        tree = self.verb("why", "out/libunit.so").out
        for name in ("out/libunit.so", "out/unit.o", "out/gen.h", "value.txt", "gen.py", "unit.cpp", "include/unit.h", "out/other.o", "other.cpp"):
            self.assertRegex(tree, rf"(?m)^ *{name}$", tree)
        self.assertIn("made by", tree)
        self.assertNotIn("/usr/", tree.replace(PYTHON, ""))
        self.assertIn("/usr/", self.verb("why", "out/libunit.so", "--all").out)

        one = self.verb("why", "out/libunit.so", "--to", "value.txt").out
        self.assertIn("value.txt", one)
        self.assertNotIn("other.o", "\n".join(line for line in one.splitlines() if "made by" not in line))
        none = self.verb("why", "out/other.o", "--to", "value.txt", code=1)
        self.assertIn("does not derive from value.txt", none.err)

        told = json.loads(self.verb("why", "out/libunit.so", "--json").out)
        self.assertEqual([], [s for s in told["steps"] if s["verdict"] != "FRESH"])
        self.assertEqual(4, len(told["steps"]))
        top = {os.path.basename(i["path"]): i["step"] for i in told["steps"][0]["inputs"] if i["step"] is not None}
        self.assertEqual({"unit.o", "other.o"}, set(top))
        self.assertEqual("unit.o", os.path.basename(told["steps"][top["unit.o"]]["output"]))

        self.write("value.txt", "2\n")
        self.write("other.cpp", "int other() { return 3; }\n")
        stale = self.verb("why", "out/libunit.so", "--stale").out
        causes, again = stale.split("would be made again:")
        for name in ("value.txt", "other.cpp"):
            self.assertIn(name, causes)
        for name in ("out/gen.h", "out/unit.o", "out/other.o", "out/libunit.so"):
            self.assertIn(name, again)

        dot = self.verb("why", "out/libunit.so", "--dot").out
        self.assertIn('"value.txt" -> "out/gen.h"', dot)
        if find_tool("dot"):
            self.run_plain(["dot", "-Tsvg"], stdin=dot.encode())

    def test_bad_input_gets_a_line(self):
        self.write("alone.txt", "by hand")
        (self.tree / "folder").mkdir()
        os.symlink("nowhere", self.path("dangling"))
        for name, words in (("alone.txt", "no command that hallmark recorded"), ("none", "no such file"), ("folder", "no regular file"),
                            ("dangling", "no such file"), ("/dev/null", "no regular file")):
            told = self.told(name)
            self.assertEqual("UNKNOWN", told["verdict"], name)
            self.assertIn(words, told["doubt"], name)
            done = self.verb("why", name, code=1)
            self.assertIn(words, done.err)
            self.assertEqual("", done.out)
        for wrong in (("verify",), ("verify", ""), ("why", "a", "b"), ("why", "--to", "x"), ("why", "--stale"), ("why", "--last-miss", "a"),
                      ("verify", "--nonsense", "a"), ("verify", "--pid", "1x"), ("verify", "--pid", "1", "a"), ("verify", "--build-dir", "folder"),
                      ("verify", "--build-dir", "none")):
            done = self.verb(*wrong, code=2)
            self.assertTrue(done.err.startswith("hallmark: "), done)
            self.assertEqual(1, done.err.count("\n"), done)

    @needs("g++")
    def test_a_store_that_lost_things(self):
        self.write("a.cpp", "int a;\n")
        self.hallmark(["g++", "-c", "a.cpp", "-o", "a.o"])
        self.assertEqual(["FRESH"], self.verdicts("a.o"))
        shutil.rmtree(self.store / "blobs")
        self.assertEqual(["FRESH"], self.verdicts("a.o"), "no blob is needed to know")
        for folder in ("records", "derivations"):
            for parent, _, names in os.walk(self.store / folder):
                for name in names:
                    os.unlink(os.path.join(parent, name))
            self.assertEqual("FRESH" if folder == "records" else "UNKNOWN", self.told("a.o")["verdict"], folder)
        (self.store / "made").write_bytes(os.urandom(4096))
        self.assertEqual(["UNKNOWN"], self.verdicts("a.o"))
        (self.store / "made").unlink()
        self.assertEqual(["UNKNOWN"], self.verdicts("a.o"))

    # ---- compilers -----------------------------------------------------------------------------------------------------

    @with_kits("gxx", "nvcc")
    def test_a_header_that_the_depfile_does_not_name(self, kit):
        """A system header, left out of the depfile by -MMD: the plain build finds nothing to do."""
        compile_line = " ".join(kit.compile("$in", "$out", "-isystem", "ven", "-MMD", "-MF", "$out.d"))
        self.write_all({"ven/kernel.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("kernel.h")})
        self.write("build.ninja", f"rule cc\n  command = {compile_line}\n  depfile = $out.d\nbuild k.o: cc k{kit.suffix}\n")
        if not find_tool("ninja"):
            self.skipTest("ninja is not installed")
        self.ninja()
        self.write("ven/kernel.h", "#define VAL 2\n")
        self.assert_no_work()
        self.assertEqual("1", kits.mark(self.path("k.o")), "the old kernel, and nothing to do")

        self.write("build.ninja", self.read("build.ninja").replace("command = ", f"command = {self.program} run -- "))
        self.ninja()
        self.assertEqual(["FRESH"], self.verdicts("k.o"))
        self.write("ven/kernel.h", "#define VAL 3\n")
        self.assertEqual(["k.o", "kernel.h"], self.chain("k.o"))
        self.ninja()
        self.assertEqual("3", kits.mark(self.path("k.o")))
        self.assertEqual(["FRESH"], self.verdicts("k.o"))


if __name__ == "__main__":
    main()
