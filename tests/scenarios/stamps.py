"""`hallmark run --stamp` and verify without a store: an installed, stripped or rpath-edited copy is judged by its stamp and the
attestation beside it.

Today nobody can say of an installed library which sources it was made of: the build folder is gone, strip and patchelf changed
its bytes, and a file name is all that is left.
"""

import base64
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
from pathlib import Path

import kits
from harness import PYTHON, Scenario, find_tool, main, needs, with_kits

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


def sections(path) -> list[tuple[str, int, bytes]]:
    """Name, type and bytes of each section of an ELF file."""
    data = Path(path).read_bytes()
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    title = headers[names][4]
    named = []
    for name, kind, _, _, offset, length in headers:
        begin = title + name
        named.append((data[begin:data.index(b"\0", begin)].decode(), kind, b"" if kind == 8 else data[offset:offset + length]))
    return named


def place_of(path, name: str) -> int:
    """Where a section's bytes begin in the file."""
    data = Path(path).read_bytes()
    content = next(content for title, _, content in sections(path) if title == name)
    return data.index(content)


class Stamps(Scenario):
    def write_build(self, folder=None):
        """unit.h -> unit.o (not stamped) -> libunit.so and prog, stamped."""
        folder = folder or self.tree
        (folder / ".hallmark").mkdir(exist_ok=True)
        for name, text in {
            "unit.h": "#define UNIT 7\n",
            "unit.cpp": '#include "unit.h"\n#include <stdexcept>\nint table[] = {1, 2, 3};\n'
                        'int unit(int n) { if (n > 9) throw std::runtime_error("large"); return UNIT + table[n % 3]; }\n',
            "prog.cpp": "int unit(int);\nint main(int n, char**) { return unit(n); }\n",
        }.items():
            self.write(folder / name, text)

    def build(self, folder=None):
        folder = folder or self.tree
        self.hallmark(["g++", "-g", "-O1", "-fPIC", "-c", "unit.cpp", "-o", "unit.o"], cwd=folder)
        self.hallmark(["g++", "-shared", "unit.o", "-o", "libunit.so"], "--stamp", cwd=folder)
        self.hallmark(["g++", "prog.cpp", "-o", "prog", "-L.", "-lunit", f"-Wl,-rpath,{self.tree}"], "--stamp", cwd=folder)

    def install(self, *names) -> list[Path]:
        """Copies artifacts with their attestations to another folder."""
        prefix = self.box / "prefix"
        prefix.mkdir(exist_ok=True)
        for name in names:
            shutil.copy(self.path(name), prefix)
            shutil.copy(self.path(name + ".intoto.json"), prefix)
        return [prefix / Path(name).name for name in names]

    def forget(self):
        """As on another machine: the store is gone."""
        shutil.rmtree(self.store)

    def told(self, artifact, *options) -> dict:
        done = self.verb("verify", "--json", *options, artifact, check=False)
        told = json.loads(done.out)["artifacts"][0]
        self.assertEqual(0 if told["verdict"] == "FRESH" else 1, done.code, done)
        return told

    def judged(self, artifact, *options) -> tuple[str, str]:
        told = self.told(artifact, *options)
        return told["verdict"], told["basis"]

    def chain(self, artifact) -> list[str]:
        told = self.told(artifact)
        return [os.path.basename(step["output"]) for step in told["chain"]] + [
            os.path.basename(told["chain"][-1]["differences"][0]["subject"])]

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
        self.write("bits/x", "")

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

    @needs("g++", "strip")
    def test_what_the_store_lost_the_attestation_has(self):
        self.write_build()
        self.build()
        library, stripped = self.install("libunit.so", "prog")
        self.run_plain(["strip", stripped])
        shutil.rmtree(self.store / "derivations")
        (self.store / "derivations").mkdir()
        self.assertEqual(("FRESH", "attestation"), self.judged(library))
        self.assertEqual(("FRESH", "attestation"), self.judged(stripped))
        Path(f"{library}.intoto.json").unlink()
        told = self.told(library)
        self.assertEqual(("UNKNOWN", "record"), (told["verdict"], told["basis"]))
        self.assertIn("no longer in the store", told["chain"][0]["doubts"][0])

    @needs("g++", "strip")
    def test_what_a_process_runs(self):
        self.write_build()
        self.write("prog.cpp", "#include <unistd.h>\nint unit(int);\nint main() { write(1, \"on\", 2); pause(); return unit(1); }\n")
        self.build()
        library, = self.install("libunit.so")
        self.run_plain(["strip", library])
        self.forget()
        process = self.start([self.path("prog")], env={"LD_PRELOAD": library})
        self.assertEqual(b"on", process.stdout.read(2))
        told = json.loads(self.verb("verify", "--json", "--pid", str(process.pid), check=False).out)
        judged = {a["artifact"]: (a["verdict"], a["basis"]) for a in told["artifacts"]}
        self.assertEqual(("FRESH", "attestation"), judged[str(library)])
        self.assertGreater(told["not_judged"], 0, "the system's libraries")
        process.kill()

        swapped = bytearray(library.read_bytes())
        swapped[place_of(library, ".rodata")] ^= 1
        library.unlink()  # the process that was killed ran it
        library.write_bytes(swapped)
        self.write("t.py", "import ctypes, sys\nctypes.CDLL(sys.argv[1])\nprint('1 passed in 0.1s')\n")
        done = self.verb("test", "--", PYTHON, "t.py", library, check=False)
        self.assertEqual(1, done.code)
        self.assertIn("its code is not what was stamped", done.err)

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

    # ---- mix-ups -------------------------------------------------------------------------------------------------------

    @needs("g++")
    def test_other_code_under_the_old_stamp_is_stale(self):
        self.write_build()
        self.build()
        library, = self.install("libunit.so")
        data = bytearray(library.read_bytes())
        for name in (".text", ".rodata", ".eh_frame", ".data", ".rela.dyn"):
            place = place_of(library, name)
            swapped = bytearray(data)
            swapped[place] ^= 1
            library.write_bytes(swapped)
            told = self.told(library)
            self.assertEqual(("STALE", "stamp"), (told["verdict"], told["basis"]), name)
            self.assertIn(f"section {name} differs", told["doubt"])
        self.forget()
        self.assertEqual("STALE", self.judged(library)[0])

    @needs("g++", "strip")
    def test_without_an_attestation_or_with_another_ones(self):
        self.write_build()
        self.build()
        library, program = self.install("libunit.so", "prog")
        self.run_plain(["strip", library])
        self.forget()
        beside = Path(f"{library}.intoto.json")
        text = beside.read_bytes()
        beside.unlink()
        told = self.told(library)
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("there is no attestation", told["doubt"])
        (self.box / "elsewhere.json").write_bytes(text)
        self.assertEqual("FRESH", self.judged(library, "--attestation", self.box / "elsewhere.json")[0])
        shutil.copy(f"{program}.intoto.json", beside)
        told = self.told(library)
        self.assertEqual("UNKNOWN", told["verdict"])
        self.assertIn("another run", told["doubt"])
        self.verb("verify", "--attestation", "x.json", library, program, code=2)

    @needs("g++")
    def test_hostile_bytes_get_an_answer(self):
        self.write_build()
        self.build()
        library, = self.install("libunit.so")
        beside = Path(f"{library}.intoto.json")
        self.forget()
        elf, text = library.read_bytes(), beside.read_bytes()
        random.seed(1)

        def refused(what):
            done = self.verb("verify", library, check=False)
            self.assertEqual(1, done.code, (what, done))
            self.assertRegex(done.out, r"^(UNKNOWN|STALE) ", what)

        for size in (0, 3, 63, 64, 1000, len(elf) // 2, len(elf) - 1):
            library.write_bytes(elf[:size])
            refused(f"an artifact of {size} bytes")
        note = place_of(library, ".note.hallmark")
        for at in (*range(note, note + 12), note + 24, note + 60, note + 100, note + 130):
            library.write_bytes(elf[:at] + bytes([elf[at] ^ 0x41]) + elf[at + 1:])
            refused(f"byte {at - note} of the note")
        library.write_bytes(elf)
        statement = json.loads(text)
        chain = statement["predicate"]["runDetails"]["byproducts"][0]
        for size in (0, 1, 100, len(text) // 2, len(text) - 2):
            beside.write_bytes(text[:size])
            refused(f"an attestation of {size} bytes")
        beside.write_bytes(b"[" * 3_000_000)
        refused("depth")
        for path, value in ((("_type",), 1), (("subject",), {}), (("subject",), []), (("predicate",), "x"),
                            (("predicate", "runDetails", "byproducts"), [1, [], {}]),
                            (("predicate", "buildDefinition", "buildType"), "another")):
            changed = json.loads(text)
            place = changed
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value
            beside.write_text(json.dumps(changed))
            refused(path)
        packed = base64.b64decode(chain["content"])
        for _ in range(5):
            at = random.randrange(len(packed))
            damaged = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1:]
            for honest in (False, True):  # `honest`: as if somebody made it so
                chain["content"] = base64.b64encode(damaged).decode()
                if honest:
                    chain["digest"]["sha256"] = hashlib.sha256(damaged).hexdigest()
                beside.write_text(json.dumps(statement))
                refused(f"byte {at} of the chain")
        beside.write_bytes(text)
        self.assertEqual("FRESH", self.judged(library)[0])

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
