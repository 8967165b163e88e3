/* rich_html.c - foreign Markdown within the page: raw HTML is text, pictures are their descriptions, links are named.
 */
#include "html_text.h"
#include "rich.h"

#include <string.h>

enum {
    DEPTH_MAX = 16 /* of elements; deeper ones leave their text */
};

struct rich {
    FILE *out;
    size_t depth;
    unsigned links;
    char *target;
    size_t matched; /* bytes of the link's text that are the address's own */
    bool differs;
};

static const struct {
    const char *open, *close;
} blocks[] = {
    [MD_BLOCK_DOC] = {"", ""},
    [MD_BLOCK_QUOTE] = {"<blockquote>\n", "</blockquote>\n"},
    [MD_BLOCK_UL] = {"<ul>\n", "</ul>\n"},
    [MD_BLOCK_OL] = {NULL, "</ol>\n"},
    [MD_BLOCK_LI] = {"<li>", "</li>\n"},
    [MD_BLOCK_HR] = {"<hr>\n", ""},
    [MD_BLOCK_H] = {NULL, NULL},
    [MD_BLOCK_CODE] = {"<pre><code>", "</code></pre>\n"},
    [MD_BLOCK_HTML] = {"", ""},
    [MD_BLOCK_P] = {"<p>", "</p>\n"},
    [MD_BLOCK_TABLE] = {"<table>\n", "</table>\n"},
    [MD_BLOCK_THEAD] = {"<thead>\n", "</thead>\n"},
    [MD_BLOCK_TBODY] = {"<tbody>\n", "</tbody>\n"},
    [MD_BLOCK_TR] = {"<tr>", "</tr>\n"},
    [MD_BLOCK_TH] = {"<th>", "</th>"},
    [MD_BLOCK_TD] = {"<td>", "</td>"},
};

/* The page has its own h1 and h2. */
static unsigned level_of(const void *detail)
{
    unsigned level = ((const MD_BLOCK_H_DETAIL *)detail)->level + 2;
    return level > 6 ? 6 : level;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    if (rich->depth++ >= DEPTH_MAX)
        return 0;
    if (type == MD_BLOCK_H)
        fprintf(rich->out, "<h%u>", level_of(detail));
    else if (type == MD_BLOCK_OL)
        fprintf(rich->out, "<ol start=\"%u\">\n", ((MD_BLOCK_OL_DETAIL *)detail)->start);
    else
        fputs(blocks[type].open, rich->out);
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    if (--rich->depth >= DEPTH_MAX) {
        fputc(' ', rich->out);
        return 0;
    }
    if (type == MD_BLOCK_H)
        fprintf(rich->out, "</h%u>\n", level_of(detail));
    else
        fputs(blocks[type].close, rich->out);
    return 0;
}

/* Everything but links and pictures. */
static const char *span_of(MD_SPANTYPE type, bool open)
{
    switch (type) {
    case MD_SPAN_EM:
        return open ? "<em>" : "</em>";
    case MD_SPAN_STRONG:
        return open ? "<strong>" : "</strong>";
    case MD_SPAN_DEL:
        return open ? "<del>" : "</del>";
    case MD_SPAN_CODE:
        return open ? "<code>" : "</code>";
    case MD_SPAN_IMG:
        return open ? "[picture] " : "";
    default:
        return "";
    }
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    if (type == MD_SPAN_A && rich->links++ == 0) {
        rich->target = rich_attribute(&((MD_SPAN_A_DETAIL *)detail)->href);
        if (rich->target == NULL)
            return -1;
        rich->matched = 0;
        rich->differs = false;
        if (rich_is_link(rich->target, strlen(rich->target)))
            html_link_open(rich->out, rich->target, strlen(rich->target));
    }
    if (rich->depth++ < DEPTH_MAX)
        fputs(span_of(type, true), rich->out);
    return 0;
}

/* Where it leads stands behind it, unless its text says just that. */
static void end_link(struct rich *rich)
{
    size_t len = strlen(rich->target);
    if (rich_is_link(rich->target, len))
        fputs("</a>", rich->out);
    if (len > 0 && (rich->differs || rich->matched != len)) {
        fputs(" <span class=\"to\">(", rich->out);
        html_text(rich->out, rich->target, len);
        fputs(")</span>", rich->out);
    }
    free(rich->target);
    rich->target = NULL;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    (void)detail;
    if (--rich->depth < DEPTH_MAX)
        fputs(span_of(type, false), rich->out);
    if (type == MD_SPAN_A && --rich->links == 0)
        end_link(rich);
    return 0;
}

static void compare(struct rich *rich, const char *bytes, size_t len)
{
    if (rich->target == NULL)
        return;
    size_t left = strlen(rich->target) - rich->matched;
    if (rich->differs || len > left || memcmp(rich->target + rich->matched, bytes, len) != 0)
        rich->differs = true;
    else
        rich->matched += len;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *bytes, MD_SIZE len, void *context)
{
    struct rich *rich = context;
    char decoded[5];
    size_t size;
    compare(rich, bytes, len);
    switch (type) {
    case MD_TEXT_NULLCHAR:
        fputs("\xEF\xBF\xBD", rich->out);
        break;
    case MD_TEXT_BR:
        fputs("<br>\n", rich->out);
        break;
    case MD_TEXT_SOFTBR:
        fputc('\n', rich->out);
        break;
    case MD_TEXT_ENTITY:
        size = rich_entity(decoded, bytes, len);
        html_text(rich->out, size > 0 ? decoded : bytes, size > 0 ? size : len);
        break;
    default:
        html_text(rich->out, bytes, len);
        break;
    }
    return 0;
}

int rich_html(FILE *out, const char *markdown, size_t len)
{
    struct rich rich = {.out = out};
    MD_PARSER parser = {.enter_block = enter_block,
                        .leave_block = leave_block,
                        .enter_span = enter_span,
                        .leave_span = leave_span,
                        .text = text};
    int code = rich_parse(markdown, len, &parser, &rich);
    free(rich.target);
    return code;
}
