// The dearest calls that `npm run fuzz -- --cost --record` found: docs/costs.json.
import { existsSync, readFileSync } from "node:fs";
import type { Credential } from "../../shared/http/access.ts";
import { tiers } from "../../shared/rules/event-limits.ts";
import { MAX_SESSIONS } from "../../shared/store/workspaces/session-ends.ts";

export interface CallCost {
  /** Write and read units of the table and its indexes. */
  units: number;
  /** Of the answer. */
  bytes: number;
  /** What nine of ten calls stay below, on the machine that measured. */
  milliseconds: number;
}

export interface CostRecord {
  requests: number;
  /** The dearest one without the credential that its endpoint wants. */
  refused: CallCost;
  routes: Record<string, { [C in Credential | "public"]?: CallCost }>;
}

export const costNames = { units: "units", bytes: "bytes", milliseconds: "ms" } as const;

const FILE = new URL("../costs.json", import.meta.url);

/** Undefined before the first record. */
export const recordedCosts = (): CostRecord | undefined =>
  existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as CostRecord) : undefined;

/** Calls of those who need no secret that may cost more than others, because they have a bound of another kind (docs/decisions/0112). */
const DEAR: readonly { route: RegExp; units: number; why: string }[] = [
  { route: /^POST .*\/auth\/register$/, units: 30, why: "five an hour by an address; closed on a deployment" },
  {
    route: /^POST .*\/auth\/login$/,
    units: 40,
    why: `needs the password; limited by address, browser and account; reads the user's sessions, ${MAX_SESSIONS} at most`,
  },
  {
    route: /^POST .*\/auth\/(browser\/)?(refresh|keep|logout)$/,
    units: 40,
    why: `where it ends a session, once, it reads the user's, ${MAX_SESSIONS} at most`,
  },
  {
    route: /^POST .*\/(password\/reset|invitations\/accept)$/,
    units: 350,
    why: `needs a mailed token, works once; ends the user's sessions, ${MAX_SESSIONS} at most`,
  },
  {
    route: /^POST .*\/sign-in\/finish$/,
    units: 350,
    why: `needs an account at the provider, counts once; ends the sessions of who never confirmed the address, ${MAX_SESSIONS} at most, and reads those of others`,
  },
  {
    route: /^POST \/v1\/(batch$|segment)/,
    units: 165,
    why: "three users with profiles of 16 KB, and a device as of `POST /api/v1/devices`",
  },
  {
    route: /^POST \/api\/v1\/devices$/,
    units: 75,
    why: "takes the name and the address of two devices and the place of a third, with tokens of 4 KB; 29 with those of phones",
  },
  {
    route: /^POST .*\/events\/identify$/,
    units: 40,
    why: "and one for each 4 KB that the visitor did before, once: `backfilled` counts it",
  },
  { route: /^GET .*\/in-app\/messages$/, units: 90, why: "a hundred messages with texts of more than 700 bytes" },
  { route: / \/[oc]\/:token$/, units: 20, why: "the first of a recipient and a send; others 10" },
  { route: /^GET \/p\/:token$/, units: 60, why: "a hundred topics with the longest texts, 400 KB; limited by address" },
  { route: /^POST \/[uip]\/:token$/, units: 50, why: "the consent is on the profile; limited by address" },
];

/** What a route may cost at most, and why, where that is more than others may. */
export const dearCallOf = (route: string) => DEAR.find((one) => one.route.test(route));

const PER_REQUEST = tiers.server.eventsPerRequest.toLocaleString("en-US");

/** What a call that reads or writes one thing costs at most for each KB of it, beyond what it costs for a small one. */
export const LARGE_UNITS = 6;

/** What numbered pages read. */
const ENTRIES =
  "100 KB of its entries, at most 80: of a page that is refused as too large no more is read; and one for each 60 that there are";

/** What figures of one campaign or journey read: those of all, as they lie by day. */
const SOURCE_DAYS =
  "0.3 for each day of every campaign, or of every journey, in which anything was counted for it, in the window";

/** Calls of a workspace's own credentials that name many, or pass many by: so many units more for each (docs/decisions/0112). */
const EACH: readonly { routes: RegExp; units: number; of: string }[] = [
  { routes: /^POST .*\/lists\/:id\/subscribers$/, units: 7, of: "person, at most 1,000" },
  { routes: /^POST .*\/lists\/:id\/subscribers\/remove$/, units: 7, of: "person, at most 1,000" },
  { routes: /^POST .*\/subscribers\/bulk-delete$/, units: 8, of: "person, at most 1,000" },
  { routes: /^POST .*\/v1\/notifications$/, units: 3, of: "person that is named, at most 10,000" },
  { routes: /^POST .*\/notifications\/preview$/, units: 3, of: "person that is named or looked at, at most 10,000" },
  { routes: /^POST .*\/suppressions\/import$/, units: 3, of: "address, at most 10,000" },
  {
    routes: /^POST .*\/auth\/(password\/change|second-factor\/(confirm|remove))$/,
    units: 2,
    of: `session that ends, at most ${MAX_SESSIONS}`,
  },
  {
    routes: /^(GET|DELETE) .*\/auth\/sessions|\/auth\/switch$/,
    units: 1,
    of: `session of the user, at most ${MAX_SESSIONS}`,
  },
  { routes: /^POST \/v1\/events$/, units: 3, of: `event, at most ${PER_REQUEST}` },
  { routes: /^POST \/v1\/(batch|segment\/.*)$/, units: 6, of: `message, at most ${PER_REQUEST}` },
  {
    routes: /^POST .*\/audit\/verify$/,
    units: 0.3,
    of: "row, at most 10,000: entries, and sends of 1 KB that they seal, of which those of a quarter-hour are a hundred more",
  },
  { routes: /^GET .*\/audit$/, units: 0.2, of: "entry that its filter passes by, at most 1,000" },
  {
    routes: /^GET .*\/deliveries$/,
    units: 1.5,
    of: "delivery that its filter passes by, with a body of 4 KB, at most 2 MB of them",
  },
  {
    routes: /^POST .*\/replay$/,
    units: 3,
    of: "delivery of 1 KB that it sends again, at most 1,000, and a sixth of it for each that it passes by, at most 10,000",
  },
  { routes: /^GET .*\/subscribers\/:id\/timeline$/, units: 6, of: "message of 8 KB that it shows, at most 100" },
  { routes: /^GET .*\/subscribers\/:id\/export$/, units: 2, of: "message of 8 KB that it shows, at most 200" },
  {
    routes: /^GET .*\/v1\/notifications$/,
    units: 0.3,
    of: "send that its filter passes by, at most 2,000; and one for each 4 KB of the contents that it shows",
  },
  {
    routes: /^GET \/api\/v1\/(journeys|segments)$/,
    units: 27,
    of: "100 KB of its entries, at most 60; and one for each 60 that there are",
  },
  { routes: /^GET .*\/(agent|server)-keys$/, units: 1, of: "key that it shows, at most 100" },
  { routes: /^GET .*\/recipients$/, units: 3, of: "recipient that it shows or passes by, at most 300" },
  { routes: /^GET .*\/runs$/, units: 1.5, of: "run that it shows or passes by, at most 300" },
  {
    routes: /^GET .*\/why$/,
    units: 12,
    of: "message that it explains, at most 50 of a campaign and 10 of a journey, or 50 where the person has twenty devices with the longest tokens; by a name one for each 60 campaigns or journeys that there are; and one for each 10 messages that the person was sent since",
  },
  {
    routes: /^GET .*\/recipients\/:subscriberId$/,
    units: 0.1,
    of: "message that the person was sent since",
  },
  {
    routes: /^GET \/api\/v1\/(templates|schedules|in-app\/experiences)$/,
    units: 27,
    of: ENTRIES,
  },
  {
    routes: /^GET \/api\/v1\/campaigns$/,
    units: 27,
    of: `${ENTRIES}; with \`results\` 9 for each send, at most 1,000`,
  },
  { routes: /^POST .*\/campaigns\/:id\/(release|approve)$/, units: 10, of: "message, at most 50" },
  { routes: /^(PATCH|DELETE) .*\/campaigns\/:id$/, units: 4, of: "message that was sent or waits, at most 50" },
  { routes: /^GET .*\/campaigns\/:id$/, units: 2, of: "message that was sent, at most 50" },
  {
    routes: /^GET .*\/campaigns\/:id\/report$/,
    units: 10,
    of: `message that was sent, at most 50, and ${SOURCE_DAYS}`,
  },
  {
    routes: /^GET .*\/insights\/funnel$/,
    units: 10,
    of: `message that the campaign sent, at most 50, and ${SOURCE_DAYS}`,
  },
  {
    routes: /^GET .*\/insights\/summary$/,
    units: 0.3,
    of: "day in which anything was counted for a campaign, journey or channel: for each of them, in its window; of a journey whose messages were sent and opened",
  },
  {
    routes: /^GET \/api\/v1\/(lists|in-app\/assets)$/,
    units: 1.6,
    of: "entry of a name, at most 100; and one for each 60 that there are",
  },
  { routes: /^GET .*\/suppressions$/, units: 0.1, of: "address that its filter passes by, at most 2,000" },
  {
    routes: /^GET .*\/v1\/subscribers$/,
    units: 0.6,
    of: "person that its filter passes by, at most 5,000; of an `email` that is found, of 20 and of all who have it; and 2 for each of 16 KB that it shows, at most 4 MB of them",
  },
  {
    routes: /^POST .*\/segments\/(preview|:id\/compare)$/,
    units: 2,
    of: "person of 16 KB in a workspace of at most 10,000; of a larger one a sample is read, for 450",
  },
  {
    routes: /^GET .*\/(segments\/:id\/members|lists\/:id\/subscribers)$/,
    units: 4.2,
    of: "person of 16 KB that it shows, at most 100",
  },
  {
    routes: /^GET .*\/insights\/(series|deliverability|heatmap)$/,
    units: 5,
    of: `day in which all kinds of messages went out, at most 366; of one campaign 10 for each of its messages that were sent, at most 50, and of one campaign or journey ${SOURCE_DAYS}`,
  },
];

/** What a route costs for each of what it names. */
export const eachOf = (route: string) => EACH.find((one) => one.routes.test(route));

const STEPS = [1, 2, 3, 4, 6, 8, 10];

/** The next round number that is at least a fifth larger: other random requests find slightly dearer calls. */
export function roomy(n: number): number {
  const wanted = Math.max(1, n * 1.2);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return (STEPS.find((step) => step * power >= wanted) ?? 10) * power;
}

/** What a call without a credential costs at most, in units. */
export const ANYBODY_UNITS = 10;

/** What is shown of a public call: rounding takes it beyond no bound. */
export const publicUnits = ({ units }: CallCost): number => Math.min(roomy(units), ANYBODY_UNITS);

const KB = 1_000;

/** `15 u, 2 KB, 4 ms` @param most the units that it costs at most, where that is known */
export function shownCost({ units, bytes, milliseconds }: CallCost, most?: number): string {
  const size = roomy(bytes) < KB ? `${Math.ceil(roomy(bytes))} B` : `${Math.round(roomy(bytes) / 100) / 10} KB`;
  return `${most ?? roomy(units)} u, ${size}, ${milliseconds} ms`;
}
