/* warpmem validate --live: the model against the GPU in this machine. */
#ifndef LIVE_H
#define LIVE_H

/* The help text of `warpmem validate', in validate.c. */
extern const char validate_help[];

struct plot;

/* Whether a picture can be written: by the name of its file, and by this build. 0: no, and why has been said. */
int plot_path_is_good(const char *command, const char *path);
int plot_can_be_drawn(void);

/* Draws a plot of cycles per instruction with 32 warps to a file, which the caller commits. 0: done; else what is wrong
 * has been said. *out is to be closed either way. */
struct output;
int save_plot(const struct plot *plot, const char *title, const char *path, struct output **out);

/* The whole command; its arguments are those of `warpmem validate'. Returns an exit status. */
int run_live(int argc, char **argv);

#endif
