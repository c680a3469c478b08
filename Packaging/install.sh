#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs martlet from the portable archive of a release, after verifying its checksum, or removes it again.
# Usage: install.sh [--prefix DIRECTORY] URL-OR-DIRECTORY
#        install.sh [--prefix DIRECTORY] --uninstall
# The URL or directory is the one that has SHA256SUMS. The default prefix is /usr/local.
set -eu

usage() {
    echo "Usage: install.sh [--prefix DIRECTORY] URL-OR-DIRECTORY" >&2
    echo "       install.sh [--prefix DIRECTORY] --uninstall" >&2
    exit 2
}
stop() { echo "install.sh: $*" >&2; exit 1; }

prefix=/usr/local
source=""
uninstall=""
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) [ -n "${2:-}" ] || usage; prefix=$2; shift 2 ;;
    --uninstall) uninstall=yes; shift ;;
    -*) usage ;;
    *) [ -z "$source" ] || usage; source=$1; shift ;;
    esac
done
# Either a source, or --uninstall.
[ -n "$source$uninstall" ] || usage
[ -z "$source" ] || [ -z "$uninstall" ] || usage
umask 022

files="bin/martlet share/man/man1/martlet.1 share/bash-completion/completions/martlet
    share/zsh/site-functions/_martlet share/fish/vendor_completions.d/martlet.fish"

if [ -n "$uninstall" ]; then
    [ -e "$prefix/bin/martlet" ] || stop "there is no martlet in $prefix"
    for file in $files; do rm -f "$prefix/$file"; done
    echo "Removed martlet from $prefix."
    exit
fi

[ "$(uname -s)" = Linux ] || stop "the archive is for Linux; on macOS use Homebrew"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fetch() { # FILE
    case $source in
    http://* | https://*)
        if command -v curl >/dev/null; then
            curl --proto-redir =https --fail --silent --show-error --location --output "$scratch/$1" "$source/$1"
        elif command -v wget >/dev/null; then wget --quiet --output-document "$scratch/$1" "$source/$1"
        else stop "curl or wget is required to download from $source"; fi ;;
    *) cp "$source/$1" "$scratch/$1" ;;
    esac || stop "cannot read $1 from $source"
}
fetch SHA256SUMS
archive=$(awk -v end="-linux-$(uname -m).tar.gz" \
    'substr($2, length($2) - length(end) + 1) == end { print $2; exit }' "$scratch/SHA256SUMS")
[ -n "$archive" ] || stop "the release has no archive for $(uname -m)"
fetch "$archive"
(cd "$scratch" && grep "  $archive\$" SHA256SUMS | sha256sum --check --status) ||
    stop "the checksum of $archive does not match SHA256SUMS; nothing was installed"
tar -xzf "$scratch/$archive" -C "$scratch" || stop "cannot extract $archive"
directory=$scratch/${archive%.tar.gz}
mkdir -p "$prefix/bin" || stop "cannot write $prefix; run as root, or use --prefix"
cp "$directory/bin/martlet" "$prefix/bin/martlet.new" || stop "cannot write $prefix/bin"
"$prefix/bin/martlet.new" version >/dev/null || {
    rm -f "$prefix/bin/martlet.new"
    stop "the program does not run on this system; it needs glibc 2.34 or later. Nothing was installed"
}
for file in $files; do
    mkdir -p "$prefix/${file%/*}"
    # Replaces the file, so that a running program keeps the old one.
    cp "$directory/$file" "$prefix/$file.new"
    mv "$prefix/$file.new" "$prefix/$file"
done
echo "Installed $("$prefix/bin/martlet" version) in $prefix. Try: $prefix/bin/martlet demo"
