#!/usr/bin/env bash
# The demo: a real kernel library built by CMake and Ninja with hallmark as launcher, five times. Started by `./dev demo`,
# which has built hallmark and installed what this needs. Works in build/demo, keeps its own store there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly top=$PWD place=$PWD/build/demo
readonly hallmark=$top/build/release/bin/hallmark
readonly cutlass_package=nvidia-cutlass==4.2.0.0

say() { printf '%s\n' "$*"; }

# ---- The source tree: origin is a git repository, work is a checkout of it ------------------------------------------
fetch_cutlass() {
  local wheels=$top/build/downloads
  if ! compgen -G "$wheels/nvidia_cutlass-*.whl" >/dev/null; then
    say "downloading the package $cutlass_package (6.4 MB) ..."
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$wheels" "$cutlass_package"
  fi
  python3 - "$wheels"/nvidia_cutlass-*.whl "$place/origin/third_party" <<'PYTHON'
import pathlib, sys, zipfile
wheel, target = sys.argv[1], pathlib.Path(sys.argv[2])
parts = {"cutlass_library/source/include/": "cutlass", "cutlass_library/source/examples/41_fused_multi_head_attention/": "fmha"}
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        for prefix, folder in parts.items():
            if name.startswith(prefix) and not name.endswith("/"):
                path = target / folder / name[len(prefix):]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(name))
PYTHON
}

make_origin() {
  mkdir -p "$place/origin/third_party/patched/$(dirname "$shadowed")"
  cp -r "tools/demo/$kind/." "$place/origin/"
  : >"$place/origin/third_party/patched/$(dirname "$shadowed")/.keep"
  if [[ $kind == cuda ]]; then
    fetch_cutlass
  else
    cp -r /usr/include/eigen3 "$place/origin/third_party/eigen"
  fi
  git -C "$place/origin" init -q
  git -C "$place/origin" add -A
  git -C "$place/origin" -c user.name=demo -c user.email=demo@localhost commit -qm "The kernel library"
}

clean_checkout() {
  rm -rf "$place/tree"
  git clone -q "$place/origin" "$place/tree"
}

# ---- One step: configure if asked, run ninja, count -----------------------------------------------------------------
counter() { "$hallmark" cache stats --json --root "$place/tree" | python3 -c "import json,sys; d=json.load(sys.stdin); print(d['replayed'], d['executed'] + d['unproven'] + d['failed'] + d['uncacheable'])"; }

configure() {
  local launcher="$hallmark;run;--" language launchers=()
  for language in "${languages[@]}"; do
    launchers+=("-DCMAKE_${language}_COMPILER_LAUNCHER=$launcher")
  done
  # CMake has a linker launcher for C and C++ only.
  launchers+=("-DCMAKE_CXX_LINKER_LAUNCHER=$launcher")
  cmake -S "$place/tree" -B "$place/tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${launchers[@]}" >"$place/configure.log"
}

rows=()
# step TITLE [configure]
step() {
  local title=$1 before after started ended seconds said
  say ""
  say "== $title"
  if [[ ${2-} == configure ]]; then configure; fi
  read -ra before < <(counter)
  started=$(date +%s%N)
  ninja -C "$place/tree/build" >"$place/ninja.log" || { cat "$place/ninja.log"; exit 1; }
  ended=$(date +%s%N)
  read -ra after < <(counter)
  seconds=$(awk -v ns=$((ended - started)) 'BEGIN {printf "%.2f", ns / 1e9}')
  said=$(grep -o 'no work to do' "$place/ninja.log" || grep -c '^\[' "$place/ninja.log" | sed 's/$/ steps/')
  grep '^\[' "$place/ninja.log" | grep -v 'Re-checking' | sed 's/^/   ninja: /' || true
  say "   ${seconds} s, executed $((after[1] - before[1])), replayed $((after[0] - before[0]))"
  rows+=("$title|$seconds s|$((after[1] - before[1]))|$((after[0] - before[0]))|$said")
}

why() { "$hallmark" why --last-miss --root "$place/tree" | sed 's/^/   why:   /' | cut -c 1-200 || true; }

main() {
  if command -v nvcc >/dev/null; then
    kind=cuda languages=(CXX CUDA) edited=third_party/fmha/gemm/mma_from_smem.h
    shadowed=cutlass/epilogue/thread/linear_combination_gelu.h
    say "Kernels: CUDA. CUTLASS's fused multi-head attention and GEMMs, compiled by $(command -v nvcc) for sm_80."
  else
    kind=cpp languages=(CXX) edited=third_party/eigen/Eigen/src/Cholesky/LLT.h shadowed=Eigen/QR
    say "Kernels: C++ (there is no nvcc here; ./dev setup --cuda brings it). Attention and solvers on Eigen, compiled by $(command -v c++)."
  fi
  rm -rf "$place"
  mkdir -p "$place"
  export HALLMARK_STORE=$place/store HALLMARK_ROOT=
  make_origin
  clean_checkout

  step "cold: nothing is known" configure
  step "nothing changed"
  say "" >>"$place/tree/$edited"
  step "a header on an -isystem path edited (${edited##*/})"
  why
  printf '#include_next <%s>\n' "$shadowed" >"$place/tree/third_party/patched/$shadowed"
  step "a new header earlier in the search path (${shadowed##*/})"
  why
  clean_checkout
  step "clean checkout, all mtimes new, empty build folder" configure
  step "nothing changed again"

  say ""
  {
    printf 'step|time|executed|replayed|ninja\n----|----|--------|--------|-----\n'
    printf '%s\n' "${rows[@]}"
  } | awk -F'|' '{printf "%-62s %9s %9s %9s  %s\n", $1, $2, $3, $4, $5}'
}

main "$@"
