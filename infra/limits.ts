// The gateway's own limit: it applies to all requests together, and to no single route.

/**
 * Requests per second of all callers together, and at once. Above it the gateway answers 429 by itself. A route that had a limit
 * of its own could not be removed, renamed or rolled back: the stage would name a route that is gone. So limits of routes are in
 * the functions (docs/limits.md).
 */
export const STAGE_LIMIT = { throttlingRateLimit: 2_000, throttlingBurstLimit: 1_000 };
