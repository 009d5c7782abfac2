/* Accel-Sim kernel traces. */
#include "fuzz_reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_reading(data, size, WM_FORMAT_ACCELSIM);
}
