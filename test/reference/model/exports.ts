// Exports as files (A16, RDA-16): the rows of a file are those that the lists show at that time.
import { type Operation, ok, read, write } from "./access.ts";
import { limitOf, listing } from "./checks.ts";
import { currentConsent, currentConsents } from "./consents.ts";
import { line } from "./explanations.ts";
import { report } from "./insights.ts";
import {
  ANY,
  type Body,
  DAY,
  instant,
  invalid,
  iso,
  isoOrNull,
  notFound,
  OneOf,
  OrderedBy,
  type Request,
} from "./kit.ts";
import type { Export, Subscriber } from "./records/people.ts";
import { ownerOf } from "./stitching.ts";
import { at, found, newId, type World } from "./world.ts";

/** So long a file is kept, and an export listed. */
const KEPT = { file: 3 * DAY, record: 30 * DAY };

/** As text; what a spreadsheet would run is escaped (D-CSV). */
function cell(value: Body): Body {
  if (value instanceof OneOf) return new OneOf(value.of.map(cell));
  if (typeof value === "symbol") return value;
  if (value === null || value === undefined) return "";
  const text = String(value);
  return /^[=+\-@]/.test(text) ? new OneOf([text, `'${text}`]) : text;
}
const cells = (row: Body): Body => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, cell(value)]));

/** Columns that say something else than an attribute of their name, which shares a column of JSON with others. */
const NOT_ATTRIBUTES =
  /^(external_id|email|consent_status|consent_at|other_attributes|(topic|topic_at|consent_status|consent_at):.*)$/s;

/** D-CSV: a file that imports again as it is, with the choice of each topic and its time (docs/decisions/0070). */
function personRow(world: World, subscriber: Subscriber): Body {
  const { external_id, email, attributes } = subscriber;
  const consents = currentConsents(world, subscriber);
  const consent = consents.find(({ channel }) => channel === "email");
  const ofOthers = ["sms", "chat_app"].map((channel) => {
    const said = consents.find((one) => one.channel === channel);
    return { [`consent_status:${channel}`]: said?.status, [`consent_at:${channel}`]: said?.consented_at };
  });
  const choices = world.topics.flatMap(({ key }) => {
    const choice = currentConsent(world, subscriber.id, `topic:${key}`);
    const times = { [`topic_at:${key}`]: choice && iso(choice.consented_at) };
    return choice?.status === "pending" ? [] : [{ [`topic:${key}`]: choice?.status, ...times }];
  });
  const plain = Object.entries(attributes).filter(
    ([name, value]) => typeof value !== "object" && !NOT_ATTRIBUTES.test(name),
  );
  const said = { consent_status: consent?.status, consent_at: consent?.consented_at };
  return { ...Object.fromEntries(plain), external_id, email, ...said, ...Object.assign({}, ...choices, ...ofOthers) };
}

const people = (world: World, ids: string[]): Body[] =>
  ids.flatMap((id) => found(world.subscribers, id) ?? []).map((subscriber) => personRow(world, subscriber));

/** The rows of a file, as long as what it is of is there. */
function rowsOf(world: World, { kind, filter, created_at }: Export): Body[] | null {
  const membersOf = (groups: { id: string }[], rows: { of: string; subscriber_id: string }[], id: string) =>
    found(groups, id)
      ? people(
          world,
          rows.filter(({ of }) => of === id).map((row) => row.subscriber_id),
        )
      : null;
  if (kind === "list") return membersOf(world.lists, world.memberships, filter.list_id);
  if (kind === "segment") return membersOf(world.segments, world.members, filter.segment_id);
  if (kind === "subscribers") return world.subscribers.map((subscriber) => personRow(world, subscriber));
  if (kind === "recipients") {
    const job = found(world.jobs, filter.notification_id);
    return job ? job.recipients.map((recipient) => line(world, recipient)) : null;
  }
  if (kind === "suppressions")
    return world.addresses.flatMap(({ kind: of, address, reason, source, note, suppressed_at }) =>
      // An address of somebody who was erased is gone, and could not be imported again.
      reason === null || address === null
        ? []
        : [{ kind: of, address, reason, source, note, suppressed_at: iso(suppressed_at) }],
    );
  const start = filter?.start === undefined ? 0 : instant(filter.start)!;
  const end = filter?.end === undefined ? created_at : instant(filter.end)!;
  if (kind === "report") {
    const query = { start: iso(start), end: iso(end) };
    return world.campaigns.map(({ id, name, status }) => {
      const {
        delivered = ANY,
        opened = ANY,
        clicked = ANY,
        converted = ANY,
        revenue_cents = ANY,
      } = report(world, query, id);
      return { campaign_id: id, name, status, delivered, opened, clicked, converted, revenue_cents };
    });
  }
  // Both ends are included.
  return world.events
    .filter(({ occurred_at }) => occurred_at >= start && occurred_at <= end)
    .map((event) => ({
      ...{ id: event.id, event_name: event.event_name, occurred_at: iso(event.occurred_at) },
      subscriber_id: event.erased ? null : ownerOf(world, event),
      anonymous_id: event.erased ? null : event.anonymous_id,
    }));
}

function make(world: World, job: Export): void {
  const rows = rowsOf(world, job);
  if (rows) Object.assign(job, { status: "completed", rows: rows.map(cells), completed_at: world.now });
  else Object.assign(job, { status: "failed", completed_at: world.now });
}

function create(world: World, { body }: Request) {
  const { kind, filter = {} } = body;
  const job: Export = {
    ...{ id: newId(world, "export"), kind, filter, status: "pending", rows: [] },
    ...{ created_at: world.now, completed_at: null, isForgotten: false, isErased: false },
  };
  const [named] = Object.keys(filter);
  if (!rowsOf(world, job)) invalid(`filter.${named}`);
  world.exports.push(job);
  at(world, world.now, () => make(world, job));
  return { status: 202, body: { id: job.id } };
}

/** What may name somebody who was erased is deleted: every file but a report, which names nobody. */
export function forgetFiles(world: World): void {
  for (const job of world.exports) if (job.kind !== "report") job.isErased = true;
}

function record(world: World, job: Export): Body {
  const { id, kind, status, rows, created_at, completed_at } = job;
  const isOver = completed_at !== null && world.now >= completed_at + KEPT.file;
  const isWhole = status === "completed" && !isOver;
  const free = job.isForgotten || isOver;
  const about = { id, kind, created_at: iso(created_at) };
  if (job.isErased) return { ...about, status: ANY, url: null };
  if (free) return { ...about, status: ANY };
  return {
    ...about,
    status,
    rows: isWhole ? rows.length : ANY,
    url: isWhole ? ANY : null,
    error: isWhole ? null : ANY,
    completed_at: isoOrNull(completed_at),
    expires_at: completed_at === null ? null : iso(completed_at + KEPT.file),
  };
}

const listed = (world: World) => world.exports.filter(({ created_at }) => world.now < created_at + KEPT.record);

function list(world: World, request: Request) {
  const size = limitOf(request, 20, 100);
  const items = listed(world)
    .toReversed()
    .map((job) => record(world, job));
  return listing("items", new OrderedBy(items, ({ created_at }) => created_at), size);
}

export const exportOperations: Operation[] = [
  write("POST /api/v1/exports", "subscribers:write", create),
  read("GET /api/v1/exports", list),
  read("GET /api/v1/exports/:id", (world, _, { id }) => ok(record(world, found(listed(world), id) ?? notFound()))),
];
