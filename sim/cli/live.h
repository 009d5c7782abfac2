/* warpmem validate --live: the model against the GPU in this machine. */
#ifndef LIVE_H
#define LIVE_H

/* The help text of `warpmem validate', in validate.c. */
extern const char validate_help[];

/* Draws a plot of cycles per instruction with 32 warps to a file, by whose name plot_format_by_name() knows the format. 0:
 * done; else what is wrong has been said. */
struct plot;
int save_plot(const struct plot *plot, const char *title, const char *path);

/* The whole command; its arguments are those of `warpmem validate'. Returns an exit status. */
int run_live(int argc, char **argv);

#endif
