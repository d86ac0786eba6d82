"""Whatever is wrong with the store, the command runs, its result is right, and one line says what is wrong."""

import os
import subprocess

from harness import Scenario, main, needs


class BrokenStore(Scenario):
    def setUp(self):
        super().setUp()
        self.write_all({"k.h": "int one;\n", "k.c": '#include "k.h"\n'})
        self.command = ["gcc", "-c", "k.c", "-o", "k.o"]

    def check(self, *, lines=(0, 1), rounds=2, prefix=(), env=None):
        self.path("k.o").unlink(missing_ok=True)
        for _ in range(rounds):
            done = self.run_plain([*prefix, *self.launcher(), *self.command], env=env)
            self.assertIn(len([line for line in done.err.splitlines() if line.strip()]), lines, done.err)
            self.assertIn(b"one", self.bytes_of("k.o"))
            self.path("k.o").unlink()
        return done

    def files(self):
        return [p for p in self.store.rglob("*") if p.is_file() and not p.is_symlink()]

    def test_newer_format(self):
        """A store that a newer hallmark made is not touched."""
        self.hallmark(self.command)
        marks = [p for p in self.files() if "format" in p.name.lower() or "version" in p.name.lower()]
        self.assertTrue(marks, f"the store must say its format: {self.files()}")
        for mark in marks:
            text = mark.read_bytes()
            number = b"".join(bytes([c]) for c in text if chr(c).isdigit())
            self.assertTrue(number, text)
            mark.write_bytes(text.replace(number, b"999"))
        before = {p: p.read_bytes() for p in self.files()}
        done = self.check(lines=(1,))
        self.assertIn("later", done.err)
        self.assertEqual(before, {p: p.read_bytes() for p in self.files()})

    @needs("root")
    def test_read_only(self):
        """Hits work, publishing does not. (As root, permissions do not help: the folder is mounted read-only.)"""
        self.hallmark(self.command)
        probe = ["unshare", "-m", "sh", "-c"]
        script = f'mount --make-rprivate / && mount --bind {self.store} {self.store} && mount -o remount,ro,bind {self.store} && exec "$@"'
        if subprocess.run([*probe, script, "sh", "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace can be made here")
        prefix = [*probe, script, "sh"]
        self.check(prefix=prefix)
        self.write("k.h", "int one;\nint two;\n")
        self.check(prefix=prefix)
        self.write("k.h", "int one;\n")
        with self.expect(executed=0, replayed=1, why="with the store writable again"):
            self.hallmark(self.command)

    def test_read_only_by_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere; test_read_only covers root")
        self.hallmark(self.command)
        for folder in [self.store, *[p for p in self.store.rglob("*") if p.is_dir()]]:
            folder.chmod(0o555)
        self.check()

    def test_store_cannot_be_made(self):
        self.write(self.box / "file", "")
        for place in (self.box / "file", self.box / "file/below", "/proc/hallmark-store"):
            with self.subTest(place=str(place)):
                self.check(lines=(1,), env={"HALLMARK_STORE": str(place)})

    def test_relative_and_empty_store(self):
        for place in ("relative/store", ""):
            with self.subTest(place=place):
                self.check(env={"HALLMARK_STORE": place})

    def test_every_file_emptied(self):
        self.hallmark(self.command)
        for path in self.files():
            path.chmod(0o644)
            path.write_bytes(b"")
        self.check()

    def test_every_file_removed(self):
        self.hallmark(self.command)
        for path in self.files():
            path.unlink()
        self.check()

    def test_every_file_replaced_by_another(self):
        """Files of the store exchanged among each other: right lengths and checksums at wrong places."""
        self.hallmark(self.command)
        self.write("j.c", "int two;\n")
        self.hallmark(["gcc", "-c", "j.c", "-o", "j.o"])
        by_folder = {}
        for path in self.files():
            by_folder.setdefault(path.relative_to(self.store).parts[0], []).append(path)
        for group in by_folder.values():
            texts = [p.read_bytes() for p in group]
            for path, text in zip(group, texts[1:] + texts[:1]):
                path.chmod(0o644)
                path.write_bytes(text)
        self.check()

    def test_folders_in_the_place_of_files(self):
        self.hallmark(self.command)
        for path in self.files():
            path.unlink()
            path.mkdir()
        self.check(lines=(0, 1, 2))

    def test_verify_and_repair(self):
        """`cache verify` finds every damaged blob and record, exit 4; --repair removes it, exit 0."""
        self.hallmark(self.command)
        self.assertIn("0 damaged", self.verb("cache", "verify").out)
        blobs = [p for p in self.files() if len(p.name) >= 60 or p.stat().st_size > 500]
        self.assertTrue(blobs)
        for path in blobs:
            path.chmod(0o644)
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0x10
            path.write_bytes(data)
        told = self.verb("cache", "verify", code=4)
        self.assertNotIn(" 0 damaged", told.out)
        self.verb("cache", "verify", "--repair", code=0)
        self.assertIn(" 0 damaged", self.verb("cache", "verify").out)
        self.check()


if __name__ == "__main__":
    main()
