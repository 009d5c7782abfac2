/* GPU profiles: the format, the profiles that are built in, same_as, and what can be trusted. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "warpmem.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---------------------------------------------------------------------------------------------------------- helpers */

/* A text that grows. */
struct text {
    char *data;
    size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    text->data = realloc(text->data, text->length + (size_t)length + 1);
    assert_non_null(text->data);
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

static wm_arch *open_profile(const char *name)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    if (wm_arch_open(name, &arch, &diag) != WM_OK)
        fail_msg("%s: %s:%llu:%llu: %s", name, diag.file, (unsigned long long)diag.line,
                 (unsigned long long)diag.column, diag.text);
    return arch;
}

static wm_arch *parse_good(const char *text)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    if (wm_arch_parse(text, strlen(text), "test", &arch, &diag) != WM_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)diag.line, (unsigned long long)diag.column, diag.text);
    return arch;
}

/* Key by name; 0: the profile has none such. */
static int find_key(const wm_arch *arch, const char *name, struct wm_arch_key *out)
{
    for (size_t i = 0; !wm_arch_key_at(arch, i, out); i++) {
        if (!strcmp(out->name, name))
            return 1;
    }
    return 0;
}

static struct wm_arch_key key_of(const wm_arch *arch, const char *name)
{
    struct wm_arch_key key;

    if (!find_key(arch, name, &key))
        fail_msg("%s has no key %s", wm_arch_name(arch), name);
    return key;
}

static struct wm_opcode opcode_of(const char *text)
{
    struct wm_opcode opcode;

    assert_int_equal(wm_opcode_parse(text, strlen(text), &opcode, NULL), WM_OK);
    return opcode;
}

static enum wm_exactness exactness(const wm_arch *arch, const char *opcode_text, enum wm_counter counter)
{
    const struct wm_opcode opcode = opcode_of(opcode_text);

    return wm_arch_exactness(arch, &opcode, counter);
}

/* The text of a compiled-in profile. */
static struct text builtin_text(const char *name)
{
    struct text text = {0};

    for (const struct wmi_builtin *builtin = wmi_builtins; builtin->name; builtin++) {
        for (const char *const *line = builtin->lines; *line && !strcmp(builtin->name, name); line++)
            add(&text, "%s\n", *line);
    }
    assert_true(text.length > 0);
    return text;
}

/* A complete profile without same_as: sm_90's values, every one measured, nothing approximate; but changed (may be
 * NULL) has another source. */
static struct text complete_profile(const char *changed, const char *source)
{
    struct text text = {0};
    wm_arch *arch = open_profile("sm_90");
    struct wm_arch_key key;

    add(&text, "name = whole\ndescription = complete\ncompute_capability = 9.0\n");
    for (size_t i = 0; !wm_arch_key_at(arch, i, &key); i++) {
        if (strncmp(key.name, "approximate.", 12) != 0)
            add(&text, "%s = %s %s ; %s\n", key.name, key.value, key.unit,
                changed && !strcmp(changed, key.name) ? source : "measured: test");
    }
    wm_arch_close(arch);
    return text;
}

/* -------------------------------------------------------------------------------------------------------- built in */

static const char *const names[] = {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

static void built_in_profiles_are_listed_in_order(void **state)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(wm_arch_name_at(i), names[i]);
    assert_null(wm_arch_name_at(COUNT(names)));
    assert_null(wm_arch_name_at(SIZE_MAX));
    assert_int_equal(wm_arch_open("sm_30", &arch, &diag), WM_E_NAME);
    assert_null(arch);
    assert_string_equal(diag.text, "no profile \"sm_30\": there are sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120");
    assert_int_equal(wm_arch_open(NULL, &arch, NULL), WM_E_ARGUMENT);
    assert_int_equal(wm_arch_open("sm_90", NULL, NULL), WM_E_ARGUMENT);
}

static void built_in_profiles_are_complete(void **state)
{
    /* The keys named in struct wm_profile. */
    static const char *const needed[] = {
        "shared.banks",          "shared.bank_bytes",     "shared.phase_lanes_1",
        "shared.phase_lanes_2",  "shared.phase_lanes_4",  "shared.phase_lanes_8",
        "shared.phase_lanes_16", "shared.phase_lanes_32", "shared.load_merge",
        "shared.atomic_merge",   "shared.window_bytes",   "shared.ldmatrix_phase_lanes",
        "l1.line_bytes",         "l1.sector_bytes",       "shared.stmatrix_phase_lanes",
        "l1.tag_bank_bits",      "l1.tag_bank_mask_0",    "l1.tag_bank_mask_1",
        "l1.atomic_passes",      "local.in_l1",           "local.interleave_bytes",
        "generic.in_l1",         "const.in_l1",           "global.address_bits",
        "instruction.ldmatrix",  "instruction.stmatrix",  "instruction.cp_async",
        "global.max_width_bytes"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        wm_arch *arch = open_profile(names[i]);
        wm_arch *reference = open_profile("sm_90");
        struct wm_arch_key key;
        size_t n;

        assert_string_equal(wm_arch_name(arch), names[i]);
        assert_int_equal(wm_arch_capability(arch), atoi(names[i] + strlen("sm_")));
        assert_true(strlen(wm_arch_description(arch)) > 0);
        for (size_t k = 0; k < COUNT(needed); k++)
            (void)key_of(arch, needed[k]);
        /* Two tag-bank masks each, so every profile has the keys of sm_90. */
        for (n = 0; !wm_arch_key_at(reference, n, &key); n++)
            (void)key_of(arch, key.name);
        for (n = 0; !wm_arch_key_at(arch, n, &key); n++) {
            (void)key_of(reference, key.name);
            assert_true(strlen(key.value) > 0);
            assert_true(strlen(key.unit) > 0);
            assert_true(strlen(key.reference) > 0);
            assert_true(!strcmp(key.origin, names[i]) || !strcmp(key.origin, "sm_90"));
            /* The only GPU that this project has measured. */
            if (key.provenance == WM_MEASURED)
                assert_string_equal(names[i], "sm_90");
        }
        assert_int_equal(wm_arch_key_at(arch, n, &key), WM_END);
        assert_int_equal(wm_arch_key_at(arch, SIZE_MAX, &key), WM_END);
        assert_int_equal(wm_arch_key_at(arch, 0, NULL), WM_E_ARGUMENT);
        assert_int_equal(wm_arch_key_at(NULL, 0, &key), WM_E_ARGUMENT);
        wm_arch_close(reference);
        wm_arch_close(arch);
    }
}

/* Bit by bit, as the public description writes it. */
static unsigned sm_120_bank(uint64_t line)
{
    return (unsigned)((line ^ line >> 2 ^ line >> 4 ^ line >> 6 ^ line >> 8) & 3);
}

static unsigned parity(uint64_t bits)
{
    unsigned odd = 0;

    for (; bits; bits >>= 1)
        odd ^= bits & 1;
    return odd;
}

static void values_are_those_of_the_sources(void **state)
{
    static const struct {
        const char *name;
        unsigned ldmatrix, stmatrix, cp_async, max_width_bytes; /* PTX ISA, target notes */
    } isa[] = {{"sm_70", 0, 0, 0, 16}, {"sm_75", 1, 0, 0, 16}, {"sm_80", 1, 0, 1, 16},  {"sm_86", 1, 0, 1, 16},
               {"sm_89", 1, 0, 1, 16}, {"sm_90", 1, 1, 1, 16}, {"sm_100", 1, 1, 1, 32}, {"sm_120", 1, 1, 1, 32}};

    (void)state;
    for (size_t i = 0; i < COUNT(isa); i++) {
        wm_arch *arch = open_profile(isa[i].name);
        const struct wm_profile *profile = wm_arch_profile(arch);

        assert_int_equal(profile->has_ldmatrix, isa[i].ldmatrix);
        assert_int_equal(profile->has_stmatrix, isa[i].stmatrix);
        assert_int_equal(profile->has_cp_async, isa[i].cp_async);
        assert_int_equal(profile->max_width_bytes, isa[i].max_width_bytes);
        /* as CUPTI 13.0 lists the metrics of TU102, GA100, GA102, AD102, GH100, GB100 and GB202 */
        assert_string_equal(wm_arch_metric(arch, WM_LSU_WAVEFRONTS), isa[i].stmatrix
                                                                         ? "l1tex__data_pipe_lsu_wavefronts_mem_lgds"
                                                                         : "l1tex__data_pipe_lsu_wavefronts_mem_lg");
        assert_string_equal(wm_arch_metric(arch, WM_LINES), wm_counter_metric(WM_LINES));
        assert_int_equal(profile->address_bits, 48);
        assert_int_equal(profile->banks, 32);
        assert_int_equal(profile->bank_bytes, 4);
        assert_int_equal(profile->line_bytes, 128);
        assert_int_equal(profile->sector_bytes, 32);
        assert_int_equal(profile->tag_bank_bits, 2);
        for (unsigned width = 0; width < WM_WIDTHS; width++) {
            static const unsigned lanes[WM_WIDTHS] = {32, 32, 32, 16, 8, 4};

            assert_int_equal(profile->phase_lanes[width], lanes[width]);
        }
        assert_int_equal(profile->load_merge, 3);
        wm_arch_close(arch);
    }
}

static void tag_banks_are_those_of_the_sources(void **state)
{
    wm_arch *hopper = open_profile("sm_90");
    wm_arch *blackwell = open_profile("sm_120");

    (void)state;
    /* Probed pairs of lines gave the masks 0x5B55AF6F and 0xF5EF7AB5; stores, that lines 0 to 3 lie in banks 0 to 3. */
    assert_true((wm_arch_profile(hopper)->tag_bank_mask[0] & UINT32_MAX) == UINT64_C(0xF5EF7AB5));
    assert_true((wm_arch_profile(hopper)->tag_bank_mask[1] & UINT32_MAX) ==
                (UINT64_C(0xF5EF7AB5) ^ UINT64_C(0x5B55AF6F)));
    for (uint64_t line = 0; line < 1U << 14; line++) {
        const struct wm_profile *profile = wm_arch_profile(blackwell);
        const unsigned bank = parity(line & profile->tag_bank_mask[0]) | parity(line & profile->tag_bank_mask[1]) << 1;

        assert_int_equal(bank, sm_120_bank(line));
    }
    wm_arch_close(hopper);
    wm_arch_close(blackwell);
}

/* A built-in profile and its file say the same. */
static void built_in_profiles_are_the_files(void **state)
{
    const char *top = getenv("top_srcdir");
    char path[4096];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        wm_arch *built_in = open_profile(names[i]);
        wm_arch *loaded = NULL;
        struct wm_diag diag;
        struct wm_arch_key a, b;
        size_t n = 0;

        snprintf(path, sizeof path, "%s/sim/arch/%s.arch", top ? top : ".", names[i]);
        if (wm_arch_load(path, &loaded, &diag) != WM_OK)
            fail_msg("%s: %s", path, diag.text);
        assert_string_equal(wm_arch_name(loaded), wm_arch_name(built_in));
        assert_string_equal(wm_arch_description(loaded), wm_arch_description(built_in));
        assert_memory_equal(wm_arch_profile(loaded), wm_arch_profile(built_in), sizeof(struct wm_profile));
        for (; !wm_arch_key_at(built_in, n, &a); n++) {
            assert_int_equal(wm_arch_key_at(loaded, n, &b), WM_OK);
            assert_string_equal(a.name, b.name);
            assert_string_equal(a.value, b.value);
            assert_string_equal(a.unit, b.unit);
            assert_string_equal(a.reference, b.reference);
            assert_string_equal(a.origin, b.origin);
            assert_int_equal(a.provenance, b.provenance);
        }
        assert_int_equal(wm_arch_key_at(loaded, n, &b), WM_END);
        wm_arch_close(loaded);
        wm_arch_close(built_in);
    }
}

/* ---------------------------------------------------------------------------------------------------------- same_as */

#define HEADER(name, capability, base)                                                                                 \
    "name = " name "\ndescription = test\ncompute_capability = " capability "\nsame_as = " base "\n"

static void what_is_not_given_is_inherited(void **state)
{
    wm_arch *arch = parse_good(HEADER("mine", "9.0", "sm_90") "shared.phase_lanes_32 = 8 lanes ; assumed: a test\n");
    wm_arch *base = open_profile("sm_90");
    struct wm_profile expected = *wm_arch_profile(base);
    struct wm_arch_key key;

    (void)state;
    expected.phase_lanes[5] = 8;
    expected.fast = wm_arch_profile(arch)->fast; /* chosen, not given */
    assert_memory_equal(wm_arch_profile(arch), &expected, sizeof expected);
    assert_string_equal(wm_arch_name(arch), "mine");
    assert_string_equal(wm_arch_description(arch), "test");
    key = key_of(arch, "shared.phase_lanes_32");
    assert_string_equal(key.value, "8");
    assert_string_equal(key.unit, "lanes");
    assert_int_equal(key.provenance, WM_ASSUMED);
    assert_string_equal(key.reference, "a test");
    assert_string_equal(key.origin, "mine");
    /* The same compute capability: what was measured stays measured. */
    key = key_of(arch, "shared.banks");
    assert_string_equal(key.value, "32");
    assert_int_equal(key.provenance, WM_MEASURED);
    assert_string_equal(key.reference, "h200-random");
    assert_string_equal(key.origin, "sm_90");
    wm_arch_close(base);
    wm_arch_close(arch);
}

static void measurements_do_not_carry_over_to_another_gpu(void **state)
{
    wm_arch *arch = parse_good(HEADER("mine", "9.9", "sm_90"));
    wm_arch *base = open_profile("sm_90");
    struct wm_arch_key key, before;
    size_t carried = 0;

    (void)state;
    for (size_t i = 0; !wm_arch_key_at(arch, i, &key); i++) {
        before = key_of(base, key.name);
        assert_string_equal(key.value, before.value);
        assert_string_equal(key.origin, "sm_90");
        if (before.provenance == WM_MEASURED) {
            assert_int_equal(key.provenance, WM_ASSUMED);
            carried++;
        } else {
            assert_int_equal(key.provenance, before.provenance);
            assert_string_equal(key.reference, before.reference);
        }
    }
    assert_true(carried >= 10);
    assert_string_equal(key_of(arch, "shared.banks").reference, "as on sm_90, where it was measured (h200-random)");
    wm_arch_close(base);
    wm_arch_close(arch);
}

/* sm_86 is itself the same as sm_90: two steps. */
static void inheritance_goes_through_several_profiles(void **state)
{
    wm_arch *arch = parse_good(HEADER("mine", "8.6", "sm_86") "shared.banks = 32 banks ; measured: mine\n");

    (void)state;
    assert_int_equal(key_of(arch, "shared.banks").provenance, WM_MEASURED);
    assert_string_equal(key_of(arch, "l1.tag_bank_mask_0").origin, "sm_86");
    assert_string_equal(key_of(arch, "l1.atomic_passes").origin, "sm_90");
    assert_int_equal(key_of(arch, "l1.atomic_passes").provenance, WM_ASSUMED);
    assert_int_equal(wm_arch_profile(arch)->has_stmatrix, 0);
    wm_arch_close(arch);
}

static void tag_banks_can_become_fewer_or_more(void **state)
{
    wm_arch *arch = parse_good(HEADER("mine", "9.0", "sm_90") "l1.tag_bank_bits = 1 bits ; assumed: test\n");
    struct wm_arch_key key;

    (void)state;
    assert_int_equal(wm_arch_profile(arch)->tag_bank_bits, 1);
    assert_true(find_key(arch, "l1.tag_bank_mask_0", &key));
    assert_false(find_key(arch, "l1.tag_bank_mask_1", &key));
    assert_true(wm_arch_profile(arch)->tag_bank_mask[1] == 0);
    wm_arch_close(arch);
    arch = parse_good(HEADER("mine", "9.0", "sm_90") "l1.tag_bank_bits = 3 bits ; assumed: test\n"
                                                     "l1.tag_bank_mask_2 = 0xffffffffFFFFFFFF mask ; assumed: test\n");
    assert_int_equal(wm_arch_profile(arch)->tag_bank_bits, 3);
    assert_true(wm_arch_profile(arch)->tag_bank_mask[2] == UINT64_MAX);
    wm_arch_close(arch);
}

/* Lines of profiles that only a test needs. */
#define BUILTIN(name, base)                                                                                            \
    static const char *const name##_lines[] = {"name = " #name, "description = d", "compute_capability = 1.0",         \
                                               "same_as = " #base, NULL}
BUILTIN(a, b);
BUILTIN(b, c);
BUILTIN(c, a);
BUILTIN(self, self);
BUILTIN(lost, nowhere);
static const char *const broken_lines[] = {"name = broken", "", "shared.bonks = 1 banks ; doc: x", NULL};

static const struct wmi_builtin circle[] = {{"a", a_lines},       {"b", b_lines},       {"c", c_lines},
                                            {"self", self_lines}, {"lost", lost_lines}, {"broken", broken_lines},
                                            {NULL, NULL}};

static void same_as_cannot_go_round_in_circles(void **state)
{
    static const struct {
        const char *base;
        const char *expected;
    } cases[] = {
        {"self", "same_as: self.arch (built in):4:11: same_as: self is the same as itself"},
        {"a", "same_as: a.arch (built in):4:11: same_as: b.arch (built in):4:11: same_as: c.arch (built in):4:11: "
              "same_as: a is the same as itself"},
        {"lost",
         "same_as: lost.arch (built in):4:11: same_as: no profile \"nowhere\": there are a b c self lost broken"},
        {"broken", "same_as: broken.arch (built in):3:1: unknown key \"shared.bonks\": the nearest is shared.banks"},
        {"none", "same_as: no profile \"none\": there are a b c self lost broken"},
        {"mine", "same_as: mine is the same as itself"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = {0};
        struct wm_diag diag;
        wm_arch *arch = NULL;

        add(&text, "# a comment\nname = mine\n  same_as =  %s\ndescription = d\ncompute_capability = 1.0\n",
            cases[i].base);
        assert_int_equal(wmi_arch_parse(circle, text.data, text.length, "file", &arch, &diag), WM_E_NAME);
        assert_null(arch);
        assert_string_equal(diag.text, cases[i].expected);
        assert_string_equal(diag.file, "file");
        assert_int_equal(diag.line, 3);
        assert_int_equal(diag.column, 14);
        free(text.data);
    }
    {
        struct wm_diag diag;
        wm_arch *arch = NULL;

        assert_int_equal(wmi_arch_open(circle, "a", &arch, &diag), WM_E_NAME);
        assert_string_equal(diag.file, "a.arch (built in)");
        assert_int_equal(diag.line, 4);
    }
}

/* A profile may not take the name of one that it rests on, not even through others. */
static void same_as_checks_names_all_the_way(void **state)
{
    static const char text[] = HEADER("sm_90", "8.0", "sm_80");
    struct wm_diag diag;
    wm_arch *arch = NULL;

    (void)state;
    assert_int_equal(wm_arch_parse(text, strlen(text), "f", &arch, &diag), WM_E_NAME);
    assert_int_equal(diag.line, 4);
    assert_int_equal(diag.column, 11);
    assert_non_null(strstr(diag.text, "sm_90 is the same as itself"));
}

/* ----------------------------------------------------------------------------------------------------------- errors */

/* Line 5 of a profile that is the same as sm_90, and what is wrong with it. */
static void errors_name_place_and_key(void **state)
{
    static const struct {
        const char *line;
        enum wm_status status;
        uint64_t column;
        const char *text;
    } cases[] = {
        /* keys */
        {"shared.bank = 32 banks ; doc: x", WM_E_NAME, 1, "unknown key \"shared.bank\": the nearest is shared.banks"},
        {"  zzz = 1 x ; doc: x", WM_E_NAME, 3, "unknown key \"zzz\": the nearest is shared.banks"},
        {"Shared.banks = 32 banks ; doc: x", WM_E_NAME, 1, "unknown key \"Shared.banks\""},
        {"= 32 banks ; doc: x", WM_E_SYNTAX, 1, "expected a key, or # and a comment"},
        {"shared.banks 32 banks ; doc: x", WM_E_SYNTAX, 14, "expected '=' after \"shared.banks\""},
        {"shared.banks", WM_E_SYNTAX, 13, "expected '=' after \"shared.banks\""},
        {"shared.banks#32 = 32 banks ; doc: x", WM_E_SYNTAX, 13, "expected '=' after \"shared.banks\""},
        {"name = twice", WM_E_SYNTAX, 1, "name: given twice"},
        {"same_as = sm_80", WM_E_SYNTAX, 1, "same_as: given twice"},
        /* values */
        {"shared.banks =", WM_E_SYNTAX, 15, "shared.banks: expected a value in banks"},
        {"shared.banks = ; doc: x", WM_E_SYNTAX, 16, "shared.banks: expected a value in banks"},
        {"shared.banks = many banks ; doc: x", WM_E_SYNTAX, 16,
         "shared.banks: expected a decimal or 0x number, not \"many\""},
        {"shared.banks = -32 banks ; doc: x", WM_E_SYNTAX, 16, "expected a decimal or 0x number, not \"-32\""},
        {"shared.banks = 032 banks ; doc: x", WM_E_SYNTAX, 16, "expected a decimal or 0x number, not \"032\""},
        {"shared.banks = 3a banks ; doc: x", WM_E_SYNTAX, 16, "expected a decimal or 0x number, not \"3a\""},
        {"shared.banks = 0x banks ; doc: x", WM_E_SYNTAX, 16, "expected a decimal or 0x number, not \"0x\""},
        {"shared.banks = 0x1g banks ; doc: x", WM_E_SYNTAX, 16, "expected a decimal or 0x number, not \"0x1g\""},
        {"shared.banks = 64 banks ; doc: x", WM_E_RANGE, 16,
         "shared.banks: expected a power of two from 1 to 32, not 64"},
        {"shared.banks = 0 banks ; doc: x", WM_E_RANGE, 16, "expected a power of two from 1 to 32, not 0"},
        {"shared.banks = 24 banks ; doc: x", WM_E_RANGE, 16, "expected a power of two from 1 to 32, not 24"},
        {"shared.load_merge = 4 mask ; doc: x", WM_E_RANGE, 21,
         "shared.load_merge: expected a number from 0 to 3, not 4"},
        {"shared.banks = 18446744073709551648 banks ; doc: x", WM_E_RANGE, 16, "not 18446744073709551648"},
        {"l1.tag_bank_mask_0 = 0x10000000000000000 mask ; doc: x", WM_E_RANGE, 22,
         "expected a number from 1 to 18446744073709551615, not 0x10000000000000000"},
        {"l1.tag_bank_mask_0 = 0 mask ; doc: x", WM_E_RANGE, 22, "l1.tag_bank_mask_0: expected a number from 1 to"},
        {"global.address_bits = 49 bits ; doc: x", WM_E_RANGE, 23, "expected a number from 32 to 48, not 49"},
        {"const.in_l1 = 1 flag ; doc: x", WM_E_SYNTAX, 15, "const.in_l1: expected yes or no, not \"1\""},
        {"const.in_l1 = Yes flag ; doc: x", WM_E_SYNTAX, 15, "const.in_l1: expected yes or no, not \"Yes\""},
        /* units */
        {"shared.banks = 32 ; doc: x", WM_E_SYNTAX, 19, "shared.banks: expected the unit \"banks\" after the value"},
        {"shared.banks = 32", WM_E_SYNTAX, 18, "shared.banks: expected the unit \"banks\" after the value"},
        {"shared.banks = 32 bytes ; doc: x", WM_E_SYNTAX, 19,
         "shared.banks: expected the unit \"banks\", not \"bytes\""},
        {"shared.banks = 32 bank ; doc: x", WM_E_SYNTAX, 19, "expected the unit \"banks\", not \"bank\""},
        {"shared.banks = 32 bankss ; doc: x", WM_E_SYNTAX, 19, "expected the unit \"banks\", not \"bankss\""},
        {"shared.banks = 3 2 banks ; doc: x", WM_E_SYNTAX, 18, "expected the unit \"banks\", not \"2\""},
        {"const.in_l1 = yes ; doc: x", WM_E_SYNTAX, 19, "const.in_l1: expected the unit \"flag\" after the value"},
        {"shared.load_merge = 3 bits ; doc: x", WM_E_SYNTAX, 23, "expected the unit \"mask\", not \"bits\""},
        /* sources */
        {"shared.banks = 32 banks", WM_E_SYNTAX, 24, "shared.banks: expected ';' and where the value comes from"},
        {"shared.banks = 32 banks doc: x", WM_E_SYNTAX, 25,
         "shared.banks: expected ';' and where the value comes from"},
        {"shared.banks = 32 banks ;", WM_E_SYNTAX, 26,
         "shared.banks: expected where the value comes from: measured: NAME, doc: REFERENCE or assumed: WHY"},
        {"shared.banks = 32 banks ; guessed: x", WM_E_SYNTAX, 27, "shared.banks: expected where the value comes from"},
        {"shared.banks = 32 banks ; doc x", WM_E_SYNTAX, 27, "shared.banks: expected where the value comes from"},
        {"shared.banks = 32 banks ; doc:", WM_E_SYNTAX, 31, "shared.banks: expected text after \"doc:\""},
        {"shared.banks = 32 banks ; assumed: # why", WM_E_SYNTAX, 35, "shared.banks: expected text after \"assumed:\""},
        {"shared.banks = 32 banks ; measured: some day", WM_E_SYNTAX, 41,
         "shared.banks: expected names of recorded measurements"},
        {"shared.banks = 32 banks ; measured: a,b", WM_E_SYNTAX, 38, "expected names of recorded measurements"},
        {"shared.banks = 32 banks ; measured: a, ", WM_E_SYNTAX, 38, "expected names of recorded measurements"},
        /* keys together */
        {"l1.tag_bank_mask_2 = 1 mask ; doc: x", WM_E_RANGE, 22,
         "l1.tag_bank_mask_2: given, but l1.tag_bank_bits is 2"},
        {"shared.banks = 16 banks ; doc: x", WM_E_RANGE, 16,
         "l1.line_bytes: expected shared.banks times shared.bank_bytes"},
        {"l1.sector_bytes = 256 bytes ; doc: x", WM_E_RANGE, 19,
         "l1.sector_bytes: expected no more than l1.line_bytes"},
        /* approximate.CLASS */
        {"approximate.ldd.global = lines counters ; doc: x", WM_E_NAME, 13,
         "approximate.ldd.global: expected ld, st, atom, red, ldmatrix, stmatrix or cp.async"},
        {"approximate. = lines counters ; doc: x", WM_E_NAME, 13, "approximate.: expected ld, st,"},
        {"approximate.ld.universe = lines counters ; doc: x", WM_E_NAME, 16,
         "approximate.ld.universe: expected global, shared, local, const, generic or shared_cluster"},
        {"approximate.ld = lines counters ; doc: x", WM_E_NAME, 15, "approximate.ld: expected global, shared,"},
        {"approximate.cp.async.cz = lines counters ; doc: x", WM_E_NAME, 22, "expected ca or cg"},
        {"approximate.ld.global.3 = lines counters ; doc: x", WM_E_NAME, 23, "or a width of 1, 2, 4, 8, 16 or 32"},
        {"approximate.ld.global. = lines counters ; doc: x", WM_E_NAME, 23, "expected the end of the opcode class"},
        {"approximate.ld.global.4.8 = lines counters ; doc: x", WM_E_NAME, 25, "expected the end of the opcode class"},
        {"approximate.ld.global.float = lines counters ; doc: x", WM_E_NAME, 23,
         "expected the end of the opcode class"},
        {"approximate.ld.global = lanes counters ; doc: x", WM_E_NAME, 25,
         "expected none or counters with commas between them, not \"lanes\""},
        {"approximate.ld.global = lines,lanes counters ; doc: x", WM_E_NAME, 31, "not \"lanes\""},
        {"approximate.ld.global = lines, counters ; doc: x", WM_E_NAME, 31, "not \"\""},
        {"approximate.ld.global = lines,sectors,lines counters ; doc: x", WM_E_SYNTAX, 39, "lines is listed twice"},
        {"approximate.ld.shared = lines counters ; doc: x", WM_E_NAME, 25,
         "approximate.ld.shared: lines is always 0 for these opcodes"},
        {"approximate.ld.global = ways counters ; doc: x", WM_E_NAME, 25, "ways is always 0 for these opcodes"},
        {"approximate.ld.global = lines flag ; doc: x", WM_E_SYNTAX, 31,
         "approximate.ld.global: expected the unit \"counters\", not \"flag\""},
        /* bytes */
        {"shared.banks = 32 banks ; doc: x\r", WM_E_SYNTAX, 33, "a carriage return: lines must end in LF alone"},
        {"# caf\xc3\xa9", WM_E_SYNTAX, 6, "byte 0xC3: expected printable ASCII"},
        {"#\x7f", WM_E_SYNTAX, 2, "byte 0x7F: expected printable ASCII"},
        {"#\v", WM_E_SYNTAX, 2, "byte 0x0B: expected printable ASCII"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = {0};
        struct wm_diag diag;
        wm_arch *arch = NULL;
        enum wm_status status;

        add(&text, "%s%s\n# the end\n", HEADER("mine", "9.0", "sm_90"), cases[i].line);
        status = wm_arch_parse(text.data, text.length, "some/file", &arch, &diag);
        if (status != cases[i].status || diag.line != 5 || diag.column != cases[i].column ||
            !strstr(diag.text, cases[i].text))
            fail_msg("\"%s\": status %d, %llu:%llu: %s", cases[i].line, status, (unsigned long long)diag.line,
                     (unsigned long long)diag.column, diag.text);
        assert_null(arch);
        assert_int_equal(diag.status, status);
        assert_string_equal(diag.file, "some/file");
        /* Without a diag it is the same error. */
        assert_int_equal(wm_arch_parse(text.data, text.length, NULL, &arch, NULL), status);
        free(text.data);
    }
}

static void doubled_keys_say_where_the_first_is(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
        uint64_t line;
    } cases[] = {
        {HEADER("mine", "9.0", "sm_90") "shared.banks = 32 banks ; doc: x\n\n shared.banks = 32 banks ; doc: x\n",
         "shared.banks: given twice, first in line 5", 7},
        {HEADER("mine", "9.0", "sm_90") "approximate.ld.global = lines counters ; doc: x\n"
                                        " approximate.ld.global = lines counters ; doc: x\n",
         "approximate.ld.global: given twice, first in line 5", 6},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wm_diag diag;
        wm_arch *arch = NULL;

        assert_int_equal(wm_arch_parse(cases[i].text, strlen(cases[i].text), "f", &arch, &diag), WM_E_SYNTAX);
        assert_string_equal(diag.text, cases[i].expected);
        assert_int_equal(diag.line, cases[i].line);
        assert_int_equal(diag.column, 2);
    }
}

static void header_keys_are_checked(void **state)
{
    static const struct {
        const char *text;
        enum wm_status status;
        uint64_t line, column;
        const char *expected;
    } cases[] = {
        {"", WM_E_NAME, 0, 0, "missing key name: expected \"name = ...\""},
        {"# nothing\n", WM_E_NAME, 0, 0, "missing key name"},
        {"name = a\n", WM_E_NAME, 0, 0, "missing key description"},
        {"name = a\ndescription = b\n", WM_E_NAME, 0, 0, "missing key compute_capability"},
        {"name = a\ndescription = b\ncompute_capability = 9.0\n", WM_E_NAME, 0, 0,
         "missing key shared.banks: expected \"shared.banks = VALUE banks ; SOURCE\", or same_as"},
        {"name =\n", WM_E_SYNTAX, 1, 7, "name: expected a name of letters, digits and _ . -"},
        {"name = two words\n", WM_E_SYNTAX, 1, 8, "name: expected a name of letters, digits and _ . -"},
        {"name = a/b\n", WM_E_SYNTAX, 1, 8, "name: expected a name"},
        {"description = # none\n", WM_E_SYNTAX, 1, 14, "description: expected some text"},
        {"compute_capability = 9\n", WM_E_SYNTAX, 1, 22,
         "compute_capability: expected a compute capability, as in 9.0"},
        {"compute_capability = 9.\n", WM_E_SYNTAX, 1, 22, "as in 9.0"},
        {"compute_capability = .0\n", WM_E_SYNTAX, 1, 22, "as in 9.0"},
        {"compute_capability = 9.00\n", WM_E_SYNTAX, 1, 22, "as in 9.0"},
        {"compute_capability = 09.0\n", WM_E_SYNTAX, 1, 22, "as in 9.0"},
        {"compute_capability = 9.0 ; doc: x\n", WM_E_SYNTAX, 1, 22, "as in 9.0"},
        {"\n\n\tsame_as = sm 90\n", WM_E_SYNTAX, 3, 12, "same_as: expected the name of a profile"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wm_diag diag;
        wm_arch *arch = NULL;
        const enum wm_status status = wm_arch_parse(cases[i].text, strlen(cases[i].text), "f", &arch, &diag);

        if (status != cases[i].status || diag.line != cases[i].line || diag.column != cases[i].column ||
            !strstr(diag.text, cases[i].expected))
            fail_msg("case %zu: status %d, %llu:%llu: %s", i, status, (unsigned long long)diag.line,
                     (unsigned long long)diag.column, diag.text);
        assert_null(arch);
    }
}

/* Without any one of its keys a complete profile is refused, and the message names that key. */
static void every_key_is_needed(void **state)
{
    struct text whole = complete_profile(NULL, NULL);
    size_t refused = 0;

    (void)state;
    wm_arch_close(parse_good(whole.data));
    for (size_t start = 0; start < whole.length;) {
        const size_t length = strcspn(whole.data + start, "\n") + 1;
        const size_t key_length = strcspn(whole.data + start, " ");
        struct text text = {0};
        struct wm_diag diag;
        wm_arch *arch = NULL;
        char expected[128];

        snprintf(expected, sizeof expected, "missing key %.*s:", (int)key_length, whole.data + start);
        add(&text, "%.*s%s", (int)start, whole.data, whole.data + start + length);
        assert_int_equal(wm_arch_parse(text.data, text.length, "f", &arch, &diag), WM_E_NAME);
        if (!strstr(diag.text, expected))
            fail_msg("expected %s, got %s", expected, diag.text);
        free(text.data);
        refused++;
        start += length;
    }
    assert_true(refused > 30);
    free(whole.data);
}

static void layout_is_free(void **state)
{
    wm_arch *arch = parse_good("\n  \t\n# comment\n \t# comment\n"
                               "\tcompute_capability\t=\t9.0\t# comment\n"
                               "same_as=sm_90\n"
                               "description = a # b\n"
                               "shared.banks=0x20 banks;doc:http://x/y#z;w # comment\n"
                               "l1.tag_bank_mask_0 = 0xAbC mask ; measured: a, b/c-d_e.f\n"
                               "const.in_l1 = no flag ; assumed: no reason\n"
                               "name = last");

    (void)state;
    assert_string_equal(wm_arch_name(arch), "last");
    assert_string_equal(wm_arch_description(arch), "a");
    assert_string_equal(key_of(arch, "shared.banks").value, "0x20");
    assert_string_equal(key_of(arch, "shared.banks").reference, "http://x/y#z;w");
    assert_int_equal(key_of(arch, "shared.banks").provenance, WM_DOCUMENTED);
    assert_string_equal(key_of(arch, "l1.tag_bank_mask_0").reference, "a, b/c-d_e.f");
    assert_true(wm_arch_profile(arch)->tag_bank_mask[0] == 0xabc);
    assert_int_equal(wm_arch_profile(arch)->banks, 32);
    wm_arch_close(arch);
}

static void size_is_limited(void **state)
{
    enum { LIMIT = 1 << 20 };
    static const char header[] = HEADER("mine", "9.0", "sm_90");
    char *text = malloc(LIMIT + 1);
    struct wm_diag diag;
    wm_arch *arch = NULL;

    (void)state;
    assert_non_null(text);
    memset(text, '#', LIMIT + 1); /* one very long comment */
    memcpy(text, header, strlen(header));
    assert_int_equal(wm_arch_parse(text, LIMIT, "f", &arch, &diag), WM_OK);
    wm_arch_close(arch);
    arch = NULL;
    assert_int_equal(wm_arch_parse(text, LIMIT + 1, "f", &arch, &diag), WM_E_RANGE);
    assert_string_equal(diag.text, "longer than 1 MiB: expected a GPU profile");
    assert_int_equal(diag.line, 0);
    assert_null(arch);
    /* A key as long as the file. */
    memset(text, 'k', LIMIT);
    assert_int_equal(wm_arch_parse(text, LIMIT, "f", &arch, &diag), WM_E_SYNTAX);
    assert_int_equal(diag.column, LIMIT + 1);
    /* Nothing but line ends. */
    memset(text, '\n', LIMIT);
    assert_int_equal(wm_arch_parse(text, LIMIT, "f", &arch, &diag), WM_E_NAME);
    free(text);
}

static void nul_bytes_are_refused(void **state)
{
    static const char text[] = "name = a\n# b\0c\n";
    struct wm_diag diag;
    wm_arch *arch = NULL;

    (void)state;
    assert_int_equal(wm_arch_parse(text, sizeof text - 1, "f", &arch, &diag), WM_E_SYNTAX);
    assert_string_equal(diag.text, "a NUL byte: expected a text file");
    assert_int_equal(diag.line, 2);
    assert_int_equal(diag.column, 4);
    assert_int_equal(wm_arch_parse(NULL, 0, "f", &arch, &diag), WM_E_NAME);
    assert_int_equal(wm_arch_parse(NULL, 1, "f", &arch, &diag), WM_E_ARGUMENT);
    assert_int_equal(wm_arch_parse(text, 1, "f", NULL, &diag), WM_E_ARGUMENT);
}

static void files_that_cannot_be_read(void **state)
{
    struct wm_diag diag;
    wm_arch *arch = NULL;

    (void)state;
    assert_int_equal(wm_arch_load("/nonexistent/x.arch", &arch, &diag), WM_E_IO);
    assert_string_equal(diag.file, "/nonexistent/x.arch");
    assert_string_equal(diag.text, "cannot open: No such file or directory");
    assert_int_equal(wm_arch_load("/", &arch, &diag), WM_E_IO);
    assert_non_null(strstr(diag.text, "directory"));
    assert_int_equal(wm_arch_load("/dev/null", &arch, &diag), WM_E_NAME);
    assert_int_equal(wm_arch_load(NULL, &arch, &diag), WM_E_ARGUMENT);
    assert_null(arch);
}

/* ---------------------------------------------------------------------------------------------------- damaged files */

/* Whatever comes out, it is a profile or a message that can be printed. */
static enum wm_status parse_damaged(const char *text, size_t length)
{
    /* Room of just the right size, so that a sanitizer sees the first byte too many. */
    char *copy = malloc(length ? length : 1);
    struct wm_diag diag = {.status = WM_OK};
    wm_arch *arch = NULL;
    enum wm_status status;

    assert_non_null(copy);
    memcpy(copy, text, length);
    status = wm_arch_parse(copy, length, "damaged", &arch, &diag);
    free(copy);
    if (status == WM_OK) {
        assert_non_null(arch);
        wm_arch_close(arch);
    } else {
        assert_null(arch);
        assert_true(status == WM_E_SYNTAX || status == WM_E_RANGE || status == WM_E_NAME);
        assert_int_equal(diag.status, status);
        assert_true(strlen(diag.text) > 0);
        for (const char *c = diag.text; *c; c++)
            assert_true(*c >= ' ' && *c <= '~');
    }
    return status;
}

static void truncated_files(void **state)
{
    static const char *const some[] = {"sm_90", "sm_120"};

    (void)state;
    for (size_t i = 0; i < COUNT(some); i++) {
        struct text text = builtin_text(some[i]);
        size_t whole = 0;

        for (size_t length = 0; length <= text.length; length++)
            whole += parse_damaged(text.data, length) == WM_OK;
        assert_true(whole >= 1);
        free(text.data);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void randomly_damaged_files(void **state)
{
    static const char spice[] = "\n\n  ;;==##\t\r\0x0,.:-/~";
    struct text text = builtin_text("sm_90");
    const char *given = getenv("WARPMEM_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : UINT64_C(0x5B55AF6FF5EF7AB5);
    size_t failed = 0;

    (void)state;
    print_message("# WARPMEM_TEST_SEED=0x%llx\n", (unsigned long long)seed);
    for (unsigned n = 0; n < 20000; n++) {
        const size_t at = next_random(&seed) % text.length;
        const char before = text.data[at];

        text.data[at] = n % 2 ? (char)next_random(&seed) : spice[next_random(&seed) % sizeof spice];
        failed += parse_damaged(text.data, text.length) != WM_OK;
        text.data[at] = before;
    }
    assert_true(failed > 5000);
    free(text.data);
}

/* -------------------------------------------------------------------------------------------------------- exactness */

static const char *const opcodes[] = {
    "ld.global.b32",          "ld.global.v4.b32",   "st.global.b32",       "st.global.b64",
    "red.global.add.u32",     "red.global.add.f32", "atom.global.add.u64", "atom.shared.add.u32",
    "red.shared.add.u64",     "ld.shared.b8",       "ld.shared.b32",       "ld.shared.b64",
    "ld.shared.v4.b32",       "st.shared.b32",      "st.shared.v4.b32",    "ldmatrix.x4.shared.b16",
    "stmatrix.x4.shared.b16", "cp.async.ca.4",      "cp.async.ca.16",      "cp.async.cg.16",
    "ld.local.b32",           "st.local.v4.b32",    "ld.const.b32",        "ld.generic.b32"};

/* A space-separated list of patterns has one that the text begins with. */
static int begins_with_one_of(const char *text, const char *patterns)
{
    while (*patterns) {
        const size_t length = strcspn(patterns, " ");

        if (!strncmp(text, patterns, length))
            return 1;
        patterns += length + (patterns[length] == ' ');
    }
    return 0;
}

/* A space-separated list has the word. */
static int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    }
    return 0;
}

#define ALL_SHARED  "shared_wavefronts shared_wavefronts_ideal bank_conflicts ways"
#define THROUGH_L1  "ld.global st.global red.global atom.global ld.local st.local ld.const ld.generic"
#define WITH_COPIES THROUGH_L1 " cp.async"
#define L1_RESULTS  "ld.global atom.global ld.local ld.const ld.generic"

/* Which counters of which opcodes a key is for. Where only that key is assumed, those and no others are. */
static void counters_depend_on_their_keys(void **state)
{
    static const struct {
        const char *key;
        const char *opcodes; /* beginnings, separated by blanks */
        const char *counters;
        const char *more_opcodes;
        const char *more_counters;
        const char *writing_back; /* opcodes whose write-back it is for */
    } cases[] = {
        {"shared.banks", "ld.shared st.shared atom.shared red.shared ldmatrix stmatrix cp.async", ALL_SHARED,
         THROUGH_L1, "lsu_wavefronts", L1_RESULTS " atom.shared red.shared"},
        {"shared.bank_bytes", "ld.shared st.shared atom.shared red.shared ldmatrix stmatrix cp.async", ALL_SHARED,
         THROUGH_L1, "lsu_wavefronts", L1_RESULTS " atom.shared red.shared"},
        {"shared.phase_lanes_1", "ld.shared.b8", ALL_SHARED, "", "", "ld.shared.b8"},
        {"shared.phase_lanes_4", "ld.shared.b32 st.shared.b32 atom.shared.add.u32 cp.async.ca.4", ALL_SHARED,
         "ld.global.b32 st.global.b32 red.global.add.u32 red.global.add.f32 ld.local.b32 ld.const.b32 ld.generic.b32",
         "lsu_wavefronts",
         "ld.shared.b32 atom.shared.add.u32 ld.global.b32 ld.local.b32 ld.const.b32 ld.generic.b32"},
        {"shared.phase_lanes_8", "ld.shared.b64 red.shared.add.u64", ALL_SHARED, "st.global.b64 atom.global.add.u64",
         "lsu_wavefronts", "ld.shared.b64 red.shared.add.u64 atom.global.add.u64"},
        {"shared.phase_lanes_16", "ld.shared.v4 st.shared.v4 cp.async.ca.16 cp.async.cg.16", ALL_SHARED,
         "ld.global.v4 st.local.v4", "lsu_wavefronts", "ld.shared.v4 ld.global.v4"},
        {"shared.phase_lanes_32", "", "", "", "", ""},
        {"shared.load_merge", "ld.shared.b64 ld.shared.v4", ALL_SHARED, "", "", "ld.shared.b64 ld.shared.v4"},
        {"shared.atomic_merge", "atom.shared red.shared", ALL_SHARED, "", "", "atom.shared red.shared"},
        {"shared.ldmatrix_phase_lanes", "ldmatrix", ALL_SHARED, "", "", ""},
        {"shared.stmatrix_phase_lanes", "stmatrix", ALL_SHARED, "", "", ""},
        {"shared.window_bytes", "", "", "", "", ""},
        {"lsu.write_back_passes", "", "", "", "", L1_RESULTS " ld.shared atom.shared red.shared ldmatrix"},
        {"l1.line_bytes", WITH_COPIES, "requests lines tag_wavefronts lsu_wavefronts l2_requests", "", "",
         L1_RESULTS},
        {"l1.sector_bytes", WITH_COPIES, "sectors sectors_ideal l2_sectors", "", "", ""},
        {"l1.tag_bank_bits", WITH_COPIES, "tag_wavefronts", THROUGH_L1, "lsu_wavefronts", L1_RESULTS},
        {"l1.tag_bank_mask_1", WITH_COPIES, "tag_wavefronts", THROUGH_L1, "lsu_wavefronts", L1_RESULTS},
        {"l1.store_merge_8", "st.global.b64 atom.global.add.u64", "lsu_wavefronts", "", "", ""},
        {"l1.atomic_passes", "red.global atom.global",
         "lines sectors tag_wavefronts lsu_wavefronts l2_requests l2_sectors", "", "", "atom.global"},
        {"local.in_l1", "ld.local st.local",
         "requests lines sectors sectors_ideal tag_wavefronts lsu_wavefronts l2_requests l2_sectors", "", "", "ld.local"},
        {"generic.in_l1", "ld.generic",
         "requests lines sectors sectors_ideal tag_wavefronts lsu_wavefronts l2_requests l2_sectors", "", "", "ld.generic"},
        {"const.in_l1", "ld.const",
         "requests lines sectors sectors_ideal tag_wavefronts lsu_wavefronts l2_requests l2_sectors", "", "", "ld.const"},
        {"global.address_bits", "", "", "", "", ""},
        {"instruction.ldmatrix", "", "", "", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int level = WM_BY_DOCUMENT; level <= WM_BY_ASSUMPTION; level++) {
            struct text text = complete_profile(cases[i].key, level == WM_BY_DOCUMENT ? "doc: x" : "assumed: x");
            wm_arch *arch = parse_good(text.data);

            for (size_t o = 0; o < COUNT(opcodes); o++) {
                for (int c = 0; c < WM_COUNTERS; c++) {
                    const char *counter = wm_counter_name((enum wm_counter)c);
                    const int depends =
                        (begins_with_one_of(opcodes[o], cases[i].opcodes) && has_word(cases[i].counters, counter)) ||
                        (begins_with_one_of(opcodes[o], cases[i].more_opcodes) &&
                         has_word(cases[i].more_counters, counter)) ||
                        (c == WM_LSU_WRITEBACK && begins_with_one_of(opcodes[o], cases[i].writing_back));
                    const int found = (int)exactness(arch, opcodes[o], (enum wm_counter)c);

                    if (found != (depends ? level : WM_EXACT))
                        fail_msg("%s, %s, %s: %d", cases[i].key, opcodes[o], counter, found);
                }
            }
            wm_arch_close(arch);
            free(text.data);
        }
    }
}

static void the_weakest_key_decides(void **state)
{
    struct text text = complete_profile("shared.banks", "doc: x");
    wm_arch *arch;

    (void)state;
    add(&text, "approximate.ld.shared = ways counters ; measured: x\n");
    arch = parse_good(text.data);
    assert_int_equal(exactness(arch, "ld.shared.b32", WM_BANK_CONFLICTS), WM_BY_DOCUMENT);
    assert_int_equal(exactness(arch, "ld.shared.b32", WM_WAYS), WM_APPROXIMATE);
    assert_int_equal(exactness(arch, "st.shared.b32", WM_WAYS), WM_BY_DOCUMENT);
    assert_int_equal(exactness(arch, "ld.global.b32", WM_LINES), WM_EXACT);
    wm_arch_close(arch);
    free(text.data);
    arch = parse_good(HEADER("mine", "9.9", "sm_90") "shared.banks = 32 banks ; measured: x\n");
    assert_int_equal(exactness(arch, "ld.shared.b32", WM_BANK_CONFLICTS), WM_BY_ASSUMPTION);
    wm_arch_close(arch);
}

/* The class with more parts wins, a type over a width; `none' takes back. */
static void the_longest_class_decides(void **state)
{
    static const char lines[] = "approximate.red.global = lsu_wavefronts,lines counters ; measured: x\n"
                                "approximate.red.global.8 = sectors counters ; measured: x\n"
                                "approximate.red.global.float = tag_wavefronts counters ; measured: x\n"
                                "approximate.red.global.float.2 = none counters ; measured: x\n"
                                "approximate.cp.async.ca = bank_conflicts counters ; measured: x\n"
                                "approximate.cp.async.ca.16 = ways counters ; measured: x\n"
                                "approximate.ldmatrix = ways counters ; measured: x\n";
    static const struct {
        const char *opcode;
        const char *counters;
    } cases[] = {
        {"red.global.add.u32", "lsu_wavefronts lines"},
        {"red.global.add.u64", "sectors"},
        {"red.global.add.f32", "tag_wavefronts"},
        {"red.global.add.f64", "tag_wavefronts"},
        {"red.global.add.f16x2", "tag_wavefronts"},
        {"red.global.add.f16", ""},
        {"red.global.add.bf16", ""},
        {"atom.global.add.u32", ""},
        {"red.shared.add.u32", ""},
        {"cp.async.ca.4", "bank_conflicts"},
        {"cp.async.ca.16", "ways"},
        {"cp.async.cg.16", ""},
        {"ldmatrix.x1.shared.b16", "ways"},
        {"stmatrix.x1.shared.b16", ""},
    };
    struct text text = complete_profile(NULL, NULL);
    wm_arch *arch;

    (void)state;
    add(&text, "%s", lines);
    arch = parse_good(text.data);
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int c = 0; c < WM_COUNTERS; c++) {
            const char *counter = wm_counter_name((enum wm_counter)c);
            const int expected = has_word(cases[i].counters, counter) ? WM_APPROXIMATE : WM_EXACT;

            if ((int)exactness(arch, cases[i].opcode, (enum wm_counter)c) != expected)
                fail_msg("%s: %s", cases[i].opcode, counter);
        }
    }
    assert_string_equal(key_of(arch, "approximate.red.global.float.2").value, "none");
    assert_string_equal(key_of(arch, "approximate.red.global.float.2").unit, "counters");
    wm_arch_close(arch);
    free(text.data);
}

static void approximate_classes_are_inherited(void **state)
{
    static const char *const base_lines[] = {"name = base",
                                             "description = d",
                                             "compute_capability = 9.0",
                                             "same_as = sm_90",
                                             "approximate.ld.shared = ways counters ; measured: x",
                                             "approximate.st.shared = ways counters ; measured: x",
                                             NULL};
    static const char text[] = HEADER("mine", "9.0", "base") "approximate.st.shared = none counters ; measured: y\n";
    struct wmi_builtin builtins[3] = {{"base", base_lines}, {NULL, NULL}, {NULL, NULL}};
    wm_arch *arch = NULL;
    struct wm_arch_key key;
    int listed = 0;

    (void)state;
    for (const struct wmi_builtin *builtin = wmi_builtins; builtin->name; builtin++) {
        if (!strcmp(builtin->name, "sm_90"))
            builtins[1] = *builtin;
    }
    assert_int_equal(wmi_arch_parse(builtins, text, strlen(text), "f", &arch, NULL), WM_OK);
    assert_int_equal(exactness(arch, "ld.shared.b32", WM_WAYS), WM_APPROXIMATE);
    assert_int_equal(exactness(arch, "st.shared.b32", WM_WAYS), WM_EXACT);
    assert_string_equal(key_of(arch, "approximate.ld.shared").origin, "base");
    assert_string_equal(key_of(arch, "approximate.st.shared").origin, "mine");
    for (size_t i = 0; !wm_arch_key_at(arch, i, &key); i++)
        listed += !strcmp(key.name, "approximate.st.shared");
    assert_int_equal(listed, 1);
    wm_arch_close(arch);
}

/* No profile without measurements calls anything exact that can be other than 0. */
static void only_measured_profiles_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        wm_arch *arch = open_profile(names[i]);
        const int measured = !strcmp(names[i], "sm_90");

        for (size_t o = 0; o < COUNT(opcodes); o++) {
            const struct wm_opcode opcode = opcode_of(opcodes[o]);
            const int is_shared = opcode.space == WM_SHARED;
            const int is_copy = opcode.operation == WM_CP_ASYNC;

            for (int c = 0; c < WM_COUNTERS; c++) {
                const int shared_counter = has_word(ALL_SHARED, wm_counter_name((enum wm_counter)c));
                const int has_meaning =
                    c == WM_LSU_WRITEBACK
                        ? begins_with_one_of(opcodes[o], L1_RESULTS " ld.shared atom.shared red.shared ldmatrix")
                        : is_copy || is_shared == shared_counter;
                const enum wm_exactness found = wm_arch_exactness(arch, &opcode, (enum wm_counter)c);

                if (!has_meaning)
                    assert_int_equal(found, WM_EXACT);
                else if (!measured)
                    assert_int_not_equal(found, WM_EXACT);
            }
        }
        wm_arch_close(arch);
    }
}

/* What agrees with the hardware counters on every recorded access, and what public reports cover. */
static void exactness_of_built_in_profiles(void **state)
{
    static const struct {
        const char *profile, *opcode;
        enum wm_counter counter;
        enum wm_exactness expected;
    } cases[] = {
        {"sm_90", "ld.shared.v4.b32", WM_SHARED_WAVEFRONTS, WM_EXACT},
        {"sm_90", "atom.shared.add.u32", WM_BANK_CONFLICTS, WM_EXACT},
        {"sm_90", "ldmatrix.x4.trans.shared.b16", WM_SHARED_WAVEFRONTS, WM_EXACT},
        {"sm_90", "ld.global.v4.b32", WM_LSU_WAVEFRONTS, WM_EXACT},
        {"sm_90", "st.global.b8", WM_TAG_WAVEFRONTS, WM_EXACT},
        {"sm_90", "cp.async.ca.8", WM_SECTORS, WM_EXACT},
        {"sm_90", "ld.local.b32", WM_SECTORS, WM_EXACT},
        {"sm_90", "ld.local.b32", WM_TAG_WAVEFRONTS, WM_EXACT},
        {"sm_90", "ld.const.b32", WM_SECTORS, WM_EXACT},
        {"sm_90", "ld.generic.b32", WM_LSU_WAVEFRONTS, WM_EXACT},
        {"sm_90", "red.global.add.f32", WM_SECTORS, WM_EXACT},
        {"sm_90", "atom.global.add.u64", WM_LSU_WAVEFRONTS, WM_EXACT},
        {"sm_90", "atom.global.exch.b128", WM_LINES, WM_APPROXIMATE},
        {"sm_90", "cp.async.ca.16", WM_BANK_CONFLICTS, WM_EXACT},
        {"sm_90", "cp.async.cg.16", WM_TAG_WAVEFRONTS, WM_EXACT},
        {"sm_90", "ld.global.v4.b32", WM_LSU_WRITEBACK, WM_EXACT},
        {"sm_90", "atom.global.add.u64", WM_LSU_WRITEBACK, WM_EXACT},
        {"sm_90", "atom.global.exch.b128", WM_LSU_WRITEBACK, WM_APPROXIMATE},
        {"sm_90", "ld.shared::cluster.b32", WM_LSU_WRITEBACK, WM_APPROXIMATE},
        {"sm_90", "st.global.b32", WM_LSU_WRITEBACK, WM_EXACT},
        {"sm_80", "ld.shared.v4.b32", WM_LSU_WRITEBACK, WM_BY_ASSUMPTION},
        {"sm_120", "ld.shared.b64", WM_SHARED_WAVEFRONTS, WM_BY_DOCUMENT},
        {"sm_120", "ld.global.b32", WM_TAG_WAVEFRONTS, WM_BY_DOCUMENT},
        {"sm_120", "st.global.b32", WM_SECTORS, WM_BY_DOCUMENT},
        {"sm_89", "ld.shared.b64", WM_SHARED_WAVEFRONTS, WM_BY_DOCUMENT},
        {"sm_80", "ld.shared.v4.b32", WM_SHARED_WAVEFRONTS, WM_BY_DOCUMENT},
        {"sm_80", "ld.shared.b64", WM_SHARED_WAVEFRONTS, WM_BY_ASSUMPTION},
        {"sm_80", "ld.global.b32", WM_TAG_WAVEFRONTS, WM_BY_ASSUMPTION},
        {"sm_80", "ld.global.b32", WM_SECTORS, WM_BY_DOCUMENT},
        {"sm_86", "ld.shared.b32", WM_WAYS, WM_BY_DOCUMENT},
        {"sm_86", "ld.shared.v4.b32", WM_WAYS, WM_BY_ASSUMPTION},
        {"sm_75", "ld.shared.v4.b32", WM_WAYS, WM_BY_DOCUMENT},
        {"sm_70", "ld.shared.v4.b32", WM_WAYS, WM_BY_DOCUMENT},
        {"sm_70", "atom.shared.add.u32", WM_WAYS, WM_BY_ASSUMPTION},
        {"sm_100", "ld.shared.v4.b32", WM_WAYS, WM_BY_ASSUMPTION},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        wm_arch *arch = open_profile(cases[i].profile);

        if (exactness(arch, cases[i].opcode, cases[i].counter) != cases[i].expected)
            fail_msg("%s, %s, %s: %d", cases[i].profile, cases[i].opcode, wm_counter_name(cases[i].counter),
                     (int)exactness(arch, cases[i].opcode, cases[i].counter));
        wm_arch_close(arch);
    }
}

static void exactness_never_fails(void **state)
{
    wm_arch *arch = open_profile("sm_90");
    struct wm_opcode opcode = opcode_of("ld.global.b32");

    (void)state;
    assert_int_equal(wm_arch_exactness(NULL, &opcode, WM_LINES), WM_APPROXIMATE);
    assert_int_equal(wm_arch_exactness(arch, NULL, WM_LINES), WM_APPROXIMATE);
    assert_int_equal(wm_arch_exactness(arch, &opcode, WM_COUNTERS), WM_APPROXIMATE);
    assert_int_equal(wm_arch_exactness(arch, &opcode, (enum wm_counter) - 1), WM_APPROXIMATE);
    for (unsigned byte = 0; byte < 256; byte++) {
        for (unsigned field = 0; field < sizeof opcode; field++) {
            struct wm_opcode damaged = opcode;

            ((unsigned char *)&damaged)[field] = (unsigned char)byte;
            (void)wm_arch_exactness(arch, &damaged, WM_LINES);
        }
    }
    opcode.width_bytes = 3;
    assert_int_equal(wm_arch_exactness(arch, &opcode, WM_LINES), WM_APPROXIMATE);
    opcode = opcode_of("ld.global.b32");
    opcode.space = WM_SHARED_CLUSTER + 1;
    assert_int_equal(wm_arch_exactness(arch, &opcode, WM_LINES), WM_APPROXIMATE);
    wm_arch_close(arch);
    wm_arch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_profiles_are_listed_in_order),
        cmocka_unit_test(built_in_profiles_are_complete),
        cmocka_unit_test(values_are_those_of_the_sources),
        cmocka_unit_test(tag_banks_are_those_of_the_sources),
        cmocka_unit_test(built_in_profiles_are_the_files),
        cmocka_unit_test(what_is_not_given_is_inherited),
        cmocka_unit_test(measurements_do_not_carry_over_to_another_gpu),
        cmocka_unit_test(inheritance_goes_through_several_profiles),
        cmocka_unit_test(tag_banks_can_become_fewer_or_more),
        cmocka_unit_test(same_as_cannot_go_round_in_circles),
        cmocka_unit_test(same_as_checks_names_all_the_way),
        cmocka_unit_test(errors_name_place_and_key),
        cmocka_unit_test(doubled_keys_say_where_the_first_is),
        cmocka_unit_test(header_keys_are_checked),
        cmocka_unit_test(every_key_is_needed),
        cmocka_unit_test(layout_is_free),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(randomly_damaged_files),
        cmocka_unit_test(counters_depend_on_their_keys),
        cmocka_unit_test(the_weakest_key_decides),
        cmocka_unit_test(the_longest_class_decides),
        cmocka_unit_test(approximate_classes_are_inherited),
        cmocka_unit_test(only_measured_profiles_are_exact),
        cmocka_unit_test(exactness_of_built_in_profiles),
        cmocka_unit_test(exactness_never_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
