// Reads the audit trail of the product: each call once, newest first, with its outcome, and unbroken (F22).
import { document } from "../../support/document.ts";
import { type Body, HOUR, iso, Unpromised } from "../model/kit.ts";
import type { AuditedCall } from "../model/records/plans.ts";
import { USED_UP } from "./compare.ts";
import { type Failure, type Sides, short } from "./sides.ts";
import { Bindings, differenceOf } from "./unify.ts";

const READ = { method: "GET", query: {}, body: undefined, headers: {}, as: "owner", path: "/api/v1/audit" };
const PAGE = "7";

async function trailOf({ product, counted }: Sides, filter: Record<string, string> = {}): Promise<Body[]> {
  const items: Body[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await product.call({
      ...READ,
      query: { ...filter, limit: PAGE, ...(cursor !== "" && { cursor }) },
    });
    counted.calls++;
    if (status === USED_UP) throw new Unpromised("what was read took the requests of its minute");
    items.push(...body.items);
    cursor = body.next_cursor;
    if (cursor === "") return items;
  }
}

/** The operation as the trail names it: `campaigns.release`, of the document's `campaignsRelease`. */
function operationOf(route: string): string | undefined {
  const [method = "", path = ""] = route.split(" ");
  const named = Object.entries(document.paths).find(
    ([known]) => known.replace(/{\w+}/g, ":") === path.replace(/:\w+/g, ":"),
  );
  return (named?.[1] as Body)?.[method.toLowerCase()]?.operationId;
}
const nameOf = (action: string) => action.replace(/\.(\w)/, (_, first: string) => first.toUpperCase());

const ACTORS: Record<string, string> = {
  dashboard: "user",
  server: "server_key",
  sdk: "publishable_key",
  agent: "agent_key",
};

const isEntryOf = (entry: Body, { at, route, actor, role, status, code }: AuditedCall): boolean =>
  entry.at === iso(at) &&
  nameOf(entry.action) === operationOf(route) &&
  entry.actor.type === ACTORS[actor] &&
  (role === null || entry.actor.role === role) &&
  entry.status === status &&
  differenceOf(new Bindings(), code, entry.code) === undefined &&
  entry.outcome === (status < 400 ? "ok" : "refused");

/** A call that is refused is in it if its checks had passed: which refusals come later is not promised. */
export async function compareTrail(sides: Sides, command: number): Promise<Failure | undefined> {
  const { reference, product } = sides;
  const differs = (path: string, expected: Body, got: Body): Failure => ({
    ...{ path, expected, got, command, route: "GET /api/v1/audit" },
  });
  const entries = await trailOf(sides);
  const late = entries.findIndex(({ at }, n) => n > 0 && at > entries[n - 1].at);
  if (late > 0) return differs(".items", "newest first", short(entries.slice(late - 1, late + 1)));

  const calls = reference.world.calls.filter(({ kind }) => kind === "call");
  for (const entry of entries.filter(({ sends }) => sends === null)) {
    const call = calls.findIndex((one) => isEntryOf(entry, one));
    if (call < 0) return differs(".items[?]", "the entry of one call", entry);
    calls.splice(call, 1);
  }
  const missing = calls.find(({ status }) => status < 400);
  if (missing) return differs(".items", missing, "no entry of it");
  const unnamed = entries.find((entry) => !isNamed(sides, entry));
  if (unnamed) return differs(".items[].subject", "what was created or changed, by its name", unnamed);
  const filtered = await filtersDiffer(sides, entries, differs);
  if (filtered) return filtered;
  return sendsDiffer(sides, entries, differs) ?? verdictDiffers(await product.call(verify()), differs);
}

/** What has an id and a name in both: by the name that it has now. What a call created is its target. */
function isNamed({ reference: { world }, bindings }: Sides, { action, status, target, subject }: Body): boolean {
  const { campaigns, templates, lists, segments, channels, experiences } = world;
  const kinds: Record<string, { id: string; name?: string; spec?: Body }[]> = {
    ...{ campaigns, templates, lists, segments, channels, experiences, journeys: world.journeys },
  };
  const things = kinds[action.split(".")[0]];
  if (!things) return true;
  if (status === 201 && target === null) return false;
  const thing = things.find(({ id }) => id === bindings.ours.get(target));
  return !thing || (subject?.id === target && [subject.name, undefined].includes(thing.name ?? thing.spec?.name));
}

/** One operation, all of a group, and what begins with its letters but is none; up to and from the time of an entry. */
async function filtersDiffer(sides: Sides, entries: Body[], differs: (...args: [string, Body, Body]) => Failure) {
  const one = entries[Math.floor(entries.length / 2)];
  if (!one) return undefined;
  const [group] = one.action.split(".");
  const isOf = (action: string) => (entry: Body) => entry.action === action || entry.action.startsWith(`${action}.`);
  const filters: [Record<string, string>, (entry: Body) => boolean][] = [
    ...[one.action, group, group.slice(0, -1), one.action.slice(0, -1)].map(
      (action): [Record<string, string>, (entry: Body) => boolean] => [{ action }, isOf(action)],
    ),
    [{ actor: one.actor.id, to: one.at }, ({ actor, at }) => actor.id === one.actor.id && at <= one.at],
    [{ from: one.at }, ({ at }) => at >= one.at],
    [
      { from: one.at, actor: one.actor.id, action: group },
      (entry) => entry.at >= one.at && entry.actor.id === one.actor.id && isOf(group)(entry),
    ],
  ];
  for (const [filter, isWanted] of filters) {
    const ids = (some: Body[]) => some.map(({ id }) => id).sort();
    const [expected, got] = [ids(entries.filter(isWanted)), ids(await trailOf(sides, filter))];
    if (expected.join() !== got.join()) return differs(`.items of ${short(filter)}`, expected, got);
  }
  return undefined;
}

/** The sends of a server key are there once their quarter-hour is settled. */
function sendsDiffer({ reference }: Sides, entries: Body[], differs: (...args: [string, Body, Body]) => Failure) {
  const { calls, now } = reference.world;
  const sent = calls.filter(({ kind, status }) => kind === "send" && status === 201);
  const sealed = entries.filter((entry) => entry.sends);
  // Newest first: of a quarter-hour a later entry takes the place of an earlier one.
  const totals = Map.groupBy(sealed, ({ actor, sends: { from } }) => `${actor.id} ${from}`);
  const told = [...totals.values()].reduce((sum, [newest]) => sum + newest!.sends.count, 0);
  const least = sent.filter(({ at }) => at < now - HOUR).length;
  return told < least || told > sent.length ? differs(".sends", `${least} to ${sent.length}`, told) : undefined;
}

const verify = () => ({ ...READ, method: "POST", path: "/api/v1/audit/verify", body: {} });

function verdictDiffers({ body }: { body: Body }, differs: (...args: [string, Body, Body]) => Failure) {
  return body.valid === true && body.broken === null ? undefined : differs(".valid", true, body);
}
