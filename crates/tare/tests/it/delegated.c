/* Run as root in a VM: delegates a cgroup of version 2 to user 1000, enters it, and
   becomes that user with the command that follows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOP "/sys/fs/cgroup/"
#define OWN TOP "user/"
#define HOME "/tmp/user"

static void must(int done, const char *what) {
    if (!done) {
        perror(what);
        exit(70);
    }
}

static void put(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    must(file >= 0 && write(file, text, strlen(text)) > 0, path);
    close(file);
}

int main(int count, char **words) {
    const char *handed[] = {OWN, OWN "cgroup.procs", OWN "cgroup.subtree_control", OWN "cgroup.threads"};
    char pid[32];
    must(count > 1, "a command");
    put(TOP "cgroup.subtree_control", "+cpu +cpuset +memory");
    must(mkdir(OWN, 0755) == 0, OWN);
    for (int i = 0; i < 4; i++)
        must(chown(handed[i], 1000, 1000) == 0, handed[i]);
    snprintf(pid, sizeof pid, "%d", getpid());
    put(OWN "cgroup.procs", pid);
    must(mkdir(HOME, 0755) == 0 && chown(HOME, 1000, 1000) == 0 && chdir(HOME) == 0, HOME);
    must(setgid(1000) == 0 && setuid(1000) == 0, "become user 1000");
    setenv("HOME", HOME, 1);
    execv(words[1], words + 1);
    perror(words[1]);
    return 71;
}
