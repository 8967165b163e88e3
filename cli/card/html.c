/* html.c - a card as one page that needs nothing else: no script, no picture, no address but those of its links. */
#include "glyph.h"
#include "html_text.h"
#include "pen.h"
#include "rich.h"

#include <string.h>

struct html {
    struct pen pen;
    bool list, item, facts; /* elements that are open */
    bool failed;
};

static const char *class_of(enum pen_tone tone)
{
    static const char *const classes[] = {"plain", "good", "caution", "bad", "quiet"};
    return classes[tone];
}

static void put(const struct pen *pen, const char *foreign)
{
    size_t len = strlen(foreign);
    glyph_trim(&foreign, &len);
    html_text(pen->out, foreign, len);
}

static void close_facts(struct pen *pen)
{
    struct html *html = (struct html *)pen;
    if (html->facts)
        fputs("</dl>\n", pen->out);
    html->facts = false;
}

static void head(struct pen *pen, enum pen_tone tone, const char *headline, const char *label)
{
    fprintf(pen->out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '%s'; "
            "base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<header class=\"%s\">\n"
            "<h1>%s</h1>\n<p>%s</p>\n</header>\n",
            html_style_digest, headline, html_style, class_of(tone), headline, label);
}

static void section(struct pen *pen, enum pen_tone tone, const char *title, const char *note)
{
    fprintf(pen->out, "<section class=\"%s\">\n<h2>%s</h2>\n<div>\n", class_of(tone), title);
    if (note != NULL) {
        fputs("<p class=\"note\">", pen->out);
        put(pen, note);
        fputs("</p>\n", pen->out);
    }
}

static void section_end(struct pen *pen)
{
    struct html *html = (struct html *)pen;
    close_facts(pen);
    if (html->list)
        fputs("</ul>\n", pen->out);
    html->list = false;
    fputs("</div>\n</section>\n", pen->out);
}

static void text(struct pen *pen, const char *foreign)
{
    close_facts(pen);
    fputs("<p class=\"text\" dir=\"auto\">", pen->out);
    put(pen, foreign);
    fputs("</p>\n", pen->out);
}

static void markdown(struct pen *pen, const char *foreign, size_t len)
{
    fputs("<div class=\"rich\" dir=\"auto\">\n", pen->out);
    if (rich_html(pen->out, foreign, len) != JOBS_OK)
        ((struct html *)pen)->failed = true;
    fputs("</div>\n", pen->out);
}

static void item(struct pen *pen, enum pen_tone tone, const char *word, const char *foreign)
{
    struct html *html = (struct html *)pen;
    close_facts(pen);
    if (!html->list)
        fputs("<ul class=\"items\">\n", pen->out);
    html->list = html->item = true;
    fprintf(pen->out, "<li class=\"%s\"><p class=\"item\"><span class=\"word\">%s</span> <bdi class=\"title\">",
            class_of(tone), word);
    put(pen, foreign);
    fputs("</bdi></p>\n", pen->out);
}

static void item_end(struct pen *pen)
{
    close_facts(pen);
    fputs("</li>\n", pen->out);
    ((struct html *)pen)->item = false;
}

static void put_reference(struct pen *pen, const char *foreign)
{
    char *shown = rich_reference(foreign);
    if (shown == NULL) {
        ((struct html *)pen)->failed = true;
        return;
    }
    size_t len = strlen(shown);
    bool link = rich_is_link(shown, len);
    if (link)
        html_link_open(pen->out, shown, len);
    else
        fputs("<code>", pen->out);
    html_text(pen->out, shown, len);
    fputs(link ? "</a>" : "</code>", pen->out);
    free(shown);
}

static void fact(struct pen *pen, const char *name, enum pen_fact kind, const char *value)
{
    struct html *html = (struct html *)pen;
    if (name[0] == '\0' && kind == FACT_OWN) {
        close_facts(pen);
        fprintf(pen->out, "<p class=\"text\">");
        put(pen, value);
        fputs("</p>\n", pen->out);
        return;
    }
    if (!html->facts)
        fputs("<dl>\n", pen->out);
    html->facts = true;
    fprintf(pen->out, "<dt>%s</dt><dd dir=\"auto\">", name[0] != '\0' ? name : "at");
    if (kind == FACT_LINK) {
        put_reference(pen, value);
    } else if (kind == FACT_CODE) {
        fputs("<code>", pen->out);
        put(pen, value);
        fputs("</code>", pen->out);
    } else {
        put(pen, value);
    }
    fputs("</dd>\n", pen->out);
}

int pen_html(FILE *out, pen_draw *draw, const void *subject, const struct card_look *look)
{
    struct html whole = {.pen = {out, head, section, section_end, text, markdown, item, item_end, fact}};
    draw(&whole.pen, subject, look);
    fputs("</main>\n</body>\n</html>\n", out);
    return whole.failed ? JOBS_NO_MEMORY : JOBS_OK;
}
