"""An input is edited while its compile runs.

Today: the object is newer than the edit, so Ninja before 1.12 and Make take it for fresh for ever (ninja-build/ninja#1162).
Under hallmark the result is delivered but unproven, and it is dated before the edit, so the next build runs again.
"""

import time

import harness
import kits
from harness import Scenario, main, needs

# Reads the header, then takes long before the output is complete, as cicc and ptxas do.
SLOW_COMPILER = """\
#!/bin/sh
g++ -E m.cpp -o m.ii && : > started.$$ && mv started.$$ started
while [ ! -e go ]; do sleep 0.02; done
g++ -x c++-cpp-output -c m.ii -o m.o
rm -f m.ii
"""


class EditDuringCompile(Scenario):
    def setUp(self):
        super().setUp()
        self.write_all({"h.h": "#define VAL 1\n", "m.cpp": kits.KITS["gxx"].text("h.h")})
        # Signals between the test and the compile; they lie outside the tree and are looked at by programs that know nothing.
        self.script("slowcc", SLOW_COMPILER.replace("started", f"{self.box}/started").replace(" go ", f" {self.box}/go "))

    def build_and_edit(self, argv, value):
        """Runs a build whose only compile reads the header, then finds it edited before it ends."""
        for name in ("go", "started"):
            (self.box / name).unlink(missing_ok=True)
        process = self.start(argv)
        self.assertTrue(harness.wait_until((self.box / "started").exists), "the compile must start")
        time.sleep(harness.SETTLE_S)
        self.write("h.h", f"#define VAL {value}\n")
        (self.box / "go").touch()
        out, err = process.communicate(timeout=60)
        self.assertEqual(0, process.returncode, (out, err))

    @needs("ninja")
    def test_ninja(self):
        for options in ("  deps = gcc\n", "  restat = 1\n", ""):
            with self.subTest(options=options.strip()):
                self.write("h.h", "#define VAL 1\n")
                for name in ("m.o", ".ninja_log", ".ninja_deps", "build.ninja"):
                    self.path(name).unlink(missing_ok=True)
                restat = "--restat " if "restat" in options else ""
                # The compiler's helper files outside the tree make the run unproven in any case: the verdict here is Ninja's.
                self.write("build.ninja", f"rule cc\n  command = {self.program} run {restat}--depfile $out.d -- ./slowcc\n"
                                          f"  depfile = $out.d\n{options}build m.o: cc m.cpp\n")
                self.build_and_edit(["ninja"], 2)
                self.ninja()
                self.assertEqual("2", kits.mark(self.path("m.o")), "first build")
                self.assert_no_work()
                self.write("h.h", "#define VAL 3\n")
                self.build_and_edit(["ninja"], 4)
                self.ninja()
                self.assertEqual("4", kits.mark(self.path("m.o")), "second build")
                self.assert_no_work()

    @needs("make")
    def test_make(self):
        self.write("Makefile", f"m.o: m.cpp h.h\n\t{self.program} run -- ./slowcc\n")
        self.build_and_edit(["make"], 2)
        self.make()
        self.assertEqual("2", kits.mark(self.path("m.o")))
        self.assertIn("up to date", self.make().out)

    def test_never_published(self):
        """The half-old result must not come back as a hit for either state of the header."""
        self.write("slow.sh", "g++ -E m.cpp -o m.ii\ncat fifo > /dev/null\ng++ -x c++-cpp-output -c m.ii -o m.o\nrm -f m.ii\n")
        import os

        os.mkfifo(self.path("fifo"))
        command = self.launcher("--output", "m.o") + ["sh", "slow.sh"]

        def run(edit=None):
            process = self.start(command)
            with open(self.path("fifo"), "w"):  # returns when the command has opened it
                if edit:
                    self.write("h.h", edit)
            _, err = process.communicate(timeout=60)
            self.assertEqual(0, process.returncode, err)

        with self.expect(executed=0, replayed=0, unproven=1):
            run("#define VAL 2\n")
        self.assertEqual("1", kits.mark(self.path("m.o")), "the result is delivered")
        for value in ("2", "1", "2"):
            self.write("h.h", f"#define VAL {value}\n")
            process = self.start(command)
            # A replay opens no fifo; do not wait for it.
            harness.wait_until(lambda: process.poll() is not None or _try_open(self.path("fifo")), 30)
            process.communicate(timeout=60)
            self.assertEqual(value, kits.mark(self.path("m.o")))


def _try_open(path) -> bool:
    import os

    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return True
    except OSError:
        return False


if __name__ == "__main__":
    main()
