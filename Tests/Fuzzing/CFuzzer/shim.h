// SPDX-License-Identifier: Apache-2.0

#include <stddef.h>
#include <stdint.h>

// Part of libFuzzer: https://llvm.org/docs/LibFuzzer.html
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
