/* Computes for 0.3 s. The first run that sees the folder that it is given fails instead:
   natively, since no box has it. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

int main(int count, char **words) {
    char path[4096];
    if (count != 2) {
        return 2;
    }
    snprintf(path, sizeof path, "%s/failed", words[1]);
    if (open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) {
        return 1;
    }
    while (clock() < 0.3 * CLOCKS_PER_SEC) {
    }
    return 0;
}
