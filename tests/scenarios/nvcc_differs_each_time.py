"""nvcc makes other bytes each time (its process number in a symbol name): replays are equal, a second execution is noted.

Today: the same command gives another hash each time (bazel-contrib/rules_cuda PR#494), so rebuilt artifacts cannot be compared.
"""

import kits
from harness import Scenario, main, with_kits


class NvccDiffersEachTime(Scenario):
    @with_kits("nvcc")
    def test_replays_are_equal(self, kit):
        self.write_all({"v.h": "#define VAL 1\n", "k.cu": kit.text("v.h")})
        command = kit.compile("k.cu", "k.o")
        self.hallmark(command)
        first = self.bytes_of("k.o")
        self.path("k.o").unlink()
        with self.expect(executed=0, replayed=1):
            self.hallmark(command)
        self.assertEqual(first, self.bytes_of("k.o"))
        with self.fresh_copy("k.o"):
            self.run_plain(command)
            self.assertEqual(kit.normal(self.bytes_of("k.o")), kit.normal(first))

    @with_kits("nvcc")
    def test_first_published_wins(self, kit):
        """An output in the way forces a second execution of the same key: the later replay gives the first result's bytes."""
        self.write_all({"v.h": "#define VAL 1\n", "k.cu": kit.text("v.h")})
        command = kit.compile("k.cu", "k.o")
        self.hallmark(command)
        first = self.bytes_of("k.o")
        self.write("k.o", "not from hallmark")
        self.hallmark(command)
        self.assertEqual(kit.normal(first), kit.normal(self.bytes_of("k.o")))
        self.path("k.o").unlink()
        with self.expect(executed=0, replayed=1):
            self.hallmark(command)
        self.assertEqual(first, self.bytes_of("k.o"), "the first published result wins")


if __name__ == "__main__":
    main()
