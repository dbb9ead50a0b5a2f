// What a request costs the deployment, by who makes it (D2, D3): the bounds for those who need no secret, and the dearest
// call of each operation, which docs/access.md shows.
import {
  ANYBODY_UNITS,
  type CallCost,
  type CostRecord,
  costNames,
  dearCallOf,
  roomy,
} from "../../docs/generate/costs.ts";
import type { Credential } from "../../shared/http/access.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import type { TestWorld } from "../support/world.ts";
import type { Request } from "./requests.ts";

export interface Dearest {
  route: string;
  /** `refused`: without the credential that the endpoint wants. */
  by: Credential | "public" | "refused";
  /** Write and read units of the table and its indexes. */
  units: number;
  /** Of the answer. */
  bytes: number;
  /** Of this process. */
  milliseconds: number;
  /** Of the request's body. */
  given: number;
  events: number;
  /** It states a consent, which is in the profile and in its history. */
  consents: boolean;
}

const ANYBODY = { units: ANYBODY_UNITS, bytes: 64 * 1_024 };
const KEY_UNITS = 40;
/** Of another person with a profile of 16 KB, and with a key, far from the others. */
const EVENT_UNITS = 8;
/** A profile of 16 KB at the price of a transaction, read before and after, and the history: so much beyond the others. */
const CONSENT_UNITS = 15;
const KB = 1_024;
/** What a unit reads, eventually consistent. */
const READ_KB = 8;
/** For each byte of a request, that the answer may repeat, and for each KB that is stored, with its indexes and copies. */
const ECHO = 4;
const STORED_UNITS = 4;
/** What a workspace's own credentials read depends on what it stored, which is of another size in every run. */
const OWN_DATA = 5;
/** Below it no call is looked at. */
const SMALL = { units: 10, bytes: 2_000 };

/** What the request cost that was made last. */
export function costOf(
  { dynamodb }: Pick<TestWorld, "dynamodb">,
  { access, route }: Endpoint,
  { content, by }: Request,
  { bytes, milliseconds }: Pick<Dearest, "bytes" | "milliseconds">,
): Dearest {
  const { wcu, rcu } = dynamodb.meter();
  const given = Buffer.byteLength(JSON.stringify(content) ?? "");
  const { body } = Object(content) as { body?: unknown };
  const { events, batch } = Object(body) as Record<"events" | "batch", unknown>;
  const many = [events, batch].find(Array.isArray) ?? [];
  const isOpen = access.credentials.length === 0;
  const ofCaller = by !== undefined && access.credentials.includes(by) ? by : "refused";
  return {
    route,
    by: isOpen ? "public" : ofCaller,
    units: wcu + rcu,
    bytes,
    milliseconds,
    given,
    events: many.length,
    consents: access.consents?.(body) === true,
  };
}

/** Why a request is dearer than it may be; undefined where it is not. @param known what was measured before */
export function tooDear(cost: Dearest, known?: CostRecord): string | undefined {
  const { route, by, units, bytes, given, events, consents } = cost;
  const rare = by === "refused" ? undefined : dearCallOf(route)?.units;
  const ofKey =
    (rare ?? KEY_UNITS) + EVENT_UNITS * events + (consents ? CONSENT_UNITS : 0) + (given + bytes / READ_KB) / KB;
  const most = by === "sdk" ? ofKey : (rare ?? ANYBODY.units);
  const isBounded = by === "sdk" || by === "public" || by === "refused";
  if (isBounded && units > most) return `costs ${units} units, ${Math.round(most)} at most`;
  if ((by === "public" || by === "refused") && bytes > ANYBODY.bytes) return `answers with ${bytes} bytes`;
  const said = by === "refused" ? known?.refused : known?.routes[route]?.[by];
  if (!said) return undefined;
  const shown = { units: isBounded && rare !== undefined ? rare : roomy(said.units), bytes: roomy(said.bytes) };
  // Time is not compared: it is that of a machine.
  const more = { units: (STORED_UNITS * given) / KB, bytes: ECHO * given };
  const beyond = (["units", "bytes"] as const).find(
    (name) => cost[name] > Math.max(SMALL[name], shown[name] * (isBounded ? 1 : OWN_DATA)) + more[name],
  );
  return beyond && `takes ${cost[beyond]} ${costNames[beyond]}, docs/access.md says ${shown[beyond]}`;
}

/** The dearest calls of a run. */
export function openCosts() {
  const dearest = new Map<string, Dearest & { times: number[] }>();
  return {
    note: (cost: Dearest) => {
      const { route, by } = cost;
      const key = by === "refused" ? by : `${route} ${by}`;
      const old = dearest.get(key);
      const larger = !old || cost.units > old.units ? cost : old;
      const bytes = Math.max(cost.bytes, old?.bytes ?? 0);
      dearest.set(key, { ...larger, bytes, times: [...(old?.times ?? []), cost.milliseconds] });
    },
    /** The dearest first. */
    all: (): Dearest[] =>
      [...dearest.values()]
        .map(({ times, ...cost }) => ({ ...cost, milliseconds: usual(times) }))
        .sort((a, b) => b.units - a.units),
  };
}

/** What nine of ten calls stay below: the dearest ones met a collection of garbage. */
const usual = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? 0;

/**
 * For docs/costs.json: what a run found, or one before it.
 * @param there the routes that there are: of others nothing is kept
 */
export function recordOf(
  { dearest, requests }: { dearest: readonly Dearest[]; requests: number },
  there: readonly string[],
  known?: CostRecord,
): CostRecord {
  const refused = dearest.find(({ by }) => by === "refused");
  const nothing = { units: 0, bytes: 0, milliseconds: 0 };
  const routes: CostRecord["routes"] = {};
  for (const route of there.toSorted()) {
    const old = known?.routes[route];
    const found = dearest.filter((one) => one.route === route && one.by !== "refused");
    const larger = found.map((one) => [one.by, largerOf(one, one.by === "refused" ? undefined : old?.[one.by])]);
    if (old || found.length > 0) routes[route] = { ...old, ...Object.fromEntries(larger) };
  }
  return {
    requests: requests + (known?.requests ?? 0),
    refused: refused ? largerOf(refused, known?.refused) : (known?.refused ?? nothing),
    routes,
  };
}

/** A run that only met refusals of a call does not say how long it takes. */
const LIKE = 0.5;

function largerOf(one: Dearest, old?: CallCost): CallCost {
  const taken = Math.max(1, Math.round(one.milliseconds));
  const isLike = !old || one.units >= old.units * LIKE;
  return {
    units: Math.max(one.units, old?.units ?? 0),
    bytes: Math.max(one.bytes, old?.bytes ?? 0),
    // Of the run that was disturbed least.
    milliseconds: isLike ? Math.min(taken, old?.milliseconds ?? taken) : old.milliseconds,
  };
}
