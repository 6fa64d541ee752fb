#!/bin/bash
# Installs what mapsim needs on Debian 12, by apt alone, as root or with sudo. Says nothing and needs
# no rights when everything is there.
set -euo pipefail
list="$(dirname "${BASH_SOURCE[0]}")/debian-packages.txt"
mapfile -t packages < <(sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$list")

is_installed() {
  [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
((${#missing[@]})) || exit 0

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
