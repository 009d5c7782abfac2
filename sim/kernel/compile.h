/*
 * What the stages of the CUDA C front end share. Internal to the library.
 *
 *     source text -> tokens.c -> preprocess.c -> one array of tokens
 *       declare.c    what stands at file scope: functions by their token ranges, types, constants; host code is skipped
 *       types.c      types, layouts, names of types
 *       operators.c statement.c    a function's tokens, with template parameters bound, to a typed tree
 *       ptx.c        asm statements, to the same tree
 *       builtin.c    what CUDA brings along: functions, variables, vector types, constants
 *       lower.c      the tree of a kernel and of all that it calls, inlined, to one program of register instructions
 *
 * A compilation ends at its first error by a jump to where it was started; all that it allocated is in one arena.
 */
#ifndef WM_COMPILE_H
#define WM_COMPILE_H

#include <setjmp.h>
#include <stdarg.h>

#include "kernel.h"
#include "trace.h"

/* Bounds: what a kernel that a person wrote stays far below, and what keeps a hostile one from eating the machine. */
#define WMI_MAX_DEPTH 400              /* nesting of statements, expressions, types, calls */
#define WMI_MAX_HEIGHT 2000            /* of an expression's tree: a + b + c ... grows it */
#define WMI_MAX_TOKENS (4u << 20)      /* after macros */
#define WMI_MAX_ARENA (512u << 20)     /* bytes of tokens and trees */
#define WMI_MAX_INSTRUCTIONS (1u << 20)
#define WMI_MAX_REGISTERS 4096u        /* a warp's, 256 bytes each */
#define WMI_MAX_REGISTER_ARRAY 255u    /* scalars of a variable that may live in registers: what a thread has */
#define WMI_MAX_ARGUMENTS 64u          /* of a call, a macro, a template */
#define WMI_MAX_INCLUDES 32u
#define WMI_MAX_PIECES 192u            /* declarations, lets and expressions that are given one by one */

struct place {
    uint32_t file;
    uint32_t line;
    uint32_t column;
};

/* ---------------------------------------------------------------------------------------------------------- tokens.c */

enum token_kind { T_END, T_NAME, T_NUMBER, T_CHAR, T_STRING, T_PUNCT, T_UNROLL };

/* Single characters stand for themselves. */
enum punct {
    P_NONE = 0,
    P_ARROW = 256,
    P_INC,
    P_DEC,
    P_SHL,
    P_SHR,
    P_LE,
    P_GE,
    P_EQ,
    P_NE,
    P_AND,
    P_OR,
    P_ADD_TO,
    P_SUB_TO,
    P_MUL_TO,
    P_DIV_TO,
    P_REM_TO,
    P_AND_TO,
    P_OR_TO,
    P_XOR_TO,
    P_SHL_TO,
    P_SHR_TO,
    P_ELLIPSIS,
    P_SCOPE,
    P_PASTE,
    P_LAUNCH_OPEN,
    P_LAUNCH_CLOSE
};

#define TF_LINE_START 1u /* first on its line */
#define TF_SPACE 2u      /* white space before it */
#define TF_FINAL 4u      /* name of a macro that is not to be expanded any more */

struct macro;
struct symbol;

/* An identifier; equal spelling, equal pointer. */
struct name {
    struct name *next;
    const char *text;
    uint32_t length;
    uint32_t hash;
    int keyword; /* enum keyword, 0: none */
    struct macro *macro;
    struct symbol *global; /* at file scope */
};

struct token {
    uint8_t kind;  /* enum token_kind */
    uint8_t flags; /* TF_* */
    uint16_t punct;
    uint32_t length;
    const char *text;
    struct name *name;
    struct place place;
};

struct tokens {
    struct token *list;
    size_t count;
    size_t room;
};

/* -------------------------------------------------------------------------------------------------------------- types */

enum type_kind {
    K_VOID,
    K_BOOL,
    K_CHAR, /* signed, as everywhere on CUDA's hosts */
    K_SCHAR,
    K_UCHAR,
    K_SHORT,
    K_USHORT,
    K_INT,
    K_UINT,
    K_LONG, /* 64 bits */
    K_ULONG,
    K_LLONG,
    K_ULLONG,
    K_HALF,
    K_FLOAT,
    K_DOUBLE,
    K_POINTER,
    K_REFERENCE, /* of a parameter or variable; never of an expression */
    K_ARRAY,
    K_RECORD,
    K_PLACEHOLDER, /* a template's type that is being deduced; count: which */
    K_KINDS
};

struct type {
    enum type_kind kind;
    int is_const;
    uint32_t align;
    uint32_t depth;          /* of types inside types */
    uint64_t size;           /* 0: void, incomplete, an array of unknown length */
    uint64_t count;          /* array: elements */
    uint32_t leaves;         /* scalars in it, counting array elements; saturates at UINT32_MAX */
    const struct type *base; /* pointer, reference, array */
    struct record *record;
    const struct type *plain;     /* without const */
    const struct type *with_const; /* with it, or NULL: not made yet */
    const struct type *pointer;   /* to this type, or NULL */
    const struct type *reference;
};

struct field {
    struct name *name;
    const struct type *type;
    uint64_t offset;
    uint32_t leaf; /* scalars before it */
};

struct record {
    const char *name;
    struct field *fields;
    uint32_t n_fields;
    uint32_t vector; /* components of one of CUDA's vector types that is accessed as one; else 0 */
    int is_complete;
    struct type *type;
    const char *refused; /* why it cannot be used, or NULL */
    struct place refused_at;
};

/* ------------------------------------------------------------------------------------------------------- the tree */

enum expr_kind {
    E_CONST,
    E_VAR,
    E_DEREF,  /* a: pointer */
    E_INDEX,  /* a: array lvalue, b: index */
    E_MEMBER, /* a: record, field */
    E_VIEW,   /* a: element of a local array, which with those behind it is looked at as another type; or a whole variable */
    E_ADDRESS,
    E_DECAY, /* a: array lvalue */
    E_NEG,
    E_COMPLEMENT,
    E_NOT,
    E_BINARY,     /* op; operands have one type, except shifts and pointer plus integer */
    E_AND,
    E_OR,
    E_COND,
    E_COMMA,
    E_ASSIGN,
    E_ASSIGN_OP, /* op, in the type of c->type; b has it (shifts: its own) */
    E_STEP,      /* op: '+' or '-'; is_post */
    E_CAST,
    E_CALL,
    E_BUILTIN,
    E_LIST /* a record or array from its elements: fewer than it has: the rest is 0 */
};

union value {
    uint64_t i; /* integers and pointers, extended to 64 bits according to their type; half: bits */
    double f;
};

struct expr {
    enum expr_kind kind;
    int op; /* punctuator, or enum builtin */
    const struct type *type;
    struct place place;
    struct expr *a;
    struct expr *b;
    struct expr *c;
    struct symbol *symbol;
    const struct field *field;
    struct instance *instance;
    struct expr **args;
    uint32_t n_args;
    uint16_t height;
    uint8_t is_lvalue;
    uint8_t is_post;
    uint8_t is_unused;   /* the value is not looked at: an atomic is then a reduction */
    uint8_t effects;     /* lower.c: 0: not known yet, 1: none, 2: must run only for lanes that get here */
    union value value;
};

enum stmt_kind {
    S_EXPR,
    S_DECLARE, /* symbol, a: initialiser or NULL */
    S_BLOCK,
    S_IF,
    S_LOOP, /* init, a: condition or NULL, b: step or NULL, body; is_do: the condition comes last */
    S_SWITCH,
    S_CASE, /* value */
    S_DEFAULT,
    S_BREAK,
    S_CONTINUE,
    S_RETURN
};

struct stmt {
    enum stmt_kind kind;
    int is_do;
    struct place place;
    struct stmt *next; /* in its block */
    struct stmt *init;
    struct stmt *body;
    struct stmt *other;
    struct expr *a;
    struct expr *b;
    struct symbol *symbol;
    uint64_t value; /* case: value; loop: #pragma unroll: 0: none, N, UINT64_MAX: in full */
};

enum symbol_kind { SYM_VARIABLE, SYM_TYPE, SYM_CONSTANT, SYM_FUNCTIONS, SYM_TEMPLATE, SYM_NAMESPACE, SYM_REFUSED };

enum storage { ST_AUTO, ST_SHARED, ST_SHARED_EXTERN, ST_CONSTANT, ST_DEVICE };

/* Where a variable or a part of one is, while code is made. */
enum where_kind { W_NONE, W_REGISTER, W_REGISTER_INDEXED, W_MEMORY };

struct where {
    enum where_kind kind;
    uint32_t reg;    /* registers: the first; memory: the register with the address */
    uint32_t index;  /* indexed: register with the number of scalars from reg */
    uint32_t bound;  /* indexed: scalars that the variable has from reg on */
    uint64_t offset; /* memory: bytes on top */
};

struct symbol {
    struct symbol *next; /* in its scope */
    struct symbol *next_variable; /* of file scope */
    struct name *name;
    enum symbol_kind kind;
    const struct type *type;
    struct place place;
    /* variables */
    enum storage storage;
    int is_parameter;
    unsigned uses;   /* of a parameter that is a pointer: in how many places, */
    unsigned derefs; /* and in how many of them only what it points to */
    int has_unknown_index;
    int is_transparent; /* nothing is done with the pointer: what it points to may be in registers */
    int is_alias;       /* and is, in the call that is being lowered: where */
    int is_bound; /* a template's parameter */
    const char *written; /* variables: the element type in the source's words */
    unsigned is_assigned; /* in how many places, besides its initialiser */
    unsigned address_taken; /* in how many places that need a pointer */
    int is_known;         /* to the compiler, when loops are unrolled */
    struct expr *initial; /* of file scope; a parameter's default */
    int in_memory;        /* a local variable that is in local memory */
    uint64_t offset;      /* shared, constant, local memory */
    uint32_t buffer;      /* __device__ */
    struct where where;
    /* constants */
    struct expr *constant;
    /* functions */
    struct function *functions;
    struct record_template *record_template; /* SYM_TEMPLATE */
    const char *refused; /* SYM_REFUSED: why; at place */
};

struct scope {
    struct scope *outer;
    struct symbol *symbols;
};

/* A use of an array by an index, to find out whether it can be in registers. */
struct index_use {
    struct index_use *next;
    struct symbol *symbol; /* an array, or a parameter that is a pointer */
    struct expr *index;    /* NULL: not known */
};

struct template_parameter {
    struct name *name;
    int is_type;
    size_t type_at;    /* token where a value's type begins */
    size_t default_at; /* token of the default, or 0 */
};

struct template_argument {
    const struct type *type; /* NULL: a value */
    struct expr *value;
    int is_known;
};

/* A function as it stands in the source, before it is parsed. */
struct function {
    struct function *next; /* overload */
    struct name *name;
    struct place place;
    int is_kernel;
    struct function *next_kernel;
    struct template_parameter *parameters;
    uint32_t n_parameters;
    size_t type_at;       /* token where its return type begins */
    size_t declarator_at; /* token of its name */
    size_t arguments_at;  /* of the opening parenthesis */
    size_t body_at;       /* of the opening brace; 0: only declared */
    struct instance *instances;
};

/* A class template as it stands in the source. */
struct record_template {
    struct template_parameter *parameters;
    uint32_t n_parameters;
    size_t head_at; /* behind struct */
    struct record_instance *instances;
};

struct record_instance {
    struct record_instance *next;
    struct template_argument *arguments;
    struct record *record;
};

struct instance {
    struct instance *next;
    struct symbol *variables; /* automatic ones, linked by next_variable */
    struct function *function;
    struct template_argument *arguments;
    const struct type *result;
    struct symbol **parameters;
    uint32_t n_parameters;
    struct scope *scope;
    struct stmt *body;
    struct index_use *uses;
    int is_parsed;
    int is_busy; /* being parsed or lowered: meeting it again is recursion */
};

/* -------------------------------------------------------------------------------------------------------- compilation */

struct source_file {
    const char *name;
    const char *directory; /* with the last slash; "" */
};

/* Where a macro of the launch is used. */
struct macro_use {
    struct place place;
    const char *text; /* as the launch has it */
};

struct program;

struct compile {
    struct wmi_arena arena;
    size_t arena_used;
    jmp_buf *escape;
    enum wm_status status;
    struct wm_diag diag;
    struct place failed; /* where diag is about, if in a file */
    const struct wm_launch *launch;
    /* names and tokens */
    struct name **names;
    uint32_t n_names;
    uint32_t names_size; /* power of two */
    struct source_file *files;
    uint32_t n_files;
    struct macro_use *macro_uses;
    size_t n_macro_uses;
    size_t macro_use_room;
    struct tokens tokens;
    size_t at; /* of the parser */
    size_t split_at;  /* of a >> whose first half has closed a template's arguments */
    int no_greater;   /* > closes template arguments */
    size_t last_file; /* token behind file scope */
    unsigned depth;
    /* types and declarations */
    struct type basic[K_KINDS];
    struct scope *scope;
    struct scope *file_scope;
    struct function *kernels; /* latest first */
    struct symbol *file_variables; /* __shared__, __constant__, __device__ variables, latest first; once they have their
                                      places, first ones first */
    uint64_t constant_bytes;
    uint64_t shared_bytes;
    uint32_t n_devices;
    /* declarations that are given one by one */
    int is_strict; /* nothing is the host's: what is not understood is an error; pointers are parameters */
    uint32_t n_pieces;
    struct symbol **pointers;
    uint32_t n_pointers;
    size_t pointer_room;
    /* the function being parsed */
    struct instance *instance;
    unsigned loops;
    unsigned switches;
    unsigned instances_open;
    struct stmt *switch_now;
    /* the program being made */
    struct program *program;
    struct wmi_run *run;
};

/* wmi_diag_set() with a list of arguments. */
void wmi_c_diag(struct wm_diag *diag, enum wm_status status, const char *file, struct place place, const char *format,
                va_list arguments) WMI_PRINTF(5, 0);
/* Ends the compilation. */
_Noreturn void wmi_c_fail(struct compile *c, enum wm_status status, struct place place, const char *format, ...)
    WMI_PRINTF(4, 5);
/* "... is not supported" */
_Noreturn void wmi_c_refuse(struct compile *c, struct place place, const char *format, ...) WMI_PRINTF(3, 4);
/* Zeroed memory of the compilation. */
void *wmi_c_take(struct compile *c, size_t size);
/* Room for one more element of a list of elements of size bytes that has count of *room. */
void *wmi_c_grow(struct compile *c, void *list, size_t count, size_t *room, size_t size);
const char *wmi_c_text(struct compile *c, const char *format, ...) WMI_PRINTF(2, 3);
/* Remarks that a local variable is in local memory, and why; NULL: it is in registers. */
void wmi_c_note(struct compile *c, const struct symbol *symbol, const char *why);
/* A remark about the run, said once. */
void wmi_c_remark(struct compile *c, const char *text);
void wmi_c_enter(struct compile *c, struct place place);
void wmi_c_leave(struct compile *c);

/* tokens.c */
struct name *wmi_c_name(struct compile *c, const char *text, size_t length);
struct name *wmi_c_name_of(struct compile *c, const char *text);
void wmi_c_lex(struct compile *c, const char *text, size_t length, uint32_t file, struct tokens *out);
void wmi_c_push(struct compile *c, struct tokens *tokens, const struct token *token);
/* A number's value: 1: integer in *value with its type, 0: floating in *value. */
int wmi_c_number(struct compile *c, const struct token *token, enum type_kind *kind, union value *value);
uint64_t wmi_c_character(struct compile *c, const struct token *token);
/* How tightly a binary operator binds, 1 (||) to 10 (*); 0: the token is none. */
int wmi_c_rank(int punct);

/* preprocess.c */
void wmi_c_preprocess(struct compile *c, const char *path, const char *text, size_t length);
/* The macro of the launch, as given there, that is used at this place, or else in its line; NULL: none. */
const char *wmi_c_macro_at(const struct compile *c, struct place place);
/* Adds a text of its own behind all others, and moves there; name is what messages call it. It ends with T_END, before which
 * a declaration gets a ';'. */
void wmi_c_piece(struct compile *c, const char *name, const char *text, int is_declaration);

/* types.c */
void wmi_c_types_start(struct compile *c);
const struct type *wmi_c_basic(struct compile *c, enum type_kind kind);
const struct type *wmi_c_pointer(struct compile *c, const struct type *to);
const struct type *wmi_c_reference(struct compile *c, const struct type *to);
const struct type *wmi_c_array(struct compile *c, const struct type *of, uint64_t count, struct place place);
const struct type *wmi_c_const(struct compile *c, const struct type *type);
struct record *wmi_c_record(struct compile *c, const char *name);
/* Lays the fields out; align: at least that, 0: natural. */
void wmi_c_record_finish(struct compile *c, struct record *record, uint32_t align, struct place place);
int wmi_c_same(const struct type *a, const struct type *b); /* without const at the top */
/* Whether both are arrays of the same, to's of const elements. */
int wmi_c_adds_const(const struct type *from, const struct type *to);
const char *wmi_c_type_name(struct compile *c, const struct type *type);
int wmi_c_is_integer(const struct type *type);
int wmi_c_is_floating(const struct type *type); /* half too */
int wmi_c_is_arithmetic(const struct type *type);
int wmi_c_is_scalar(const struct type *type); /* arithmetic or pointer */
int wmi_c_is_signed(const struct type *type);
/* Scalar number leaf of a type: its type, and in *offset where it is. */
const struct type *wmi_c_leaf(const struct type *type, uint32_t leaf, uint64_t *offset);

/* declare.c: the parser's movements, declarations, file scope */
const struct token *wmi_c_now(const struct compile *c);
const struct token *wmi_c_ahead(const struct compile *c, size_t tokens);
void wmi_c_advance(struct compile *c);
int wmi_c_is(const struct compile *c, int punct);
int wmi_c_take_punct(struct compile *c, int punct);
void wmi_c_expect(struct compile *c, int punct, const char *where);
int wmi_c_is_word(const struct compile *c, int keyword);
int wmi_c_take_word(struct compile *c, int keyword);
_Noreturn void wmi_c_unexpected(struct compile *c, const char *expected);
/* Moves from an opening bracket behind the one that closes it. */
void wmi_c_skip_bracket(struct compile *c);
struct symbol *wmi_c_find(struct compile *c, const struct name *name);
struct symbol *wmi_c_declare(struct compile *c, enum symbol_kind kind, struct name *name, struct place place);
/* Whether a type begins here. */
int wmi_c_is_type(struct compile *c);

struct specifiers {
    const struct type *type; /* NULL: auto */
    int is_typedef;
    int is_static;
    int is_extern;
    int is_constexpr;
    int is_shared;
    int is_constant;
    int is_device;
    int is_global;
    int is_host;
    int is_auto;
    uint32_t align;
    struct place place;
    size_t type_at; /* tokens from here to type_end hold the type's words */
    size_t type_end;
};

/* Type and storage words; stops behind them. */
void wmi_c_specifiers(struct compile *c, struct specifiers *out);
/* The type with at least that alignment. */
const struct type *wmi_c_aligned(struct compile *c, const struct type *type, uint32_t align);
/* The source's words for the elements of a variable of the type (without the dimensions of an array, or what a pointer
 * points to), which the specifiers stand before. */
const char *wmi_c_written(struct compile *c, const struct specifiers *specifiers, const struct type *type);
/* A struct's body from '{' to '}' into record. */
void wmi_c_record_body(struct compile *c, struct record *record, uint32_t align);
/* Stars, name, array bounds; *name is NULL where there is none. The first bound may be left out: count 0. */
const struct type *wmi_c_declarator(struct compile *c, const struct type *base, struct name **name, struct place *place);
/* A type alone, as in a cast. */
const struct type *wmi_c_type(struct compile *c);
void wmi_c_static_assert(struct compile *c);
void wmi_c_using(struct compile *c);
void wmi_c_file(struct compile *c);
/* Template arguments from '<' to '>'. */
uint32_t wmi_c_template_arguments(struct compile *c, struct template_argument *out);

/* instance.c: templates and calls */
/* The parameters of a template, from '<' to '>'. */
struct template_parameter *wmi_c_template_parameters(struct compile *c, uint32_t *n);
/* A class template's type; stands behind its name. */
const struct type *wmi_c_record_instance(struct compile *c, struct symbol *symbol);
/* The kernel that is to be launched, its body parsed. text: as struct wm_launch has it. */
struct instance *wmi_c_kernel(struct compile *c, const char *text);
/* The function among the overloads that a call means, its body parsed. Template arguments that are not given are deduced. */
struct instance *wmi_c_call(struct compile *c, struct function *functions, const struct template_argument *given,
                            uint32_t n_given, struct expr **args, uint32_t n_args, struct place place);

/* operators.c */
struct expr *wmi_c_expression(struct compile *c);  /* with commas */
struct expr *wmi_c_assignment(struct compile *c);  /* without */
struct expr *wmi_c_conditional(struct compile *c); /* constant expressions */
int64_t wmi_c_constant_integer(struct compile *c, const char *what);
struct expr *wmi_c_unary(struct compile *c);
struct expr *wmi_c_call_of(struct compile *c, struct instance *instance, struct expr **args, uint32_t n, struct place place);
struct expr *wmi_c_rvalue(struct compile *c, struct expr *e);
struct expr *wmi_c_convert(struct compile *c, struct expr *e, const struct type *to, const char *what); /* implicitly */
struct expr *wmi_c_cast(struct compile *c, struct expr *e, const struct type *to, struct place place);
struct expr *wmi_c_condition(struct compile *c, struct expr *e); /* to bool */
struct expr *wmi_c_make(struct compile *c, enum expr_kind kind, const struct type *type, struct place place);
struct expr *wmi_c_integer(struct compile *c, uint64_t value, const struct type *type, struct place place);
/* What stands behind '=' or in braces, for a variable of the type. */
struct expr *wmi_c_initialiser(struct compile *c, const struct type **type);
void wmi_c_unused(struct expr *e);
int wmi_c_is_null(const struct expr *e);
struct expr *wmi_c_binary(struct compile *c, int op, struct expr *a, struct expr *b, struct place place);
struct expr *wmi_c_assign(struct compile *c, struct expr *a, struct expr *b, struct place place);
/* Whether it can be converted implicitly: 0: no; 1: the same type; 2 promoted; 3 converted. */
unsigned wmi_c_conversion(const struct expr *e, const struct type *to);
/* The variable that an lvalue is a part of, or NULL: it is reached through a pointer. */
struct symbol *wmi_c_root(struct expr *e);
/* Value of an integer constant brought to its type's width. */
uint64_t wmi_c_wrap(const struct type *type, uint64_t value);

/* statement.c */
struct stmt *wmi_c_body(struct compile *c); /* from '{' to '}' */
/* Decides which of the function's variables are in registers and which in local memory. */
void wmi_c_settle(struct compile *c, struct instance *instance);

/* ptx.c */
/* An asm statement, from its first word to its ';'. */
struct stmt *wmi_c_asm(struct compile *c);

/* builtin.c */
enum builtin {
    B_SYNCTHREADS,  /* value.i: 0 plain, 1 count, 2 and, 3 or */
    B_SYNCWARP,     /* a mask */
    B_FENCE,
    B_LOAD,         /* value.i: enum wm_cache, WMI_ONLY_GLOBAL */
    B_STORE,        /* likewise */
    B_ATOMIC,       /* value.i: enum wm_atomic; args: pointer, operands */
    B_LDMATRIX,     /* value.i: matrices, WMI_MATRIX_TRANSPOSED; args: address */
    B_STMATRIX,     /* likewise; args: address, the registers */
    B_MMA,          /* a product of tensor cores: its registers are given 0 by themselves */
    B_COMMIT,       /* of a group of copies */
    B_WAIT,         /* for copies: args: groups that need not be done; none: for all */
    B_COPY,         /* cp.async; value.i: bytes, WMI_COPY_CG; args: destination, source, perhaps bytes of the source */
    B_SHUFFLE,      /* value.i: enum shuffle; args: mask, value, lane, width */
    B_BALLOT,
    B_ANY,
    B_ALL,
    B_ACTIVEMASK,
    B_POPC,
    B_FFS,
    B_CLZ,
    B_BREV,
    B_MIN,
    B_MAX,
    B_ABS,
    B_MATH1, /* value.i: index into wmi_x_math1 */
    B_MATH2,
    B_FMA,
    B_TEST,     /* value.i: enum float_test */
    B_BITS,     /* the same bits as another type */
    B_TO_INT,   /* float to integer; value.i: 'n' 'z' 'd' 'u' */
    B_MULHI,
    B_TO_SHARED, /* a generic pointer's offset in shared memory */
    B_ASSERT,
    B_TRAP
};

#define WMI_ONLY_GLOBAL 256u /* as PTX's ld.global: the address of another space is an error */
#define WMI_MATRIX_TRANSPOSED 8u
#define WMI_COPY_CG 32u

enum shuffle { SHUFFLE_INDEX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR };
enum float_test { TEST_NAN, TEST_INF, TEST_FINITE, TEST_SIGN };

/* Vector types and special variables; before the prelude. */
void wmi_c_builtins(struct compile *c);
extern const char *const wmi_c_special_names[];
#define WMI_SPECIALS 4 /* threadIdx blockIdx blockDim gridDim, three registers each, from register 0 */
/* The builtin of that name applied to args, or NULL if there is none. */
struct expr *wmi_c_builtin(struct compile *c, const struct name *name, struct expr **args, uint32_t n_args,
                           struct place place);
/* Text that is preprocessed before the source. */
extern const char wmi_c_prelude[];

/* lower.c */
/* A scalar's bits in a register. */
uint64_t wmi_c_bits(const struct type *type, const union value *value);
void wmi_c_lower(struct compile *c, struct instance *kernel, struct program *program);

enum keyword {
    W_NO_KEYWORD = 0,
    KW_IF,
    KW_ELSE,
    KW_FOR,
    KW_WHILE,
    KW_DO,
    KW_SWITCH,
    KW_CASE,
    KW_DEFAULT,
    KW_BREAK,
    KW_CONTINUE,
    KW_RETURN,
    KW_GOTO,
    KW_STRUCT,
    KW_CLASS,
    KW_UNION,
    KW_ENUM,
    KW_TYPEDEF,
    KW_USING,
    KW_NAMESPACE,
    KW_TEMPLATE,
    KW_TYPENAME,
    KW_CONST,
    KW_VOLATILE,
    KW_RESTRICT,
    KW_STATIC,
    KW_EXTERN,
    KW_INLINE,
    KW_CONSTEXPR,
    KW_REGISTER,
    KW_MUTABLE,
    KW_AUTO,
    KW_VOID,
    KW_BOOL,
    KW_CHAR,
    KW_SHORT,
    KW_INT,
    KW_LONG,
    KW_FLOAT,
    KW_DOUBLE,
    KW_SIGNED,
    KW_UNSIGNED,
    KW_SIZEOF,
    KW_ALIGNOF,
    KW_ALIGNAS,
    KW_STATIC_CAST,
    KW_REINTERPRET_CAST,
    KW_CONST_CAST,
    KW_DYNAMIC_CAST,
    KW_TRUE,
    KW_FALSE,
    KW_NULLPTR,
    KW_ASM,
    KW_STATIC_ASSERT,
    KW_OPERATOR,
    KW_GLOBAL,
    KW_DEVICE,
    KW_HOST,
    KW_SHARED,
    KW_CONSTANT,
    KW_MANAGED,
    KW_GRID_CONSTANT,
    KW_FORCEINLINE,
    KW_NOINLINE,
    KW_LAUNCH_BOUNDS,
    KW_CLUSTER_DIMS,
    KW_ALIGN,
    KW_ATTRIBUTE,
    KW_DECLTYPE,
    KW_NOEXCEPT,
    KW_NEW,
    KW_DELETE,
    KW_THROW,
    KW_TRY,
    KW_THIS,
    KW_PUBLIC,
    KW_PRIVATE,
    KW_PROTECTED,
    KW_FRIEND,
    KW_EXPLICIT,
    KW_VIRTUAL
};

#endif
