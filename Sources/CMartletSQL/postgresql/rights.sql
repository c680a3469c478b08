-- SPDX-License-Identifier: Apache-2.0

-- PostgreSQL lets every role execute a new function. This script is the last one, so that it applies to the functions
-- of all others: the owner of the tables executes them, and grants those that back ends call. Triggers need no right,
-- but a role that could execute their functions could attach them to tables of its own.
REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA martlet FROM PUBLIC;
