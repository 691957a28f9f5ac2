/* Makes system calls from C without any library.

Must happen: each is refused; the program continues to play. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void refused(const char *name, long result) {
    if (result < 0)
        return;
    printf("REACHED %s\n", name);
    fflush(stdout);
    exit(1);
}

static void attack(void) {
    char room[4096] = {0};
    refused("socket", syscall(SYS_socket, 2, 1, 0));
    refused("a local socket", syscall(SYS_socket, 1, 1, 0));
    refused("passwd", syscall(SYS_open, "/etc/passwd", O_RDONLY));
    refused("ptrace", syscall(SYS_ptrace, 0, 0, 0, 0));
    refused("unshare", syscall(SYS_unshare, 0x10000000));
    refused("mount", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
    refused("setuid", syscall(SYS_setuid, 0));
    refused("memfd", syscall(SYS_memfd_create, "x", 0));
    refused("io_uring", syscall(425, 4, room));
    refused("shared memory", syscall(SYS_shmget, 0, 4096, 01600));
    refused("a number of the other list", syscall(0x40000000 | SYS_socket, 2, 1, 0));
    refused("a number beyond all lists", syscall(100000));
    refused("a new session", syscall(SYS_setsid));
    refused("another's signal", syscall(SYS_kill, 1 << 21, 0));
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    int attacked = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *id = strstr(line, "\"id\":");
        if (!id)
            return 0;
        int turn = strstr(line, "\"type\":\"turn\"") != NULL;
        if (turn && !attacked++)
            attack();
        printf(turn ? "{\"id\":%ld,\"answer\":0}\n" : "{\"id\":%ld}\n", strtol(id + 5, NULL, 10));
        fflush(stdout);
    }
    return 0;
}
