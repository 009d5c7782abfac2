/*
 * What the fuzz targets of the trace readers have in common: reads the data in every way there is and stops the process
 * where the ways differ, or an access is one that the library itself does not accept.
 */
#ifndef FUZZ_READING_H
#define FUZZ_READING_H

#include <stddef.h>
#include <stdint.h>

#include "warpmem.h"

int fuzz_reading(const uint8_t *data, size_t size, enum wm_format format);

#endif
