/* Whether a trace is the one that was measured. */
#include "config.h"

#include "validate.h"

#ifdef HAVE_NETTLE

#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>

enum wm_status sha256_file(const char *path, char text[SHA256_TEXT_SIZE], struct wm_diag *diag)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    uint8_t piece[16384];
    struct sha256_ctx context;
    FILE *file = fopen(path, "rb");
    size_t n;

    if (!file)
        return validate_refuse(diag, WM_E_IO, path, 0, 0, "%s", strerror(errno));
    sha256_init(&context);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        sha256_update(&context, n, piece);
    if (ferror(file)) {
        enum wm_status status = validate_refuse(diag, WM_E_IO, path, 0, 0, "%s", strerror(errno));

        fclose(file);
        return status;
    }
    fclose(file);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return WM_OK;
}

#else

enum wm_status sha256_file(const char *path, char text[SHA256_TEXT_SIZE], struct wm_diag *diag)
{
    (void)text;
    return validate_refuse(diag, WM_E_UNSUPPORTED, path, 0, 0,
                           "this build cannot compute SHA-256: install nettle (Debian, Ubuntu: apt-get install "
                           "nettle-dev), then run configure and make again");
}

#endif
