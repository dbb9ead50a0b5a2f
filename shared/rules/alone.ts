// What one member, key or agent may send alone where the workspace asks a second person (RDA-26, docs/decisions/0137).

/** People that a one-off send may name. */
const MAX_ALONE = 100;

interface Audience {
  target?: unknown;
  subscriberIds?: unknown;
  external_ids?: unknown;
}

export const isToMany = ({ target, subscriberIds, external_ids }: Audience): boolean =>
  target !== undefined || [subscriberIds, external_ids].some((ids) => Array.isArray(ids) && ids.length > MAX_ALONE);
