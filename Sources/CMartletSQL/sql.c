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

static const unsigned char sqlite_tables[] = {
#embed "sqlite/tables.sql" suffix(, 0)
};
TEXT(sqlite_tables)
