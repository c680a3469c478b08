// SPDX-License-Identifier: Apache-2.0
// Functions of glibc 2.35 and 2.36 that the static libraries of Swift and GCC use, so that the program runs with
// glibc 2.34, too. They are hidden: other libraries of the process must not call them.

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#pragma GCC visibility push(hidden)

// Rounds once more than glibc 2.35, which returns the same for all but rare values.
float hypotf(float x, float y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (float)sqrt((double)x * x + (double)y * y);
}

uint32_t arc4random(void) {
    uint32_t value = 0;
    while (getrandom(&value, sizeof value, 0) != sizeof value)
        if (errno != EINTR) abort();
    return value;
}

// Finds nothing, so that a C++ exception ends the process. Nothing in the program catches one.
int _dl_find_object(void *address, void *result) {
    (void)address;
    (void)result;
    return -1;
}

#pragma GCC visibility pop
