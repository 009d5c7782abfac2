/* warpmem validate --live: the model against the GPU in this machine. */
#ifndef LIVE_H
#define LIVE_H

/* The help text of `warpmem validate', in validate.c. */
extern const char validate_help[];

/* The whole command; its arguments are those of `warpmem validate'. Returns an exit status. */
int run_live(int argc, char **argv);

#endif
