// SPDX-License-Identifier: Apache-2.0

// Reports the acquire and release operations of Swift's Mutex to the thread sanitizer. The slow paths of the lock are in
// the toolchain's library, which is not instrumented, so that the sanitizer would report false races. Scripts/sanitize
// builds this library and loads it before the toolchain's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Weak, because programs without the sanitizer load this library, too.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lockSlow(uint32_t state, SELF mutex) __asm__(LOCK);
SWIFT void unlockSlow(SELF mutex) __asm__(UNLOCK);

SWIFT void lockSlow(uint32_t state, SELF mutex) {
    ((SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK))(state, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlockSlow(SELF mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
