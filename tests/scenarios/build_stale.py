"""The ways in which real pipelines of kernel libraries go stale, under `hallmark build`.

A selection that changed and a library that stays, a generator's exit code that nobody looks at, instances that outlive a filter, a library harvested from a
failed build, a configuration header in the source tree, headers that no build tool knows, generators that rewrite everything, a dispatch
table of the last run alone, and a source cut short that is used for ever. And builds that are killed or meet each other.
"""

import os
import signal
import time

from harness import main
from kernel_library import FILES, GENERATED_FILES, GENERATOR, MANIFEST, KernelLibrary


class Stale(KernelLibrary):
    def test_a_changed_selection_never_keeps_the_old_library(self):
        self.write_all(FILES)
        self.build()
        self.write("hallmark.toml", MANIFEST.replace('dtype = ["f32", "f64"]', 'dtype = ["f32"]'))
        self.build()
        self.assertEqual(self.values(), [32074, 32138, 64, 128])
        self.assertFalse(self.path(f"{self.folder}/obj/fmha/fwd_f64_64.o").exists(), "objects of nobody go")

    def test_a_generator_that_fails_fails_the_build(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.write("tools/gen.py", GENERATOR + "\nsys.exit(sys.argv[1] != 'list')\n")
        done = self.build(code=1)
        self.assertIn("generator instances failed with exit code 1", done.err)
        self.assertFalse(self.path(f"{self.folder}/share/hallmark/gen.json").exists())

    def test_what_a_generator_no_longer_lists_is_gone(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.write("tools/kinds.txt", "a dddd")
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 5)
        self.assertEqual(sorted(os.listdir(self.path(f"{self.folder}/gen/instances"))),
                         ["k_a.cpp", "k_dddd.cpp", "table.h"])
        self.assertFalse(hasattr(self.library("libk.so"), "_Z4k_bbv"))

    def test_a_generator_that_rewrites_all_compiles_nothing(self):
        self.write_all(GENERATED_FILES)
        self.build()
        self.write("tools/gen.py", GENERATOR + "\n# a comment\n")
        with self.expect(executed=2, replayed=None):  # the list and the files; no compile, no link
            self.build()
        with self.expect(executed=0):
            self.assertIn("no work to do", self.build().err)

    def test_a_failed_build_leaves_nothing_to_harvest(self):
        self.write_all(FILES)
        self.build()
        description = self.path(f"{self.folder}/share/hallmark/demo.json")
        self.assertTrue(description.exists())
        self.write("kernels/fwd.cpp", "#error broken\n")
        done = self.build(code=1)
        self.assertIn("the build failed", done.err)
        self.assertFalse(description.exists())
        self.write("kernels/fwd.cpp", FILES["kernels/fwd.cpp"])
        self.build()
        self.assertTrue(description.exists())

    def test_profiles_build_side_by_side_and_leave_the_sources_alone(self):
        self.write_all(FILES)
        self.write("hallmark.toml", MANIFEST + """
[profile.small]
axes = { dtype = "f32" }
namespace = { fmha = "small::place" }
""")
        before = {p: p.stat().st_mtime_ns for p in self.tree.rglob("*") if p.is_file()}
        both = [self.start([self.program, "build", *profile]) for profile in ([], ["--profile", "small"])]
        for process in both:
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err.decode())
        self.assertEqual((self.where(), self.where("build/hallmark-small")), ("acme::fmha", "small::place"))
        self.assertEqual((len(self.values()), len(self.values("build/hallmark-small"))), (6, 4))
        after = {p: p.stat().st_mtime_ns for p in self.tree.rglob("*") if p.is_file() and not {"build", ".hallmark"} & set(p.parts)}
        self.assertEqual(before, after)

    def test_a_header_of_a_pin_is_seen(self):
        """A pin bump that changes headers only, in a place that no list of the manifest names."""
        files = dict(FILES)
        files["include/tile.h"] = '#pragma once\n#include "../third_party/up/deep.h"\n'
        files["third_party/up/deep.h"] = "#define TILE 1\n"
        self.write_all(files)
        self.build()
        self.write("third_party/up/deep.h", "#define TILE 2\n")
        with self.expect(executed=4 + 1):
            self.build()
        self.assertEqual(self.values()[0], 32066)

    def test_the_table_is_the_union_of_all_kernels(self):
        self.write_all(FILES)
        self.build()
        table = self.read(f"{self.folder}/gen/hallmark/include/hallmark/fmha_variants.inc")
        self.assertEqual(table.count("\nHALLMARK_KERNEL("), 6)
        self.write("hallmark.toml", MANIFEST.replace('axes = { dtype = "f32" }', 'axes = { dtype = "f64" }'))
        self.build()
        table = self.read(f"{self.folder}/gen/hallmark/include/hallmark/fmha_variants.inc")
        self.assertEqual((table.count("(fwd,"), table.count("(bwd,"), table.count("bwd_f64_64")), (4, 2, 1))

    def test_a_generated_source_that_is_cut_short_is_made_again(self):
        self.write_all(GENERATED_FILES)
        self.build()
        for damage in (b"", b"int k_a() { ret"):
            self.write(f"{self.folder}/gen/instances/k_a.cpp", damage)
            self.build()
            self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.path(f"{self.folder}/gen/instances/k_bb.cpp").unlink()
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)

    def test_killed_anywhere_the_next_build_is_right(self):
        self.write_all(GENERATED_FILES)
        for delay_ms in (5, 20, 40, 80, 160, 320):
            process = self.start([self.program, "build"])
            time.sleep(delay_ms / 1000)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.build()
        self.assertEqual(self.library("libk.so").k_sum(), 6)
        self.assertIn("no work to do", self.build().err)

    def test_a_second_build_waits_and_says_for_whom(self):
        self.write_all(FILES)
        self.write("kernels/fwd.cpp", FILES["kernels/fwd.cpp"])
        lock = self.path(f"{self.folder}/.hallmark-lock")
        lock.parent.mkdir(parents=True)
        holder = self.start(["flock", str(lock), "-c", "echo held; sleep 1"])
        self.assertEqual(holder.stdout.readline(), b"held\n")
        done = self.build()
        self.assertIn(f"waiting for another build of {lock.parent}", done.err)


if __name__ == "__main__":
    main()
