#!/bin/bash
# Installs a .deb (and unpacks a static tarball) in clean roots that debootstrap makes, and uses them there
# as a user would. As root. Says how long the installation took; exit 1 if anything fails.
#
# usage: package_check.sh DEB [TARBALL [SUITE]]    SUITE: of the tarball's root [bullseye: glibc 2.31]
#    or: package_check.sh --obstacle    says why no clean root can be made here; nothing: one can
set -euo pipefail
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 2>/dev/null | head -1 || true)"
mirror="${mirror:-http://deb.debian.org/debian}"  # where no lists of packages are here
mirror="${mirror%/}"

obstacle() {
  if ((EUID != 0)); then
    echo "only root can make a clean root"
  elif ! command -v debootstrap >/dev/null; then
    echo "debootstrap is not installed"
  elif ! { mkdir "$1/proc" && mount -t proc proc "$1/proc" && umount "$1/proc"; } 2>/dev/null; then
    echo "nothing may be mounted here"
  elif ! timeout 30 /usr/lib/apt/apt-helper download-file "$mirror/dists/bookworm/Release" "$1/Release" &>/dev/null; then
    echo "$mirror cannot be reached"
  fi
}

work="$(mktemp -d)"
if [[ "$1" == --obstacle ]]; then
  obstacle "$work"
  rm -rf "$work"
  exit
fi
deb="$(realpath "$1")"
tarball="${2:+$(realpath "$2")}"
suite="${3:-bullseye}"

clean_up() {
  umount -q "$work"/*/proc 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

# A root with nothing but a minimal Debian, and this machine's way to its packages.
make_root() {
  debootstrap --variant=minbase "$2" "$work/$1" "$mirror" \
    >"$work/$1.log" 2>&1 || { tail -5 "$work/$1.log" >&2; return 1; }
  cp -r /etc/apt/apt.conf.d "$work/$1/etc/apt/"
  cp /etc/resolv.conf "$work/$1/etc/"
  mount -t proc proc "$work/$1/proc"
}
# As a user's shell there: nothing of this machine's environment but the way to its packages.
within() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${http_proxy:+http_proxy="$http_proxy"} \
    ${https_proxy:+https_proxy="$https_proxy"} chroot "$work/$1" /bin/sh -c "cd /tmp && $2"
}

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "$deb"  # ends the script where it fails
  echo "lintian: nothing to say"
fi

make_root deb bookworm
cp "$deb" "$work/deb/tmp/mapsim.deb"
within deb 'apt-get update -qq'
begin="$EPOCHREALTIME"
within deb 'DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 install -y -qq --no-install-recommends ./mapsim.deb' >/dev/null
echo "installed in $(awk "BEGIN {printf \"%.1f\", $EPOCHREALTIME - $begin}") s"
within deb 'mapsim search eyeriss resnet50/conv2_3x3' | grep 'proven optimal'
within deb 'mapsim network nvdla_like_1024 alexnet' >/dev/null
within deb 'mapsim plan jetson_agx_orin graphs/squeezenet' >/dev/null
within deb 'mapsim search teaching_flat teaching_convs' | grep 'proven: '
within deb 'python3 -c "import mapsim; best = mapsim.search(\"eyeriss\", \"alexnet/conv3\"); print(repr(best)); assert mapsim.check(best.proof())"'
within deb 'dpkg -L mapsim' | grep -c -e man1/mapsim.1.gz$ -e /libmapsim.a$ -e include/mapsim/mapsim/mapsim.hpp$ | grep -qx 3
within deb 'test -f /usr/share/doc/mapsim/copyright && test -f /usr/share/doc/mapsim/licenses/THIRD_PARTY.md'
within deb 'dpkg --purge mapsim >/dev/null && test ! -e /usr/share/mapsim && test ! -e /usr/share/doc/mapsim &&
            test ! -e /usr/lib/python3/dist-packages/mapsim'
echo "the .deb works in a clean root, and leaves nothing"

if [[ -n "$tarball" ]]; then
  make_root tarball "$suite"
  tar -xf "$tarball" -C "$work/tarball/opt"
  within tarball 'mv /opt/mapsim-* /opt/mapsim && /opt/mapsim/bin/mapsim search eyeriss resnet50/conv2_3x3' |
    grep 'proven optimal'
  within tarball '/opt/mapsim/bin/mapsim network nvdla_like_1024 alexnet' >/dev/null
  echo "the tarball works on $suite, glibc $(within tarball 'ldd --version' | sed -n '1s/.* //p')"
fi
