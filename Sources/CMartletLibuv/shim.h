// SPDX-License-Identifier: Apache-2.0

// libuv: the event loop, and malloc_trim, which Swift's module of glibc leaves out. Both import as they are.
#ifndef MARTLET_CLIBUV_H
#define MARTLET_CLIBUV_H

#include <uv.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#endif
