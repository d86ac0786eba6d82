"""Content changes under an mtime that says otherwise, and mtimes that change without content.

Today: pip, tar, rsync -t and COPY in a Dockerfile bring new bytes with old mtimes, and Ninja and Make keep the old object
(flashinfer-ai/flashinfer#4489, rust-lang/cargo#9312, moby/moby#17175). Ninja and Make cannot see this with any depfile,
since they do not start the command at all: these commands are started by hand.
"""

import os
import shutil

import kits
from harness import Scenario, main, needs, with_kits


class LyingMtimes(Scenario):
    def prepare(self, kit):
        self.write_all({"pkg/k.h": "#define VAL 1\n", f"k{kit.suffix}": kit.text("k.h")})
        command = kit.compile(f"k{kit.suffix}", "k.o", "-Ipkg")
        self.hallmark(command)
        self.assertEqual("1", kits.mark(self.path("k.o")))
        return command

    @with_kits("gxx", "nvcc", "hipcc")
    def test_reinstalled_with_older_mtime(self, kit):
        command = self.prepare(kit)
        self.write("pkg/k.h", "#define VAL 2\n", mtime=1_700_000_000)
        with self.expect(executed=1):
            self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")))

    @with_kits("gxx", "clang")
    def test_same_size_and_same_mtime(self, kit):
        """The edit keeps size and mtime, in place and by rename."""
        command = self.prepare(kit)
        self.age("pkg/k.h")
        self.hallmark(command)
        before = self.path("pkg/k.h").stat()
        self.write("pkg/k.h", "#define VAL 2\n")
        os.utime(self.path("pkg/k.h"), ns=(before.st_atime_ns, before.st_mtime_ns))
        self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")), "written in place")
        self.write("pkg/k.new", "#define VAL 3\n")
        os.utime(self.path("pkg/k.new"), ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(self.path("pkg/k.new"), self.path("pkg/k.h"))
        self.hallmark(command)
        self.assertEqual("3", kits.mark(self.path("k.o")), "renamed over")

    @with_kits("gxx", "nvcc", "hipcc")
    def test_only_mtimes_change(self, kit):
        """touch, the same bytes written again, a clean checkout: replays only."""
        command = self.prepare(kit)
        with self.expect(executed=0, replayed=3):
            self.touch("pkg/k.h")
            self.hallmark(command)
            self.write("pkg/k.h", self.read("pkg/k.h"))
            self.hallmark(command)
            aside = self.box / "aside"
            os.rename(self.tree, aside)
            shutil.copytree(aside, self.tree)
            self.path("k.o").unlink()
            self.hallmark(command)
        self.assertEqual("1", kits.mark(self.path("k.o")))

    @needs("ninja")
    @with_kits("gxx", "nvcc")
    def test_branch_and_back(self, kit):
        """What `git checkout other; git checkout -` does to a build folder: all edges start, nothing is compiled."""
        sources = [f"k{i}{kit.suffix}" for i in range(3)]
        self.write("inc/k.h", "#define VAL 1\n")
        for i, source in enumerate(sources):
            self.write(source, kit.text("k.h") + f"int f{i}() {{ return VAL; }}\n")
        compile_line = " ".join(kit.compile("$in", "$out", "-Iinc", "-MD", "-MF", "$out.d"))
        self.write("build.ninja", f"rule cc\n  command = {self.program} run -- {compile_line}\n  depfile = $out.d\n  deps = gcc\n"
                   + "".join(f"build {s}.o: cc {s}\n" for s in sources))
        self.ninja()
        self.write("inc/k.h", "#define VAL 9\n")
        self.write("inc/k.h", "#define VAL 1\n")
        with self.expect(executed=0, replayed=3):
            self.assertEqual(3, self.edges(self.ninja()))
        self.assert_no_work()
        self.touch("inc/k.h")
        with self.expect(executed=0, replayed=3):
            self.ninja()
        self.assert_no_work()


if __name__ == "__main__":
    main()
