// What the programs of this folder share. Each is one kernel behaviour. It runs in a fresh folder that holds
//   file  other  folder/inside  folder/deep/leaf  link -> file  folder_link -> folder  script (#!/bin/sh)
// and ends with 0 if the kernel behaved as the program expects, 77 if the kernel cannot do it at all.
//
// The first comment of a program says what must be observed, in lines that run.py reads:
//   reads: PATH     content; relative to the folder, or absolute
//   looks: PATH     at least its kind
//   links: PATH     a symbolic link, as such
//   absent: PATH    a name that was looked for in vain
//   lists: PATH     a folder
//   writes: PATH    an output
//   later: PATH     a file that appears after the command has ended
//   doubt: NAME     a Reason that must be among the doubts; without such a line there must be none
//   needs: root
#ifndef HALLMARK_TESTS_SYSCALLS_FIXTURE_H
#define HALLMARK_TESTS_SYSCALLS_FIXTURE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSkipped = 77 };

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno)); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

/* Reads one byte, so that nobody can say that it was only opened. */
static inline void read_one(int descriptor) {
  char byte;
  CHECK(descriptor >= 0);
  CHECK(read(descriptor, &byte, 1) == 1);
  CHECK(close(descriptor) == 0);
}

static inline void read_file(const char* path) {
  read_one(open(path, O_RDONLY));
}

static inline void check_child(pid_t child) {
  int status = 0;
  CHECK(child > 0);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

extern char** environ;
#endif
