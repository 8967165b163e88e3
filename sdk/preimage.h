/* preimage.h - the bytes of NIP-01 that are hashed and sent, written here and nowhere else.
 *
 * jansson's dump is never hashed: it spells control characters in upper case.
 */
#ifndef JOBS_PREIMAGE_H
#define JOBS_PREIMAGE_H

#include "../core/buffer.h"

#include <stdint.h>

/* No event grows beyond this: the largest input there is, every byte written as six. */
#define JOBS__EVENT_TEXT_MAX ((size_t)128 << 20)

/* Appends the text as a JSON string, quotes included: the seven short escapes, the rest of C0 as lower-case \u00xx,
 * everything else (DEL, U+2028, emoji) as it is. */
void jobs__preimage_string(struct jobs__buffer *out, const char *text, size_t len);

/* Appends [0,"author",created_at,kind,tags,"content"]; tags is the array as jobs__preimage_string spells it. */
void jobs__preimage_write(struct jobs__buffer *out, const char *author, int64_t created_at, uint32_t kind,
                          const struct jobs__buffer *tags, const char *content, size_t content_len);

#endif
