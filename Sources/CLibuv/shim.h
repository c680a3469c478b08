// libuv: the event loop. Everything Swift needs imports as it is.
#ifndef MARTLET_CLIBUV_H
#define MARTLET_CLIBUV_H

#include <uv.h>

#endif
