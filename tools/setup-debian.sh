#!/bin/bash
# Installs what it takes to build mapsim on Debian 12, by apt alone, as root or with sudo; with
# --developer also what its tests, benchmarks and checks need, MPI, and in build/glibc the older glibc that the
# tarball is linked against. Says nothing and needs no rights when everything is there. NVIDIA's compiler, which
# some tests take where it is, is not in Debian: docs/kernels.md (Compiling) says where it comes from.
set -euo pipefail
lists="$(dirname "${BASH_SOURCE[0]}")"
case "$*" in
  "") files=("$lists/debian-packages.txt") ;;
  --developer) files=("$lists/debian-packages.txt" "$lists/debian-packages-developer.txt") ;;
  *)
    echo "usage: setup-debian.sh [--developer]" >&2
    exit 2
    ;;
esac
mapfile -t packages < <(sed 's/#.*//; s/[[:space:]]//g; /^$/d' "${files[@]}")

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup-debian.sh: run it as root or install sudo; missing: ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

glibc="$lists/../build/glibc"
if [[ "$*" == --developer && ! -e "$glibc/lib64/ld-linux-x86-64.so.2" ]]; then
  "$lists/old_glibc.sh" "$glibc" || echo "setup-debian.sh: no older glibc, so no tarball will be made" >&2
fi
