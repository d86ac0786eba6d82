"""Soundness rule 2: what may be published, and what a replay may overwrite.

Outputs are files made whole under the root, the working folder or --output. Everything else runs, is delivered, and is
never replayed.
"""

import os

from harness import PYTHON, Scenario, main, needs


class Published(Scenario):
    """These are whole outputs: the second run is a replay."""

    def replays(self, argv, outputs, *options, prepare=None):
        names = [o for name in outputs for o in ("--output", name)]
        if prepare:
            prepare()
        with self.expect(executed=1, replayed=0):
            self.hallmark(argv, *names, *options)
        wanted = {name: self.bytes_of(name) for name in outputs}
        if prepare:
            prepare()
        for name in outputs:
            self.path(name).unlink()
        with self.expect(executed=0, replayed=1):
            self.hallmark(argv, *names, *options)
        self.assertEqual(wanted, {name: self.bytes_of(name) for name in outputs})

    def test_a_stranger_in_a_folder_that_the_command_makes(self):
        """`mkdir -p objs; cat objs/*`: what lies in the folder by then is part of the result."""
        self.write_all({"a": "one\n", "all.sh": "mkdir -p d; cp a d/a; cat d/* > all\n"})
        for executed in (1, 0):
            with self.expect(executed=executed):
                self.hallmark(["sh", "all.sh"], "--cache")
        self.write("d/extra", "two\n")
        with self.expect(executed=1):
            self.hallmark(["sh", "all.sh"], "--cache")
        self.assertEqual("one\ntwo\n", self.read("all"))

    def test_a_folder_that_is_made_anew(self):
        """`rm -rf gen; mkdir gen`, as generators do: a file of an earlier list must not come back beside the new ones."""
        self.write("gen.sh", 'rm -rf gen; mkdir gen; n=$(cat name); echo $n > gen/$n.txt; echo all > gen/all.txt\n')
        for name in ("a", "b", "a", "b"):
            self.write("name", name)
            self.hallmark(["sh", "gen.sh"], "--cache")
            self.assertEqual(sorted(["all.txt", f"{name}.txt"]), sorted(os.listdir(self.path("gen"))))
        self.run_plain(["rm", "-rf", "gen"])
        with self.expect(executed=1):
            self.hallmark(["sh", "gen.sh"], "--cache")  # as in a clean tree
        self.run_plain(["rm", "-rf", "gen"])
        with self.expect(executed=0, replayed=2):
            self.hallmark(["sh", "gen.sh"], "--cache")
            self.hallmark(["sh", "gen.sh"], "--cache")  # over its own outputs
        self.assertEqual(["all.txt", "b.txt"], sorted(os.listdir(self.path("gen"))))

    def objects(self):
        for name in ("a", "b"):
            self.write(f"{name}.c", f"int {name}(void) {{ return 1; }}\n")
            self.run_plain(["gcc", "-c", f"{name}.c", "-o", f"{name}.o"])

    def test_ar_that_creates(self):
        self.objects()
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                self.hallmark(["ar", "qcD", "lib.a", "a.o", "b.o"], "--output", "lib.a")
                whole = self.bytes_of("lib.a")
                self.path("lib.a").unlink()
        self.assertTrue(whole.startswith(b"!<arch>\n"))

    def test_ar_over_an_old_archive(self):
        """ar reads the old archive, then renames a new one over it: the old content is an input."""
        self.objects()
        command = ["ar", "rcsD", "lib.a", "a.o", "b.o"]
        for stale in (["a.o"], ["b.o", "a.o"], []):
            self.path("lib.a").unlink(missing_ok=True)
            if stale:
                self.run_plain(["ar", "rcsD", "lib.a", *stale])
            self.hallmark(command, "--output", "lib.a")
            mine = self.bytes_of("lib.a")
            with self.fresh_copy():
                self.path("lib.a").unlink()
                if stale:
                    self.run_plain(["ar", "rcsD", "lib.a", *stale])
                self.run_plain(command)
                self.assertEqual(self.bytes_of("lib.a"), mine, f"old archive of {stale}")

    def test_link_with_a_gcc_probe_of_its_own_output(self):
        self.write("m.c", "int main(void) { return 0; }\n")
        with self.expect(executed=1, replayed=2):
            for _ in range(3):  # with and without an old output in the way
                self.hallmark(["gcc", "m.c", "-o", "m"])
        self.run_plain(["./m"])

    def test_rename_over(self):
        self.write("a.txt", "a\n")
        self.replays(["sh", "-c", "cp a.txt t.tmp && mv t.tmp out.txt"], ["out.txt"])
        self.assertFalse(self.path("t.tmp").exists())

    def test_mkdir_p(self):
        self.write("a.txt", "a\n")
        self.replays(["sh", "-c", "mkdir -p d/e && cp a.txt d/e/out.txt"], ["d/e/out.txt"])
        self.run_plain(["rm", "-r", "d"])
        with self.expect(executed=0, replayed=1):
            self.hallmark(["sh", "-c", "mkdir -p d/e && cp a.txt d/e/out.txt"], "--output", "d/e/out.txt")
        self.assertEqual("a\n", self.read("d/e/out.txt"))

    def test_links_and_modes(self):
        self.write("a.txt", "a\n")
        script = "cp a.txt lib.so.1 && chmod 750 lib.so.1 && ln -sf lib.so.1 lib.so"
        for _ in range(2):
            self.hallmark(["sh", "-c", script], "--output", "lib.so.1", "--output", "lib.so")
            self.assertEqual("lib.so.1", os.readlink(self.path("lib.so")))
            self.assertEqual(0o750, self.path("lib.so.1").stat().st_mode & 0o777)
            self.path("lib.so").unlink()
            self.path("lib.so.1").unlink()
        self.assertEqual((1, 1), (self.counts().executed, self.counts().replayed))

    def test_created_and_removed_inside(self):
        self.write("a.txt", "a\n")
        self.replays(["sh", "-c", "mkdir tmpd && cp a.txt tmpd/x && cp tmpd/x out.txt && rm -r tmpd"], ["out.txt"])

    def test_empty_and_many_outputs(self):
        names = [f"{i}.txt" for i in range(30)] + ["empty.txt"]
        script = "import sys\n[open(f'{i}.txt', 'w').write(str(i)) for i in range(30)]\nopen('empty.txt', 'w')\n"
        self.write("gen.py", script)
        self.replays([PYTHON, "gen.py"], names)


class NeverPublished(Scenario):
    """Effects that a replay could not reproduce: executed each time, unproven, and the effect itself is there."""

    def runs_each_time(self, argv, *options, check_effect, rounds=2):
        for number in range(1, rounds + 1):
            with self.expect(executed=0, replayed=0, unproven=1, why=" ".join(map(str, argv))):
                self.hallmark(argv, *options)
            check_effect(number)

    def test_append(self):
        self.write("log.txt", "start\n")
        self.runs_each_time(["sh", "-c", "echo line >> log.txt"], "--output", "log.txt",
                            check_effect=lambda n: self.assertEqual("start\n" + "line\n" * n, self.read("log.txt")))

    def test_append_to_a_new_file(self):
        """What is left depends on there having been nothing: a second run appends."""
        command = ["sh", "-c", "echo x >> log"]
        for lines in (1, 2):
            self.hallmark(command, "--output", "log")
            self.assertEqual("x\n" * lines, self.read("log"))
        self.path("log").unlink()
        with self.expect(executed=0, replayed=1):
            self.hallmark(command, "--output", "log")
        self.assertEqual("x\n", self.read("log"))

    def test_write_in_place(self):
        self.write("data.bin", "0123456789")
        script = "f = open('data.bin', 'r+'); f.seek(3); f.write('X'); f.close()"
        self.runs_each_time([PYTHON, "-c", script], "--output", "data.bin",
                            check_effect=lambda n: self.assertEqual("012X456789", self.read("data.bin")))

    def test_truncate_in_place(self):
        self.write("data.bin", "0123456789")
        def effect(_):
            self.assertEqual("0123", self.read("data.bin"))
            self.write("data.bin", "0123456789")
        self.runs_each_time([PYTHON, "-c", "import os; os.truncate('data.bin', 4)"], "--output", "data.bin", check_effect=effect)

    def test_memory_mapped_write(self):
        self.write("data.bin", "0123456789")
        script = "import mmap\nf = open('data.bin', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[0:1] = b'Z'\nm.close()"
        self.runs_each_time([PYTHON, "-c", script], "--output", "data.bin",
                            check_effect=lambda n: self.assertEqual("Z123456789", self.read("data.bin")))

    def test_sqlite(self):
        script = "import sqlite3\nd = sqlite3.connect('d.db')\nd.execute('create table if not exists t(x)')\n" \
                 "d.execute('insert into t values (1)')\nd.commit()"
        self.run_plain([PYTHON, "-c", script])
        def rows(n):
            told = self.run_plain([PYTHON, "-c", "import sqlite3\nprint(sqlite3.connect('d.db').execute('select count(*) from t').fetchone()[0])"])
            self.assertEqual(1 + n, int(told.out))
        self.runs_each_time([PYTHON, "-c", script], "--output", "d.db", check_effect=rows)

    def test_removal_of_a_foreign_file(self):
        def effect(_):
            self.assertFalse(self.path("old.txt").exists())
            self.write("old.txt", "again\n")
        self.write("old.txt", "x\n")
        self.write("in.txt", "in\n")
        self.runs_each_time(["sh", "-c", "rm old.txt && cp in.txt out.txt"], "--output", "out.txt", check_effect=effect)

    def test_write_elsewhere(self):
        """Outside the root, the working folder and --output."""
        elsewhere = self.box / "elsewhere"
        elsewhere.mkdir()
        def effect(_):
            self.assertEqual("in\n", (elsewhere / "x").read_text())
            (elsewhere / "x").unlink()
        self.write("in.txt", "in\n")
        self.runs_each_time(["sh", "-c", f"cp in.txt out.txt && cp in.txt {elsewhere}/x"], "--output", "out.txt", check_effect=effect)
        (elsewhere / "x").unlink(missing_ok=True)
        with self.expect(executed=1, replayed=1, why="named by --output it is an output"):
            for _ in range(2):
                self.hallmark(["sh", "-c", f"cp in.txt {elsewhere}/x"], "--output", f"{elsewhere}/x")

    def test_fifo(self):
        def effect(_):
            self.assertTrue(self.path("pipe").is_fifo())
            self.path("pipe").unlink()
        self.runs_each_time(["mkfifo", "pipe"], "--output", "pipe", check_effect=effect)

    @needs("ninja")
    def test_ninja_itself(self):
        """hallmark run -- ninja: .ninja_log is appended to, so the outer command runs each time, and its edges count alone."""
        self.write("a.c", "int a;\n")
        self.write("build.ninja", f"rule cc\n  command = {self.program} run -- gcc -c $in -o $out\nbuild a.o: cc a.c\n")
        first = self.hallmark(["ninja"])
        self.assertIn("a.o", first.out)
        second = self.hallmark(["ninja"])
        self.assertIn("no work to do", second.out)


class Overwriting(Scenario):
    """A replay never destroys what hallmark did not put there."""

    def test_unknown_bytes_in_the_way(self):
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        self.hallmark(command)
        whole = self.bytes_of("k.o")
        self.write("k.o", "precious, not from hallmark")
        with self.expect(executed=1, replayed=0, why="the compiler, not hallmark, decides about that file"):
            self.hallmark(command)
        self.assertEqual(whole, self.bytes_of("k.o"))
        self.assertIn("k.o", self.last_miss())

    def test_known_outputs_are_replaced(self):
        self.write("k.c", "#ifdef B\nint kb;\n#else\nint ka;\n#endif\n")
        one, two = (["gcc", *flag, "-c", "k.c", "-o", "k.o"] for flag in ([], ["-DB"]))
        self.hallmark(one)
        self.hallmark(two)
        with self.expect(executed=0, replayed=2):
            self.hallmark(one)
            self.assertIn(b"ka", self.bytes_of("k.o"))
            self.hallmark(two)
            self.assertIn(b"kb", self.bytes_of("k.o"))

    def test_hard_link_to_an_output_keeps_its_bytes(self):
        """An installed copy that is a hard link of the output must not change when the output is replayed."""
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        self.hallmark(command)
        os.link(self.path("k.o"), self.path("installed.o"))
        installed = self.bytes_of("installed.o")
        self.write("k.c", "int other;\n")
        self.hallmark(command)
        self.write("k.c", "int k;\n")
        self.hallmark(command)
        # gcc writes through a hard link as well; hallmark may do either, but must not tear the link's content.
        self.assertIn(self.bytes_of("installed.o"), (installed, self.bytes_of("k.o")))

    def test_edit_of_a_restored_output_leaves_the_store_alone(self):
        """Restored files share no writable bytes with the store."""
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        self.hallmark(command)
        whole = self.bytes_of("k.o")
        self.path("k.o").unlink()
        self.hallmark(command)
        with open(self.path("k.o"), "r+b") as file:
            file.write(b"garbage!")
        self.path("k.o").unlink()
        with self.expect(executed=0, replayed=1):
            self.hallmark(command)
        self.assertEqual(whole, self.bytes_of("k.o"))


if __name__ == "__main__":
    main()
