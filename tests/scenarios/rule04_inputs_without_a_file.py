"""Soundness rule 4: inputs that no file call shows: the CPU behind `native`, clocks, mtimes, and programs that are oracles."""

import os
import re
import shutil
import time

import kits
from harness import PYTHON, Scenario, main, needs


class InputsWithoutAFile(Scenario):
    def test_an_oracle_is_not_replayed(self):
        """`hallmark run -- date` just runs."""
        first = self.hallmark(["date", "+%N"]).out
        second = self.hallmark(["date", "+%N"]).out
        self.assertNotEqual(first, second)
        self.assertEqual(0, self.counts().replayed)

    def test_programs_of_unknown_kind_run_each_time(self):
        """Without a build edge, --output or --cache a script just runs, observed."""
        self.write("roll.py", "import time\nprint(time.time_ns())\n")
        self.assertNotEqual(self.hallmark([PYTHON, "roll.py"]).out, self.hallmark([PYTHON, "roll.py"]).out)
        first = self.hallmark([PYTHON, "roll.py"], "--cache").out
        with self.expect(executed=0, replayed=1, why="--cache asks for it"):
            self.assertEqual(first, self.hallmark([PYTHON, "roll.py"], "--cache").out)

    @needs("ninja")
    def test_a_build_edge_is_replayed(self):
        self.write("gen.py", "import sys\nopen(sys.argv[1], 'w').write('x')\n")
        self.write("build.ninja", f"rule gen\n  command = {self.program} run -- {PYTHON} gen.py $out\nbuild o.txt: gen gen.py\n")
        with self.expect(executed=1):
            self.ninja()
        self.path("o.txt").unlink()
        with self.expect(executed=0, replayed=1):
            self.ninja()
        self.assertEqual("x", self.read("o.txt"))

    def test_date_and_time_macros(self):
        """A text that names the date or time counts as such: the replayed stamp may not be older than the day it names."""
        self.write("t.cpp", "extern const char t[];\nconst char t[] = \"STAMP \" __DATE__ \" \" __TIME__;\n")
        command = ["g++", "-c", "t.cpp", "-o", "t.o"]
        def stamp():
            self.hallmark(command)
            return re.search(rb"STAMP [ -~]*", self.bytes_of("t.o"))[0]
        first = stamp()
        time.sleep(1.1)
        self.assertNotEqual(first, stamp(), "__TIME__ is another one a second later")

    @needs("clang")
    def test_date_and_time_macros_of_any_target(self):
        """A compiler for a target that nobody here has heard of reads the clock as well."""
        os.symlink(shutil.which("clang"), self.path("hexagon-unknown-linux-musl-clang"))
        self.write("t.c", "const char t[] = __TIME__;\n")
        command = ["./hexagon-unknown-linux-musl-clang", "-target", "x86_64-linux-gnu", "-c", "t.c", "-o", "t.o"]
        self.hallmark(command, "--cache")
        first = self.bytes_of("t.o")
        time.sleep(1.1)
        self.hallmark(command, "--cache")
        self.assertNotEqual(first, self.bytes_of("t.o"))

    def test_date_macro_in_a_header(self):
        self.write_all({"t.h": '#define STAMP "MARK:" __TIME__ "x:"\n', "t.cpp": '#include "t.h"\nextern const char t[];\nconst char t[] = STAMP;\n'})
        command = ["g++", "-c", "t.cpp", "-o", "t.o"]
        self.hallmark(command)
        first = self.bytes_of("t.o")
        time.sleep(1.1)
        self.hallmark(command)
        self.assertNotEqual(first, self.bytes_of("t.o"))

    def test_timestamp_macro(self):
        """__TIMESTAMP__ is the mtime of the source."""
        self.write("t.cpp", "extern const char t[];\nconst char t[] = __TIMESTAMP__;\n", mtime=1_500_000_000)
        command = ["g++", "-c", "t.cpp", "-o", "t.o"]
        self.hallmark(command)
        self.assertIn(b"2017", self.bytes_of("t.o"))
        self.write("t.cpp", "extern const char t[];\nconst char t[] = __TIMESTAMP__;\n", mtime=1_600_000_000)
        self.hallmark(command)
        self.assertIn(b"2020", self.bytes_of("t.o"))

    def test_tools_that_read_mtimes(self):
        """tar carries mtimes into its output."""
        self.write("a.txt", "a", mtime=1_500_000_000)
        tar = ["tar", "cf", "a.tar", "a.txt"]
        for stamp in (1_500_000_000, 1_600_000_000, 1_500_000_000):
            self.write("a.txt", "a", mtime=stamp)
            self.hallmark(tar, "--output", "a.tar")
            listed = self.run_plain([PYTHON, "-c", "import tarfile\nprint(int(tarfile.open('a.tar').getmember('a.txt').mtime))"])
            self.assertEqual(stamp, int(listed.out))

    @needs("make")
    def test_make_inside(self):
        """A whole make under one hallmark run: mtimes decide what it does, so they count."""
        self.write_all({"a.in": "1\n", "Makefile": "a.out: a.in\n\tcp a.in a.out\n"})
        command = ["make", "-s"]
        self.hallmark(command, "--output", "a.out")
        self.write("a.in", "2\n")
        self.hallmark(command, "--output", "a.out")
        self.assertEqual("2\n", self.read("a.out"))
        self.write("a.in", "1\n")
        self.hallmark(command, "--output", "a.out")
        self.assertEqual("1\n", self.read("a.out"))

    def test_clock_words_in_arguments_and_executable_sources(self):
        self.write_all({"word.c": "const char t[] = X;\n", "file.c": "const char t[] = __TIME__;\n"})
        self.path("file.c").chmod(0o755)
        with self.expect(executed=0, replayed=0, unproven=2):
            self.hallmark(["gcc", "-DX=__TIME__", "-c", "word.c", "-o", "word.o"])
            self.hallmark(["gcc", "-c", "file.c", "-o", "file.o"])

    def test_files_that_were_only_looked_at(self):
        """A program of unknown kind may make something of the size or the time of a file, executable or not."""
        for mode in (0o644, 0o755):
            self.write("data", "1")
            self.path("data").chmod(mode)
            command = [PYTHON, "-c", "import os, sys; sys.stdout.write(str(os.path.getsize('data')))"]
            self.assertEqual("1", self.hallmark(command, "--cache").out)
            with self.expect(executed=0, replayed=1):
                self.assertEqual("1", self.hallmark(command, "--cache").out)
            self.write("data", "12")
            self.path("data").chmod(mode)
            self.assertEqual("2", self.hallmark(command, "--cache").out)

    def test_native(self):
        """-march=native puts the CPU into the key; it must still be replayable on this CPU."""
        self.write_all({"k.h": "#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("k.h")})
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                self.hallmark(["g++", "-march=native", "-c", "k.cpp", "-o", "k.o"])

    def test_umask(self):
        """The mode of an output is part of the result."""
        self.write("k.c", "int main(void) { return 0; }\n")
        for mask, mode in (("022", 0o755), ("077", 0o700), ("022", 0o755)):
            self.path("k").unlink(missing_ok=True)
            self.run_plain(["sh", "-c", f"umask {mask}; exec \"$@\"", "sh", *self.launcher(), "gcc", "k.c", "-o", "k"])
            self.assertEqual(mode, self.path("k").stat().st_mode & 0o777)


if __name__ == "__main__":
    main()
