// SPDX-License-Identifier: Apache-2.0

// A library to preload on Linux: the wall clock shows another time, by the seconds that the file WALL_CLOCK_ERROR contains
// as a 64-bit integer. A change of the file has effect at once. All other clocks and all timers stay as they are.
//
// libfaketime also changes the times of timers of the monotonic clock, so that a Swift task sleeps for too long or not at
// all. It sets variables when it is loaded, too, after which a Swift program sees no arguments.

#define _GNU_SOURCE

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *error;

__attribute__((constructor)) static void open_error(void) {
    const char *path = getenv("WALL_CLOCK_ERROR");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *error, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) error = memory;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    int status = (int)syscall(SYS_clock_gettime, clock, result);
    if (status == 0 && error && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) result->tv_sec += *error;
    return status;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
