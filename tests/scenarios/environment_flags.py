"""Flags that reach a compiler through the environment.

Today: NVCC_APPEND_FLAGS, NVCC_PREPEND_FLAGS, HIPCC_COMPILE_FLAGS_APPEND and CPATH are in no key and no command line.
No build tool can notice that its environment changed, so these commands are started by hand.
"""

import kits
from harness import Scenario, main, with_kits


class EnvironmentFlags(Scenario):
    def check(self, kit, variables: dict[str, str]):
        source = f"k{kit.suffix}"
        self.write_all({"base.h": "#ifndef VAL\n#define VAL 1\n#endif\n", source: kit.text("base.h")})
        command = kit.compile(source, "k.o")
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.hallmark(command)
        for number, (name, value) in enumerate(variables.items(), start=2):
            with self.expect(executed=1, why=name):
                self.hallmark(command, env={name: value.format(number)})
            self.assertEqual(str(number), kits.mark(self.path("k.o")), f"{name} counts")
            self.assertIn(name, self.last_miss())
        with self.expect(executed=0, replayed=1 + len(variables), why="each environment is remembered"):
            self.hallmark(command)
            self.assertEqual("1", kits.mark(self.path("k.o")))
            for number, (name, value) in enumerate(variables.items(), start=2):
                self.hallmark(command, env={name: value.format(number)})
                self.assertEqual(str(number), kits.mark(self.path("k.o")), name)

    @with_kits("nvcc")
    def test_nvcc(self, kit):
        self.check(kit, {"NVCC_APPEND_FLAGS": "-DVAL={}", "NVCC_PREPEND_FLAGS": "-DVAL={}"})

    @with_kits("hipcc")
    def test_hipcc(self, kit):
        self.check(kit, {"HIPCC_COMPILE_FLAGS_APPEND": "-DVAL={}"})

    @with_kits("gxx", "clang")
    def test_search_path(self, kit):
        """CPATH and CPLUS_INCLUDE_PATH add folders; the folder also appears only later."""
        source = f"k{kit.suffix}"
        self.write_all({"two/val.h": "#define VAL 2\n", "three/val.h": "#define VAL 3\n", "ven/val.h": "#define VAL 1\n",
                        source: kit.text("val.h").replace('"val.h"', "<val.h>")})
        command = kit.compile(source, "k.o", "-idirafter", "ven")
        self.hallmark(command)
        self.assertEqual("1", kits.mark(self.path("k.o")))
        for name in ("CPATH", "CPLUS_INCLUDE_PATH"):
            for folder, value in (("two", "2"), ("three", "3"), ("four", "1")):
                self.hallmark(command, env={name: folder})
                self.assertEqual(value, kits.mark(self.path("k.o")), f"{name}={folder}")
        self.write("four/val.h", "#define VAL 4\n")
        self.hallmark(command, env={"CPATH": "four"})
        self.assertEqual("4", kits.mark(self.path("k.o")), "the folder that CPATH names appeared")

    @with_kits("nvcc")
    def test_second_architecture(self, kit):
        """NVCC_APPEND_FLAGS adds an architecture: the object must hold both."""
        self.write("k.cu", kit.text("base.h"))
        self.write("base.h", "#define VAL 1\n")
        command = ["nvcc", "-gencode", "arch=compute_80,code=sm_80", "-c", "k.cu", "-o", "k.o"]
        self.hallmark(command)
        one = kits.device_code(self.path("k.o"))
        more = {"NVCC_APPEND_FLAGS": "-gencode arch=compute_90,code=sm_90"}
        self.hallmark(command, env=more)
        two = kits.device_code(self.path("k.o"))
        self.assertNotEqual(one, two)
        with self.fresh_copy("k.o"):
            self.run_plain(command, env=more)
            self.assertEqual(kits.device_code(self.path("k.o")), two)


if __name__ == "__main__":
    main()
