// SPDX-License-Identifier: Apache-2.0
/* The functions of ROOT-Sim's libraries before and after core 3.0.0 have the same names and
 * different parameters. Therefore the functions of the later libraries have other symbols. */
#pragma once

#define ROOTSIM_SYMBOL(function) __asm__("numawarp_rootsim_" #function)
