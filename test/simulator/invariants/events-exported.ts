// Every accepted event is in the export exactly once, under the id of its owner, or without one after erasure. The quota
// is never exceeded, and nothing is refused that fits into it.
import type { ExportedEvent } from "../../../shared/store/events/events.ts";
import { EventBlock } from "../../../shared/store/events/items.ts";
import { unpackEvents } from "../../../shared/store/events/packing.ts";
import { rowOf } from "../../../shared/store/item.ts";
import type { Item } from "../../../shared/store/model.ts";
import { itemsOf, placeOf } from "../entities.ts";
import { type Book, bookOf, type Pass, type SentEvent } from "../event-book.ts";
import type { Invariant } from "../invariant.ts";
import type { SimWorld } from "../world.ts";

type Broken = (text: string, ...entities: string[]) => void;

const keyOf = ({ properties }: ExportedEvent): string => String(properties.key);
const positionOf = ({ occurred_at, id }: ExportedEvent): string => `${occurred_at}#${id}`;

export const eventsExported: Invariant = {
  name: "events",
  watch: (world, broken) => {
    const mostUsed = new Map<string, number>();
    return {
      commit: ({ pk, sk }) => {
        const place = placeOf(pk);
        const quota = place?.kind === "USAGE" ? bookOf(world).quotas.get(place.tenant) : undefined;
        if (!place || quota?.period !== sk) return;
        const used = usedIn(world, place.tenant, sk) - quota.before;
        mostUsed.set(place.tenant, Math.max(used, mostUsed.get(place.tenant) ?? 0));
        if (used > quota.left) broken(`${used} events are used of ${quota.left} that were left`, place.tenant);
      },
      end: () => {
        const book = bookOf(world);
        for (const { tenant, events } of book.refusals) {
          const { left = Number.POSITIVE_INFINITY } = book.quotas.get(tenant) ?? {};
          if ((mostUsed.get(tenant) ?? 0) + events <= left)
            broken(`${events} events were refused though ${left - (mostUsed.get(tenant) ?? 0)} were left`, tenant);
        }
        for (const pass of book.passes) judgePass(book, pass, broken);
        for (const { id } of book.tenants) {
          const mine = [...book.sent.values()].filter(({ tenant }) => tenant === id);
          const last = book.passes.filter(({ tenant }) => tenant === id).at(-1);
          const rows = new Map((last?.rows ?? []).map((row) => [keyOf(row), row]));
          for (const event of mine) {
            const row = rows.get(event.key);
            if (event.acceptedAt !== undefined && !row) broken(`${event.key} was accepted and is lost`);
            if (row) judgeActor(book, event, row, broken);
          }
          judgeUsage(world, mine, id, rows.size, broken);
        }
        for (const [name, [first, ...others]] of book.links)
          if (first?.person.erasingSince === undefined && others.some(({ person }) => person !== first?.person))
            broken(`${name} was linked to one and then to another`);
        for (const { item } of itemsOf(world.mirror, "A")) {
          const person = world.ledger.people.get(String(item.subscriber));
          if (person?.erasedAt !== undefined) broken(`${item.pk} still leads to the erased ${person.id}`, person.id);
        }
      },
    };
  },
};

function judgePass({ sent }: Book, { present, rows, named }: Pass, broken: Broken): void {
  for (const { row, person } of named)
    broken(`an export names ${person.id} after its erasure was acknowledged`, row.id, person.id);
  const seen = new Set<string>();
  for (const [n, row] of rows.entries()) {
    const key = keyOf(row);
    if (seen.has(key)) broken(`${key} is in one export twice`, row.id);
    if (!sent.has(key)) broken(`${key} was never sent`, row.id);
    if (n > 0 && positionOf(rows[n - 1]!) >= positionOf(row)) broken(`${key} is out of order`, row.id);
    seen.add(key);
  }
  for (const key of present) if (!seen.has(key)) broken(`${key} was accepted and is not in an export begun later`);
}

function judgeActor({ links }: Book, event: SentEvent, row: ExportedEvent, broken: Broken): void {
  const { key, tenant, person, anonymous, acceptedAt = Number.POSITIVE_INFINITY } = event;
  const owners = person ? [{ person, at: 0 }] : (links.get(`${tenant} ${anonymous}`) ?? []);
  const { id, subscriber_id, anonymous_id } = row;
  const isErased = owners.some(
    ({ person: { erasedAt, erasingSince }, at }) =>
      erasedAt !== undefined && (person !== undefined || Math.max(at, acceptedAt) < erasingSince!),
  );
  if (isErased && (subscriber_id !== null || anonymous_id !== null))
    broken(`${key} of an erased subscriber shows ${subscriber_id} ${anonymous_id}`, id);
  const [owner, ...others] = owners;
  if (owner && others.every((other) => other.person === owner.person) && owner.person.erasingSince === undefined)
    if (subscriber_id !== owner.person.id) broken(`${key} is ${owner.person.id}'s and shows ${subscriber_id}`, id);
}

const eventIdsIn = (item: Item): string[] => unpackEvents(rowOf(EventBlock, item).events).map(({ id }) => id);

/** What the shards count of a billing period, or of all. */
const usedIn = ({ mirror }: SimWorld, tenant: string, period?: string): number =>
  [...itemsOf(mirror, "USAGE")]
    .filter((row) => row.tenant === tenant && (period === undefined || row.item.sk === period))
    .reduce((sum, { item }) => sum + Number(item.events ?? 0), 0);

/** Under faults, or sent twice at once, an event may be paid for twice; never be stored for nothing. */
function judgeUsage(world: SimWorld, sent: SentEvent[], tenant: string, exported: number, broken: Broken): void {
  const { mirror, profile } = world;
  const rowsOf = (kind: string) => [...itemsOf(mirror, kind)].filter((row) => row.tenant === tenant);
  const alone = rowsOf("E").filter(({ item }) => item.block === undefined);
  const inBlocks = rowsOf("EB").flatMap(({ item }) => (item.events === undefined ? [] : eventIdsIn(item)));
  const stored = alone.length + inBlocks.length;
  const used = usedIn(world, tenant) - (bookOf(world).quotas.get(tenant)?.before ?? 0);
  const max = profile.name === "calm" ? stored + sent.filter(({ isRaced }) => isRaced).length : used;
  if (stored !== exported) broken(`${stored} events are stored and ${exported} exported`);
  if (used < stored || used > max) broken(`${stored} events are stored and ${used} paid for`);
}
