// SPDX-License-Identifier: Apache-2.0
/* For models that include only the declarations of ROSS. */
#pragma once
#include <ross.h>
