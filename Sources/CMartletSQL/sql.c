// SPDX-License-Identifier: Apache-2.0

#include "CMartletSQL.h"

// A C compiler embeds a file as it is (C23, 6.10.4); the zero ends the text. A macro cannot embed a file.
#define TEXT(script) const char *martlet_sql_##script(void) { return (const char *)script; }

static const unsigned char postgresql_accept[] = {
#embed "postgresql/accept.sql" suffix(, 0)
};
TEXT(postgresql_accept)

static const unsigned char postgresql_import[] = {
#embed "postgresql/import.sql" suffix(, 0)
};
TEXT(postgresql_import)

static const unsigned char postgresql_claim[] = {
#embed "postgresql/claim.sql" suffix(, 0)
};
TEXT(postgresql_claim)

static const unsigned char postgresql_dead_tokens[] = {
#embed "postgresql/dead_tokens.sql" suffix(, 0)
};
TEXT(postgresql_dead_tokens)

static const unsigned char postgresql_enrollments[] = {
#embed "postgresql/enrollments.sql" suffix(, 0)
};
TEXT(postgresql_enrollments)

static const unsigned char postgresql_enqueue[] = {
#embed "postgresql/enqueue.sql" suffix(, 0)
};
TEXT(postgresql_enqueue)

static const unsigned char postgresql_maintenance[] = {
#embed "postgresql/maintenance.sql" suffix(, 0)
};
TEXT(postgresql_maintenance)

static const unsigned char postgresql_identities[] = {
#embed "postgresql/identities.sql" suffix(, 0)
};
TEXT(postgresql_identities)

static const unsigned char postgresql_installations[] = {
#embed "postgresql/installations.sql" suffix(, 0)
};
TEXT(postgresql_installations)

static const unsigned char postgresql_lanes[] = {
#embed "postgresql/lanes.sql" suffix(, 0)
};
TEXT(postgresql_lanes)

static const unsigned char postgresql_order_keys[] = {
#embed "postgresql/order_keys.sql" suffix(, 0)
};
TEXT(postgresql_order_keys)

static const unsigned char postgresql_nodes[] = {
#embed "postgresql/nodes.sql" suffix(, 0)
};
TEXT(postgresql_nodes)

static const unsigned char postgresql_settle[] = {
#embed "postgresql/settle.sql" suffix(, 0)
};
TEXT(postgresql_settle)

static const unsigned char postgresql_tables[] = {
#embed "postgresql/tables.sql" suffix(, 0)
};
TEXT(postgresql_tables)

static const unsigned char sqlite_dead_tokens[] = {
#embed "sqlite/dead_tokens.sql" suffix(, 0)
};
TEXT(sqlite_dead_tokens)

static const unsigned char sqlite_expiry[] = {
#embed "sqlite/expiry.sql" suffix(, 0)
};
TEXT(sqlite_expiry)

static const unsigned char sqlite_installations[] = {
#embed "sqlite/installations.sql" suffix(, 0)
};
TEXT(sqlite_installations)

static const unsigned char sqlite_lanes[] = {
#embed "sqlite/lanes.sql" suffix(, 0)
};
TEXT(sqlite_lanes)

static const unsigned char sqlite_retries[] = {
#embed "sqlite/retries.sql" suffix(, 0)
};
TEXT(sqlite_retries)

static const unsigned char sqlite_tables[] = {
#embed "sqlite/tables.sql" suffix(, 0)
};
TEXT(sqlite_tables)
