"""The mutation suite: after each of more than thirty kinds of change, the result equals a build from scratch.

For each mutation: a known state is restored by replay, the mutation is applied, the command runs under hallmark, and result,
streams and exit code are compared with the plain command in a fresh copy of the tree at the same path. Afterwards the
mutation is undone by a fresh checkout, which must be a replay. A wrong hit is a result that differs; a vain execution is one
after a mutation that cannot matter. Both must be 0.

HALLMARK_MUTATIONS=all runs every mutation for every kit (tests/soak does); otherwise nvcc and hipcc run a sample.
"""

from __future__ import annotations

import os
import shutil

import kits
from harness import Scenario, main, with_kits
from mutation_list import MUTATIONS, Change

NO_CHANGE = Change()

SAMPLE = {
    "edit_source", "edit_system_header", "older_mtime", "same_size_and_mtime", "shadowing_header", "optional_appears",
    "response_file", "search_path_variable", "link_retargeted", "output_garbled", "macro_argument",
    "touch_header", "same_bytes_new_inode", "unrelated_in_search_folder", "ignored_variables", "other_tmpdir", "fresh_checkout",
}


class Mutations(Scenario):
    def command(self, kit, change: Change) -> list[str]:
        words = kit.base_command(depfile=False)
        return [change.replaced.get(word, word) for word in words] + change.arguments

    def build(self, kit, change: Change):
        """The command under hallmark: exit code, streams and result."""
        done = self.hallmark(self.command(kit, change), *kit.options(), env=change.environment, check=False)
        return done.code, done.out, done.err, self.result(kit) if done.code == 0 else None

    def result(self, kit) -> bytes | None:
        try:
            return kit.normal(self.bytes_of(kit.output))
        except FileNotFoundError:
            return None

    def from_scratch(self, kit, change: Change):
        with self.fresh_copy(kit.output):
            for folder in ("src/__pycache__", "src/lib/__pycache__"):
                shutil.rmtree(self.path(folder), ignore_errors=True)
            done = self.run_plain(self.command(kit, change), env=change.environment, check=False)
            return done.code, done.out, done.err, self.result(kit) if done.code == 0 else None

    def verdict(self, artifact) -> str:
        """What `hallmark verify` says, which executes nothing."""
        done = self.verb("verify", artifact, check=False)
        self.assertIn(done.code, (0, 1), done)
        return done.out.split()[0]

    def check_out_base(self, kit):
        """A fresh checkout of the base state: new inodes, new mtimes, no outputs."""
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        self.write_all(kit.base_files())

    @with_kits("gxx", "clang", "nvcc", "hipcc", "python")
    def test_mutations(self, kit):
        everything = os.environ.get("HALLMARK_MUTATIONS") == "all"
        sampled = kit.device and not everything
        only = os.environ.get("HALLMARK_MUTATION")
        wrong, vain, ran = [], [], 0
        self.check_out_base(kit)
        base = self.build(kit, Change())
        self.assertEqual(self.from_scratch(kit, Change()), base, "the first run")
        copy = self.box / "copy"  # of the base result, wherever the tree goes
        shutil.copy(self.path(kit.output), copy)
        verdicts = []
        for name, (matters, mutate) in MUTATIONS.items():
            if (sampled and name not in SAMPLE) or (only and name != only):
                continue
            ran += 1
            change = Change()
            mutate(self, kit, change)
            verdict = self.verdict(copy)
            before = self.counts()
            mine = self.build(kit, change)
            spent = self.counts().minus(before)
            if mine != (fresh := self.from_scratch(kit, change)):
                wrong.append(f"{name}: {_difference(fresh, mine)}; counts {spent}; {self.last_miss()}")
            if not matters and spent.ran:
                vain.append(f"{name}: {spent}; {self.last_miss()}")
            # The verdict is on the command as it was recorded: another command says nothing of it.
            wanted = "FRESH" if mine == base and not spent.ran else "STALE"
            if change == NO_CHANGE and not name.startswith("output_") and verdict != wanted:
                verdicts.append(f"{name}: {verdict}, but {spent}; {self.verb('verify', copy, check=False).out}")
            self.check_out_base(kit)
            if (verdict := self.verdict(copy)) != "FRESH":
                verdicts.append(f"undo of {name}: {verdict}")
            before = self.counts()
            if (undone := self.build(kit, Change())) != base:
                wrong.append(f"undo of {name}: {_difference(base, undone)}; {self.last_miss()}")
            elif (spent := self.counts().minus(before)).ran:
                vain.append(f"undo of {name}: {spent}; {self.last_miss()}")
        print(f"{kit.name}: {ran} mutations, {len(wrong)} wrong results, {len(vain)} vain executions")
        self.assertEqual(([], [], []), (wrong, vain, verdicts))
        self.assertTrue(only or sampled or ran >= 30)


def _difference(wanted, got) -> str:
    parts = []
    for what, a, b in zip(("exit code", "stdout", "stderr", "result"), wanted, got):
        if a != b:
            show = lambda value: kits.mark_in(value) if isinstance(value, bytes) else repr(value)
            parts.append(f"{what} wanted {show(a)}, got {show(b)}")
    return "; ".join(parts)


if __name__ == "__main__":
    main()
