/* The arrays of a kernel, as its source declares them: names, types as written, extents, and where they lie. Offsets are
 * worked out by hand from natural alignment, in the order of declaration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels.h"

#define ROWS(list) (sizeof(list) / sizeof(list)[0])

struct row {
    const char *name;
    const char *element;
    uint64_t element_bytes;
    uint32_t dimensions;
    uint64_t extent[WM_DIMENSIONS];
    enum wm_space space;
    uint64_t address;
    uint64_t size_bytes;
    uint32_t align_bytes;
    int is_dynamic;
    uint32_t line;
    uint32_t column;
};

#define GLOBAL(slot) (UINT64_C(0x7f0000000000) + ((uint64_t)(slot) << 32))

static void check(const char *source, const char *options, const struct row *rows, size_t n)
{
    struct ran *ran = run_kernel(source, options);
    char text[1024];

    if (ran->status != WM_END) {
        wm_diag_format(&ran->diag, text, sizeof text);
        fail_msg("%s", text);
    }
    for (size_t i = 0; i < n; i++) {
        const struct wm_array *array = wmi_run_array_at(ran->run, i);

        assert_non_null(array);
        assert_string_equal(array->name, rows[i].name);
        assert_string_equal(array->element, rows[i].element);
        assert_int_equal(array->element_bytes, rows[i].element_bytes);
        assert_int_equal(array->dimensions, rows[i].dimensions);
        for (unsigned k = 0; k < WM_DIMENSIONS; k++)
            assert_int_equal(array->extent[k], rows[i].extent[k]);
        assert_int_equal(array->space, rows[i].space);
        assert_int_equal(array->address, rows[i].address);
        assert_int_equal(array->size_bytes, rows[i].size_bytes);
        assert_int_equal(array->align_bytes, rows[i].align_bytes);
        assert_int_equal(array->is_dynamic, rows[i].is_dynamic);
        assert_string_equal(array->file, "k.cu");
        assert_int_equal(array->line, rows[i].line);
        if (rows[i].column)
            assert_int_equal(array->column, rows[i].column);
    }
    assert_null(wmi_run_array_at(ran->run, n));
    assert_null(wmi_run_array_at(ran->run, SIZE_MAX));
    ran_free(ran);
}

static void test_shared(void **state)
{
    static const char source[] = "__shared__ char first[3];\n"
                                 "__global__ void k() {\n"
                                 "  __shared__ float tile[32][33], one;\n"
                                 "  { __shared__ half tile[2][3][4]; tile[0][0][0] = (half)0.0f; }\n"
                                 "  { __shared__ float4 tile[5]; tile[0].x = 0; }\n"
                                 "  __shared__ unsigned  int deep[2][3][4][5][6];\n"
                                 "  tile[0][0] = one = first[0] = deep[0][0][0][0][0] = 0;\n"
                                 "}\n";
    static const struct row rows[] = {
        {"first", "char", 1, 1, {3}, WM_SHARED, 0, 3, 1, 0, 1, 17},
        {"tile", "float", 4, 2, {32, 33}, WM_SHARED, 4, 4224, 4, 0, 3, 20},
        {"one", "float", 4, 0, {0}, WM_SHARED, 4228, 4, 4, 0, 3, 34},
        {"tile", "half", 2, 3, {2, 3, 4}, WM_SHARED, 4232, 48, 2, 0, 4, 21},
        {"tile", "float4", 16, 1, {5}, WM_SHARED, 4288, 80, 16, 0, 5, 23},
        {"deep", "unsigned int", 4, 4, {2, 3, 4, 30}, WM_SHARED, 4368, 2880, 4, 0, 6, 28},
    };

    (void)state;
    check(source, "", rows, ROWS(rows));
}

static void test_dynamic(void **state)
{
    static const char source[] = "__global__ void k() {\n"
                                 "  extern __shared__ __align__(128) half raw[];\n"
                                 "  extern __shared__ float rows[][8];\n"
                                 "  __shared__ int n;\n"
                                 "  n = 0;\n"
                                 "}\n";
    static const struct row known[] = {
        {"raw", "half", 2, 1, {1000}, WM_SHARED, 128, 2000, 128, 1, 2, 41},
        {"rows", "float", 4, 2, {62, 8}, WM_SHARED, 128, 2000, 4, 1, 3, 27},
        {"n", "int", 4, 0, {0}, WM_SHARED, 0, 4, 4, 0, 4, 18},
    };
    static const struct row open[] = {
        {"raw", "half", 2, 1, {0}, WM_SHARED, 128, 0, 128, 1, 2, 0},
        {"rows", "float", 4, 2, {0, 8}, WM_SHARED, 128, 0, 4, 1, 3, 0},
        {"n", "int", 4, 0, {0}, WM_SHARED, 0, 4, 4, 0, 4, 0},
    };

    (void)state;
    check(source, "--smem 2000", known, ROWS(known));
    check(source, "", open, ROWS(open));
}

static void test_global(void **state)
{
    static const char source[] = "struct pair { int a; double b; };\n"
                                 "__constant__ float weights[5][5];\n"
                                 "__device__ pair pairs[7];\n"
                                 "__constant__ long last;\n"
                                 "__global__ void k(const float *__restrict__ a, int n, half (*b)[16], pair *c, float4 *d, void *e,\n"
                                 "                  float **f, unsigned long const *g) {\n"
                                 "  if (n) *d = make_float4(a[0], weights[0][0], b[0][0], c->a + pairs[0].a + last + g[0]);\n"
                                 "}\n";
    static const struct row rows[] = {
        {"weights", "float", 4, 2, {5, 5}, WM_CONST, 0, 100, 4, 0, 2, 20},
        {"last", "long", 8, 0, {0}, WM_CONST, 104, 8, 8, 0, 4, 19},
        {"pairs", "pair", 16, 1, {7}, WM_GLOBAL, GLOBAL(8), 112, 256, 0, 3, 17},
        {"a", "float", 4, 1, {1024}, WM_GLOBAL, GLOBAL(1), 4096, 256, 0, 5, 45},
        {"b", "half", 2, 2, {20, 16}, WM_GLOBAL, GLOBAL(2), 640, 256, 0, 5, 62},
        {"d", "float4", 16, 1, {0}, WM_GLOBAL, GLOBAL(3), 0, 256, 0, 5, 0},
        {"f", "float *", 8, 1, {0}, WM_GLOBAL, GLOBAL(5), 0, 256, 0, 6, 0},
        {"g", "unsigned long", 8, 1, {0}, WM_GLOBAL, GLOBAL(6), 0, 256, 0, 6, 0},
    };

    (void)state;
    /* addresses: 4 GiB for each of a b d e f g, as c is null; then the variables, constant ones too */
    check(source, "--arg n=0 --arg a=float[1024] --arg b=half[320] --arg c=null", rows, ROWS(rows));
}

static void test_templates(void **state)
{
    static const char source[] = "typedef float real;\n"
                                 "typedef float row[4];\n"
                                 "#define T2 float2\n"
                                 "template <typename T> struct wrap { T v; };\n"
                                 "template <typename T, int N> __global__ void k(T *a, wrap<float> *b) {\n"
                                 "  __shared__ T tile[N][N + 1];\n"
                                 "  __shared__ real r[2];\n"
                                 "  __shared__ row s[3];\n"
                                 "  __shared__ T2 t[4];\n"
                                 "  __shared__ const float *p[5];\n"
                                 "  __shared__ wrap<short> w[6];\n"
                                 "  tile[0][0] = a[0]; r[0] = s[0][0] = t[0].x = 0; p[0] = 0; w[0].v = 0;\n"
                                 "}\n";
    static const struct row rows[] = {
        {"tile", "int", 4, 2, {8, 9}, WM_SHARED, 0, 288, 4, 0, 6, 0},
        {"r", "real", 4, 1, {2}, WM_SHARED, 288, 8, 4, 0, 7, 0},
        {"s", "float", 4, 2, {3, 4}, WM_SHARED, 296, 48, 4, 0, 8, 0},
        {"t", "float2", 8, 1, {4}, WM_SHARED, 344, 32, 8, 0, 9, 0},
        {"p", "const float *", 8, 1, {5}, WM_SHARED, 376, 40, 8, 0, 10, 0},
        {"w", "wrap<short>", 2, 1, {6}, WM_SHARED, 416, 12, 2, 0, 11, 0},
        {"a", "int", 4, 1, {0}, WM_GLOBAL, GLOBAL(1), 0, 256, 0, 5, 0},
        {"b", "wrap<float>", 4, 1, {0}, WM_GLOBAL, GLOBAL(2), 0, 256, 0, 5, 0},
    };

    (void)state;
    check(source, "--kernel k<int,8>", rows, ROWS(rows));
}

/* A trace has none; neither has no reader. */
static void test_none(void **state)
{
    static const char *const path = "test_arrays.wmt";
    FILE *file = fopen(path, "w");
    wm_reader *reader = NULL;

    (void)state;
    assert_non_null(file);
    fputs("wmt 1\nld.global.b32 1 0\n", file);
    fclose(file);
    assert_int_equal(wm_reader_open(path, NULL, &reader, NULL), WM_OK);
    assert_null(wm_reader_array_at(reader, 0));
    assert_null(wm_reader_array_at(NULL, 0));
    wm_reader_close(reader);
    remove(path);
}

/* As the public reader gives them. */
static void test_reader(void **state)
{
    static const char *const path = "test_arrays.cu";
    static const char source[] = "__global__ void k(float *a) { __shared__ float s[32]; s[0] = 0; a[0] = s[0]; }\n";
    static const struct wm_launch launch = {.kernel = NULL};
    const struct wm_reader_options options = {.launch = &launch};
    FILE *file = fopen(path, "w");
    const struct wm_array *array;
    wm_reader *reader = NULL;

    (void)state;
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    assert_int_equal(wm_reader_open(path, &options, &reader, NULL), WM_OK);
    array = wm_reader_array_at(reader, 0);
    assert_non_null(array);
    assert_string_equal(array->name, "s");
    assert_string_equal(array->file, path);
    assert_string_equal(wm_reader_array_at(reader, 1)->name, "a");
    assert_null(wm_reader_array_at(reader, 2));
    wm_reader_close(reader);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),    cmocka_unit_test(test_dynamic), cmocka_unit_test(test_global),
        cmocka_unit_test(test_templates), cmocka_unit_test(test_none),    cmocka_unit_test(test_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
