"""`hallmark run` as a prefix: exit codes, signals, terminals and messages are those of the command alone."""

import json
import os
import pty
import select
import signal
import time
from pathlib import Path

import harness
from harness import PYTHON, Scenario, main, needs


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


class ExitCodes(Scenario):
    def test_codes_pass_through(self):
        for code in (0, 1, 2, 3, 42, 124, 125, 126, 127, 255):
            done = self.hallmark(["sh", "-c", f"exit {code}"], code=code)
            self.assertEqual(("", ""), (done.out, done.err), "a launcher is silent")

    def test_death_by_signal(self):
        for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT):
            self.hallmark(["sh", "-c", f"kill -{int(number)} $$"], code=128 + number)

    def test_failures_are_not_cached(self):
        self.write("k.c", "this is no C\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        plain = self.run_plain(command, code=1)
        for _ in range(2):
            with self.expect(executed=0, replayed=0, failed=1):
                done = self.hallmark(command, code=1)
            self.assertEqual(plain.err, done.err)
        self.write("k.c", "int k;\n")
        self.hallmark(command)

    def test_own_failures_are_not_the_commands(self):
        """127 and 126 speak of the command alone: a file of hallmark's that cannot be made is another matter."""
        done = self.hallmark(["true"], "--depfile", "/proc/x.d", check=False)
        self.assertIn(done.code, (2, 125), "2 where the folder is known not to be writable")
        self.assertIn("cannot write the depfile /proc/x.d", done.err)

    def test_command_not_found(self):
        for name in ("no-such-command-here", "./no-such-file", "/nonexistent/tool"):
            done = self.hallmark([name], code=127)
            self.assertEqual(1, len(lines_of(done.err)), done.err)
            self.assertIn(name, done.err)

    def test_not_executable(self):
        self.write("plain.txt", "no program\n")
        for name in ("./plain.txt", "./"):
            done = self.hallmark([name], code=126)
            self.assertEqual(1, len(lines_of(done.err)), done.err)
        self.script("bad", "#!/nonexistent/interpreter\n")
        self.assertIn(self.hallmark(["./bad"], check=False).code, (126, 127))

    def test_usage(self):
        for argv in (["run", "--no-such-flag", "--", "true"], ["run"], ["run", "--"], ["run", "--depfile"], ["no-such-verb"], []):
            done = self.verb(*argv, code=2)
            self.assertEqual("", done.out)
            self.assertTrue(done.err.strip(), argv)

    def test_help_of_a_verb(self):
        self.assertEqual(self.verb("--help").out, self.verb("help").out)
        self.assertEqual(self.verb("run", "--help").out, self.verb("help", "run").out)
        self.assertEqual(self.verb("cache", "stats", "--help").out, self.verb("help", "cache", "stats").out)

    def test_command_without_separator(self):
        self.assertEqual("hi\n", self.verb("run", "echo", "hi").out)
        self.assertEqual("--depfile x\n", self.verb("run", "echo", "--depfile", "x").out, "flags after the command are its own")

    def test_unwritable_depfile(self):
        """A depfile that cannot be written would let the build tool believe an old one: hallmark's own failure."""
        self.write("k.c", "int k;\n")
        done = self.hallmark(["gcc", "-c", "k.c", "-o", "k.o"], "--depfile", "no/such/folder/k.d", check=False)
        self.assertIn(done.code, (2, 125), done.err)
        self.assertIn("no/such/folder/k.d", done.err)
        self.assertEqual(1, len(lines_of(done.err)), done.err)

    def test_bad_root(self):
        done = self.hallmark(["true"], "--root", "/nonexistent/root", check=False)
        self.assertIn(done.code, (0, 2), done.err)


class Disabled(Scenario):
    def test_disable(self):
        self.write("k.c", "int k;\n")
        command = self.launcher() + ["gcc", "-c", "k.c", "-o", "k.o"]
        for _ in range(2):
            self.run_plain(command, env={"HALLMARK_DISABLE": "1"})
            self.assertTrue(self.path("k.o").exists())
            self.path("k.o").unlink()
        self.assertEqual(0, self.counts().ran + self.counts().replayed)
        self.run_plain(self.launcher() + ["sh", "-c", "exit 7"], env={"HALLMARK_DISABLE": "1"}, code=7)


class Reports(Scenario):
    def test_json(self):
        """One object on stderr when the command has ended; stdout is the command's."""
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        for wanted in ("published", "replayed"):
            done = self.hallmark(command, "--json")
            told = json.loads(done.err)
            self.assertEqual((wanted, 0, ""), (told["outcome"], told["exit_code"], done.out))
            self.assertTrue(told["reasons"], "every decision has a reason")
            self.assertGreater(told["inputs"], 1)

    def test_json_without_a_command_to_run(self):
        self.write("text", "no program\n")
        for name, code, what in (("no-such-program", 127, "no-such-program"), ("./text", 126, "./text")):
            done = self.hallmark([name], "--json", check=False)
            told = json.loads(done.err)
            self.assertEqual((code, "failed", code), (done.code, told["outcome"], told["exit_code"]))
            self.assertIn(what, told["warnings"][0])

    def test_explain(self):
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        self.assertIn("recorded", self.hallmark(command, "--explain").err)
        self.assertIn("replayed", self.hallmark(command, "--explain").err)
        self.write("k.c", "int other;\n")
        self.assertIn("k.c", self.hallmark(command, "--explain").err)

    def test_every_decision_has_a_reason(self):
        cases = [
            (["date"], ()),
            (["sh", "-c", "exit 3"], ("--cache",)),
            (["sh", "-c", "echo x >> log"], ("--cache",)),
            (["gcc", "--version"], ()),
        ]
        self.write("log", "")
        for argv, options in cases:
            for _ in range(2):
                done = self.hallmark(argv, "--json", *options, check=False)
                told = json.loads(lines_of(done.err)[-1])
                self.assertTrue(told["reasons"], told)
                self.assertTrue(all(reason.get("code") or reason.get("name") for reason in told["reasons"]), told)


class Limits(Scenario):
    """Limits of the caller's are the command's business; hallmark does without what it cannot have, or says so."""

    def limited(self, limit: str, *command: str, check=True):
        return self.run_plain(["sh", "-c", f'{limit}; exec "$@"', "sh", *self.launcher("--cache"), *command], check=check)

    def test_file_size(self):
        for _ in range(2):
            done = self.limited("ulimit -f 0", "sh", "-c", "echo said")
            self.assertEqual("said\n", done.out)
            self.assertLessEqual(len(lines_of(done.err)), 1, done.err)
        dies = self.limited("ulimit -f 0", "sh", "-c", "echo x > big; echo alive", check=False)
        self.assertEqual(("", 128 + 25), (dies.out, dies.code), "the command meets SIGXFSZ as it would without us")

    def test_descriptors(self):
        for count in range(4, 40):
            with self.subTest(count=count):
                done = self.limited(f"ulimit -n {count}", "sh", "-c", "echo said", check=False)
                if done.code == 0:
                    self.assertEqual("said\n", done.out)
                else:
                    self.assertEqual(125, done.code)
                    self.assertIn("hallmark:", done.err)
        self.assertEqual("said\n", self.limited("ulimit -n 64", "sh", "-c", "echo said").out)


class Signals(Scenario):
    def family(self, marker: str):
        """A command with a grandchild, all of which hold `marker` in their command line."""
        inner = f"import time, sys; sys.argv.append('{marker}'); open('ready', 'w'); time.sleep(100)"
        return ["sh", "-c", f"{PYTHON} -c \"{inner}\" {marker} & wait; : {marker}"]

    def check_dead(self, marker: str):
        self.assertTrue(harness.wait_until(lambda: not harness.processes_with(marker), 10), str(harness.processes_with(marker)))

    def test_interrupt_of_the_group(self):
        """Ctrl-C goes to the whole foreground group: 130, and nothing of the tree is left."""
        marker = f"marker-{os.getpid()}-int"
        process = self.start(self.launcher() + self.family(marker))
        self.assertTrue(harness.wait_until(self.path("ready").exists))
        os.killpg(process.pid, signal.SIGINT)
        # A background child of a non-interactive shell ignores SIGINT; hallmark ends the tree.
        self.assertEqual(130, process.wait(20))
        self.check_dead(marker)

    def test_terminate(self):
        """Only hallmark gets SIGTERM, as from a build tool that gives up: the tree must die too."""
        marker = f"marker-{os.getpid()}-term"
        process = self.start(self.launcher() + self.family(marker))
        self.assertTrue(harness.wait_until(self.path("ready").exists))
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(143, process.wait(20))
        self.check_dead(marker)

    def test_caller_that_ignores_children(self):
        """The kernel then reaps them itself, unless hallmark says otherwise; the command gets what the caller had."""
        script = "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])\n"
        show = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN); raise SystemExit(7)"
        done = self.run_plain([PYTHON, "-c", script, *self.launcher(), PYTHON, "-c", show], code=7, limit_s=20)
        self.assertEqual("True\n", done.out)

    def test_many_inherited_descriptors(self):
        """Whatever numbers the guardian's descriptors get, it does not take a call of the tree for hallmark's death."""
        for count in range(40, 68):
            held = [os.open("/dev/null", os.O_RDONLY) for _ in range(count)]
            try:
                for number in held:
                    os.set_inheritable(number, True)
                process = self.start(self.launcher() + ["sh", "-c", "/bin/true; /bin/true"], pass_fds=held)
                process.communicate(timeout=20)
                self.assertEqual(0, process.returncode, f"{count} descriptors")
            finally:
                for number in held:
                    os.close(number)

    def test_kill_of_the_supervisor(self):
        """SIGKILL cannot be handled; the tree must not go on unobserved, nor with failing system calls."""
        for tier in ("hybrid", "notify", "ptrace"):
            with self.subTest(tier=tier):
                marker = f"marker-{os.getpid()}-{tier}"
                self.path("ready").unlink(missing_ok=True)
                process = self.start(self.launcher() + self.family(marker), env={"HALLMARK_OBSERVE": tier})
                self.assertTrue(harness.wait_until(self.path("ready").exists))
                os.kill(process.pid, signal.SIGKILL)
                process.wait(20)
                self.check_dead(marker)

    @needs("ninja")
    def test_interrupt_of_ninja(self):
        marker = f"marker-{os.getpid()}-ninja"
        script = f"import time, sys\nopen('ready', 'w')\ntime.sleep(100)\n# {marker}\n"
        self.write("slow.py", script)
        self.write("build.ninja", f"rule r\n  command = {self.program} run -- {PYTHON} slow.py {marker} $out\nbuild out: r\n")
        process = self.start(["ninja"])
        self.assertTrue(harness.wait_until(self.path("ready").exists))
        os.killpg(process.pid, signal.SIGINT)
        self.assertNotEqual(0, process.wait(20))
        self.check_dead(marker)
        self.assertFalse(self.path("out").exists())

    def test_stop_and_continue(self):
        """Ctrl-Z and fg."""
        self.write("tick.py", "import time\nfor i in range(3):\n    print(i, flush=True)\n    time.sleep(0.3)\n")
        process = self.start(self.launcher() + [PYTHON, "tick.py"])
        self.assertEqual(b"0\n", process.stdout.readline())
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGCONT)
        out, _ = process.communicate(timeout=20)
        self.assertEqual((b"1\n2\n", 0), (out, process.returncode))

    def test_a_handler_of_the_command_decides(self):
        """A command that handles SIGINT and ends well ends well."""
        script = "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(0))\nprint('on', flush=True)\ntime.sleep(50)\n"
        self.write("handle.py", script)
        process = self.start(self.launcher() + [PYTHON, "handle.py"])
        self.assertEqual(b"on\n", process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(0, process.wait(20))

    def test_survivor(self):
        """A daemon that outlives the command: the command ends, the daemon lives on, nothing is published."""
        self.write("daemon.sh", "echo x > out.txt\n(setsid sleep 30 > /dev/null 2>&1 < /dev/null & echo $! > pid)\n")
        with self.expect(executed=0, replayed=0, unproven=1):
            begin = time.monotonic()
            self.hallmark(["sh", "daemon.sh"], "--output", "out.txt", "--output", "pid", limit_s=20)
            self.assertLess(time.monotonic() - begin, 15)
        pid = int(self.read("pid"))
        try:
            self.assertTrue(Path(f"/proc/{pid}").exists(), "the daemon must not be killed")
        finally:
            os.kill(pid, signal.SIGKILL)


class Terminals(Scenario):
    def on_terminal(self, argv, typed=b""):
        """Runs with a terminal on all three streams; gives exit code and what the screen shows."""
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.tree)
            os.execve(argv[0], argv, self.environment)
        shown = b""
        if typed:
            os.write(master, typed)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    chunk = os.read(master, 65536)
                except OSError:
                    break
                if not chunk:
                    break
                shown += chunk
        os.close(master)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), shown.decode()

    def test_command_sees_a_terminal(self):
        self.write("tty.py", "import os\nprint([os.isatty(i) for i in (0, 1, 2)])\n")
        code, shown = self.on_terminal(self.launcher() + [PYTHON, "tty.py"])
        self.assertEqual((0, "[True, True, True]\r\n"), (code, shown))
        self.assertEqual("[False, False, False]\n", self.hallmark([PYTHON, "tty.py"]).out)

    def test_program_that_draws_gets_the_terminal_of_the_keyboard(self):
        """One key without a newline, after raw mode was set through stdout; its output is not kept, so nothing is in between."""
        self.write("key.py", "import os, termios, tty\nsame = os.ttyname(0) == os.ttyname(1) == os.ttyname(2)\ntty.setcbreak(1, termios.TCSANOW)\n"
                             "print(same, os.read(0, 1).decode())\n")
        code, shown = self.on_terminal(self.launcher() + [PYTHON, "key.py"], b"x")
        self.assertEqual((0, "True x"), (code, shown.replace("xTrue", "True").strip()))

    def test_colours(self):
        """Compilers colour their diagnostics for a terminal, in replay too, and not for a pipe."""
        self.write("k.c", "int k(void) { int unused; return 0; }\n")
        command = ["gcc", "-Wall", "-c", "k.c", "-o", "k.o"]
        plain_code, plain = self.on_terminal([harness.find_tool("gcc"), *command[1:]])
        self.assertIn("\x1b[", plain)
        for _ in range(2):
            self.path("k.o").unlink(missing_ok=True)
            code, shown = self.on_terminal(self.launcher() + command)
            self.assertEqual((plain_code, plain), (code, shown))
        self.assertEqual((1, 1), (self.counts().executed, self.counts().replayed))
        self.assertNotIn("\x1b[", self.hallmark(command).err)

    def test_window_size(self):
        self.write("size.py", "import os\nprint(os.get_terminal_size(1))\n")
        plain = self.on_terminal([PYTHON, "size.py"])
        self.assertEqual(plain, self.on_terminal(self.launcher() + [PYTHON, "size.py"]))

    def test_typed_input(self):
        self.write("ask.py", "print('got ' + input('name? '))\n")
        code, shown = self.on_terminal(self.launcher() + [PYTHON, "ask.py"], b"hallmark\n")
        self.assertEqual(0, code)
        self.assertIn("got hallmark", shown)


class SpecialCommands(Scenario):
    def test_relative_absolute_and_linked_programs(self):
        self.script("tool", "#!/bin/sh\necho \"$0\"\n")
        os.symlink("tool", self.path("link"))
        for name in ("./tool", str(self.path("tool")), "./link"):
            self.assertEqual(self.run_plain([name]).out, self.hallmark([name]).out)

    def test_working_folder_is_kept(self):
        self.path("sub dir").mkdir()
        self.assertEqual(f"{self.tree}/sub dir\n", self.hallmark(["pwd", "-P"], cwd=self.path("sub dir")).out)

    def test_long_argument_lists(self):
        many = [f"argument-{i:06}" for i in range(60_000)]
        self.write("count.py", "import sys\nprint(len(sys.argv) - 1)\n")
        self.assertEqual("60000\n", self.hallmark([PYTHON, "count.py", *many]).out)

    def test_strange_names(self):
        for name in ("a b", "quote'\"", "new\nline", "ünïcode", "-dash", "#$%"):
            with self.subTest(name=name):
                self.write(f"./{name}.c", "int k;\n")
                with self.expect(executed=1, replayed=1):
                    for _ in range(2):
                        self.hallmark(["gcc", "-c", f"./{name}.c", "-o", f"./{name}.o"])
                        self.assertTrue(self.path(f"{name}.o").exists())
                        self.path(f"{name}.o").unlink()

    def test_environment_is_passed_on_unchanged(self):
        plain = self.run_plain(["env", "-0"]).out
        under = self.hallmark(["env", "-0"]).out
        without_shell = lambda text: sorted(line for line in text.split("\0") if not line.startswith(("_=", "SHLVL=")))
        self.assertEqual(without_shell(plain), without_shell(under))

    @needs("make")
    def test_jobserver_is_inherited(self):
        """A command that takes tokens from make's jobserver finds it."""
        self.write("Makefile", f"all:\n\t+@{self.program} run -- $(MAKE) -s -f inner.mk\n")
        self.write("inner.mk", "all: a b\na b:\n\t@echo $@\n")
        done = self.make("-j2", "-s")
        self.assertEqual(["a", "b"], sorted(done.out.split()))
        self.assertNotIn("jobserver unavailable", done.err)


if __name__ == "__main__":
    main()
