#include "CMartletSQL.h"

// A C compiler embeds a file as it is (C23, 6.10.4); the zero ends the text.

static const unsigned char postgresql_accept[] = {
#embed "postgresql/accept.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_accept(void) {
    return (const char *)postgresql_accept;
}

static const unsigned char postgresql_adopt[] = {
#embed "postgresql/adopt.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_adopt(void) {
    return (const char *)postgresql_adopt;
}

static const unsigned char postgresql_adopt_ended[] = {
#embed "postgresql/adopt_ended.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_adopt_ended(void) {
    return (const char *)postgresql_adopt_ended;
}

static const unsigned char postgresql_claim[] = {
#embed "postgresql/claim.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_claim(void) {
    return (const char *)postgresql_claim;
}

static const unsigned char postgresql_enqueue[] = {
#embed "postgresql/enqueue.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_enqueue(void) {
    return (const char *)postgresql_enqueue;
}

static const unsigned char postgresql_housekeeping[] = {
#embed "postgresql/housekeeping.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_housekeeping(void) {
    return (const char *)postgresql_housekeeping;
}

static const unsigned char postgresql_identities[] = {
#embed "postgresql/identities.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_identities(void) {
    return (const char *)postgresql_identities;
}

static const unsigned char postgresql_lanes[] = {
#embed "postgresql/lanes.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_lanes(void) {
    return (const char *)postgresql_lanes;
}

static const unsigned char postgresql_lines[] = {
#embed "postgresql/lines.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_lines(void) {
    return (const char *)postgresql_lines;
}

static const unsigned char postgresql_nodes[] = {
#embed "postgresql/nodes.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_nodes(void) {
    return (const char *)postgresql_nodes;
}

static const unsigned char postgresql_settle[] = {
#embed "postgresql/settle.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_settle(void) {
    return (const char *)postgresql_settle;
}

static const unsigned char postgresql_tables[] = {
#embed "postgresql/tables.sql" suffix(, 0)
};

const char *martlet_sql_postgresql_tables(void) {
    return (const char *)postgresql_tables;
}

static const unsigned char sqlite_expiry[] = {
#embed "sqlite/expiry.sql" suffix(, 0)
};

const char *martlet_sql_sqlite_expiry(void) {
    return (const char *)sqlite_expiry;
}

static const unsigned char sqlite_lanes[] = {
#embed "sqlite/lanes.sql" suffix(, 0)
};

const char *martlet_sql_sqlite_lanes(void) {
    return (const char *)sqlite_lanes;
}

static const unsigned char sqlite_tables[] = {
#embed "sqlite/tables.sql" suffix(, 0)
};

const char *martlet_sql_sqlite_tables(void) {
    return (const char *)sqlite_tables;
}
