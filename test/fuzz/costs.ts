// What a request costs the deployment, of those that anybody may make, and those that need the publishable key alone (D2, D3).
import type { Endpoint } from "../../shared/http/endpoint.ts";
import type { TestWorld } from "../support/world.ts";
import type { Request } from "./requests.ts";

export interface Dearest {
  route: string;
  by: "anybody" | "link of a mail" | "publishable key";
  /** Write and read units of the table and its indexes. */
  units: number;
  /** Of the answer. */
  bytes: number;
  /** Of the request's body. */
  given: number;
  events: number;
}

const ANYBODY = { units: 10, bytes: 64 * 1_024 };
/** Whoever has the link of a mail has a signed token: an open, a click and an opt-out are counted for the report of the send. */
const LINK_UNITS = 20;
const KEY_UNITS = 40;
const EVENT_UNITS = 2;
const KB = 1_024;

/** What the request cost that was made last; undefined where it needs a secret. */
export function costOf(
  { dynamodb }: Pick<TestWorld, "dynamodb">,
  { access, route }: Endpoint,
  { content }: Request,
  bytes: number,
): Dearest | undefined {
  const isOpen = access.credentials.length === 0;
  if (!isOpen && !access.credentials.includes("sdk")) return undefined;
  const { wcu, rcu } = dynamodb.meter();
  const given = Buffer.byteLength(JSON.stringify(content) ?? "");
  const { events } = Object(Object(content).body) as { events?: unknown[] };
  return {
    route,
    by: !isOpen ? "publishable key" : /\/:token$/.test(route) ? "link of a mail" : "anybody",
    units: wcu + rcu,
    bytes,
    given,
    events: Array.isArray(events) ? events.length : 0,
  };
}

/** Why a request is dearer than it may be; undefined where it is not. */
export function tooDear({ route, by, units, bytes, given, events }: Dearest): string | undefined {
  const most = {
    anybody: ANYBODY.units,
    "link of a mail": LINK_UNITS,
    "publishable key": KEY_UNITS + EVENT_UNITS * events + given / KB,
  }[by];
  if (units > most) return `costs ${units} units, ${Math.round(most)} at most`;
  const isReference = /^GET \/(docs|openapi\.json)/.test(route);
  if (by !== "publishable key" && !isReference && bytes > ANYBODY.bytes) return `answers with ${bytes} bytes`;
  return undefined;
}
