"""Soundness rule 5: files that change by themselves: /proc, /sys, devices, ld.so.cache, __pycache__."""

import os
import shutil
import subprocess

from harness import PYTHON, Scenario, main, needs


class VolatileFiles(Scenario):
    def twice(self, script: str, *, executed=1, replayed=1, **others):
        self.write("s.py", script + "\nopen('out.txt', 'w').write('done')\n")
        with self.expect(executed=executed, replayed=replayed, why=script, **others):
            for _ in range(2):
                self.hallmark([PYTHON, "s.py"], "--output", "out.txt")

    def test_devices_and_own_process(self):
        self.twice("open('/dev/null').read(); open('/dev/zero', 'rb').read(4); open('/dev/urandom', 'rb').read(4)")
        self.twice("open('/proc/self/status').read(); open('/proc/self/maps').read(); open('/proc/self/stat').read()")
        self.twice("import os; open(f'/proc/{os.getpid()}/cmdline').read(); os.listdir('/proc/self/fd')")

    def test_other_proc_files_count_by_their_bytes(self):
        """What the kernel returned at that moment; a fact that stays is replayed, one that changes is not."""
        self.twice("open('/proc/sys/kernel/ostype').read()")
        self.twice("open('/proc/version').read()")
        self.twice("open('/sys/kernel/mm/transparent_hugepage/enabled').read()"
                   if os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled") else "open('/proc/sys/kernel/osrelease').read()")
        self.write("up.py", "open('out.txt', 'w').write(open('/proc/uptime').read())\n")
        self.hallmark([PYTHON, "up.py"], "--output", "out.txt")
        first = self.read("out.txt")
        self.hallmark([PYTHON, "up.py"], "--output", "out.txt")
        self.assertNotEqual(first, self.read("out.txt"), "/proc/uptime has moved on")

    def test_pycache_is_neither_input_nor_output(self):
        """Compiled modules come and go; the source behind them counts."""
        self.write_all({"main.py": "import mod\nopen('out.txt', 'w').write(mod.V)\n", "mod.py": "V = '1'\n"})
        command = [PYTHON, "main.py"]
        with self.expect(executed=1, replayed=3):
            self.hallmark(command, "--output", "out.txt")
            self.hallmark(command, "--output", "out.txt")
            shutil.rmtree(self.path("__pycache__"), ignore_errors=True)
            self.hallmark(command, "--output", "out.txt")
            self.run_plain(command)
            self.hallmark(command, "--output", "out.txt")
        # Python takes a compiled module by size and whole seconds: the texts differ in length.
        self.write("mod.py", "V = '2' # 2\n")
        self.hallmark(command, "--output", "out.txt")
        self.assertEqual("2", self.read("out.txt"))
        self.write("mod.py", "V = '1'\n")
        self.run_plain(command)
        self.write("other.txt", "")
        # This run reads only the compiled module's file for the source's content: the source is an input all the same.
        self.hallmark(["sh", "-c", f"{PYTHON} main.py"], "--output", "out.txt")
        self.write("mod.py", "V = '3'  # three\n")
        self.hallmark(["sh", "-c", f"{PYTHON} main.py"], "--output", "out.txt")
        self.assertEqual("3", self.read("out.txt"))

    @needs("root", "gcc")
    def test_ld_so_cache_counts_by_its_answers(self):
        """ldconfig rewrites the cache after each package installation; only the libraries asked for matter."""
        self.write("k.c", "int k;\n")
        command = ["gcc", "-c", "k.c", "-o", "k.o"]
        self.hallmark(command)
        cache = "/etc/ld.so.cache"
        if not os.access(cache, os.W_OK):
            self.skipTest(f"{cache} cannot be written")
        # The same answers in a file with other bytes: a private copy in a mount namespace of its own.
        script = f"""
mount --make-rprivate / && cp {cache} {self.box}/cache && printf '\\0\\0\\0\\0' >> {self.box}/cache &&
mount --bind {self.box}/cache {cache} && exec "$@"
"""
        probe = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "true"], capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest(f"no mount namespace: {probe.stderr.strip()}")
        with self.expect(executed=0, replayed=1):
            self.run_plain(["unshare", "-m", "sh", "-c", script, "sh", *self.launcher(), *command])

    def test_network_makes_unproven_and_local_services_do_not(self):
        self.twice("import socket\ns = socket.socket()\ntry:\n    s.connect(('127.0.0.1', 9))\nexcept OSError:\n    pass",
                   executed=0, replayed=0, unproven=2)
        self.assertIn("127.0.0.1", self.last_miss())
        self.twice("import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\ntry:\n    s.connect('/dev/log')\nexcept OSError:\n    pass")
        self.twice("import pwd\npwd.getpwuid(0)")
        self.twice("import socket\na, b = socket.socketpair()\na.send(b'x')\nb.recv(1)")


if __name__ == "__main__":
    main()
