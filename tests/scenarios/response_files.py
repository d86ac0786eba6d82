"""Arguments that stand in a file: the file's content counts, as text that the tool reads, not as its name."""

import kits
from harness import Scenario, main, needs, with_kits


class ResponseFiles(Scenario):
    @with_kits("gxx", "clang", "nvcc", "hipcc")
    def test_edit(self, kit):
        source = f"k{kit.suffix}"
        self.write_all({"none.h": "", source: kit.text("none.h"), "flags.rsp": "-DVAL=1\n"})
        command = kit.compile(source, "k.o", *kit.response.format("flags.rsp").split())
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.hallmark(command)
        self.write("flags.rsp", "-DVAL=2\n")
        with self.expect(executed=1):
            self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")))
        with self.expect(executed=0, replayed=1):
            self.write("flags.rsp", "-DVAL=1\n")
            self.hallmark(command)
        self.assertEqual("1", kits.mark(self.path("k.o")))

    @with_kits("gxx", "clang")
    def test_nested(self, kit):
        self.write_all({"none.h": "", "k.cpp": kit.text("none.h"), "outer.rsp": "@inner.rsp\n", "inner.rsp": "-DVAL=1\n"})
        command = kit.compile("k.cpp", "k.o", "@outer.rsp")
        self.hallmark(command)
        self.write("inner.rsp", "-DVAL=2\n")
        self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")))

    @needs("ninja")
    @with_kits("gxx", "nvcc")
    def test_written_by_ninja(self, kit):
        """Ninja writes the response file before each start of the edge and removes it afterwards."""
        source = f"k{kit.suffix}"
        self.write_all({"v.h": "#define VAL 1\n", source: kit.text("v.h")})
        compile_line = " ".join(kit.compile("$in", "$out", *kit.response.format("$out.rsp").split()))
        rule = f"rule cc\n  command = {self.program} run --depfile $out.d -- {compile_line}\n  depfile = $out.d\n  deps = gcc\n" \
               f"  rspfile = $out.rsp\n  rspfile_content = $flags\nbuild k.o: cc {source}\n  flags = "
        self.write("build.ninja", rule + "-DOTHER=1\n")
        self.ninja()
        self.assert_no_work()
        self.write("v.h", "#define VAL 2\n")
        self.ninja()
        self.assertEqual("2", kits.mark(self.path("k.o")))
        self.assert_no_work()
        self.write("build.ninja", rule + "-DOTHER=2 -UVAL\n")
        with self.expect(executed=1):
            self.ninja()
        self.assert_no_work()
        self.write("build.ninja", rule + "-DOTHER=1\n")
        with self.expect(executed=0, replayed=1):
            self.ninja()
        self.assert_no_work()


if __name__ == "__main__":
    main()
