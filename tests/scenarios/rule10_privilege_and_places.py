"""Soundness rule 10: privileges that observation would take away, and places where nothing can be observed."""

import os
import shutil

from harness import Scenario, find_tool, main, needs


class PrivilegeAndPlaces(Scenario):
    @needs("root")
    def test_setuid_command(self):
        """It keeps its privilege: it runs unobserved, and is never replayed."""
        os.chmod(self.box, 0o755)
        os.chmod(self.tree, 0o777)
        shutil.copy(find_tool("id"), self.path("myid"))
        os.chown(self.path("myid"), 65534, 65534)
        os.chmod(self.path("myid"), 0o4755)
        with self.expect(executed=0, replayed=0, unproven=None, uncacheable=None):
            for _ in range(2):
                done = self.hallmark(["./myid", "-u"])
                self.assertEqual("65534", done.out.strip(), "the setuid bit has its effect")

    def make_setuid_program(self, owner: int):
        os.chmod(self.box, 0o755)
        shutil.copy(find_tool("id"), self.path("myid"))
        os.chown(self.path("myid"), owner, owner)
        os.chmod(self.path("myid"), 0o4755)

    @needs("root")
    def test_setuid_program_inside_as_root(self):
        """Root observes without taking privileges away: the program has its own, and was seen like any other."""
        self.make_setuid_program(owner=65534)
        command = ["sh", "-c", "./myid -u > out.txt"]
        with self.expect(executed=1, replayed=1):
            for _ in range(2):
                self.hallmark(command, "--output", "out.txt")
                self.assertEqual("65534", self.read("out.txt").strip())

    @needs("root")
    def test_setuid_program_inside_as_a_user(self):
        """The kernel takes the privilege away from what an ordinary user observes: the run is unproven and says why."""
        self.make_setuid_program(owner=0)
        for folder in [self.box, self.tree, self.box / "home", self.box / "tmp"]:
            os.chmod(folder, 0o777)
        as_user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if self.run_plain([*as_user, self.program, "help"], check=False).code != 0:
            self.skipTest("an ordinary user cannot reach the program")
        store = {"HALLMARK_STORE": str(self.tree / "users-store")}
        for _ in range(2):
            done = self.run_plain([*as_user, self.program, "run", "--explain", "--output", "out.txt", "--",
                                   "sh", "-c", "./myid -u > out.txt"], env=store)
            self.assertIn("myid", done.err)
            self.assertNotIn("replayed", done.err)
            self.path("out.txt").unlink()

    @needs("root")
    def test_folder_of_path_that_a_user_may_not_search(self):
        """Root's folders often stand in a user's PATH; what cannot be looked at is as it was, and no reason to execute."""
        private = self.box / "private"
        private.mkdir(mode=0o700)
        for folder in [self.box, self.tree, self.box / "home", self.box / "tmp"]:
            os.chmod(folder, 0o777)
        as_user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if self.run_plain([*as_user, self.program, "help"], check=False).code != 0:
            self.skipTest("an ordinary user cannot reach the program")
        self.write("k.c", "int k;\n")
        environment = {"HALLMARK_STORE": str(self.tree / "users-store"), "PATH": f"{private}:{self.environment['PATH']}"}
        for wanted in ("recorded", "replayed"):
            done = self.run_plain([*as_user, self.program, "run", "--explain", "--", "gcc", "-c", "k.c", "-o", "k.o"], env=environment)
            self.assertIn(wanted, done.err)

    def check_runs(self, prefix, **kwargs):
        self.write("k.c", "int k;\n")
        for _ in range(2):
            self.run_plain([*prefix, *self.launcher(), "gcc", "-c", "k.c", "-o", "k.o"], **kwargs)
            self.assertTrue(self.path("k.o").exists())
            self.path("k.o").unlink()

    def test_tier_none(self):
        """Nothing can be observed: the command runs, nothing is published."""
        with self.expect(executed=0, replayed=0, unproven=2, uncacheable=None):
            self.check_runs([], env={"HALLMARK_OBSERVE": "none"})

    def test_each_tier(self):
        """Every way of observing alone gives the same answer."""
        for tier in ("hybrid", "notify", "ptrace"):
            with self.subTest(tier=tier):
                store = {"HALLMARK_OBSERVE": tier, "HALLMARK_STORE": str(self.box / tier)}
                self.write_all({f"{tier}/first/x.h": "", f"{tier}/second/c.h": "int one;\n", f"{tier}/k.c": '#include "c.h"\n'})
                command = ["gcc", "-Ifirst", "-Isecond", "-c", "k.c", "-o", "k.o"]
                place = self.path(tier)
                for wanted, step in ((b"one", None), (b"one", None), (b"two", "int two;\n")):
                    if step:
                        self.write(place / "first/c.h", step)
                    self.hallmark(command, "--depfile", "k.d", cwd=place, env=store)
                    self.assertIn(wanted, (place / "k.o").read_bytes())
                told = self.verb("cache", "stats", "--json", env=store).out
                self.assertIn('"executed":2', told.replace(" ", ""))
                self.assertIn('"replayed":1', told.replace(" ", ""))

    @needs("strace")
    def test_under_a_tracer(self):
        """strace and debuggers occupy ptrace: hallmark uses what is left, or runs unobserved."""
        self.check_runs(["strace", "-f", "-o", "/dev/null"])

    def test_without_proc(self):
        """No /proc (a bare chroot or namespace): the command still runs."""
        probe = self.run_plain(["unshare", "-m", "true"], check=False)
        if probe.code != 0:
            self.skipTest("no mount namespace can be made here")
        self.check_runs(["unshare", "-m", "sh", "-c", 'mount --make-rprivate / && mount -t tmpfs none /proc && exec "$@"', "sh"])

    @needs("root")
    def test_without_seccomp_and_ptrace(self):
        """A sandbox whose own filter refuses seccomp and ptrace, as gVisor or an old kernel would: EPERM or ENOSYS."""
        compiler = find_tool("gcc")
        self.write("deny.c", r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {5, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  execvp(argv[1], argv + 1);
  return argc;
}
""")
        self.run_plain([compiler, "deny.c", "-o", "deny"])
        with self.expect(executed=0, replayed=0, unproven=2, uncacheable=None):
            self.check_runs(["./deny"])


if __name__ == "__main__":
    main()
