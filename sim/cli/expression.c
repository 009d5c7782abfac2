/* Accesses as expressions of CUDA C on the command line. */
#include "config.h"

#include "expression.h"

#include "cli.h"
#include "message.h"

#include <stdlib.h>

static int add_text(const char ***list, size_t *count, const char *text)
{
    const char **more = one_more(*list, *count, sizeof *more);

    if (!more)
        return 0;
    *list = more;
    more[(*count)++] = text;
    return 1;
}

static int add_expression(const char *text, int is_store, struct expression_options *out)
{
    struct wm_expression *more = one_more(out->expressions, out->n_expressions, sizeof *more);

    if (!more)
        return 0;
    out->expressions = more;
    more[out->n_expressions++] = (struct wm_expression){text, is_store};
    return 1;
}

int expression_operand(const char *text, struct expression_options *out)
{
    return add_expression(text, 0, out);
}

/* 0: out of memory, which has been said. */
static int expression_option(int option, const char *text, struct expression_options *out)
{
    static const char *const names[] = {"--decl", "--let", "--load", "--store"};

    if (!out->first)
        out->first = names[option - OPTION_DECL];
    switch (option) {
    case OPTION_DECL: return add_text(&out->declarations, &out->n_declarations, text);
    case OPTION_LET: return add_text(&out->lets, &out->n_lets, text);
    default: return add_expression(text, option == OPTION_STORE, out);
    }
}

int input_option(const char *command, int option, char *text, struct expression_options *expression,
                 struct launch_options *launch)
{
    if (option >= OPTION_DECL && option < OPTION_EXPRESSION_END)
        return expression_option(option, text, expression) ? -1 : EXIT_BAD;
    if (is_launch_option(option))
        return launch_option(command, option, text, launch) ? -1 : EXIT_USAGE;
    return usage_hint(command);
}

const char *expression_has_no(const struct launch_options *launch)
{
    return launch->launch.grid[0]       ? "--grid"
           : launch->launch.some_blocks ? "--blocks"
           : launch->launch.sample      ? "--sample"
           : launch->dump_count         ? "--dump"
                                        : NULL;
}

enum wm_status expression_open(const struct expression_options *options, const struct wm_launch *launch, enum wm_l1 l1,
                               wm_reader **out, struct wm_diag *diag)
{
    const struct wm_expressions input = {options->expressions,    options->n_expressions, options->declarations,
                                         options->n_declarations, options->lets,          options->n_lets};
    const struct wm_reader_options reader_options = {.l1 = l1, .launch = launch};

    return wm_reader_open_expressions(&input, &reader_options, out, diag);
}

void expression_free(struct expression_options *options)
{
    free(options->expressions);
    free(options->declarations);
    free(options->lets);
}
