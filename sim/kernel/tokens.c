/* From text to tokens; names; the values of numbers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"

static const struct {
    const char *text;
    enum keyword keyword;
} keywords[] = {
    {"if", KW_IF}, {"else", KW_ELSE}, {"for", KW_FOR}, {"while", KW_WHILE}, {"do", KW_DO}, {"switch", KW_SWITCH},
    {"case", KW_CASE}, {"default", KW_DEFAULT}, {"break", KW_BREAK}, {"continue", KW_CONTINUE},
    {"return", KW_RETURN}, {"goto", KW_GOTO}, {"struct", KW_STRUCT}, {"class", KW_CLASS}, {"union", KW_UNION},
    {"enum", KW_ENUM}, {"typedef", KW_TYPEDEF}, {"using", KW_USING}, {"namespace", KW_NAMESPACE},
    {"template", KW_TEMPLATE}, {"typename", KW_TYPENAME}, {"const", KW_CONST}, {"volatile", KW_VOLATILE}, {"__volatile__", KW_VOLATILE},
    {"__restrict__", KW_RESTRICT}, {"__restrict", KW_RESTRICT}, {"restrict", KW_RESTRICT}, {"static", KW_STATIC},
    {"extern", KW_EXTERN}, {"inline", KW_INLINE}, {"__inline__", KW_INLINE}, {"__inline", KW_INLINE},
    {"constexpr", KW_CONSTEXPR}, {"register", KW_REGISTER}, {"mutable", KW_MUTABLE}, {"auto", KW_AUTO},
    {"void", KW_VOID}, {"bool", KW_BOOL}, {"char", KW_CHAR}, {"short", KW_SHORT}, {"int", KW_INT},
    {"long", KW_LONG}, {"float", KW_FLOAT}, {"double", KW_DOUBLE}, {"signed", KW_SIGNED},
    {"unsigned", KW_UNSIGNED}, {"sizeof", KW_SIZEOF}, {"alignof", KW_ALIGNOF}, {"alignas", KW_ALIGNAS},
    {"static_cast", KW_STATIC_CAST}, {"reinterpret_cast", KW_REINTERPRET_CAST}, {"const_cast", KW_CONST_CAST},
    {"dynamic_cast", KW_DYNAMIC_CAST}, {"true", KW_TRUE}, {"false", KW_FALSE}, {"nullptr", KW_NULLPTR},
    {"asm", KW_ASM}, {"__asm__", KW_ASM}, {"__asm", KW_ASM}, {"static_assert", KW_STATIC_ASSERT},
    {"operator", KW_OPERATOR}, {"__global__", KW_GLOBAL}, {"__device__", KW_DEVICE}, {"__host__", KW_HOST},
    {"__shared__", KW_SHARED}, {"__constant__", KW_CONSTANT}, {"__managed__", KW_MANAGED},
    {"__grid_constant__", KW_GRID_CONSTANT}, {"__forceinline__", KW_FORCEINLINE}, {"__noinline__", KW_NOINLINE},
    {"__launch_bounds__", KW_LAUNCH_BOUNDS}, {"__cluster_dims__", KW_CLUSTER_DIMS}, {"__align__", KW_ALIGN},
    {"__attribute__", KW_ATTRIBUTE}, {"decltype", KW_DECLTYPE}, {"noexcept", KW_NOEXCEPT}, {"new", KW_NEW},
    {"delete", KW_DELETE}, {"throw", KW_THROW}, {"try", KW_TRY}, {"this", KW_THIS}, {"public", KW_PUBLIC},
    {"private", KW_PRIVATE}, {"protected", KW_PROTECTED}, {"friend", KW_FRIEND}, {"explicit", KW_EXPLICIT},
    {"virtual", KW_VIRTUAL},
};

/* Longest first. */
static const struct {
    char text[4];
    enum punct punct;
} puncts[] = {
    {"<<<", P_LAUNCH_OPEN}, {">>>", P_LAUNCH_CLOSE}, {"<<=", P_SHL_TO}, {">>=", P_SHR_TO}, {"...", P_ELLIPSIS},
    {"->", P_ARROW}, {"++", P_INC}, {"--", P_DEC}, {"<<", P_SHL}, {">>", P_SHR}, {"<=", P_LE}, {">=", P_GE},
    {"==", P_EQ}, {"!=", P_NE}, {"&&", P_AND}, {"||", P_OR}, {"+=", P_ADD_TO}, {"-=", P_SUB_TO}, {"*=", P_MUL_TO},
    {"/=", P_DIV_TO}, {"%=", P_REM_TO}, {"&=", P_AND_TO}, {"|=", P_OR_TO}, {"^=", P_XOR_TO}, {"::", P_SCOPE},
    {"##", P_PASTE},
};

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash;
}

static void names_grow(struct compile *c)
{
    const uint32_t size = c->names_size ? c->names_size * 2 : 1024;
    struct name **names = wmi_c_take(c, size * sizeof *names);

    for (uint32_t i = 0; i < c->names_size; i++) {
        struct name *next;

        for (struct name *name = c->names[i]; name; name = next) {
            next = name->next;
            name->next = names[name->hash & (size - 1)];
            names[name->hash & (size - 1)] = name;
        }
    }
    c->names = names;
    c->names_size = size;
}

struct name *wmi_c_name(struct compile *c, const char *text, size_t length)
{
    const uint32_t hash = hash_of(text, length);
    struct name *name;
    char *copy;

    if (c->n_names >= c->names_size)
        names_grow(c);
    for (name = c->names[hash & (c->names_size - 1)]; name; name = name->next) {
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    }
    name = wmi_c_take(c, sizeof *name);
    copy = wmi_c_take(c, length + 1);
    memcpy(copy, text, length);
    name->text = copy;
    name->length = (uint32_t)length;
    name->hash = hash;
    name->next = c->names[hash & (c->names_size - 1)];
    c->names[hash & (c->names_size - 1)] = name;
    c->n_names++;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strlen(keywords[i].text) == length && memcmp(keywords[i].text, text, length) == 0)
            name->keyword = (int)keywords[i].keyword;
    }
    return name;
}

struct name *wmi_c_name_of(struct compile *c, const char *text)
{
    return wmi_c_name(c, text, strlen(text));
}

void wmi_c_push(struct compile *c, struct tokens *tokens, const struct token *token)
{
    if (tokens->count >= WMI_MAX_TOKENS)
        wmi_c_fail(c, WM_E_RANGE, token->place, "more than %u tokens", WMI_MAX_TOKENS);
    tokens->list = wmi_c_grow(c, tokens->list, tokens->count, &tokens->room, sizeof *token);
    tokens->list[tokens->count++] = *token;
}

/* A place in the text. */
struct cursor {
    const char *at;
    const char *end;
    struct place place;
};

static int is_space(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v';
}

static int is_letter(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' || ch == '$' || (ch & 0x80) != 0;
}

static int is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

static void step(struct cursor *cursor)
{
    if (*cursor->at++ == '\n') {
        cursor->place.line++;
        cursor->place.column = 1;
    } else {
        cursor->place.column++;
    }
}

static char look(const struct cursor *cursor, size_t ahead)
{
    return (size_t)(cursor->end - cursor->at) > ahead ? cursor->at[ahead] : '\0';
}

/* A backslash at the end of a line joins it with the next; returns its length with the newline, or 0. */
static size_t splice(const struct cursor *cursor)
{
    if (look(cursor, 0) != '\\')
        return 0;
    if (look(cursor, 1) == '\n')
        return 2;
    return look(cursor, 1) == '\r' && look(cursor, 2) == '\n' ? 3 : 0;
}

static void skip_comment(struct compile *c, struct cursor *cursor)
{
    const struct place start = cursor->place;

    if (look(cursor, 1) == '/') {
        while (cursor->at < cursor->end && *cursor->at != '\n') {
            for (size_t n = splice(cursor); n; n--)
                step(cursor);
            if (cursor->at < cursor->end && *cursor->at != '\n')
                step(cursor);
        }
        return;
    }
    step(cursor);
    step(cursor);
    while (cursor->at < cursor->end && !(*cursor->at == '*' && look(cursor, 1) == '/'))
        step(cursor);
    if (cursor->at >= cursor->end)
        wmi_c_fail(c, WM_E_SYNTAX, start, "this comment has no end");
    step(cursor);
    step(cursor);
}

/* Moves over white space and comments; returns TF_ flags of what comes next. */
static unsigned skip_space(struct compile *c, struct cursor *cursor, int at_start)
{
    unsigned flags = at_start ? TF_LINE_START : 0;

    while (cursor->at < cursor->end) {
        if (*cursor->at == '\n') {
            flags |= TF_LINE_START | TF_SPACE;
            step(cursor);
        } else if (is_space(*cursor->at)) {
            flags |= TF_SPACE;
            step(cursor);
        } else if (splice(cursor)) {
            for (size_t n = splice(cursor); n; n--)
                step(cursor);
            flags |= TF_SPACE;
        } else if (*cursor->at == '/' && (look(cursor, 1) == '/' || look(cursor, 1) == '*')) {
            skip_comment(c, cursor);
            flags |= TF_SPACE;
        } else {
            break;
        }
    }
    return flags;
}

static void lex_quoted(struct compile *c, struct cursor *cursor, struct token *token)
{
    const char quote = *cursor->at;

    step(cursor);
    token->text = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != quote && *cursor->at != '\n') {
        if (*cursor->at == '\\' && cursor->at + 1 < cursor->end)
            step(cursor);
        step(cursor);
    }
    if (cursor->at >= cursor->end || *cursor->at != quote)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "no closing %c on this line", quote);
    token->length = (uint32_t)(cursor->at - token->text);
    token->kind = quote == '"' ? T_STRING : T_CHAR;
    step(cursor);
}

static void lex_number(struct cursor *cursor, struct token *token)
{
    token->kind = T_NUMBER;
    token->text = cursor->at;
    while (cursor->at < cursor->end) {
        const char ch = *cursor->at;
        const char next = look(cursor, 1);
        const int is_hex = token->text[0] == '0' && (size_t)(cursor->end - token->text) > 1 && (token->text[1] | 32) == 'x';

        if (is_letter(ch) || is_digit(ch) || ch == '.') {
            step(cursor);
            if ((next == '+' || next == '-') && ((!is_hex && (ch | 32) == 'e') || (is_hex && (ch | 32) == 'p')))
                step(cursor);
        } else if (ch == '\'' && (is_letter(next) || is_digit(next))) {
            step(cursor);
        } else {
            break;
        }
    }
    token->length = (uint32_t)(cursor->at - token->text);
}

static void lex_punct(struct compile *c, struct cursor *cursor, struct token *token)
{
    const size_t left = (size_t)(cursor->end - cursor->at);
    size_t length = 1;

    token->kind = T_PUNCT;
    token->text = cursor->at;
    for (size_t i = 0; i < sizeof puncts / sizeof puncts[0] && !token->punct; i++) {
        const size_t n = strnlen(puncts[i].text, 3);

        if (n <= left && memcmp(puncts[i].text, cursor->at, n) == 0) {
            token->punct = (uint16_t)puncts[i].punct;
            length = n;
        }
    }
    if (!token->punct) {
        if (!strchr("{}()[];,:?.~!+-*/%^&|=<>#@\\", *cursor->at) || !*cursor->at)
            wmi_c_fail(c, WM_E_SYNTAX, token->place, "a character (0x%02x) that C does not know", (uint8_t)*cursor->at);
        token->punct = (uint8_t)*cursor->at;
    }
    token->length = (uint32_t)length;
    for (; length; length--)
        step(cursor);
}

void wmi_c_lex(struct compile *c, const char *text, size_t length, uint32_t file, struct tokens *out)
{
    struct cursor cursor = {text, text + length, {file, 1, 1}};
    int at_start = 1;

    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        cursor.at += 3;
    for (;;) {
        struct token token = {0};

        token.flags = (uint8_t)skip_space(c, &cursor, at_start);
        at_start = 0;
        token.place = cursor.place;
        if (cursor.at >= cursor.end) {
            token.kind = T_END;
            token.flags |= TF_LINE_START;
            token.text = "";
            wmi_c_push(c, out, &token);
            return;
        }
        if (is_letter(*cursor.at)) {
            token.kind = T_NAME;
            token.text = cursor.at;
            while (cursor.at < cursor.end && (is_letter(*cursor.at) || is_digit(*cursor.at)))
                step(&cursor);
            token.length = (uint32_t)(cursor.at - token.text);
            token.name = wmi_c_name(c, token.text, token.length);
        } else if (is_digit(*cursor.at) || (*cursor.at == '.' && is_digit(look(&cursor, 1)))) {
            lex_number(&cursor, &token);
        } else if (*cursor.at == '"' || *cursor.at == '\'') {
            lex_quoted(c, &cursor, &token);
        } else {
            lex_punct(c, &cursor, &token);
        }
        wmi_c_push(c, out, &token);
    }
}

/* ----------------------------------------------------------------------------------------------------------- values */

/* The type of an integer literal: the first that holds it (C++11, [lex.icon]). */
static enum type_kind literal_type(uint64_t value, int is_decimal, int is_unsigned, int longs)
{
    if (longs == 0 && value <= INT32_MAX && !is_unsigned)
        return K_INT;
    if (longs == 0 && value <= UINT32_MAX && (is_unsigned || !is_decimal))
        return K_UINT;
    if (value <= INT64_MAX && !is_unsigned)
        return longs == 2 ? K_LLONG : K_LONG;
    return longs == 2 ? K_ULLONG : K_ULONG;
}

static int integer_value(struct compile *c, const struct token *token, const char *text, enum type_kind *kind,
                         union value *value)
{
    const char *at = text;
    unsigned base = 10;
    uint64_t sum = 0;
    int is_unsigned = 0;
    int longs = 0;
    int digits = 0;

    if (at[0] == '0' && (at[1] | 32) == 'x') {
        base = 16;
        at += 2;
    } else if (at[0] == '0' && (at[1] | 32) == 'b') {
        base = 2;
        at += 2;
    } else if (at[0] == '0') {
        base = 8;
    }
    for (;; at++, digits++) {
        const unsigned digit = is_digit(*at) ? (unsigned)(*at - '0')
                               : (*at | 32) >= 'a' && (*at | 32) <= 'f' && base == 16 ? (unsigned)((*at | 32) - 'a' + 10)
                                                                                      : 99;

        if (digit >= base)
            break;
        if (sum > (UINT64_MAX - digit) / base)
            wmi_c_fail(c, WM_E_RANGE, token->place, "the number %s is above 2^64 - 1", text);
        sum = sum * base + digit;
    }
    for (; *at; at++) {
        if ((*at | 32) == 'u' && !is_unsigned) {
            is_unsigned = 1;
        } else if ((*at | 32) == 'l' && !longs) {
            longs = at[1] == *at ? 2 : 1;
            at += longs - 1;
        } else {
            digits = 0;
            break;
        }
    }
    if (!digits)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "%s is not a number", text);
    *kind = literal_type(sum, base == 10, is_unsigned, longs);
    value->i = *kind == K_INT ? (uint64_t)(int64_t)(int32_t)sum : sum;
    return 1;
}

int wmi_c_number(struct compile *c, const struct token *token, enum type_kind *kind, union value *value)
{
    char text[128];
    size_t length = 0;
    int is_hex;
    char *end;

    for (uint32_t i = 0; i < token->length; i++) {
        if (token->text[i] == '\'')
            continue;
        if (length + 1 >= sizeof text)
            wmi_c_fail(c, WM_E_RANGE, token->place, "a number of more than %zu characters", sizeof text - 1);
        text[length++] = token->text[i];
    }
    text[length] = '\0';
    is_hex = text[0] == '0' && (text[1] | 32) == 'x';
    if (!strpbrk(text, is_hex ? ".pP" : ".eE"))
        return integer_value(c, token, text, kind, value);
    if (is_hex && !strpbrk(text, "pP"))
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "%s is not a number", text);
    *kind = K_DOUBLE;
    if ((text[length - 1] | 32) == 'f') {
        *kind = K_FLOAT;
        text[--length] = '\0';
        value->f = (double)strtof(text, &end);
    } else {
        value->f = strtod(text, &end);
    }
    if (*end || end == text)
        wmi_c_fail(c, WM_E_SYNTAX, token->place, "%.*s is not a number", (int)token->length, token->text);
    return 0;
}

uint64_t wmi_c_character(struct compile *c, const struct token *token)
{
    static const char escapes[] = "n\nt\tr\rb\bf\fv\va\a\\\\'\'\"\"?\?";
    const char *text = token->text;
    uint64_t value = 0;

    if (token->length == 1 && (text[0] & 0x80) == 0)
        return (uint8_t)text[0];
    if (token->length < 2 || text[0] != '\\')
        wmi_c_refuse(c, token->place, "the character '%.*s'", (int)token->length, text);
    if (token->length == 2 && !is_digit(text[1])) {
        for (const char *at = escapes; *at; at += 2) {
            if (*at == text[1])
                return (uint8_t)at[1];
        }
    }
    for (uint32_t i = text[1] == 'x' ? 2 : 1; i < token->length && i < 5; i++) {
        const char ch = (char)(text[i] | 32);

        if (text[1] != 'x' && text[i] >= '0' && text[i] <= '7')
            value = value * 8 + (uint64_t)(text[i] - '0');
        else if (text[1] == 'x' && (is_digit(text[i]) || (ch >= 'a' && ch <= 'f')))
            value = value * 16 + (uint64_t)(is_digit(text[i]) ? text[i] - '0' : ch - 'a' + 10);
        else
            wmi_c_refuse(c, token->place, "the character '%.*s'", (int)token->length, text);
    }
    return (uint64_t)(int64_t)(int8_t)(uint8_t)value;
}

int wmi_c_rank(int punct)
{
    switch (punct) {
    case '*': case '/': case '%': return 10;
    case '+': case '-': return 9;
    case P_SHL: case P_SHR: return 8;
    case '<': case '>': case P_LE: case P_GE: return 7;
    case P_EQ: case P_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case P_AND: return 2;
    case P_OR: return 1;
    default: return 0;
    }
}
