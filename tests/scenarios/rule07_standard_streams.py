"""Soundness rule 7: standard streams and other inherited descriptors."""

import os
import pty
import socket
import subprocess
import tempfile

from harness import PYTHON, Scenario, main

READER = "import sys\nopen('out.txt', 'w').write(sys.stdin.read())\n"


class StandardStreams(Scenario):
    def with_stdin(self, stdin, argv, *options, code=0):
        process = self.start(self.launcher("--output", "out.txt", *options) + argv, stdin=stdin)
        out, err = process.communicate(timeout=60)
        self.assertEqual(code, process.returncode, err)
        return out.decode()

    def test_regular_file(self):
        """Content and offset count; the name of the file does not."""
        self.write("read.py", READER)
        def run(name, offset=0):
            with open(self.path(name), "rb") as file:
                os.lseek(file.fileno(), offset, os.SEEK_SET)
                self.with_stdin(file, [PYTHON, "read.py"])
            return self.read("out.txt")
        self.write_all({"a": "hello", "b": "hello", "c": "other"})
        self.assertEqual("hello", run("a"))
        with self.expect(executed=0, replayed=2):
            self.assertEqual("hello", run("a"))
            self.assertEqual("hello", run("b"))
        self.assertEqual("other", run("c"))
        self.assertEqual("llo", run("a", 2))
        self.assertEqual("hello", run("a"))

    def test_pipe(self):
        self.write("read.py", READER)
        def run(data: bytes):
            self.hallmark([PYTHON, "read.py"], "--output", "out.txt", stdin=data)
            return self.bytes_of("out.txt")
        self.assertEqual(b"one", run(b"one"))
        with self.expect(executed=0, replayed=1):
            self.assertEqual(b"one", run(b"one"))
        self.assertEqual(b"two", run(b"two"))
        large = b"0123456789abcdef" * 65536
        self.assertEqual(large, run(large))
        with self.expect(executed=0, replayed=1):
            self.assertEqual(large, run(large))

    def test_unread_pipe_does_not_count(self):
        """A compiler started by a tool that left a pipe on stdin: open, silent, never read."""
        self.write("k.c", "int k;\n")
        command = self.launcher() + ["gcc", "-c", "k.c", "-o", "k.o"]
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                read_end, write_end = os.pipe()
                try:
                    process = self.start(command, stdin=read_end)
                    _, err = process.communicate(timeout=60)
                    self.assertEqual(0, process.returncode, err)
                finally:
                    os.close(read_end)
                    os.close(write_end)

    def test_the_rest_of_a_pipe_is_left(self):
        """`head -c`-like readers in a shell loop: a command that reads nothing must not eat its neighbour's stdin."""
        self.write("k.c", "int k;\n")
        script = f"{' '.join(self.launcher())} gcc -c k.c -o k.o && cat"
        for _ in range(2):
            done = self.run_plain(["sh", "-c", script], stdin=b"for the neighbour\n")
            self.assertEqual("for the neighbour\n", done.out)

    def test_file_read_through_a_copy(self):
        """pread on a copy of descriptor 0 leaves the offset alone: that it is read shows by the copy."""
        self.write("read.py", "import os\ncopy = os.dup(0)\nopen('out.txt', 'wb').write(os.pread(copy, 100, 0))\n")
        for text in ("one", "two"):
            self.write("in", text)
            with self.expect(unproven=1), open(self.path("in"), "rb") as file:
                self.with_stdin(file, [PYTHON, "read.py"])
            self.assertEqual(text, self.read("out.txt"))

    def test_socket(self):
        """Editors start builds with one: what is received is not known again; one that is not read does not count."""
        receive = "import socket\nopen('out.txt', 'wb').write(socket.socket(fileno=0).recv(100))\n"
        self.write_all({"receive.py": receive, "k.c": "int k;\n"})
        def run(data, argv):
            ours, theirs = socket.socketpair()
            with ours, theirs:
                ours.sendall(data)
                self.with_stdin(theirs, argv)
        for data in (b"one", b"two"):
            run(data, [PYTHON, "receive.py"])
            self.assertEqual(data, self.bytes_of("out.txt"))
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                run(b"for a neighbour", ["gcc", "-c", "k.c", "-o", "k.o"])

    def test_null_and_closed(self):
        self.write("read.py", "import sys\nopen('out.txt', 'w').write('none' if sys.stdin is None else sys.stdin.read())\n")
        closed = ["sh", "-c", 'exec "$@" <&-', "sh", *self.launcher("--output", "out.txt"), PYTHON, "read.py"]
        for _ in range(2):
            self.hallmark([PYTHON, "read.py"], "--output", "out.txt")
            self.assertEqual("", self.read("out.txt"))
            self.run_plain(closed)
            self.assertEqual("none", self.read("out.txt"))

    def test_terminal_that_is_not_read(self):
        """At a shell prompt stdin is a terminal: compilers are replayed all the same."""
        self.write("k.c", "int k;\n")
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                self.on_terminal(["gcc", "-c", "k.c", "-o", "k.o"], b"")

    def test_file_that_changes_while_it_is_stdin(self):
        """What is hashed at the end is not what the command read: not kept."""
        self.write("data.txt", "one")
        change = f"{PYTHON} -c \"open('data.txt', 'w').write('two')\""
        argv = self.launcher("--output", "out.txt") + ["sh", "-c", f"cat > out.txt; {change}"]
        with self.expect(executed=0, replayed=0, unproven=1):
            with open(self.path("data.txt"), "rb") as data:
                process = self.start(argv, stdin=data)
                process.communicate(timeout=60)
                self.assertEqual(0, process.returncode)
        self.assertEqual("one", self.read("out.txt"))

    def test_terminal_that_is_read(self):
        """Its bytes are unknown before they are typed: it runs each time."""
        self.write("read.py", "open('out.txt', 'w').write(input())\n")
        with self.expect(executed=0, replayed=0, unproven=2):
            for text in ("first", "second"):
                self.on_terminal([PYTHON, "read.py"], f"{text}\n".encode(), "--output", "out.txt")
                self.assertEqual(text, self.read("out.txt"))

    def on_terminal(self, argv, typed: bytes, *options):
        master, slave = pty.openpty()
        try:
            process = self.start(self.launcher(*options) + argv, stdin=slave)
            os.write(master, typed)
            _, err = process.communicate(timeout=60)
            self.assertEqual(0, process.returncode, err)
        finally:
            os.close(master)
            os.close(slave)

    def test_inherited_descriptor(self):
        """A file that the caller opened is read by no open call that could be seen: unproven."""
        self.write_all({"data.txt": "one", "fd.py": "import os\nopen('out.txt', 'wb').write(os.read(9, 99))\n"})
        argv = ["sh", "-c", 'exec "$@" 9< data.txt', "sh", *self.launcher("--output", "out.txt"), PYTHON, "fd.py"]
        for text in ("one", "two"):
            self.write("data.txt", text)
            with self.expect(executed=0, replayed=0, unproven=1):
                self.run_plain(argv)
            self.assertEqual(text, self.read("out.txt"))

    def test_jobserver_descriptors_are_no_doubt(self):
        self.write("k.c", "int k;\n")
        self.write("Makefile", f"all: k.o j.o\nk.o j.o: k.c\n\t+{self.program} run -- gcc -c k.c -o $@\n")
        self.run_plain(["make", "-j2"])
        counts = self.counts()
        self.assertEqual((2, 2), (counts.executed, counts.ran), self.last_miss())

    def test_streams_are_replayed(self):
        """Both streams, each in its place, byte for byte; in order where they are one file."""
        script = "import sys\nfor i in range(50):\n    (sys.stdout if i % 2 else sys.stderr).write(f'line {i}\\n')\n" \
                 "    sys.stdout.flush()\nsys.stdout.buffer.write(b'\\x00\\xff no newline')\nopen('out.txt', 'w').write('x')\n"
        self.write("say.py", script)
        separate = [self.hallmark([PYTHON, "say.py"], "--output", "out.txt") for _ in range(2)]
        self.assertEqual((separate[0].out, separate[0].err), (separate[1].out, separate[1].err))
        self.assertIn("line 49", separate[1].out)
        self.assertIn("line 48", separate[1].err)
        merged = []
        for _ in range(2):
            with tempfile.TemporaryFile() as file:
                process = self.start(self.launcher("--output", "out.txt") + [PYTHON, "say.py"], stdout=file, stderr=subprocess.STDOUT)
                self.assertEqual(0, process.wait(60))
                file.seek(0)
                merged.append(file.read())
        wanted = b"".join(b"line %d\n" % i for i in range(50)) + b"\x00\xff no newline"
        self.assertEqual([wanted, wanted], merged)
        self.assertEqual(2, self.counts().replayed)

    def test_warnings_of_a_compiler_are_replayed(self):
        self.write("k.c", "int k(int unused) { int x; return 0; }\n")
        command = ["gcc", "-Wall", "-Wextra", "-c", "k.c", "-o", "k.o"]
        plain = self.run_plain(command)
        self.assertIn("unused", plain.err)
        self.path("k.o").unlink()
        with self.expect(executed=1, replayed=1):
            self.assertEqual(plain.err, self.hallmark(command).err)
            self.assertEqual(plain.err, self.hallmark(command).err)

    def test_closed_reader(self):
        """A command whose reader went away ends as it would alone; hallmark does not hang."""
        script = f"{' '.join(self.launcher('--output', 'out.txt'))} {PYTHON} -c \"print('x' * 10000000)\" | head -c 10"
        done = self.run_plain(["bash", "-c", script], check=False, limit_s=60)
        self.assertEqual("x" * 10, done.out)
        endless = f"{' '.join(self.launcher())} yes | head -1; echo ${{PIPESTATUS[0]}}"
        self.assertEqual("y\n141\n", self.run_plain(["bash", "-c", endless], limit_s=60).out)

    def test_output_that_cannot_be_delivered(self):
        """A full disk behind stdout or stderr: success with half an output would be a lie; neither executed nor replayed."""
        for name, redirection in (("stdout", "> /dev/full"), ("stderr", "2> /dev/full")):
            with self.subTest(stream=name):
                self.write("say.sh", f"echo {name}; echo {name} >&2\n")
                failing = ["sh", "-c", f'unset PWD; exec "$@" {redirection}', "sh", *self.launcher("--cache"), "sh", "say.sh"]
                with self.expect(executed=0, replayed=0, failed=1):
                    self.check_undelivered(self.run_plain(failing, code=125), name)
                with self.expect(executed=1, why="what was not delivered was not recorded"):
                    self.hallmark(["sh", "say.sh"], "--cache")
                with self.expect(executed=0, replayed=0):
                    self.check_undelivered(self.run_plain(failing, code=125), name)
                with self.expect(executed=0, replayed=1):
                    self.assertEqual(f"{name}\n", self.hallmark(["sh", "say.sh"], "--cache").out)

    def check_undelivered(self, done, name):
        if name == "stdout":  # else there is nobody to tell
            self.assertIn("hallmark: write to stdout: No space left on device", done.err)

    def test_endless_output_that_cannot_be_delivered(self):
        self.run_plain(["sh", "-c", f"{' '.join(self.launcher())} yes > /dev/full"], code=125, limit_s=60)

    def test_output_named_dev_stdout(self):
        self.write("a.c", "int f(void) { return 1; }\n")
        said = []
        for executed in (1, 0):
            with self.expect(executed=executed):
                said.append(self.hallmark(["gcc", "-S", "a.c", "-o", "/dev/stdout"]).out)
        self.assertIn("f:", said[0])
        self.assertEqual(said[0], said[1])

    def test_reader_that_went_away_before_a_replay(self):
        """It ends as the command would: by SIGPIPE, or well if that is ignored."""
        command = " ".join(self.launcher("--cache")) + " seq 100000"
        self.run_plain(["sh", "-c", command + " > /dev/null"])
        with self.expect(executed=0, replayed=None):
            told = self.run_plain(["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"], limit_s=60).out
        self.assertEqual("1\n141\n", told)


if __name__ == "__main__":
    main()
