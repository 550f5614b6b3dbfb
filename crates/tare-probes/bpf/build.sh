#!/bin/sh
# Makes probes.bpf.o, or the file $1, from source with Debian 12's clang 14: the same bytes in any folder.
set -eu
to=$(realpath "${1:-$(dirname "$0")/probes.bpf.o}")
cd "$(dirname "$0")"
clang -target bpf -O2 -g -mcpu=v3 -Wall -Werror -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. \
    -c probes.bpf.c -o "$to"
