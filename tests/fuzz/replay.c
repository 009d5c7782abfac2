/*
 * Runs a fuzz target on every file of its corpus, without a fuzzer: replay_NAME runs tests/fuzz/corpus/NAME/.
 * Speaks TAP. That a target comes back is the test; sanitizers, where built in, say more.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH_SIZE 4096

static int not_a_dot_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Returns the file's content in a block of exactly its size, so that reading past its end is seen; NULL on failure. */
static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *data = NULL;
    long length = -1;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0)
        goto done;
    *size = (size_t)length;
    data = malloc(*size > 0 ? *size : 1);
    if (data != NULL && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
done:
    fclose(file);
    return data;
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_srcdir");
    const char *name = strstr(argv[0], "replay_");
    char folder[PATH_SIZE];
    if (argc > 1) {
        snprintf(folder, sizeof folder, "%s", argv[1]);
    } else if (top != NULL && name != NULL) {
        snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top, name + strlen("replay_"));
    } else {
        fprintf(stderr, "usage: replay_NAME FOLDER (or set top_srcdir)\n");
        return 2;
    }

    struct dirent **entries;
    int count = scandir(folder, &entries, not_a_dot_file, alphasort);
    if (count <= 0) {
        printf("Bail out! %s: %s\n", folder, count < 0 ? strerror(errno) : "no file in the corpus");
        return 1;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE + 256];
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        uint8_t *data = read_file(path, &size);
        if (data == NULL) {
            printf("not ok %d - %s: %s\n", i + 1, entries[i]->d_name, strerror(errno));
        } else {
            LLVMFuzzerTestOneInput(data, size);
            printf("ok %d - %s\n", i + 1, entries[i]->d_name);
        }
        fflush(stdout);
        free(data);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
