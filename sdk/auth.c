/* auth.c - see auth.h. */
#include "auth.h"

#include <string.h>

#define AUTHS_A_CONNECTION 2U /* one, and one more when the relay challenged anew */

void jobs__auth_reset(struct jobs__auth *auth)
{
    *auth = (struct jobs__auth){.demanded = auth->demanded, .failures = auth->failures};
}

bool jobs__auth_challenge(struct jobs__auth *auth, const char *text, size_t len)
{
    if (len > JOBS__CHALLENGE_MAX || memchr(text, '\0', len) != NULL)
        return false;
    memcpy(auth->challenge, text, len);
    auth->challenge[len] = '\0';
    auth->fresh = true;
    return true;
}

bool jobs__auth_due(const struct jobs__auth *auth)
{
    if (!auth->fresh || auth->sent >= AUTHS_A_CONNECTION)
        return false;
    return auth->state == JOBS__AUTH_NONE ||
           (auth->demanded && (auth->state == JOBS__AUTH_REFUSED || auth->state == JOBS__AUTH_SILENT));
}

void jobs__auth_sent(struct jobs__auth *auth, int64_t now, const char id[65])
{
    auth->state = JOBS__AUTH_OUT;
    auth->fresh = false;
    auth->owed_until = 0;
    memcpy(auth->id, id, sizeof auth->id);
    auth->limit = now + JOBS__AUTH_PATIENCE;
    auth->sent++;
}

void jobs__auth_answered(struct jobs__auth *auth, bool accepted)
{
    auth->state = accepted ? JOBS__AUTH_GOOD : JOBS__AUTH_REFUSED;
    if (accepted)
        auth->failures = 0;
    else
        auth->failures++;
}

bool jobs__auth_is_lost(const struct jobs__auth *auth)
{
    return auth->demanded && !jobs__auth_due(auth);
}

bool jobs__auth_pending(const struct jobs__auth *auth)
{
    return auth->state == JOBS__AUTH_OUT || auth->owed_until != 0;
}

bool jobs__auth_demand(struct jobs__auth *auth, int64_t now)
{
    auth->demanded = true;
    if (auth->state == JOBS__AUTH_OUT || jobs__auth_due(auth))
        return true;
    if (auth->state != JOBS__AUTH_NONE)
        return false;
    if (auth->owed_until == 0)
        auth->owed_until = now + JOBS__AUTH_PATIENCE;
    return true;
}

bool jobs__auth_expire(struct jobs__auth *auth, int64_t now)
{
    if (auth->state == JOBS__AUTH_OUT && now >= auth->limit) {
        auth->state = JOBS__AUTH_SILENT;
        auth->failures++;
        return true;
    }
    if (auth->owed_until != 0 && now >= auth->owed_until) {
        auth->owed_until = 0;
        auth->failures++;
        return true;
    }
    return false;
}

int64_t jobs__auth_deadline(const struct jobs__auth *auth)
{
    if (auth->state == JOBS__AUTH_OUT)
        return auth->limit;
    return auth->owed_until != 0 ? auth->owed_until : INT64_MAX;
}
