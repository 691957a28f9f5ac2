/* Makes a system call with the old 32-bit interface (int 0x80), where the same numbers mean other calls: 359 is socket
there.

Must happen: the call is refused, or the program is killed. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long old_call(long number, long a, long b, long c) {
    long result = -1;
#ifdef __x86_64__
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
#endif
    return result;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *id = strstr(line, "\"id\":");
        if (!id)
            return 0;
        int turn = strstr(line, "\"type\":\"turn\"") != NULL;
        if (turn && (int)old_call(359, 2, 1, 0) >= 0) {
            puts("REACHED a socket");
            return 1;
        }
        printf(turn ? "{\"id\":%ld,\"answer\":0}\n" : "{\"id\":%ld}\n", strtol(id + 5, NULL, 10));
        fflush(stdout);
    }
    return 0;
}
