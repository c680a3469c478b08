// SPDX-License-Identifier: Apache-2.0

// libpq: speaks to PostgreSQL. Everything Swift needs imports as it is.
#ifndef MARTLET_CPOSTGRESQL_H
#define MARTLET_CPOSTGRESQL_H

#include <libpq-fe.h>

#endif
