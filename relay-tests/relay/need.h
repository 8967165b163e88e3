/* need.h - memory, or the end.
 *
 * A test relay has no answer to give when memory is gone, and one that answered wrongly would spoil the test that uses
 * it: these stop the process with a sentence instead of returning NULL. Nothing but the relay may include this.
 */
#ifndef RELAY_NEED_H
#define RELAY_NEED_H

#include <stddef.h>

void *need(size_t size);                                  /* zeroed */
void *need_more(void *memory, size_t count, size_t size); /* realloc of count things of size bytes */
char *need_copy(const char *text, size_t len);            /* NUL-terminated */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
