// What holds for an address with any owner (AMB-128 to AMB-130): a suppression, and opt-outs by link or STOP.
import { created, type Operation, ok, read, write } from "./access.ts";
import { limitOf, listing } from "./checks.ts";
import { parseCsv } from "./csv.ts";
import { timeOf } from "./import-consents.ts";
import { type Body, invalid, iso, notFound, OrderedBy, Refusal, type Request } from "./kit.ts";
import type { Address, Consent, Subscriber } from "./records/people.ts";
import { newId, type World } from "./world.ts";

const REASONS = ["bounce", "complaint", "imported", "manual"];

function normal(text: unknown): { kind: "email" | "phone"; key: string } | null {
  if (typeof text !== "string") return null;
  if (/^\+[1-9]\d{6,14}$/.test(text.trim())) return { kind: "phone", key: text.trim() };
  return /^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/.test(text.trim()) ? { kind: "email", key: text.trim().toLowerCase() } : null;
}

export const addressOf = (world: World, text: unknown) => world.addresses.find(({ key }) => key === normal(text)?.key);

/** The address that a channel sends to. */
const heldBy = (world: World, subscriber: Subscriber | undefined, channel: string): Address | undefined =>
  addressOf(world, channel === "email" ? subscriber?.email : subscriber?.attributes.phone);

function rowOf(world: World, text: unknown): Address | null {
  const named = normal(text);
  if (!named) return null;
  let row = addressOf(world, text);
  if (!row) {
    const nothing = { reason: null, source: null, note: null, suppressed_at: 0, optedOut: {}, asked: [] };
    row = { id: newId(world, "suppression"), kind: named.kind, key: named.key, address: named.key, ...nothing };
    world.addresses.push(row);
  }
  return row;
}

/** An opt-out by the address alone; of two, the later time counts. A forgotten one is stored by the next request that names it. */
export function optOutAddress(world: World, text: unknown, at: number, channel = "email", isNamed = true): void {
  const row = rowOf(world, text);
  if (!row || at < (row.optedOut[channel] ?? at)) return;
  row.optedOut[channel] = at;
  if (isNamed) row.address = row.key;
}

/** AMB-129: which suppressions of the addresses that a subscriber has now were lifted last, and why. */
export const liftedOf = (world: World, subscriber: Subscriber): Body[] =>
  [subscriber.email, subscriber.attributes.phone].flatMap((text) => {
    const row = addressOf(world, text);
    return row?.lifted_at === undefined
      ? []
      : [{ kind: row.kind, lifted_at: iso(row.lifted_at), reason: row.lifted_because ?? null }];
  });

export const isSameAddress = (a: unknown, b: unknown): boolean => normal(a)?.key === normal(b)?.key;

/** When the owner of its mailbox was asked to confirm an opt-in, under any name of it. */
export const askedAt = (world: World, text: string): number[] =>
  rowOf(world, text.replace(/(?<=[^@])\+[^@]*@/, "@"))?.asked ?? [];

/** AMB-129: nobody is asked by mail to end what the operator alone may end. */
export const mayBeAsked = (world: World, text: unknown): boolean =>
  !["manual", "imported"].includes(addressOf(world, text)?.reason ?? "");

const LIFTED = { reason: null, source: null, note: null };

/** AMB-129: the owner ends a bounce or a complaint, nothing else. */
export function liftByOwner(world: World, text: unknown): void {
  const row = addressOf(world, text);
  const isOfMail = row?.reason === "bounce" || row?.reason === "complaint";
  if (isOfMail) Object.assign(row, LIFTED, { lifted_at: world.now, lifted_because: "confirmed opt-in" });
}

/** A file that says the time since when the address is suppressed is our own, and says nothing new. */
const isOwn = (row: Address | undefined, time: number | null | undefined) =>
  row?.reason != null && row.suppressed_at === time;

/** A stronger reason replaces a weaker one; else nothing changes. @param time that a file says */
export function suppress(
  world: World,
  text: unknown,
  said: Partial<Address> & { reason: string },
  time?: number | null,
): Address | null {
  const row = rowOf(world, text);
  if (!row || isOwn(row, time)) return row;
  if (REASONS.indexOf(row.reason ?? "") >= REASONS.indexOf(said.reason)) return row;
  Object.assign(row, { source: null, note: null, suppressed_at: world.now, address: row.key, ...said });
  return row;
}

/** A provider tells of it, maybe late: what happened before somebody lifted it changes nothing (AMB-129). */
export function suppressByReport(world: World, text: unknown, reason: string, happened: number): void {
  const lifted = addressOf(world, text)?.lifted_at ?? 0;
  if (happened >= lifted) suppress(world, text, { reason, source: "provider", suppressed_at: happened });
}

/** An erasure leaves the suppression and takes the address. */
export function forgetAddress(world: World, subscriber: Subscriber): void {
  for (const text of [subscriber.email, subscriber.attributes.phone]) {
    const row = addressOf(world, text);
    if (row) Object.assign(row, { address: null, note: null, lifted_because: null });
  }
}

/** What the address decides in place of the person: a suppression; an opt-out, unless the person agreed after it. */
export function consentOfAddress(world: World, subscriber: Subscriber | undefined, channel: string, own?: Consent) {
  const row = heldBy(world, subscriber, channel);
  if (!row) return undefined;
  if (row.reason !== null)
    return { id: row.id, status: "suppressed", at: row.suppressed_at, source: row.reason, note: row.note };
  const at = row.optedOut[channel];
  if (at === undefined || own?.status === "opted_out") return undefined;
  if (own?.status === "opted_in" && own.consented_at > at) return undefined;
  return { id: row.id, status: "opted_out", at, source: "address", note: null };
}

const record = ({ id, kind, address, reason, source, note, suppressed_at }: Address): Body => ({
  ...{ id, kind, address, reason, source, note, suppressed_at: iso(suppressed_at) },
});

const held = (world: World) => world.addresses.filter(({ reason }) => reason !== null);

function list(world: World, request: Request) {
  const { query } = request;
  const size = limitOf(request, 50, 100);
  const address = query.address === undefined ? undefined : (normal(query.address)?.key ?? "none");
  const rows = held(world).filter(
    (row) =>
      (address === undefined || row.key === address) &&
      [undefined, row.reason].includes(query.reason) &&
      [undefined, row.source].includes(query.source),
  );
  const items = rows.toSorted((a, b) => b.suppressed_at - a.suppressed_at).map(record);
  return listing("items", new OrderedBy(items, (item) => item.suppressed_at), size);
}

function create(world: World, { body }: Request) {
  if (!normal(body.address)) invalid("address");
  if (body.note !== undefined && !String(body.note).trim()) invalid("note");
  const note = body.note ?? null;
  const row = suppress(world, body.address, { reason: "manual", source: "operator", note })!;
  return created(record(row));
}

/** A file, or a list of objects in JSON, alone or in an object: the rows below the names of their keys. */
function rowsOf(text: string): string[][] {
  if (!/^[[{]/.test(text)) return parseCsv(text);
  const value = JSON.parse(text);
  const objects: Record<string, string>[] = Array.isArray(value) ? value : Object.values(value).flat();
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  return [names, ...objects.map((one) => names.map((name) => one[name] ?? ""))];
}

/** Reasons that say that nothing is suppressed, as a file of all events has them (docs/decisions/0151). */
const NO_REASONS = ["delivered", "soft bounce"];

/** AMB-128: a file of a provider. Of an address that is in it twice the last row counts; no time is ahead. */
function importFile(world: World, { body }: Request) {
  const [header = [], ...rows] = rowsOf(body.csv);
  const find = (names: string[]) => header.findIndex((name) => names.includes(name.toLowerCase()));
  const [note, time] = [find(["reason", "note"]), find(["created_at", "date"])];
  const columns = header.flatMap((name, n) => (["email", "phone"].includes(name.toLowerCase()) ? [n] : []));
  if (columns.length === 0) throw new Refusal(400, { code: "BAD_REQUEST" });
  const isSpared = (cells: string[]) => NO_REASONS.includes(cells[note]?.trim() ?? "");
  const told = rows.filter((cells) => !isSpared(cells));
  const named = told.map((cells) => [columns.flatMap((n) => normal(cells[n])?.key ?? []), cells] as const);
  const known = new Map(named.flatMap(([keys, cells]) => keys.map((key) => [key, cells] as const)));
  let suppressed = 0;
  for (const [address, cells] of known) {
    const isWeaker = REASONS.indexOf(addressOf(world, address)?.reason ?? "") < REASONS.indexOf("imported");
    const at = timeOf(cells[time], world.settings.timezone);
    if (isWeaker && !isOwn(addressOf(world, address), at)) suppressed++;
    const suppressed_at = Math.min(at ?? world.now, world.now);
    const reason = { reason: "imported", source: "file", note: cells[note]?.trim() || null, suppressed_at };
    suppress(world, address, reason, at);
  }
  const rejected = rows.length - named.filter(([keys]) => keys.length > 0).length;
  return ok({ suppressed, unchanged: known.size - suppressed, rejected });
}

function lift(world: World, { query }: Request, { id }: Record<string, string>) {
  if (!query.reason) invalid("reason");
  const row = held(world).find((one) => one.id === id) ?? notFound();
  Object.assign(row, LIFTED, { lifted_at: world.now, lifted_because: query.reason.trim() });
  return { status: 204 };
}

export const addressOperations: Operation[] = [
  read("GET /api/v1/suppressions", list),
  write("POST /api/v1/suppressions", "subscribers:write", create),
  write("POST /api/v1/suppressions/import", "subscribers:write", importFile),
  read("GET /api/v1/suppressions/:id", (world, _, { id }) =>
    ok(record(held(world).find((one) => one.id === id) ?? notFound())),
  ),
  write("DELETE /api/v1/suppressions/:id", "subscribers:write", lift),
];
