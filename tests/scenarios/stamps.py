"""`hallmark run --stamp` and verify without a store: an installed, stripped or rpath-edited copy is judged by its stamp and the
attestation beside it.

Today nobody can say of an installed library which sources it was made of: the build folder is gone, strip and patchelf changed
its bytes, and a file name is all that is left.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import kits
from harness import PYTHON, find_tool, main, needs, with_kits
from stamped_tree import StampedTree, place_of, sections

IN_TOTO = Path(__file__).resolve().parents[2] / "build/in-toto/bin/python"

# Against the published protobuf schemas: an unknown member or one of a wrong type is an error.
SCHEMA_CHECK = """\
import json, sys
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
for name in sys.argv[1:]:
    text = json.load(open(name))
    Statement.copy_from_pb(json_format.ParseDict(text, statement_pb2.Statement())).validate()
    assert text["predicateType"] == "https://slsa.dev/provenance/v1"
    predicate = json_format.ParseDict(text["predicate"], provenance_pb2.Provenance())
    assert predicate.build_definition.build_type and predicate.run_details.builder.id
    assert len(predicate.build_definition.resolved_dependencies) > 5
    for each in [*predicate.build_definition.resolved_dependencies, *predicate.run_details.byproducts]:
        ResourceDescriptor.copy_from_pb(each).validate()
"""


class Stamps(StampedTree):
    # ---- offline -------------------------------------------------------------------------------------------------------

    @needs("g++", "strip", "patchelf", "objcopy")
    def test_an_installed_stripped_and_patched_copy(self):
        self.write_build()
        self.build()
        self.assertEqual(("FRESH", "record"), self.judged("libunit.so"))
        library, program = self.install("libunit.so", "prog")
        self.run_plain(["strip", library])
        self.run_plain(["patchelf", "--set-rpath", "/somewhere/else/with/a/long/name", library])
        self.run_plain(["objcopy", "--strip-debug", program])
        self.run_plain(["patchelf", "--set-rpath", library.parent, program])
        self.assertEqual(10, self.run_plain([program, "x"], check=False).code, "it still runs")
        self.assertEqual(("FRESH", "stamp"), self.judged(library), "the store knows the run that the stamp names")
        self.forget()
        for artifact in (library, program):
            self.assertEqual(("FRESH", "attestation"), self.judged(artifact))
        text = self.verb("verify", library).out
        self.assertIn("by its attestation, made as libunit.so", text)

        self.write("unit.h", "#define UNIT 8\n")
        self.assertEqual(["libunit.so", "unit.o", "unit.h"], self.chain(library))
        self.assertEqual(["prog", "libunit.so", "unit.o", "unit.h"], self.chain(program))
        self.write("unit.h", "#define UNIT 7\n")
        self.assertEqual(("FRESH", "attestation"), self.judged(library))
        self.write("stdexcept", "// in front of the system's\n")
        self.assertEqual("FRESH", self.judged(library)[0], "the compiler did not look here for <stdexcept>")

    @needs("g++", "strip")
    def test_the_tree_may_be_another_one(self):
        self.write_build()
        self.build()
        library, = self.install("libunit.so")
        self.run_plain(["strip", library])
        self.forget()
        second = self.box / "second"
        (second / ".hallmark").mkdir(parents=True)
        for name in ("unit.h", "unit.cpp"):
            shutil.copy(self.path(name), second)
        nowhere = self.box / "nowhere"
        nowhere.mkdir()
        shutil.move(self.tree, self.box / "aside")
        told = json.loads(self.verb("verify", "--json", library, cwd=nowhere, check=False).out)["artifacts"][0]
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("--root", told["doubt"], "says what to do")
        self.verb("verify", library, cwd=second)
        self.verb("verify", "--root", second, library, cwd=nowhere)
        (second / "unit.h").write_text("#define UNIT 9\n")
        self.assertIn("unit.h changed", self.verb("verify", library, cwd=second, code=1).out)
        shutil.move(self.box / "aside", self.tree)

    @needs("g++", "ar")
    def test_objects_and_archives(self):
        """An object bears a stamp, an archive has only its attestation; a stripped object says too little."""
        self.write_build()
        self.hallmark(["g++", "-g", "-c", "unit.cpp", "-o", "unit.o"], "--stamp")
        self.hallmark(["ar", "rcs", "libunit.a", "unit.o"], "--stamp", "--output", "libunit.a")
        named = [name for name, _, _ in sections(self.path("unit.o"))]
        self.assertEqual(1, named.count(".note.hallmark"))
        copy, archive = self.install("unit.o", "libunit.a")
        self.forget()
        self.assertEqual(("FRESH", "attestation"), self.judged(copy))
        self.assertEqual(("FRESH", "attestation"), self.judged(archive))
        self.run_plain(["strip", "--strip-debug", copy])
        self.assertEqual("UNKNOWN", self.judged(copy)[0])
        archive.write_bytes(archive.read_bytes().replace(b"large", b"Large"))
        told = self.told(archive)
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("its bytes are not those", told["doubt"])
        self.write("unit.h", "#define UNIT 8\n")
        self.assertEqual("STALE", self.judged(copy)[0])

    @needs("g++")
    def test_an_early_cut_off_below_it(self):
        """The object is made again with the same bytes, the link is replayed, and its attestation knows the newer source."""
        self.write_build()
        self.build()
        before = self.bytes_of("libunit.so.intoto.json")
        self.write("unit.h", "#define UNIT 7  // a comment\n")
        self.hallmark(["g++", "-g", "-O1", "-fPIC", "-c", "unit.cpp", "-o", "unit.o"])
        with self.expect(executed=0, replayed=1):
            self.hallmark(["g++", "-shared", "unit.o", "-o", "libunit.so"], "--stamp")
        self.assertNotEqual(before, self.bytes_of("libunit.so.intoto.json"))
        library, = self.install("libunit.so")
        self.forget()
        self.assertEqual(("FRESH", "attestation"), self.judged(library))

    @needs("g++")
    def test_two_checkouts_give_equal_files(self):
        second = self.box / "second"
        second.mkdir()
        for tree in (self.tree, second):
            self.write_build(tree)
            self.hallmark(["g++", "-O1", "-fPIC", "-c", "unit.cpp", "-o", "unit.o"], cwd=tree)
            self.hallmark(["g++", "-shared", "unit.o", "-o", "libunit.so"], "--stamp", cwd=tree)
        self.assertEqual(2, self.counts().replayed)
        for name in ("libunit.so", "libunit.so.intoto.json"):
            self.assertEqual(self.bytes_of(name), (second / name).read_bytes(), name)
        self.assertNotIn(str(self.box).encode(), self.bytes_of("libunit.so.intoto.json"))

    # ---- what a stamp does to a file -----------------------------------------------------------------------------------

    @needs("g++", "objcopy", "readelf")
    def test_no_byte_of_the_code_changes(self):
        self.write_build()
        self.build()
        self.run_plain(["g++", "-shared", "unit.o", "-o", "plain.so"])
        plain, stamped = self.bytes_of("plain.so"), self.bytes_of("libunit.so")
        self.assertEqual(plain[64:], stamped[64:len(plain)], "all but the header stands where it stood")
        self.assertLess(len(stamped) - len(plain), 8192)
        for flag in ("-lW", "-rW", "-sW", "-dW"):
            shown = [self.run_plain(["readelf", flag, name]).out.split("Section to Segment")[0] for name in ("plain.so", "libunit.so")]
            self.assertEqual(*[text.replace("libunit.so", "plain.so") for text in shown], flag)
        for name in ("plain", "libunit"):
            self.run_plain(["objcopy", "-O", "binary", f"{name}.so", f"{name}.bin"])
        self.assertEqual(self.bytes_of("plain.bin"), self.bytes_of("libunit.bin"))
        note = dict((name, content) for name, _, content in sections(self.path("libunit.so")))[".note.hallmark"]
        self.assertLessEqual(len(note), 4096)
        told = json.loads(self.verb("why", "--json", "libunit.so").out)
        self.assertIn(bytes.fromhex(told["steps"][0]["strong_key"]), note)
        text = next(content for name, _, content in sections(self.path("libunit.so")) if name == ".text")
        self.assertIn(b"\x05.text" + hashlib.sha256(text).digest(), note)

    @needs("g++")
    def test_linkers_leave_out_the_stamps_of_objects(self):
        self.write_build()
        self.hallmark(["g++", "-fPIC", "-c", "unit.cpp", "-o", "unit.o"], "--stamp")
        self.hallmark(["g++", "-fPIC", "-c", "prog.cpp", "-o", "prog.o"], "--stamp")
        for linker, tool in (("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld")):
            if find_tool(tool):
                self.run_plain(["g++", f"-fuse-ld={linker}", "unit.o", "prog.o", "-o", f"prog.{linker}"])
                self.assertNotIn(b"hallmark\0", self.bytes_of(f"prog.{linker}"), linker)
                self.assertEqual(9, self.run_plain([self.path(f"prog.{linker}")], check=False).code)

    @needs("g++", "ld")
    def test_merged_stamps_are_no_stamp(self):
        self.write_build()
        for name in ("unit", "prog"):
            self.hallmark(["g++", "-fPIC", "-c", f"{name}.cpp", "-o", f"{name}.o"], "--stamp")
        self.run_plain(["ld", "-r", "unit.o", "prog.o", "-o", "merged.o"])
        told = self.told("merged.o")
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("several stamps", told["doubt"])
        self.hallmark(["ld", "-r", "unit.o", "prog.o", "-o", "merged.o"], "--stamp")
        self.assertEqual(("FRESH", "record"), self.judged("merged.o"), "stamped anew")
        self.forget()
        self.assertEqual(("FRESH", "attestation"), self.judged("merged.o"))

    # ---- the run -------------------------------------------------------------------------------------------------------

    @needs("g++")
    def test_a_run_that_cannot_be_recorded_is_not_stamped(self):
        self.write_build()
        done = self.hallmark(["sh", "-c", "g++ -c unit.cpp -o unit.o"], "--stamp")
        self.assertEqual(1, done.err.count("\n"), done)
        self.assertIn("not stamped: ", done.err)
        self.assertIn("--output", done.err, "says what to do")
        self.assertNotIn(b"hallmark\0", self.bytes_of("unit.o"))
        done = self.hallmark(["g++", "-c", "none.cpp", "-o", "unit.o"], "--stamp", check=False)
        self.assertEqual(1, done.code)
        self.assertNotIn("hallmark", done.err, "the compiler has said it all")

    @needs("g++")
    def test_it_is_silent_and_the_mode_and_links_stay(self):
        self.write_build()
        os.umask(0o022)
        for _ in range(2):
            done = self.hallmark(["g++", "unit.cpp", "prog.cpp", "-o", "prog"], "--stamp")
            self.assertEqual(("", ""), (done.out, done.err))
            self.assertEqual(0o755, self.path("prog").stat().st_mode & 0o7777)
            self.assertEqual(9, self.run_plain([self.path("prog")], check=False).code)
            self.path("prog").unlink()
        with self.expect(executed=1, why="without a stamp it is another command"):
            self.hallmark(["g++", "unit.cpp", "prog.cpp", "-o", "prog"])
        self.assertNotIn(b"hallmark\0", self.bytes_of("prog"))
        text = self.verb("why", "--last-miss").out
        self.assertIn("--stamp", text)

    @needs("g++")
    def test_an_attestation_that_cannot_be_written_is_a_warning(self):
        self.write_build()
        self.path("unit.o.intoto.json").mkdir()
        done = self.hallmark(["g++", "-c", "unit.cpp", "-o", "unit.o"], "--stamp")
        self.assertIn("no attestation of", done.err)
        self.assertEqual(("FRESH", "record"), self.judged("unit.o"))

    @needs("g++")
    def test_variables_stay_at_home(self):
        self.write_build()
        self.hallmark(["g++", "-c", "unit.cpp", "-o", "unit.o"], "--stamp", env={"SECRET": "a-password-of-some-service"})
        chain = json.loads(self.read("unit.o.intoto.json"))["predicate"]["runDetails"]["byproducts"][0]["content"]
        if find_tool("zstd"):
            plain = subprocess.run(["zstd", "-dc"], input=base64.b64decode(chain), capture_output=True, check=True).stdout
            self.assertIn(b"unit.cpp", plain)
            self.assertNotIn(b"a-password", plain)

    @needs("g++", "ninja")
    def test_in_a_build_of_ninja(self):
        """Nothing is made twice, and what a step that nobody saw made is unknown, also offline."""
        run = f"{self.program} run"
        self.write_build()
        self.write("gen.py", "import sys\nopen(sys.argv[1], 'w').write('#define GEN 1\\n')\n")
        self.write("unit.cpp", '#include "gen.h"\n' + self.read("unit.cpp"))
        self.write("build.ninja", f"""\
rule gen
  command = {PYTHON} gen.py $out
rule cc
  command = {run} -- g++ -fPIC -MD -MF $out.d -c $in -o $out
  depfile = $out.d
rule link
  command = {run} --stamp -- g++ -shared $in -o $out
build gen.h: gen
build unit.o: cc unit.cpp || gen.h
build libunit.so: link unit.o
""")
        self.ninja()
        self.assert_no_work()
        library, = self.install("libunit.so")
        self.forget()
        self.path("build.ninja").unlink()
        told = self.told(library)
        self.assertEqual(("UNKNOWN", "attestation"), (told["verdict"], told["basis"]))
        self.assertIn("gen.h", told["chain"][-1]["doubts"][0])

    # ---- the statement -------------------------------------------------------------------------------------------------

    @needs("g++")
    def test_the_statement_by_the_published_schemas(self):
        if not IN_TOTO.with_name("python").exists() or not (IN_TOTO.parents[1] / "installed").exists():
            self.skipTest("the package in-toto-attestation is not installed (./dev setup)")
        self.write_build()
        self.build()
        self.write("check.py", SCHEMA_CHECK)
        self.run_plain([IN_TOTO, "check.py", "libunit.so.intoto.json", "prog.intoto.json"])

    @needs("g++")
    def test_what_the_statement_says(self):
        self.write_build()
        self.build()
        statement = json.loads(self.read("libunit.so.intoto.json"))
        self.assertEqual([{"name": "libunit.so", "digest": {"sha256": hashlib.sha256(self.bytes_of("libunit.so")).hexdigest()}}],
                         statement["subject"])
        definition = statement["predicate"]["buildDefinition"]
        self.assertEqual(["g++", "-shared", "unit.o", "-o", "libunit.so"], definition["externalParameters"]["command"])
        sources = {each["uri"]: each["digest"]["sha256"] for each in definition["resolvedDependencies"]}
        for name in ("unit.cpp", "unit.h"):
            self.assertEqual(hashlib.sha256(self.bytes_of(name)).hexdigest(), sources[f"hallmark-tree:{name}"])
        self.assertNotIn("hallmark-tree:unit.o", sources, "a step of the chain made it")
        compiler = os.path.realpath(self.run_plain(["g++", "-print-prog-name=cc1plus"]).out.strip())
        self.assertIn(f"file://{compiler.replace('+', '%2B')}", sources)

    # ---- device code ---------------------------------------------------------------------------------------------------

    @with_kits("nvcc")
    def test_device_code(self, kit):
        """An object with device code bears a stamp; a cubin has only its attestation."""
        self.write_all({"kernel.h": "#define VAL 1\n", "k.cu": kit.text("kernel.h")})
        (self.tree / ".hallmark").mkdir()
        self.run_plain(kit.compile("k.cu", "plain.o"))
        self.hallmark(kit.compile("k.cu", "k.o"), "--stamp")
        self.hallmark(["nvcc", "-arch=sm_80", "-cubin", "k.cu", "-o", "k.cubin"], "--stamp")
        self.assertEqual(kits.device_code(self.path("plain.o")), kits.device_code(self.path("k.o")))
        self.assertNotIn(b"hallmark\0", self.bytes_of("k.cubin"))
        self.hallmark(["nvcc", "-arch=sm_80", "-shared", "k.o", "-o", "libk.so"], "--stamp")
        library, cubin, object_file = self.install("libk.so", "k.cubin", "k.o")
        self.run_plain(["strip", library])
        self.forget()
        for artifact in (library, cubin, object_file):
            self.assertEqual(("FRESH", "attestation"), self.judged(artifact), artifact)
        data = bytearray(library.read_bytes())
        place = place_of(library, ".nv_fatbin") + 200
        data[place] ^= 1
        library.write_bytes(data)
        self.assertEqual("STALE", self.judged(library)[0], "other device code")
        self.write("kernel.h", "#define VAL 2\n")
        self.assertEqual(["k.cubin", "kernel.h"], self.chain(cubin))


if __name__ == "__main__":
    main()
