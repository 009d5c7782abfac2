/* A program as a user writes it: only the installed header, only the installed library. */
#include <warpmem.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    char expected[32];
    struct wm_opcode opcode;
    snprintf(expected, sizeof expected, "%d.%d.%d", WM_VERSION_MAJOR, WM_VERSION_MINOR, WM_VERSION_PATCH);
    if (strcmp(wm_version(), expected) != 0) {
        fprintf(stderr, "the header is of version %s, the library of %s\n", expected, wm_version());
        return 1;
    }
    if (wm_opcode_parse("ld.global.v4.f32", 16, &opcode, NULL) != WM_OK) {
        fprintf(stderr, "ld.global.v4.f32 is refused\n");
        return 1;
    }

    /* 32 lanes, 16 bytes each, side by side: 512 bytes are 16 sectors of 32 bytes. */
    struct wm_access access;
    struct wm_counts counts;
    struct wm_diag diag;
    wm_arch *arch = NULL;
    memset(&access, 0, sizeof access);
    access.opcode = opcode;
    access.mask = UINT32_MAX;
    access.count = 1;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access.address[lane] = 0x7f0000000000u + 16u * lane;
    if (wm_arch_open("sm_90", &arch, &diag) != WM_OK) {
        fprintf(stderr, "sm_90: %s\n", diag.text);
        return 1;
    }
    enum wm_status status = wm_model(arch, &access, &counts);
    wm_arch_close(arch);
    if (status != WM_OK || counts.sectors != 16) {
        fprintf(stderr, "status %s, %u sectors instead of 16\n", wm_status_text(status), (unsigned)counts.sectors);
        return 1;
    }
    return 0;
}
