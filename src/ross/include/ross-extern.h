/* For models that include only the declarations of ROSS. */
#pragma once
#include <ross.h>
