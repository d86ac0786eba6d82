"""Crashes: hallmark killed at random moments, and damaged bits in every file of the store. Never a wrong or partial restore.

HALLMARK_CRASH_ROUNDS and HALLMARK_FLIP_SHARE raise the numbers (tests/soak does); HALLMARK_SEED repeats a run.
"""

import os
import random
import signal
import time
from pathlib import Path

import harness
import kits
from harness import PYTHON, Scenario, main

ROUNDS = int(os.environ.get("HALLMARK_CRASH_ROUNDS", "20"))
FLIP_SHARE = float(os.environ.get("HALLMARK_FLIP_SHARE", "0.5"))
SEED = int(os.environ.get("HALLMARK_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 30)

# Several outputs that must belong together, so that a partial restore shows.
GENERATOR = """\
import sys
value = open("in.txt").read().strip()
for i in range(8):
    with open(f"out{i}.txt", "w") as out:
        out.write(f"{value} {i}\\n" * (1 + 700 * i))
print("made", value)
"""


class Crash(Scenario):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.write("gen.py", GENERATOR)
        self.outputs = [f"out{i}.txt" for i in range(8)]
        self.command = self.launcher(*[w for name in self.outputs for w in ("--output", name)]) + [PYTHON, "gen.py"]

    def run_and_check(self, value: str, *, lines=None):
        done = self.run_plain(self.command)
        self.assertEqual(f"made {value}\n", done.out, f"seed {SEED}")
        for i, name in enumerate(self.outputs):
            self.assertEqual(f"{value} {i}\n" * (1 + 700 * i), self.read(name), f"{name}, seed {SEED}")
        if lines is not None:
            self.assertLessEqual(len([line for line in done.err.splitlines() if line.strip()]), lines, done.err)

    def remove_outputs(self):
        for name in self.outputs:
            self.path(name).unlink(missing_ok=True)

    def test_killed_at_random_moments(self):
        """SIGKILL of the supervisor, or of the whole group, while it looks up, runs, publishes or restores."""
        # The shortest of three: a disk that stalled once would stretch the sleep of every round.
        whole_s = min(self.timed_run(f"warm {number}") for number in range(3))
        for number in range(ROUNDS):
            value = f"v{self.random.randrange(max(4, ROUNDS // 3))}"  # some values come back: these are replays
            self.path("in.txt").write_text(value)
            if self.random.random() < 0.5:
                self.remove_outputs()
            process = self.start(self.command)
            time.sleep(self.random.random() * whole_s * 1.1)
            if self.random.random() < 0.5:
                os.kill(process.pid, signal.SIGKILL)
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.run_and_check(value)
            self.assertEqual([], self.temporaries(), f"round {number}, seed {SEED}")
        self.verb("cache", "verify")
        self.assertTrue(harness.wait_until(lambda: not self.left_over(), 10), f"processes are left: {self.left_over()}")

    def timed_run(self, value):
        begin = time.monotonic()
        self.path("in.txt").write_text(value)
        self.run_and_check(value)
        return time.monotonic() - begin

    def temporaries(self):
        known = {"gen.py", "in.txt", ".hallmark", *self.outputs}
        return [name for name in os.listdir(self.tree) if name not in known]

    def left_over(self):
        mine = []
        for pid in harness.processes_with("gen.py"):
            try:
                if os.readlink(f"/proc/{pid}/cwd") == str(self.tree):
                    mine.append(pid)
            except OSError:
                pass
        return mine

    def test_bit_flips(self):
        """One bit in each file of the store, one file at a time: executed anew or replayed right, at most one line."""
        values = ("one", "two")
        for value in values:
            self.write("in.txt", value)
            self.run_and_check(value)
        files = sorted(p for p in self.store.rglob("*") if p.is_file())
        chosen = [p for p in files if self.random.random() < FLIP_SHARE] or files
        for path in chosen:
            try:
                data = bytearray(path.read_bytes())
            except FileNotFoundError:
                continue  # repaired away in an earlier round
            if not data:
                continue
            at = self.random.randrange(len(data) * 8)
            data[at // 8] ^= 1 << (at % 8)
            self.damage(path, bytes(data))
            for value in values:
                self.path("in.txt").write_text(value)
                self.remove_outputs()
                with self.subTest(file=str(path.relative_to(self.store)), bit=at, seed=SEED):
                    self.run_and_check(value, lines=1)

    def test_truncated_files(self):
        values = ("one", "two")
        for value in values:
            self.write("in.txt", value)
            self.run_and_check(value)
        for path in sorted(p for p in self.store.rglob("*") if p.is_file()):
            if self.random.random() > FLIP_SHARE or not path.exists() or not path.stat().st_size:
                continue
            data = path.read_bytes()
            self.damage(path, data[: self.random.randrange(len(data))])
            for value in values:
                self.path("in.txt").write_text(value)
                self.remove_outputs()
                with self.subTest(file=str(path.relative_to(self.store)), seed=SEED):
                    self.run_and_check(value, lines=1)

    def damage(self, path: Path, data: bytes):
        mode = path.stat().st_mode
        path.chmod(0o644)
        path.write_bytes(data)
        path.chmod(mode)

    def test_killed_while_many_replay(self):
        """Half of the processes of a parallel build are killed; the build afterwards is right and complete."""
        kit = kits.KITS["gxx"]
        self.write("v.h", "#define VAL 1\n")
        for i in range(8):
            self.write(f"k{i}.cpp", kit.text("v.h"))
        commands = [self.launcher() + kit.compile(f"k{i}.cpp", f"k{i}.o") for i in range(8)]
        for value in ("1", "2", "1"):
            self.write("v.h", f"#define VAL {value}\n")
            processes = [self.start(command) for command in commands]
            time.sleep(self.random.random() * 0.2)
            for process in processes[::2]:
                process.send_signal(signal.SIGKILL)
            for process in processes:
                process.communicate()
            for i, command in enumerate(commands):
                self.run_plain(command)
                self.assertEqual(value, kits.mark(self.path(f"k{i}.o")), f"seed {SEED}")


if __name__ == "__main__":
    main()
