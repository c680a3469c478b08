// SPDX-License-Identifier: Apache-2.0

// The files that the inbox and the relay's page share, for their lists of files.
#define EMBEDDED shared/components.css
#include "file.h"
#define EMBEDDED shared/components.js
#include "file.h"
#define EMBEDDED shared/dom.js
#include "file.h"
#define EMBEDDED shared/icons.js
#include "file.h"
#define EMBEDDED shared/style.css
#include "file.h"
#define EMBEDDED shared/texts.js
#include "file.h"
