/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * A part of sender.h: who spreads packets over the round trip, for policies whose rules depend on
 * it.
 */
#ifndef FF_PACED_H
#define FF_PACED_H

/* Who paces now, enum paced. */
FF_INLINE u32 paced_of(const struct ff_sender *s)
{
    if (s->endpoint_paces)
        return PACED_BY_ENDPOINT;
#ifdef FF_OWNS_WINDOW
    if (s->stays_paced)
        return PACED_BY_ENDPOINT;
    if (s->pace != NONE)
        return PACED_BY_POLICY;
#endif
    return PACED_NO;
}

FF_INLINE void note_paced(struct ff_sender *s) { s->view.paced = paced_of(s); }

/* The socket paces, or no longer does, whatever the policies say of it. */
FF_INLINE void ff_endpoint_paces(struct ff_sender *s, u32 paces)
{
    s->endpoint_paces = paces;
    note_paced(s);
}

#endif
