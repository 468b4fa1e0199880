#ifndef HOUSEHOLD_CZSTD_SHIM_H
#define HOUSEHOLD_CZSTD_SHIM_H
#include <zstd.h>
#endif
