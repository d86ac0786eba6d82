#!/usr/bin/env bash
# What `./dev bench` runs when the release build is there: parts with Google Benchmark, whole processes with hyperfine.
#
#   run.sh [--quick] [--only WORD] [--write]
#     --quick   fewer rounds, to see that it works
#     --only    only the figures whose name holds WORD; the parts are then left out
#     --write   put the table into docs/benchmarks.md
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export HALLMARK_BIN=${HALLMARK_BIN:-$PWD/build/release/bin/hallmark}
if [[ " $* " != *" --only "* && -x build/release/bin/bench_parts ]]; then
  build/release/bin/bench_parts --benchmark_min_time=0.1
fi
exec python3 -B tests/bench/bench.py "$@"
