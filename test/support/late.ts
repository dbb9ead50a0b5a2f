// Of a send of which nothing came back later.
export const NOTHING_BACK = { bounced: 0, complained: 0, unsubscribed: 0 };
/** Of a channel, or a message, that reached everybody. */
export const NOTHING_LOST = { failed: 0, uncertain: 0 };
/** As the counts of a send say it. */
export const NOTHING_LATE = { ...NOTHING_BACK, uncertain: 0 };
