/* Filling struct wm_diag: for the parts of the library that read input. Internal to the library. */
#ifndef WM_STATUS_H
#define WM_STATUS_H

#include "warpmem.h"

#if defined(__GNUC__)
#define WMI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define WMI_PRINTF(at, first)
#endif

/* Fills *diag (may be NULL) and returns status. file may be NULL; where it is too long its front is cut. Bytes of the
 * message that are not printable ASCII become '?'. */
enum wm_status wmi_diag_set(struct wm_diag *diag, enum wm_status status, const char *file, uint64_t line,
                            uint64_t column, const char *format, ...) WMI_PRINTF(6, 7);

#endif
