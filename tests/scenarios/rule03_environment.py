"""Soundness rule 3: the environment. Everything counts, except what cannot matter and what counts by its effect.

PATH counts as the programs found through it; HOME, TMPDIR, PWD, USER and virtual environments count only if a result shows
them. Today: each isolated `pip install` compiles everything again, since its temporary folders are new each time.
"""

import os

import harness
import kits
from harness import PYTHON, Scenario, main, needs

IGNORED = {
    "TERM": "dumb", "COLORTERM": "truecolor", "SHLVL": "7", "LS_COLORS": "di=1", "SSH_CONNECTION": "1 2 3 4", "WINDOWID": "9",
    "XDG_SESSION_ID": "12", "NINJA_STATUS": "x", "MAKELEVEL": "3", "MAX_JOBS": "2", "DBUS_SESSION_BUS_ADDRESS": "unix:x",
    "HALLMARK_NOBODY": "1", "HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET": "padding",
}


class Environment(Scenario):
    def setUp(self):
        super().setUp()
        self.write_all({"k.h": "#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("k.h")})
        self.command = ["g++", "-c", "k.cpp", "-o", "k.o"]

    def test_variables_that_cannot_matter(self):
        self.hallmark(self.command)
        for name, value in IGNORED.items():
            with self.expect(executed=0, replayed=1, why=name):
                self.hallmark(self.command, env={name: value})
        with self.expect(executed=0, replayed=1, why="all at once"):
            self.hallmark(self.command, env=IGNORED)

    def test_unknown_variables_count(self):
        """No table of variables that matter: any other name counts, set, changed or removed."""
        self.hallmark(self.command)
        for value in ("1", "2", ""):
            with self.expect(executed=1, why=f"SOME_FLAGS='{value}'"):
                self.hallmark(self.command, env={"SOME_FLAGS": value})
            self.assertIn("SOME_FLAGS", self.last_miss())
        with self.expect(executed=0, replayed=1):
            self.hallmark(self.command)

    def test_jobserver(self):
        """MAKEFLAGS counts without jobserver and job count, but with what the user defined."""
        self.hallmark(self.command, env={"MAKEFLAGS": " -j4 --jobserver-auth=3,4"})
        with self.expect(executed=0, replayed=2):
            self.hallmark(self.command, env={"MAKEFLAGS": " -j8 --jobserver-auth=5,6"})
            self.hallmark(self.command, env={"MAKEFLAGS": " -j8 --jobserver-auth=fifo:/tmp/GMfifo77"})
        with self.expect(executed=1):
            self.hallmark(self.command, env={"MAKEFLAGS": " -j8 -- FLAVOUR=debug"})

    @needs("make")
    def test_makeflags_of_a_make(self):
        """Options and definitions in MAKEFLAGS decide what make does."""
        self.write("Makefile", "all:\n\t@echo X is $(X)\n")
        for flags, text in (("X=1", "X is 1"), ("X=2", "X is 2"), ("n", "echo X is"), ("", "X is"), ("X=1 -j2", "X is 1"), ("n", "echo X is")):
            done = self.hallmark(["make"], "--cache", env={"MAKEFLAGS": flags})
            self.assertEqual(text, done.out.strip(), flags)

    def test_places(self):
        """HOME, TMPDIR, USER, OLDPWD and the order and length of PATH do not matter to a compiler."""
        self.hallmark(self.command)
        for name in ("home2", "tmp2", "bin2"):
            (self.box / name).mkdir()
        for changes in (
            {"HOME": str(self.box / "home2")},
            {"TMPDIR": str(self.box / "tmp2")},
            {"USER": "somebody", "LOGNAME": "somebody"},
            {"OLDPWD": "/"},
            {"PATH": f"{self.box}/bin2:{self.environment['PATH']}"},
            {"PATH": f"{self.environment['PATH']}:{self.box}/bin2:/nonexistent"},
        ):
            with self.expect(executed=0, replayed=1, why=str(changes)):
                self.hallmark(self.command, env=changes)

    def test_names_in_an_object_by_accident(self):
        """An identifier that holds the user's name, a working folder below the last one: no value of these variables."""
        self.write("k.cpp", "int tree_root = 1;\n")
        for changes in ({"USER": "root", "OLDPWD": str(self.box)}, {"USER": "tree", "OLDPWD": "/"}, {"OLDPWD": "/tmp"}):
            self.hallmark([*self.command, "-g"], env=changes)
        self.assertEqual(1, self.counts().executed)

    def test_a_program_found_through_path(self):
        """A tool of the same name earlier on PATH, asked for by a script deep inside."""
        self.script("bin1/namer", "#!/bin/sh\necho one\n")
        self.script("bin2/namer", "#!/bin/sh\necho two\n")
        (self.tree / "bin3").mkdir()
        self.write("gen.sh", "namer > out.txt\n")
        command = ["sh", "gen.sh"]
        base = self.environment["PATH"]

        def run(folders: str):
            self.hallmark(command, "--output", "out.txt", env={"PATH": ":".join([f"{self.tree}/{f}" for f in folders.split()] + [base])})
            return self.read("out.txt").strip()

        self.assertEqual("one", run("bin1"))
        self.assertEqual("two", run("bin2 bin1"))
        self.assertEqual("one", run("bin1 bin2"))
        with self.expect(executed=0, replayed=2):
            self.assertEqual("one", run("bin3 bin1"))
            self.assertEqual("two", run("bin2"))
        self.script("bin3/namer", "#!/bin/sh\necho three\n")
        self.assertEqual("three", run("bin3 bin1"), "a program appeared earlier on PATH")
        self.path("bin3/namer").chmod(0o644)
        self.assertEqual("one", run("bin3 bin1"), "it is executable no more")

    def test_file_that_is_sourced_through_path(self):
        """A shell sources a file of PATH that cannot be executed as well: a look-up of programs passes it over."""
        self.write_all({"d1/none": "", "use.sh": ". lib.sh; echo $value > out.txt\n"})
        self.write("d2/lib.sh", "value=behind\n", executable=True)

        def run():
            self.hallmark(["bash", "use.sh"], "--output", "out.txt", env={"PATH": f"{self.tree}/d1:{self.tree}/d2:{self.environment['PATH']}"})
            return self.read("out.txt").strip()

        self.assertEqual("behind", run())
        with self.expect(executed=0, replayed=1):
            self.assertEqual("behind", run())
        self.write("d1/lib.sh", "value=before\n")
        self.assertEqual("before", run())

    def test_a_value_that_the_result_shows_counts(self):
        """HOME, TMPDIR, USER in an output or on stdout: bound, so that no other user's value is replayed."""
        script = "import os, sys\nopen('out.txt', 'w').write(os.environ[sys.argv[1]])\n"
        printer = "import os, sys\nopen('out.txt', 'w').write('same')\nprint(os.environ[sys.argv[1]])\n"
        self.write_all({"show.py": script, "print.py": printer})
        for name in ("HOME", "TMPDIR", "USER", "VIRTUAL_ENV", "PWD"):
            for value in ("first", "second", "first"):
                place = self.box / value
                place.mkdir(exist_ok=True)
                text = value if name == "USER" else str(place)
                if name == "PWD":
                    os.path.islink(self.box / f"link-{value}") or os.symlink(self.tree, self.box / f"link-{value}")
                    text = str(self.box / f"link-{value}")
                self.hallmark([PYTHON, "show.py", name], "--output", "out.txt", env={name: text})
                self.assertEqual(text, self.read("out.txt"), name)
                done = self.hallmark([PYTHON, "print.py", name], "--output", "out.txt", env={name: text})
                self.assertEqual(text, done.out.strip(), name)

    def test_a_script_that_is_called_like_a_compiler(self):
        """What a compiler's name says of a program it does not say of somebody's script in front of it."""
        self.script("bin/gcc", '#!/bin/sh\nif [ -s extra ]; then set -- "$@" -DEXTRA; fi\nexec /usr/bin/gcc "-DWHO=\\"$USER\\"" "$@"\n')
        self.write_all({"extra": "", "a.c": '#ifdef EXTRA\nint extra;\n#endif\nconst char *who = "@" WHO "@";\n'})

        def run(user):
            self.hallmark(["bin/gcc", "-c", "a.c", "-o", "a.o"], env={"USER": user})
            return self.bytes_of("a.o")

        self.assertIn(b"@anna@", run("anna"))
        self.assertIn(b"@bela@", run("bela"))
        with self.expect(executed=0, replayed=2):
            self.assertIn(b"@anna@", run("anna"))
            self.assertIn(b"@bela@", run("bela"))
        plain = run("anna")
        self.write("extra", "words")
        self.assertNotEqual(plain, run("anna"), "only its size was asked for")
        for user in ("cleo", "dora"):
            self.hallmark(["gcc", "-c", "a.c", "-o", "b.o"], env={"USER": user, "PATH": "bin:" + self.environment["PATH"]})
            self.assertIn(f"@{user}@".encode(), self.bytes_of("b.o"), "it is found below the working folder")

    def test_content_below_home_counts(self):
        """A file read below HOME counts by its content, whatever HOME is called."""
        self.write("read.py", "import os\nopen('out.txt', 'w').write(open(os.path.expanduser('~/.toolrc')).read())\n")
        for home, text in (("h1", "one"), ("h2", "one"), ("h3", "two")):
            self.write(self.box / home / ".toolrc", text)
        command = [PYTHON, "read.py"]
        def run(home):
            self.hallmark(command, "--output", "out.txt", env={"HOME": str(self.box / home)})
            return self.read("out.txt")
        self.assertEqual("one", run("h1"))
        with self.expect(executed=0, replayed=1):
            self.assertEqual("one", run("h2"))
        self.assertEqual("two", run("h3"))
        self.write(self.box / "h1/.toolrc", "three")
        self.assertEqual("three", run("h1"))


class IsolatedInstalls(Scenario):
    """Two isolated builds of a package, each with random folders for environment, build and TMPDIR: 0 compiles in the second."""

    def build(self, number: int):
        overlay = self.scratch / f"pip-build-env-{'abcxyz'[number]}7k2/overlay"
        build = self.scratch / f"tmp{'qwerty'[number]}9z.build-temp"
        for folder in (overlay / "bin", overlay / "lib", build):
            folder.mkdir(parents=True)
        for tool in ("ninja", "cmake"):
            if harness.find_tool(tool):
                os.symlink(harness.find_tool(tool), overlay / "bin" / tool)
        environment = {
            "PATH": f"{overlay}/bin:{self.environment['PATH']}",
            "PYTHONPATH": f"{overlay}/lib",
            "PYTHONNOUSERSITE": "1",
            "PIP_BUILD_TRACKER": str(self.scratch / f"tracker{number}"),
        }
        self.run_plain([PYTHON, "build_all.py", self.program, build], env=environment)
        return build

    def test_two_installs(self):
        kit = kits.KITS["gxx"]
        self.write_all({
            "inc/k.h": "#define VAL 1\n",
            **{f"k{i}.cpp": kit.text("k.h") + f"int f{i}() {{ return {i}; }}\n" for i in range(3)},
            "build_all.py": "import subprocess, sys, os\nroot = os.getcwd()\nfor i in range(3):\n"
                            "    subprocess.run([sys.argv[1], 'run', '--', 'g++', '-fPIC', f'-I{root}/inc', '-c', f'{root}/k{i}.cpp',"
                            " '-o', f'{sys.argv[2]}/k{i}.o'], check=True)\n",
        })
        (self.tree / ".hallmark").mkdir()
        with self.expect(executed=3):
            self.build(0)
        # PIP_BUILD_TRACKER is one of the per-run names that no compiler reads.
        with self.expect(executed=0, replayed=3):
            second = self.build(1)
        self.assertEqual("1", kits.mark(second / "k2.o"))


if __name__ == "__main__":
    main()
