/* Functions of ROOT-Sim's libraries have the same names, with other parameters, before core 3.0.0 and after it: the
 * later ones have symbols of their own. */
#pragma once

#define ROOTSIM_SYMBOL(function) __asm__("numawarp_rootsim_" #function)
