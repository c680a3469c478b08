// SPDX-License-Identifier: Apache-2.0

// SQL scripts, which are embedded in the program.
#ifndef MARTLET_CSQL_H
#define MARTLET_CSQL_H

/// The text of postgresql/accept.sql.
const char *martlet_sql_postgresql_accept(void);
/// The text of postgresql/import.sql.
const char *martlet_sql_postgresql_import(void);
/// The text of postgresql/claim.sql.
const char *martlet_sql_postgresql_claim(void);
/// The text of postgresql/enqueue.sql.
const char *martlet_sql_postgresql_enqueue(void);
/// The text of postgresql/maintenance.sql.
const char *martlet_sql_postgresql_maintenance(void);
/// The text of postgresql/identities.sql.
const char *martlet_sql_postgresql_identities(void);
/// The text of postgresql/installations.sql.
const char *martlet_sql_postgresql_installations(void);
/// The text of postgresql/order_keys.sql.
const char *martlet_sql_postgresql_order_keys(void);
/// The text of postgresql/nodes.sql.
const char *martlet_sql_postgresql_nodes(void);
/// The text of postgresql/settle.sql.
const char *martlet_sql_postgresql_settle(void);
/// The text of postgresql/tables.sql.
const char *martlet_sql_postgresql_tables(void);
/// The text of sqlite/tables.sql.
const char *martlet_sql_sqlite_tables(void);

#endif
