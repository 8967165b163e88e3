/* rich_markdown.c - foreign Markdown as Markdown again: what may pass passes, headings become bold, HTML is text. */
#include "glyph.h"
#include "markdown_text.h"
#include "rich.h"

#include <string.h>

enum {
    DEPTH_MAX = 16
};

struct level {
    char first[16], rest[16];
    bool used;
};

struct rich {
    FILE *out;
    struct level levels[DEPTH_MAX];
    size_t depth;
    bool began, open, wants_gap; /* a line was written; one is being written; an empty one comes before the next */
    struct {
        bool ordered;
        unsigned number;
    } lists[DEPTH_MAX];
    size_t list_depth;
    size_t cells;
    unsigned links, pictures;
    char *target;
    /* Text of code is known as a whole before it is written. */
    FILE *code;
    char *code_text;
    size_t code_len;
};

static size_t shown(const struct rich *rich)
{
    return rich->depth < DEPTH_MAX ? rich->depth : DEPTH_MAX;
}

static void push(struct rich *rich, const char *first, const char *rest)
{
    if (rich->depth < DEPTH_MAX) {
        struct level *level = &rich->levels[rich->depth];
        *level = (struct level){.used = false};
        snprintf(level->first, sizeof level->first, "%s", first);
        snprintf(level->rest, sizeof level->rest, "%s", rest);
    }
    rich->depth++;
}

/* What every line within the present block begins with. */
static void prefix_of(char out[DEPTH_MAX * 16 + 1], const struct rich *rich)
{
    out[0] = '\0';
    for (size_t i = 0; i < shown(rich); i++)
        strcat(out, rich->levels[i].rest);
}

static void begin_line(struct rich *rich)
{
    if (rich->open)
        return;
    if (rich->wants_gap && rich->began) {
        char prefix[DEPTH_MAX * 16 + 1] = "";
        for (size_t i = 0; i < shown(rich) && rich->levels[i].used; i++)
            strcat(prefix, rich->levels[i].rest);
        size_t len = strlen(prefix);
        while (len > 0 && prefix[len - 1] == ' ')
            len--;
        fprintf(rich->out, "%.*s\n", (int)len, prefix);
    }
    for (size_t i = 0; i < shown(rich); i++) {
        fputs(rich->levels[i].used ? rich->levels[i].rest : rich->levels[i].first, rich->out);
        rich->levels[i].used = true;
    }
    rich->wants_gap = false;
    rich->began = rich->open = true;
}

static void end_line(struct rich *rich)
{
    if (rich->open)
        fputc('\n', rich->out);
    rich->open = false;
}

static int start_code(struct rich *rich)
{
    rich->code = open_memstream(&rich->code_text, &rich->code_len);
    return rich->code != NULL ? 0 : -1;
}

static int stop_code(struct rich *rich)
{
    bool failed = ferror(rich->code) != 0;
    if (fclose(rich->code) != 0)
        failed = true;
    rich->code = NULL;
    return failed ? -1 : 0;
}

static void put_ticks(struct rich *rich, size_t count)
{
    while (count-- > 0)
        fputc('`', rich->out);
}

static void put_code_block(struct rich *rich)
{
    struct glyphs glyphs = {rich->code_text, 0, rich->code_len};
    struct glyph glyph;
    size_t ticks = markdown_ticks(rich->code_text, rich->code_len) + 1;
    ticks = ticks < 3 ? 3 : ticks;
    begin_line(rich);
    put_ticks(rich, ticks);
    end_line(rich);
    while (glyph_next(&glyphs, &glyph)) {
        begin_line(rich);
        if (glyph.kind == GLYPH_NEWLINE)
            end_line(rich);
        else
            fwrite(glyph.bytes, 1, glyph.len, rich->out);
    }
    end_line(rich);
    begin_line(rich);
    put_ticks(rich, ticks);
    end_line(rich);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    char marker[16];
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        if (rich->cells++ > 0)
            fputs(" \\| ", rich->out);
        begin_line(rich);
        return 0;
    }
    end_line(rich);
    switch (type) {
    case MD_BLOCK_QUOTE:
        rich->wants_gap = true;
        push(rich, "> ", "> ");
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        rich->wants_gap = true;
        if (rich->list_depth < DEPTH_MAX) {
            rich->lists[rich->list_depth].ordered = type == MD_BLOCK_OL;
            rich->lists[rich->list_depth].number = type == MD_BLOCK_OL ? ((MD_BLOCK_OL_DETAIL *)detail)->start : 0;
        }
        rich->list_depth++;
        break;
    case MD_BLOCK_LI:
        if (rich->list_depth <= DEPTH_MAX && rich->lists[rich->list_depth - 1].ordered) {
            int len = snprintf(marker, sizeof marker, "%u. ", rich->lists[rich->list_depth - 1].number++);
            push(rich, marker, &"                "[16 - len]);
        } else {
            push(rich, "- ", "  ");
        }
        break;
    case MD_BLOCK_HR:
        rich->wants_gap = true;
        begin_line(rich);
        fputs("---", rich->out);
        end_line(rich);
        rich->wants_gap = true;
        break;
    case MD_BLOCK_H:
        rich->wants_gap = true;
        begin_line(rich);
        fputs("**", rich->out);
        break;
    case MD_BLOCK_CODE:
        rich->wants_gap = true;
        return start_code(rich);
    case MD_BLOCK_P:
    case MD_BLOCK_TABLE:
        rich->wants_gap = true;
        break;
    case MD_BLOCK_TR:
        rich->wants_gap = true;
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
    switch (type) {
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        return 0;
    case MD_BLOCK_H:
        fputs("**", rich->out);
        end_line(rich);
        rich->wants_gap = true;
        return 0;
    case MD_BLOCK_CODE:
        if (stop_code(rich) != 0)
            return -1;
        put_code_block(rich);
        free(rich->code_text);
        rich->code_text = NULL;
        rich->wants_gap = true;
        return 0;
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_LI:
        /* An empty item is one, too. */
        if (type == MD_BLOCK_LI && rich->depth <= DEPTH_MAX && !rich->levels[rich->depth - 1].used)
            begin_line(rich);
        end_line(rich);
        rich->depth--;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        rich->list_depth--;
        rich->wants_gap = true;
        break;
    default:
        break;
    }
    end_line(rich);
    return 0;
}

static void put_text(struct rich *rich, const char *text, size_t len)
{
    char prefix[DEPTH_MAX * 16 + 1];
    bool at_start = !rich->open;
    begin_line(rich);
    prefix_of(prefix, rich);
    markdown_text(rich->out, prefix, text, len, at_start);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct rich *rich = context;
    begin_line(rich);
    switch (type) {
    case MD_SPAN_EM:
        fputc('*', rich->out);
        break;
    case MD_SPAN_STRONG:
        fputs("**", rich->out);
        break;
    case MD_SPAN_DEL:
        fputs("~~", rich->out);
        break;
    case MD_SPAN_CODE:
        return start_code(rich);
    case MD_SPAN_IMG:
        fputs("\\[picture\\] ", rich->out);
        break;
    case MD_SPAN_A:
        if (rich->links++ == 0) {
            rich->target = rich_attribute(&((MD_SPAN_A_DETAIL *)detail)->href);
            if (rich->target == NULL)
                return -1;
            if (rich_is_link(rich->target, strlen(rich->target)))
                fputc('[', rich->out);
        }
        break;
    default:
        break;
    }
    return 0;
}

static void end_link(struct rich *rich)
{
    size_t len = strlen(rich->target);
    if (rich_is_link(rich->target, len)) {
        fputs("](<", rich->out);
        rich_put_url(rich->out, rich->target, len);
        fputs(">)", rich->out);
    } else if (len > 0) {
        put_text(rich, " (", 2);
        put_text(rich, rich->target, len);
        put_text(rich, ")", 1);
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
        fputc('*', rich->out);
        break;
    case MD_SPAN_STRONG:
        fputs("**", rich->out);
        break;
    case MD_SPAN_DEL:
        fputs("~~", rich->out);
        break;
    case MD_SPAN_CODE:
        if (stop_code(rich) != 0)
            return -1;
        markdown_code(rich->out, "", rich->code_text, rich->code_len);
        free(rich->code_text);
        rich->code_text = NULL;
        break;
    case MD_SPAN_A:
        if (--rich->links == 0)
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
    size_t size = type == MD_TEXT_ENTITY ? rich_entity(decoded, bytes, len) : 0;
    if (size > 0) {
        bytes = decoded;
        len = (MD_SIZE)size;
    } else if (type == MD_TEXT_NULLCHAR) {
        bytes = "\xEF\xBF\xBD";
        len = 3;
    }
    if (rich->code != NULL) {
        bool broken = type == MD_TEXT_BR || type == MD_TEXT_SOFTBR;
        fwrite(broken ? " " : bytes, 1, broken ? 1 : len, rich->code);
        return 0;
    }
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR) {
        if (rich->open && type == MD_TEXT_BR)
            fputc('\\', rich->out);
        end_line(rich);
        return 0;
    }
    put_text(rich, bytes, len);
    return 0;
}

int rich_markdown(FILE *out, const char *prefix, const char *markdown, size_t len)
{
    struct rich rich = {.out = out};
    MD_PARSER parser = {.enter_block = enter_block,
                        .leave_block = leave_block,
                        .enter_span = enter_span,
                        .leave_span = leave_span,
                        .text = text};
    push(&rich, prefix, prefix);
    int code = rich_parse(markdown, len, &parser, &rich);
    end_line(&rich);
    if (rich.code != NULL)
        (void)stop_code(&rich);
    free(rich.code_text);
    free(rich.target);
    return code;
}
