/* rich.c - links, entities and the parser's settings, for all renderings of foreign Markdown. */
#include "rich.h"

#include "glyph.h"

#include <string.h>
#include <strings.h>
#include <utf8proc.h>

bool rich_is_link(const char *url, size_t len)
{
    static const char *const beginnings[] = {"http://", "https://", "buzz:", "nostr:"};
    const char *trimmed = url;
    size_t trimmed_len = len;
    glyph_trim(&trimmed, &trimmed_len);
    if (trimmed_len != len)
        return false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t with = strlen(beginnings[i]);
        if (len > with && strncasecmp(url, beginnings[i], with) == 0)
            return true;
    }
    return false;
}

char *rich_reference(const char *foreign)
{
    size_t len = strlen(foreign), used = 0;
    glyph_trim(&foreign, &len);
    bool is_url = rich_is_link(foreign, len);
    char *shown = malloc(len * 3 + 1);
    if (shown == NULL)
        return NULL;
    for (size_t i = 0; i < len; i++)
        if (is_url && (foreign[i] == ' ' || foreign[i] == '\\'))
            used += (size_t)sprintf(shown + used, "%%%02X", (unsigned)(unsigned char)foreign[i]);
        else
            shown[used++] = foreign[i];
    shown[used] = '\0';
    return shown;
}

void rich_put_url(FILE *out, const char *url, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$()*+,;=%";
    for (size_t i = 0; i < len; i++)
        if (url[i] != '\0' && strchr(plain, url[i]) != NULL)
            fputc(url[i], out);
        else if (url[i] == '&')
            fputs("&amp;", out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)url[i]);
}

size_t rich_entity(char out[5], const char *entity, size_t len)
{
    static const struct {
        const char *name, *text;
    } names[] = {{"&amp;", "&"},        {"&lt;", "<"},         {"&gt;", ">"},        {"&quot;", "\""},
                 {"&apos;", "'"},       {"&nbsp;", "\u00A0"},  {"&copy;", "\u00A9"}, {"&ndash;", "\u2013"},
                 {"&mdash;", "\u2014"}, {"&hellip;", "\u2026"}};
    if (len > 3 && entity[1] == '#') {
        bool hex = entity[2] == 'x' || entity[2] == 'X';
        long value = 0;
        for (size_t i = hex ? 3 : 2; i + 1 < len; i++) {
            const char digit[2] = {entity[i], '\0'};
            value = value * (hex ? 16 : 10) + strtol(digit, NULL, 16);
            if (value > 0x10FFFF)
                break;
        }
        if (value <= 0 || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
            value = 0xFFFD;
        return (size_t)utf8proc_encode_char((utf8proc_int32_t)value, (utf8proc_uint8_t *)out);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, entity, len) == 0) {
            size_t size = strlen(names[i].text);
            memcpy(out, names[i].text, size);
            return size;
        }
    return 0;
}

char *rich_attribute(const MD_ATTRIBUTE *attribute)
{
    char *text = malloc(attribute->size * 2 + 8);
    size_t used = 0;
    if (text == NULL)
        return NULL;
    for (size_t i = 0; attribute->size > 0 && attribute->substr_offsets[i] < attribute->size; i++) {
        const char *from = attribute->text + attribute->substr_offsets[i];
        size_t len = attribute->substr_offsets[i + 1] - attribute->substr_offsets[i];
        char decoded[5];
        size_t size = attribute->substr_types[i] == MD_TEXT_ENTITY ? rich_entity(decoded, from, len) : 0;
        memcpy(text + used, size > 0 ? decoded : from, size > 0 ? size : len);
        used += size > 0 ? size : len;
    }
    /* A NUL would make it look shorter than it is. */
    for (size_t i = 0; i < used; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[used] = '\0';
    return text;
}

int rich_parse(const char *markdown, size_t len, MD_PARSER *parser, void *context)
{
    parser->flags = MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_PERMISSIVEURLAUTOLINKS;
    return md_parse(markdown, (MD_SIZE)len, parser, context) == 0 ? JOBS_OK : JOBS_NO_MEMORY;
}
