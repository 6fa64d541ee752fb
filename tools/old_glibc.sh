#!/bin/bash
# Unpacks the glibc of an older Debian below FOLDER. The program of the tarball (MAPSIM_PORTABLE) is linked against
# it, and so runs with that glibc and every later one.
#
# usage: old_glibc.sh FOLDER [SUITE]    SUITE: bullseye, glibc 2.31
set -euo pipefail
mkdir -p "$1"
folder="$(realpath "$1")"
suite="${2:-bullseye}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

mirror() { apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' | head -1; }
[[ -n "$(mirror)" ]] || apt-get update -qq
mirror="$(mirror)"
mkdir -p "$work"/{state/lists/partial,cache/archives/partial}
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources"
options=(-qq -o "Dir::Etc::sourcelist=$work/sources" -o Dir::Etc::sourceparts=- -o "Dir::State=$work/state"
  -o "Dir::Cache=$work/cache" -o Dir::State::status=/dev/null -o Acquire::Languages=none
  -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
(cd "$work" && apt-get "${options[@]}" download libc6 libc6-dev)
for package in "$work"/*.deb; do
  dpkg -x "$package" "$folder"
done
# Links from the root of a system become links from this folder.
find "$folder" -type l -lname '/*' -exec sh -c 'ln -sfn "$0$(readlink "$1")" "$1"' "$folder" {} \;
