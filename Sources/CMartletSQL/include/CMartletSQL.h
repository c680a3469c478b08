// SPDX-License-Identifier: Apache-2.0

// SQL scripts, which are embedded in the program.
#ifndef MARTLET_CSQL_H
#define MARTLET_CSQL_H

/// Declares a function that returns the text of a script: MARTLET_SQL(postgresql, accept) returns that of
/// postgresql/accept.sql, and its name is martlet_sql_postgresql_accept.
#define MARTLET_SQL(engine, script) const char *martlet_sql_##engine##_##script(void)

MARTLET_SQL(postgresql, accept);
MARTLET_SQL(postgresql, claim);
MARTLET_SQL(postgresql, enqueue);
MARTLET_SQL(postgresql, identities);
MARTLET_SQL(postgresql, import);
MARTLET_SQL(postgresql, installations);
MARTLET_SQL(postgresql, jobs);
MARTLET_SQL(postgresql, maintenance);
MARTLET_SQL(postgresql, nodes);
MARTLET_SQL(postgresql, order_keys);
MARTLET_SQL(postgresql, rights);
MARTLET_SQL(postgresql, sealing);
MARTLET_SQL(postgresql, settle);
MARTLET_SQL(postgresql, surfaces);
MARTLET_SQL(postgresql, tables);
MARTLET_SQL(sqlite, tables);

#endif
