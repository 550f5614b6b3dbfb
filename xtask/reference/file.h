// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the references share that use a file: one without a name in the current folder, of
// so many bytes, all written.

#include <fcntl.h>
#include <unistd.h>

static void must(int well, const char *what) {
    if (!well) {
        perror(what);
        exit(1);
    }
}

static int laid_out(long bytes) {
    int file = open(".", O_TMPFILE | O_RDWR, 0600);
    must(file >= 0, "open");
    static char block[8192];
    for (long at = 0; at < bytes; at += sizeof block)
        must(pwrite(file, block, sizeof block, at) == sizeof block, "pwrite");
    fsync(file);
    return file;
}
