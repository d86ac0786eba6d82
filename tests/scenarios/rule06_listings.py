"""Soundness rule 6: listings. A listing counts as the set of names that was returned; parallel writers do not spoil it."""

from harness import PYTHON, Scenario, main, needs

GENERATOR = """\
import os, sys, time
names = sorted(n for n in os.listdir("gen") if n.endswith(".in"))
time.sleep(0.2)
with open(sys.argv[1], "w") as out:
    out.write(" ".join(names))
time.sleep(0.2)
"""


class Listings(Scenario):
    @needs("ninja")
    def test_eight_generators_in_one_folder(self):
        """Each lists the folder into which all of them write at the same time."""
        self.write_all({"gen/a.in": "", "gen/b.in": "", "gen.py": GENERATOR})
        self.write("build.ninja", f"rule gen\n  command = {self.program} run --depfile $out.d -- {PYTHON} gen.py $out\n"
                                  "  depfile = $out.d\n  deps = gcc\n" + "".join(f"build gen/{i}.out: gen\n" for i in range(8)))
        self.ninja("-j8")
        counts = self.counts()
        self.assertEqual((8, 8), (counts.executed, counts.ran), self.last_miss())
        for i in range(8):
            self.assertEqual("a.in b.in", self.read(f"gen/{i}.out"))
        self.assert_no_work()
        self.ninja("-t", "clean")
        self.ninja("-j8")
        for i in range(8):
            self.assertEqual("a.in b.in", self.read(f"gen/{i}.out"))
        self.assert_no_work()

    def test_module_that_appears_beside_a_script(self):
        """An import lists the folder of the script first: a file there hides a module of the library."""
        self.write("gen/gen.py", "import colorsys\nopen('out.txt', 'w').write(getattr(colorsys, 'MARK', 'library'))\n")

        def run():
            self.hallmark([PYTHON, "gen/gen.py"], "--output", "out.txt")
            return self.read("out.txt")

        self.assertEqual("library", run())
        self.write("gen/colorsys.py", "MARK = 'own'\n")
        self.assertEqual("own", run())
        self.path("gen/colorsys.py").unlink()
        with self.expect(executed=0, replayed=1):
            self.assertEqual("library", run())

    def test_names_count_and_contents_do_not(self):
        self.write_all({"d/a": "", "d/b": ""})
        self.write("ls.py", "import os\nopen('out.txt', 'w').write(' '.join(sorted(os.listdir('d'))))\n")
        command = [PYTHON, "ls.py"]
        def run():
            self.hallmark(command, "--output", "out.txt")
            return self.read("out.txt")
        self.assertEqual("a b", run())
        with self.expect(executed=0, replayed=2):
            self.write("d/a", "content")
            self.assertEqual("a b", run())
            # Another order of arrival.
            for name in ("b", "a"):
                self.path(f"d/{name}").unlink()
            for name in ("b", "a"):
                self.write(f"d/{name}", "")
            self.assertEqual("a b", run())
        self.write("d/c", "")
        self.assertEqual("a b c", run())
        self.path("d/a").unlink()
        self.assertEqual("b c", run())
        self.path("d/a").mkdir()
        self.assertEqual("a b c", run())

    def test_own_outputs_are_not_in_the_listing(self):
        """A command that lists the folder into which it writes sees its own file in the second run; that is no change."""
        self.write_all({"d/a": ""})
        self.write("ls.py", "import os\nopen('d/made.txt', 'w').write('x')\nos.listdir('d')\n")
        with self.expect(executed=1, replayed=1):
            self.hallmark([PYTHON, "ls.py"], "--output", "d/made.txt")
            self.path("d/made.txt").unlink()
            self.hallmark([PYTHON, "ls.py"], "--output", "d/made.txt")

    def test_large_folder_that_is_only_searched(self):
        """A search folder with 9,000 files costs neither a listing nor a miss for a new name in it."""
        (self.tree / "big").mkdir()
        for i in range(9000):
            (self.tree / f"big/h{i}.h").touch()
        self.write_all({"v.h": "#define VAL 1\n", "sub/k.cpp": '#include <v.h>\n'})
        command = ["g++", "-Ibig", "-I.", "-c", "sub/k.cpp", "-o", "k.o"]
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.write("big/unrelated.h", "")
            self.hallmark(command)
        with self.expect(executed=1):
            self.write("big/v.h", "")
            self.hallmark(command)


if __name__ == "__main__":
    main()
