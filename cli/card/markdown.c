/* markdown.c - a card as Markdown that can be pasted anywhere: nothing foreign starts markup, HTML or a link. */
#include "glyph.h"
#include "markdown_text.h"
#include "pen.h"
#include "rich.h"

#include <string.h>

struct markdown {
    struct pen pen;
    bool in_item;
    bool listing; /* the last thing written was of a list */
    bool failed;
};

static void head(struct pen *pen, enum pen_tone tone, const char *headline, const char *label)
{
    (void)tone;
    fprintf(pen->out, "# %s\n\n**%s**\n", headline, label);
}

static void section(struct pen *pen, enum pen_tone tone, const char *title, const char *note)
{
    (void)tone;
    fprintf(pen->out, "\n## %s\n", title);
    if (note != NULL) {
        size_t len = strlen(note);
        fputs("\n*", pen->out);
        markdown_text(pen->out, "", note, len, false);
        fputs("*\n", pen->out);
    }
    ((struct markdown *)pen)->listing = false;
}

static void section_end(struct pen *pen)
{
    ((struct markdown *)pen)->in_item = false;
}

static void put(const struct pen *pen, const char *prefix, const char *foreign, bool at_start)
{
    size_t len = strlen(foreign);
    glyph_trim(&foreign, &len);
    markdown_text(pen->out, prefix, foreign, len, at_start);
}

static void begin_list(struct pen *pen)
{
    struct markdown *markdown = (struct markdown *)pen;
    if (!markdown->listing)
        fputc('\n', pen->out);
    markdown->listing = true;
}

static void text(struct pen *pen, const char *foreign)
{
    fputc('\n', pen->out);
    put(pen, "", foreign, true);
    fputc('\n', pen->out);
    ((struct markdown *)pen)->listing = false;
}

static void markdown(struct pen *pen, const char *foreign, size_t len)
{
    fputc('\n', pen->out);
    if (rich_markdown(pen->out, "> ", foreign, len) != JOBS_OK)
        ((struct markdown *)pen)->failed = true;
}

static void item(struct pen *pen, enum pen_tone tone, const char *word, const char *foreign)
{
    (void)tone;
    begin_list(pen);
    fprintf(pen->out, "- **%s** ", word);
    put(pen, "  ", foreign, false);
    fputc('\n', pen->out);
    ((struct markdown *)pen)->in_item = true;
}

static void item_end(struct pen *pen)
{
    ((struct markdown *)pen)->in_item = false;
}

static void put_reference(struct pen *pen, const char *foreign)
{
    char *shown = rich_reference(foreign);
    if (shown == NULL) {
        ((struct markdown *)pen)->failed = true;
    } else if (rich_is_link(shown, strlen(shown))) {
        fputc('<', pen->out);
        rich_put_url(pen->out, shown, strlen(shown));
        fputc('>', pen->out);
    } else {
        markdown_code(pen->out, "", shown, strlen(shown));
    }
    free(shown);
}

static void fact(struct pen *pen, const char *name, enum pen_fact kind, const char *value)
{
    const char *prefix = ((struct markdown *)pen)->in_item ? "    " : "  ";
    size_t len = strlen(value);
    begin_list(pen);
    fprintf(pen->out, "%s- %s%s", prefix + 2, name, name[0] != '\0' ? ": " : "");
    switch (kind) {
    case FACT_LINK:
        put_reference(pen, value);
        break;
    case FACT_CODE:
        glyph_trim(&value, &len);
        markdown_code(pen->out, prefix, value, len);
        break;
    case FACT_LINE:
    case FACT_TEXT:
    case FACT_OWN:
        put(pen, prefix, value, name[0] == '\0');
        break;
    }
    fputc('\n', pen->out);
}

int pen_markdown(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look)
{
    struct markdown whole = {.pen = {out, head, section, section_end, text, markdown, item, item_end, fact}};
    draw(&whole.pen, subject, look);
    return whole.failed ? JOBS_NO_MEMORY : JOBS_OK;
}
