/* rich_terminal.c - foreign Markdown on a terminal. */
#include "rich.h"
#include "wrap.h"

#include <string.h>

enum {
    LISTS_MAX = WRAP_PREFIXES_MAX
};

struct rich {
    struct wrap *wrap;
    struct {
        bool ordered;
        unsigned number;
    } lists[LISTS_MAX];
    size_t list_depth;
    unsigned strong, emphasis, struck, code, heading;
    size_t cells;  /* of the row of a table */
    char *target;  /* of the link that is open, NULL in none */
    size_t linked; /* where its text began in the paragraph */
};

static enum wrap_style style_of(const struct rich *rich)
{
    return rich->target != NULL                    ? STYLE_LINK
           : rich->code > 0                        ? STYLE_CODE
           : rich->strong > 0 || rich->heading > 0 ? STYLE_BOLD
           : rich->emphasis > 0                    ? STYLE_ITALIC
           : rich->struck > 0                      ? STYLE_STRUCK
                                                   : STYLE_PLAIN;
}

static void begin_item(struct rich *rich)
{
    char first[16] = "• ", rest[16];
    size_t depth = rich->list_depth;
    if (depth > 0 && depth <= LISTS_MAX && rich->lists[depth - 1].ordered)
        snprintf(first, sizeof first, "%u. ", rich->lists[depth - 1].number++);
    snprintf(rest, sizeof rest, "%*s", first[0] == '\xE2' ? 2 : (int)strlen(first), "");
    wrap_push(rich->wrap, STYLE_DIM, first, rest);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        if (rich->cells++ > 0)
            wrap_own(rich->wrap, STYLE_DIM, " │ ");
        return 0;
    }
    wrap_flush(rich->wrap); /* a tight list's text has no paragraph of its own */
    switch (type) {
    case MD_BLOCK_QUOTE:
        wrap_gap(rich->wrap);
        wrap_push(rich->wrap, STYLE_DIM, "│ ", "│ ");
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        if (rich->list_depth < LISTS_MAX) {
            rich->lists[rich->list_depth].ordered = type == MD_BLOCK_OL;
            rich->lists[rich->list_depth].number = type == MD_BLOCK_OL ? ((MD_BLOCK_OL_DETAIL *)detail)->start : 0;
        }
        if (rich->list_depth++ == 0)
            wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_LI:
        begin_item(rich);
        break;
    case MD_BLOCK_HR:
        wrap_gap(rich->wrap);
        wrap_rule(rich->wrap, "─");
        wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_H:
        wrap_gap(rich->wrap);
        rich->heading++;
        break;
    case MD_BLOCK_CODE:
        wrap_gap(rich->wrap);
        wrap_push(rich->wrap, STYLE_DIM, "  ", "  ");
        rich->code++;
        break;
    case MD_BLOCK_P:
        if (rich->list_depth == 0)
            wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_TABLE:
        wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_THEAD:
        rich->heading++;
        break;
    case MD_BLOCK_TR:
        rich->cells = 0;
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    (void)detail;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD)
        return 0;
    wrap_flush(rich->wrap);
    switch (type) {
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_LI:
        wrap_pop(rich->wrap);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        if (--rich->list_depth == 0)
            wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_H:
        rich->heading--;
        wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_CODE:
        wrap_pop(rich->wrap);
        rich->code--;
        wrap_gap(rich->wrap);
        break;
    case MD_BLOCK_THEAD:
        rich->heading--;
        break;
    case MD_BLOCK_TABLE:
        wrap_gap(rich->wrap);
        break;
    default:
        break;
    }
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    switch (type) {
    case MD_SPAN_EM:
        rich->emphasis++;
        break;
    case MD_SPAN_STRONG:
        rich->strong++;
        break;
    case MD_SPAN_DEL:
        rich->struck++;
        break;
    case MD_SPAN_CODE:
        rich->code++;
        break;
    case MD_SPAN_A:
        if (rich->target == NULL) {
            rich->target = rich_attribute(&((MD_SPAN_A_DETAIL *)detail)->href);
            rich->linked = rich->wrap->len;
            if (rich->target == NULL)
                return -1;
        }
        break;
    case MD_SPAN_IMG:
        wrap_own(rich->wrap, STYLE_DIM, "[picture] ");
        break;
    default:
        break;
    }
    return 0;
}

/* Where a link leads is shown, unless its text says so; one that leads nowhere we would go is text. */
static void end_link(struct rich *rich)
{
    size_t len = strlen(rich->target), shown = rich->wrap->len - rich->linked;
    bool same = shown == len && memcmp(rich->wrap->bytes + rich->linked, rich->target, len) == 0;
    if (!same && len > 0) {
        wrap_own(rich->wrap, STYLE_DIM, " (");
        wrap_add(rich->wrap, STYLE_DIM, rich->target, len);
        wrap_own(rich->wrap, STYLE_DIM, ")");
    }
    free(rich->target);
    rich->target = NULL;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    (void)detail;
    switch (type) {
    case MD_SPAN_EM:
        rich->emphasis--;
        break;
    case MD_SPAN_STRONG:
        rich->strong--;
        break;
    case MD_SPAN_DEL:
        rich->struck--;
        break;
    case MD_SPAN_CODE:
        rich->code--;
        break;
    case MD_SPAN_A:
        if (rich->target != NULL)
            end_link(rich);
        break;
    default:
        break;
    }
    return 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *bytes, MD_SIZE len, void *context)
{
    struct rich *rich = context;
    char decoded[5];
    size_t size;
    switch (type) {
    case MD_TEXT_NULLCHAR:
        wrap_add(rich->wrap, style_of(rich), "\0", 1);
        break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR:
        wrap_own(rich->wrap, STYLE_PLAIN, type == MD_TEXT_BR ? "\n" : " ");
        break;
    case MD_TEXT_ENTITY:
        size = rich_entity(decoded, bytes, len);
        wrap_add(rich->wrap, style_of(rich), size > 0 ? decoded : bytes, size > 0 ? size : len);
        break;
    default:
        wrap_add(rich->wrap, style_of(rich), bytes, len);
        break;
    }
    return rich->wrap->failed ? -1 : 0;
}

int rich_terminal(struct wrap *wrap, const char *markdown, size_t len)
{
    struct rich rich = {.wrap = wrap};
    MD_PARSER parser = {.enter_block = enter_block,
                        .leave_block = leave_block,
                        .enter_span = enter_span,
                        .leave_span = leave_span,
                        .text = text};
    int code = rich_parse(markdown, len, &parser, &rich);
    wrap_flush(wrap);
    free(rich.target);
    return code;
}
