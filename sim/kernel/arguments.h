/* What a launch gives to a kernel. Internal to the library. */
#ifndef WM_ARGUMENTS_H
#define WM_ARGUMENTS_H

#include "machine.h"

/* Fills parameters, __constant__ and __device__ variables from the launch's arguments. Ends the compilation on errors. */
void wmi_x_arguments(struct wmi_run *run);

#endif
