// SPDX-License-Identifier: Apache-2.0

#include "CMartletSQL.h"

#define ENGINE postgresql
#define SCRIPT accept
#include "script.h"
#define SCRIPT claim
#include "script.h"
#define SCRIPT enqueue
#include "script.h"
#define SCRIPT identities
#include "script.h"
#define SCRIPT import
#include "script.h"
#define SCRIPT installations
#include "script.h"
#define SCRIPT jobs
#include "script.h"
#define SCRIPT maintenance
#include "script.h"
#define SCRIPT nodes
#include "script.h"
#define SCRIPT order_keys
#include "script.h"
#define SCRIPT rights
#include "script.h"
#define SCRIPT sealing
#include "script.h"
#define SCRIPT settle
#include "script.h"
#define SCRIPT surfaces
#include "script.h"
#define SCRIPT tables
#include "script.h"
#undef ENGINE

#define ENGINE sqlite
#define SCRIPT tables
#include "script.h"
#undef ENGINE
