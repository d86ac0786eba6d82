#ifndef A
#define A
#if defined(B) && !defined C
#include "x.h" /* c */
#elif 1
#include <y>
#else
#include_next M
#endif
R"d(x)d" 'a'  // e
#endif
