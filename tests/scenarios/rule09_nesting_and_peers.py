"""Soundness rule 9: hallmark inside hallmark, and other caches beside it."""

import kits
from harness import Scenario, find_tool, main, needs


class Nesting(Scenario):
    def test_inner_run_is_part_of_the_outer(self):
        """A script under hallmark whose steps are under hallmark too: the inner's inputs are the outer's."""
        self.write_all({"k.h": "#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("k.h")})
        self.write("build.sh", f"{self.program} run -- g++ -c k.cpp -o k.o && cp k.o out.o\n")
        def run():
            self.hallmark(["sh", "build.sh"], "--output", "out.o", "--output", "k.o")
            return kits.mark(self.path("out.o"))
        self.assertEqual("1", run())
        self.assertEqual("1", run())
        self.write("k.h", "#define VAL 2\n")
        self.assertEqual("2", run(), "the inner command's header is an input of the outer command")
        # The inner is a replay here: its inputs must reach the outer all the same.
        self.write("k.h", "#define VAL 1\n")
        self.write("build.sh", f"{self.program} run -- g++ -c k.cpp -o k.o && cp k.o out.o # again\n")
        self.assertEqual("1", run())
        self.write("k.h", "#define VAL 3\n")
        self.assertEqual("3", run(), "the header of a replayed inner command")

    def test_three_levels(self):
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        for _ in range(3):
            command = self.launcher() + command
        for _ in range(2):
            self.run_plain(command)
            self.assertTrue(self.path("k.o").exists())
            self.path("k.o").unlink()

    @needs("ninja")
    def test_wrapper_that_asks_for_the_same_again(self):
        """A script called gcc in front of PATH: PATH is not in the key, so the inner run asks for the outer one's lock."""
        self.write("k.c", "int k;\n")
        path = self.environment["PATH"]
        self.script("wrap/gcc", f'#!/bin/sh\nPATH="{path}" exec {self.program} run -- gcc "$@"\n')
        self.run_plain([*self.launcher(), "gcc", "-c", "k.c", "-o", "k.o"], env={"PATH": f"{self.tree}/wrap:{path}"}, limit_s=30)
        self.assertTrue(self.path("k.o").exists())

    def test_ninja_under_hallmark(self):
        """Each edge observed inside an observed Ninja; the edges are cached as if they stood alone."""
        self.write_all({"k.h": "#define VAL 1\n", **{f"k{i}.cpp": kits.KITS["gxx"].text("k.h") for i in range(4)}})
        self.write("build.ninja", f"rule cc\n  command = {self.program} run --depfile $out.d -- g++ -c $in -o $out\n"
                                  "  depfile = $out.d\n  deps = gcc\n" + "".join(f"build k{i}.o: cc k{i}.cpp\n" for i in range(4)))
        self.hallmark(["ninja", "-j2"])
        for i in range(4):
            self.assertEqual("1", kits.mark(self.path(f"k{i}.o")))
        self.assert_no_work()
        self.write("k.h", "#define VAL 2\n")
        self.hallmark(["ninja", "-j2"])
        self.assertEqual("2", kits.mark(self.path("k3.o")))

    def test_exit_codes_through_two_levels(self):
        for code in (0, 3, 42):
            self.run_plain(self.launcher() + self.launcher() + ["sh", "-c", f"exit {code}"], code=code)
        self.run_plain(self.launcher() + self.launcher() + ["/nonexistent/tool"], code=127)


class Peers(Scenario):
    @needs("ccache")
    def test_ccache_link_on_path(self):
        """A g++ that is a link to ccache: ccache is bypassed, said once, and the result is right after any edit."""
        ccache = find_tool("ccache")
        links = self.box / "links"
        links.mkdir()
        (links / "g++").symlink_to(ccache)
        environment = {"PATH": f"{links}:{self.environment['PATH']}", "CCACHE_DIR": str(self.box / "ccache")}
        self.write_all({"first/x.h": "", "second/cfg.h": "#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("cfg.h")})
        command = ["g++", "-Ifirst", "-Isecond", "-c", "k.cpp", "-o", "k.o"]
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                self.hallmark(command, env=environment)
        self.write("first/cfg.h", "#define VAL 2\n")  # ccache's direct mode is wrong here
        self.hallmark(command, env=environment)
        self.assertEqual("2", kits.mark(self.path("k.o")))
        self.assertFalse((self.box / "ccache").exists() and any((self.box / "ccache").rglob("*R")), "ccache kept no result")

    @needs("ccache")
    def test_ccache_as_prefix(self):
        self.write_all({"k.h": "#define VAL 1\n", "k.cpp": kits.KITS["gxx"].text("k.h")})
        environment = {"CCACHE_DIR": str(self.box / "ccache")}
        for value in ("1", "2", "1"):
            self.write("k.h", f"#define VAL {value}\n")
            self.hallmark(["ccache", "g++", "-c", "k.cpp", "-o", "k.o"], env=environment)
            self.assertEqual(value, kits.mark(self.path("k.o")))

    def test_remote_compilers(self):
        """sccache, distcc, icecc: what they do happens in a server that cannot be seen. Unproven, with the remedy."""
        self.write("k.c", "int k;\n")
        for name in ("sccache", "distcc", "icecc"):
            self.script(f"bin/{name}", '#!/bin/sh\nexec "$@"\n')
            with self.expect(executed=0, replayed=0, unproven=None, uncacheable=None, why=name):
                for _ in range(2):
                    told = self.hallmark([f"bin/{name}", "gcc", "-c", "k.c", "-o", "k.o"], "--explain").err
            self.assertIn(name, told)


if __name__ == "__main__":
    main()
