/*
 * GPU profiles. A text is refused with a place and a reason, or it is a profile: then its keys can be listed, and the
 * model answers on it, with either function and as wm_access_check() says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpmem.h"

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_diagnosis(const struct wm_diag *diag, enum wm_status status)
{
    REQUIRE(status == WM_E_SYNTAX || status == WM_E_RANGE || status == WM_E_NAME);
    REQUIRE(diag->status == status);
    REQUIRE(strcmp(diag->file, "fuzz.arch") == 0);
    REQUIRE(diag->text[0] != '\0');
    for (const char *c = diag->text; *c != '\0'; c++)
        REQUIRE(*c >= ' ' && *c <= '~');
}

static void list_keys(const wm_arch *arch)
{
    struct wm_arch_key key;
    size_t index = 0;

    REQUIRE(wm_arch_name(arch) != NULL && wm_arch_description(arch) != NULL);
    while (wm_arch_key_at(arch, index, &key) == WM_OK) {
        REQUIRE(key.name != NULL && key.value != NULL && key.unit != NULL && key.origin != NULL);
        REQUIRE(key.provenance == WM_MEASURED || key.provenance == WM_DOCUMENTED || key.provenance == WM_ASSUMED);
        index++;
    }
    REQUIRE(index > 0);
}

/* Lane i at base + i * stride, and at the same place in shared memory where the opcode has two sides. */
static void model(const wm_arch *arch, const char *text, uint64_t base, uint64_t stride, uint32_t mask)
{
    struct wm_access access;
    struct wm_counts once;
    struct wm_counts many;
    struct wm_diag diag;
    size_t done;

    memset(&access, 0, sizeof access);
    REQUIRE(wm_opcode_parse(text, strlen(text), &access.opcode, NULL) == WM_OK);
    access.mask = mask;
    access.count = 1;
    for (uint32_t lane = 0; lane < WM_LANES; lane++) {
        access.address[lane] = base + lane * stride;
        access.shared_address[lane] = (uint32_t)(lane * stride);
    }
    memset(&once, 0, sizeof once);
    memset(&many, 0, sizeof many);
    const enum wm_status status = wm_model(arch, &access, &once);
    REQUIRE(wm_model_many(arch, &access, 1, &many, &done) == status);
    REQUIRE(done == (status == WM_OK ? 1 : 0));
    REQUIRE(memcmp(&once, &many, sizeof once) == 0);
    REQUIRE(wm_access_check(arch, &access, &diag) == status);
    for (int counter = 0; counter < WM_COUNTERS; counter++)
        REQUIRE(wm_arch_exactness(arch, &access.opcode, (enum wm_counter)counter) <= WM_APPROXIMATE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const opcodes[] = {
        "ld.global.b8",       "ld.global.v2.b64", "st.global.b32",          "st.global.v4.b64",
        "ld.shared.b16",      "ld.shared.v4.b32", "st.shared.b64",          "atom.shared.add.u32",
        "red.global.add.f32", "ld.local.b128",    "ldmatrix.x4.shared.b16", "cp.async.ca.4",
        "cp.async.cg.16",     "ld.const.b32",     "atom.global.cas.b64",
    };
    static const uint64_t strides[] = {0, 4, 16, 33, 128, 4096};
    wm_arch *arch = NULL;
    struct wm_diag diag;
    const enum wm_status status = wm_arch_parse((const char *)data, size, "fuzz.arch", &arch, &diag);

    if (status != WM_OK) {
        REQUIRE(arch == NULL);
        require_diagnosis(&diag, status);
        return 0;
    }
    list_keys(arch);
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++) {
            model(arch, opcodes[i], 0, strides[k], UINT32_MAX);
            model(arch, opcodes[i], UINT64_C(0x7f1234567800), strides[k], 0x80f10001U);
        }
        model(arch, opcodes[i], UINT64_C(1) << 62, 1, 0);
    }
    wm_arch_close(arch);
    return 0;
}
