// The position of a stream, as the value of an `id:` line: the browser returns it as `Last-Event-ID`.

import { isUuid } from "../../shared/contract/schemas.ts";
import { timeOfUuid } from "../../shared/kernel/ids.ts";

/** The last digits of a message's id: they are drawn from a hash. */
const DIGEST = 12;
/** Digests of one position. With more, messages of the last minute may be sent again. */
const MAX_DIGESTS = 60;
const UUID = 36;

/** What stands for a message in a position. @param id of the message */
export const digestOf = (id: string): string => id.slice(-DIGEST);

/** `<uuid of the time>`, and `.<digests>` where messages of the last minute were sent already. */
export const formatPosition = (uuid: string, seen: readonly string[]): string =>
  seen.length === 0 ? uuid : `${uuid}.${seen.slice(-MAX_DIGESTS).join("")}`;

/** The position of a `Last-Event-ID`, which may also be the id of a message; undefined if it is neither. */
export function positionFrom(lastEventId = ""): { at: number; seen: string[] } | undefined {
  const uuid = lastEventId.slice(0, UUID);
  const digests = lastEventId.slice(UUID + 1);
  const isValid = lastEventId.length === UUID || /^\.([0-9a-f]{12}){1,60}$/.test(lastEventId.slice(UUID));
  if (!isValid || !isUuid(uuid)) return undefined;
  return { at: timeOfUuid(uuid), seen: [digestOf(uuid), ...(digests.match(/.{12}/g) ?? [])] };
}
