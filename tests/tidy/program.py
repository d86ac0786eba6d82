#!/usr/bin/env python3
"""The hot program stays quick to start: no slow library is linked to it, in either way (DESIGN section 6).

usage: program.py HALLMARK [needed]   the second word lists the libraries that a dynamic build may need
"""
import re
import subprocess
import sys

# Libraries that may be named by DT_NEEDED where the program is linked dynamically (sanitizers).
ALLOWED_NEEDED = re.compile(r"^(?:libc|libm|libgcc_s|libstdc\+\+|libpthread|libcrypto|libelf|libz|libzstd|liblz4|"
                            r"libasan|libubsan|libtsan|ld-linux-x86-64)\.so")
FORBIDDEN_SYMBOL = re.compile(r"(?:\btoml::|\bgrpc|\bgoogle::protobuf|\bCLI::App|\bgit_repository_)")


def run(*words):
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout


def needed(program):
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", run("readelf", "-dW", program))


def check(program):
    for library in needed(program):
        if not ALLOWED_NEEDED.match(library):
            yield f"{program}: needs {library}"
    symbols = {m.group(0) for m in FORBIDDEN_SYMBOL.finditer(run("nm", "-C", program))}
    for symbol in sorted(symbols):
        yield f"{program}: holds code of {symbol}"


def main():
    problems = list(check(sys.argv[1]))
    print("\n".join(problems) or f"needs: {' '.join(needed(sys.argv[1])) or 'nothing'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
