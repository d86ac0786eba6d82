"""Text and headers that only one compile pass sees: host, device, or one architecture.

Today: caches that hash one preprocessor pass serve old objects after an edit in the other (mozilla/sccache#2299,
NVIDIA/cccl#3103), and clang writes the depfile of a HIP compile in the host pass only (llvm/llvm-project PR#125646,
ccache/ccache#1635), so an edit of a device-only header rebuilds nothing.
"""

import kits
from harness import Scenario, main, needs, with_kits


class OnePassOnly(Scenario):
    def host_only(self, kit, value):
        return f"{kit.head}__global__ void k(int* p) {{ *p = 1; }}\n#ifndef {kit.device_pass}\n" \
               f'extern const char mark[];\nconst char mark[] = "MARK:{value}:";\n#endif\n'

    @with_kits("nvcc", "hipcc")
    def test_edit_of_host_only_text(self, kit):
        source = f"k{kit.suffix}"
        command = kit.compile(source, "k.o")
        self.write(source, self.host_only(kit, 1))
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.hallmark(command)
        self.write(source, self.host_only(kit, 2))
        with self.expect(executed=1):
            self.hallmark(command)
        self.assertEqual("2", kits.mark(self.path("k.o")))

    def device_only(self, kit):
        return f"""\
{kit.head}__global__ void k(int* p) {{
#ifdef {kit.device_pass}
#include "dev.h"
  *p = DEVICE_VALUE;
#endif
}}
"""

    @with_kits("nvcc", "hipcc")
    def test_edit_of_device_only_header(self, kit):
        """As a cache: the command is started by hand."""
        source = f"k{kit.suffix}"
        command = kit.compile(source, "k.o", "-MD", "-MF", "k.d")
        self.write_all({source: self.device_only(kit), "dev.h": "#define DEVICE_VALUE 100\n"})
        with self.expect(executed=1, replayed=1):
            self.hallmark(command)
            self.hallmark(command)
        self.write("dev.h", "#define DEVICE_VALUE 7777\n")
        with self.expect(executed=1):
            self.hallmark(command)
        mine = kits.device_code(self.path("k.o"))
        self.assertTrue(mine)
        with self.fresh_copy("k.o"):
            self.run_plain(command)
            self.assertEqual(kits.device_code(self.path("k.o")), mine, "device code of a fresh build")

    @needs("ninja")
    @with_kits("nvcc", "hipcc")
    def test_ninja_sees_headers_of_every_pass(self, kit):
        """A launcher in front of a rule with the compiler's own depfile."""
        source = f"k{kit.suffix}"
        self.write_all({
            source: f"{kit.head}#ifndef {kit.device_pass}\n#include \"host.h\"\n#else\n#include \"dev.h\"\n#endif\n"
                    "__global__ void k(int* p) { *p = 1; }\n",
            "host.h": "#define HOST 1\n",
            "dev.h": "#define DEV 1\n",
        })
        compile_line = " ".join(kit.compile("$in", "$out", "-MD", "-MF", "$out.d"))
        self.write("build.ninja", f"""\
rule cc
  command = {self.program} run -- {compile_line}
  depfile = $out.d
  deps = gcc
build k.o: cc {source}
""")
        self.ninja()
        self.assert_no_work()
        for header in ("dev.h", "host.h"):
            self.write(header, f"#define {header[:-2].upper()} 2\n")
            self.assertEqual(1, self.edges(self.ninja()), f"{header} was edited")
            self.assert_no_work()

    @with_kits("nvcc")
    def test_headers_of_one_architecture(self, kit):
        """Two architectures, each with a header of its own, in both orders of the architecture list."""
        self.write_all({
            "k.cu": "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n#include \"a90.h\"\n#elif defined(__CUDA_ARCH__)\n"
                    "#include \"a80.h\"\n#else\n#define V 0\n#endif\n__global__ void k(int* p) { *p = V; }\n",
            "a80.h": "#define V 80\n",
            "a90.h": "#define V 90\n",
        })
        command = ["nvcc", "-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_80,code=sm_80", "-c", "k.cu",
                   "-o", "k.o"]
        with self.expect(executed=1):
            self.hallmark(command)
        for header, value in (("a80.h", 81), ("a90.h", 91)):
            self.write(header, f"#define V {value}\n")
            with self.expect(executed=1, why=header):
                self.hallmark(command)


if __name__ == "__main__":
    main()
