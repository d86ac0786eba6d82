"""The disk fills up: the command's own file system, the store's, TMPDIR.

Today: Make believes a truncated output (torch/torch7#1032, catboost/catboost#159), and caches may keep half an object.
Needs root, to mount a small tmpfs.
"""

import contextlib
import os
import subprocess

import kits
from harness import Scenario, main, needs


class FullDisk(Scenario):
    def mount(self, path, size: str):
        path.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"cannot mount a tmpfs: {done.stderr.strip()}")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", str(path)], check=False))

    def fill(self, folder, leave: int):
        """Fills the file system of `folder`, but for about `leave` bytes."""
        filler = folder / "filler"
        space = os.statvfs(folder)
        with contextlib.suppress(OSError), open(filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(4096, space.f_bavail * space.f_bsize - leave))
        return filler

    @needs("root")
    def test_output_on_a_full_disk(self):
        """The command fails and its exit code comes through; nothing is published; with space, it runs again."""
        self.mount(self.tree / "m", "6M")
        self.write("lib.src", os.urandom(2_000_000))
        # cat is not one of the kinds that are replayed by themselves: --output makes it one.
        command = ["sh", "-c", "cat lib.src lib.src > m/lib.so"]
        filler = self.fill(self.tree / "m", 2_500_000)
        plain = self.run_plain(command, check=False)
        self.path("m/lib.so").unlink(missing_ok=True)
        with self.expect(executed=0, failed=1):
            done = self.hallmark(command, "--output", "m/lib.so", check=False)
        self.assertEqual(plain.code, done.code)
        filler.unlink()
        with self.expect(executed=1):
            self.hallmark(command, "--output", "m/lib.so")
        self.assertEqual(4_000_000, self.path("m/lib.so").stat().st_size)

    @needs("root")
    def test_replay_onto_a_full_disk(self):
        """A replay that does not fit leaves no half output behind: the command runs instead and tells its own story."""
        self.mount(self.tree / "m", "6M")
        self.write("lib.src", os.urandom(2_000_000))
        command = ["sh", "-c", "cat lib.src lib.src > m/lib.so"]
        self.hallmark(command, "--output", "m/lib.so")
        whole = self.bytes_of("m/lib.so")
        self.path("m/lib.so").unlink()
        filler = self.fill(self.tree / "m", 2_500_000)
        done = self.hallmark(command, "--output", "m/lib.so", check=False)
        self.assertNotEqual(0, done.code, "the disk is full: neither replay nor command can succeed")
        filler.unlink()
        self.hallmark(command, "--output", "m/lib.so")
        self.assertEqual(whole, self.bytes_of("m/lib.so"))
        self.assertEqual({"lib.so"}, set(os.listdir(self.path("m"))), "no temporary is left")

    @needs("root")
    def test_store_on_a_full_disk(self):
        """The command runs, its result is right, one warning, exit 0; and nothing partial is ever restored."""
        self.mount(self.store, "2M")
        self.write("lib.src", os.urandom(3_000_000))
        command = ["sh", "-c", "cat lib.src > lib.so"]
        for _ in range(2):
            done = self.hallmark(command, "--output", "lib.so")
            self.assertEqual(self.bytes_of("lib.src"), self.bytes_of("lib.so"))
            warnings = [line for line in done.err.splitlines() if line.strip()]
            self.assertLessEqual(len(warnings), 1, done.err)
            self.path("lib.so").unlink()
        # What fits still works.
        self.write("small.src", "small\n")
        for _ in range(2):
            self.hallmark(["sh", "-c", "cat small.src > small.so"], "--output", "small.so")
            self.assertEqual("small\n", self.read("small.so"))

    @needs("root")
    def test_store_without_one_byte(self):
        self.mount(self.store, "64k")
        self.fill(self.store, 0)
        self.write("a.cpp", "int a() { return 1; }\n")
        for _ in range(2):
            done = self.hallmark(["g++", "-c", "a.cpp", "-o", "a.o"])
            self.assertLessEqual(len([line for line in done.err.splitlines() if line.strip()]), 1, done.err)
            self.assertTrue(self.path("a.o").exists())

    @needs("root", "nvcc")
    def test_small_tmpdir(self):
        """nvcc fails for want of space in TMPDIR, and succeeds later: the failure was not kept."""
        kit = kits.KITS["nvcc"]
        self.write("v.h", "#define VAL 1\n")
        self.write("k.cu", "#include <cuda_runtime.h>\n" + kit.text("v.h"))
        self.mount(self.box / "small", "600k")
        command = kit.compile("k.cu", "k.o")
        with self.expect(executed=0, failed=1):
            done = self.hallmark(command, env={"TMPDIR": str(self.box / "small")}, check=False)
        self.assertNotEqual(0, done.code)
        with self.expect(executed=1):
            self.hallmark(command)
        self.assertEqual("1", kits.mark(self.path("k.o")))


if __name__ == "__main__":
    main()
