// Runs a program on the product and on the reference, and holds every answer of one against the other.

import type { Listing } from "../model/checks.ts";
import { ANY, type Answer, type Body, bucketOf, HOUR, iso, MINUTE, Unordered, Unpromised } from "../model/kit.ts";
import { follow } from "../model/opt-in.ts";
import { createReference, type Reference } from "../model/reference.ts";
import type { Rulings } from "../model/rulings.ts";
import { allLooks, type Look, looksAfter, looksAfterLink, looksAfterWaiting } from "./looks.ts";
import { clearFaultsCall, credentialOf, faultCall, openProduct, type Product, type ProductCall } from "./product.ts";
import { type Call, type Command, type Link, type Program, readers, resolve, resolvePath } from "./program.ts";
import { createStorm, type Storm } from "./storm.ts";
import { Bindings, type Difference, differenceOf } from "./unify.ts";

export interface Line {
  at: string;
  text: string;
}
export interface Failure extends Difference {
  /** The number of the command after which it was seen; the length of the program: at its end. */
  command: number;
  route: string;
}
export interface Run {
  failure?: Failure;
  story: Line[];
  calls: number;
  /** How many faults of a storm struck. */
  faults: number;
}

export interface RunOptions {
  switches?: Partial<Rulings>;
  /** Draws what fails meanwhile. Times of the product are then not compared. */
  storm?: number | undefined;
  /** After a command also every answer that should be as it was: slower, and a failure is seen where it begins. */
  readsAll?: boolean;
}

interface Sides {
  product: Product;
  reference: Reference;
  bindings: Bindings;
  handles: Map<string, string>;
  story: Line[];
  counted: { calls: number; spared: number };
  storm?: Storm | undefined;
  /** What should come back as it was last seen, by path. */
  seen: Map<string, string>;
  readsAll: boolean;
}

/** Of the answers that should be as they were, one of so many is read all the same. */
const UNCHANGED_READ = 6;

/** Shortened for a reader. */
const short = (value: Body) => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
};

export async function run(
  program: Program,
  { switches = {}, storm: seed, readsAll = false }: RunOptions = {},
): Promise<Run> {
  const storm = seed === undefined ? undefined : createStorm(seed);
  const product = await openProduct(program, storm);
  const bindings = new Bindings({ isTimeless: storm !== undefined });
  const theirs = (id: string) => bindings.product.get(id) ?? id;
  const bucket = (purpose: string, unit: string, subscriber: string) =>
    bucketOf(purpose, drawIn(theirs(unit)), theirs(subscriber));
  const reference = createReference({ now: product.start, switches, bucket });
  const told = { handles: new Map<string, string>(), story: [], counted: { calls: 0, spared: 0 } };
  const sides: Sides = { product, reference, bindings, storm, seen: new Map(), readsAll, ...told };
  try {
    const failure = await play(sides, program.commands).catch((error: unknown) => {
      if (!(error instanceof Unpromised)) throw error;
      tell(sides, `from here on it is open: ${error.message}`);
      return undefined;
    });
    return {
      ...(failure && { failure }),
      story: sides.story,
      calls: sides.counted.calls,
      faults: storm?.struck() ?? 0,
    };
  } finally {
    await product.close();
  }
}

/** The id of a preview holds the unit that it drew with. */
const drawIn = (unit: string): string =>
  unit.startsWith("eyJ") ? JSON.parse(Buffer.from(unit.split(".")[0]!, "base64url").toString()).draw : unit;

async function play(sides: Sides, commands: Command[]): Promise<Failure | undefined> {
  const start = await lookAt(sides, [{ path: "/api/v1/channels" }], 0);
  if (start) return start;
  for (const [number, command] of commands.entries()) {
    const failure = await step(sides, command, number);
    if (failure) return failure;
  }
  await endStorm(sides);
  const looks = allLooks(sides.reference.world);
  return (await lookAt({ ...sides, readsAll: true }, looks, commands.length)) ?? outbox(sides, commands.length);
}

async function step(sides: Sides, command: Command, number: number): Promise<Failure | undefined> {
  const { product, reference } = sides;
  if (command.wait > 0) {
    if (command.kind === "late" && !sides.storm) {
      await product.beLate(command.wait);
      reference.beLate(product.now());
    } else {
      await product.advance(command.wait);
      reference.advance(product.now());
    }
    if (command.wait >= 60_000) {
      tell(sides, `… ${command.wait / 1000} s pass`);
      await quieten(sides);
      const failure = await lookAt(sides, looksAfterWaiting(reference.world), number);
      if (failure) return failure;
    }
  }
  if (command.kind === "wait" || command.kind === "late" || (sides.storm && dependsOnAnOrder(command)))
    return undefined;
  if (command.kind === "receiver") return answerHooks(sides, command.status);
  if (command.kind === "link") return link(sides, command, number);
  if (command.kind === "fault" || command.kind === "clear faults") return fault(sides, command);
  const failure = await call(sides, command, number);
  if (failure) return failure;
  await product.settle();
  reference.advance(product.now());
  await quieten(sides);
  return lookAt(sides, looksAfter(reference.world, command.path), number);
}

/** A bounce or complaint comes between two messages of one moment, or after both. */
const dependsOnAnOrder = (command: Command): boolean =>
  command.kind === "call" && JSON.stringify(command.body ?? {}).includes("@simulator.amazonses.com");

/** A message that failed comes again within so long, and what waits longer waits for its time. */
const RETRY_MS = 20 * MINUTE;
const MAX_MOVES = 60;
/** The stream of the table tries a batch again that failed, and one that fails once more. */
const STREAM_RETRY_MS = 10_000;

/** In a storm: lets time pass until what failed was done again. */
async function quieten({ product, reference, storm }: Sides): Promise<void> {
  if (!storm) return;
  const pass = async (ms: number) => {
    await product.advance(Math.ceil(ms / 1000) * 1000);
    reference.advance(product.now());
  };
  for (let [moves, seen] = [0, -1]; moves < MAX_MOVES; moves++) {
    const next = product.nextTry();
    const isDue = next !== undefined && next <= product.now() + RETRY_MS;
    if (isDue) await pass(next - product.now());
    else if (storm.struck() > seen) await pass(STREAM_RETRY_MS);
    else return;
    if (!isDue) seen = storm.struck();
  }
}

/** What no retry repaired is repaired by what watches over it, within an hour. */
async function endStorm(sides: Sides): Promise<void> {
  const { product, reference, storm } = sides;
  if (!storm) return;
  storm.end();
  await quieten(sides);
  await product.advance(HOUR);
  reference.advance(product.now());
  await quieten(sides);
  tell(sides, `${storm.struck()} faults struck`);
}

const LINKS = { click: /\/c\/[\w-]+/, unsubscribe: /\/u\/[\w-]+/, confirm: /\/i\/[\w-]+/ };

/** Of the mail that both sides sent. */
async function link(sides: Sides, { link, method, mail }: Link, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const has = { click: "links", unsubscribe: "marketing", confirm: "confirms" }[link];
  const mails = reference.world.outbox.filter(
    ({ channel, links, category, confirms }) =>
      channel === "email" && [links.length > 0 && "links", category, confirms && "confirms"].includes(has),
  );
  const ours = mails.at(-1 - mail);
  if (!ours) return undefined;
  const [job, person] = [ours.job_id, ours.subscriber_id].map((id) => bindings.product.get(id));
  const mailed = (await product.outbox()).filter(({ headers }) => headers?.["X-Subscriber-Id"] === person);
  const isSame = (item: Body) => (job ? item.headers["X-Notification-Id"] === job : item.at === iso(ours.at));
  const theirs = mailed.find((item) => isSame(item) && LINKS[link].test(item.payload));
  const route = `${method} the link to ${link}`;
  if (!theirs && sides.storm) return undefined;
  if (!theirs) return { path: "mail", expected: `a link to ${link}`, got: mailed.at(-1), command: number, route };
  const path = LINKS[link].exec(theirs.payload)![0];
  const got = await product.call({ method, path, query: {}, body: undefined, headers: {}, as: "none" });
  const expected = follow(reference.world, ours, link, method);
  tell(sides, `${route} of the mail to ${ours.to} → ${got.status} ${got.headers.location ?? ""}`);
  await product.settle();
  reference.advance(product.now());
  const difference = differenceOf(bindings, expected, { status: got.status, location: got.headers.location });
  if (difference) return { ...difference, command: number, route };
  return lookAt(sides, looksAfterLink(reference.world), number);
}

function answerHooks(sides: Sides, status: number): undefined {
  sides.product.receive(status);
  sides.reference.world.receiver = status;
  tell(sides, `receivers of webhooks answer ${status}`);
}

async function fault(sides: Sides, command: Command): Promise<undefined> {
  const { product, reference, handles, bindings } = sides;
  if (command.kind === "clear faults") {
    await product.call(clearFaultsCall);
    reference.clearFaults();
    return;
  }
  if (command.kind !== "fault") return;
  const { channel, outcome, times, person } = command;
  const subscriber = person === undefined ? undefined : handles.get(person);
  if (person !== undefined && subscriber === undefined) return;
  const body = { channel, outcome, ...(times !== undefined && { times }) };
  const theirs = subscriber === undefined ? {} : { subscriber_id: bindings.product.get(subscriber) };
  await product.call(faultCall({ ...body, ...theirs }));
  reference.addFault({ channel, outcome, times, subscriber_id: subscriber });
  tell(sides, `the provider of ${channel} answers ${outcome}${times ? ` ${times} times` : ""} ${person ?? ""}`);
}

const tell = ({ product, story }: Sides, text: string) => void story.push({ at: iso(product.now()), text });

async function call(sides: Sides, command: Call, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings, handles } = sides;
  const { ours, theirs } = readers(reference, handles, bindings);
  const { method, path, query = {}, headers = {}, as, upload, file } = command;
  const sent: ProductCall = {
    ...{ method, as, upload, file, headers, path: resolvePath(path, theirs) },
    ...{ query: resolve(query, theirs), body: resolve(command.body, theirs) },
  };
  const got = await product.call(sent);
  sides.counted.calls++;
  const body = resolve(command.body, ours);
  const expected = reference.call({
    ...{ method, headers, as: credentialOf(as), path: resolvePath(path, ours), query: resolve(query, ours) },
    ...{ body: file === undefined ? (body ?? {}) : { ...body, file }, given: got.body },
  });
  tell(sides, `${as}: ${method} ${path} ${short({ ...query, ...command.body })} → ${got.status} ${short(got.body)}`);
  const difference = await compare(sides, expected, got, sent);
  if (difference) return { ...difference, command: number, route: `${method} ${path}` };
  const made = expected.body?.id ?? expected.body?.preview_id ?? expected.body?.import_job_id;
  if (command.handle && typeof made === "string" && made.startsWith("#")) handles.set(command.handle, made);
  return undefined;
}

async function compare(
  sides: Sides,
  expected: Answer,
  got: { status: number; body: Body },
  sent: ProductCall,
): Promise<Difference | undefined> {
  const { bindings } = sides;
  if (expected.status !== got.status)
    return {
      path: "status",
      expected: `${expected.status} ${short(expected.body)}`,
      got: `${got.status} ${short(got.body)}`,
    };
  const listing: Listing | undefined = expected.body?.listing;
  if (!listing) return expected.body === undefined ? undefined : differenceOf(bindings, expected.body, got.body);
  return compareListing(sides, listing, got.body, sent);
}

/** Reads every page of the product: none over its size, no item twice, together what the reference has. */
async function compareListing(
  sides: Sides,
  listing: Listing,
  first: Body,
  sent: ProductCall,
): Promise<Difference | undefined> {
  const { key, size, total } = listing;
  const items: Body[] = [];
  let page = first;
  for (let number = 1; ; number++) {
    const rows: Body[] = page[key];
    if (!Array.isArray(rows) || rows.length > size)
      return { path: `page ${number}`, expected: `at most ${size} rows`, got: rows };
    items.push(...rows);
    const isPaged = total !== undefined;
    if (isPaged && page.total !== total) return { path: ".total", expected: total, got: page.total };
    if (isPaged ? number * size >= total : page.next_cursor === "") break;
    if (number > 500) return { path: "pages", expected: "an end", got: number };
    const more: Record<string, string> = isPaged ? { page: String(number + 1) } : { cursor: page.next_cursor };
    const next = await sides.product.call({ ...sent, query: { ...sent.query, ...more } });
    sides.counted.calls++;
    if (next.status !== 200) return { path: `page ${number + 1}`, expected: 200, got: next };
    page = next.body;
  }
  return differenceOf(sides.bindings, listing.items, items, `.${key}`);
}

async function lookAt(sides: Sides, looks: Look[], number: number): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const theirs = (text: string) => text.replace(/#\w+-\d+/g, (id) => bindings.product.get(id) ?? id);
  for (const { path, query = {}, as = "owner" } of looks) {
    const request = { method: "GET", headers: {}, body: undefined };
    const expected = reference.call({ ...request, as: credentialOf(as), path, query, given: undefined });
    if (isSpared(sides, `${path} ${JSON.stringify(query)}`, expected)) continue;
    const translated = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, theirs(value)]));
    const sent = { ...request, as, path: theirs(path), query: translated };
    const got = await product.call(sent);
    sides.counted.calls++;
    const difference = await compare(sides, expected, got, sent);
    if (!difference) continue;
    tell(sides, `${as}: GET ${sent.path} ${short(query)} → ${got.status} ${short(got.body)}`);
    const route = `GET ${path.replace(/#\w+-\d+/g, ":id")}`;
    return { ...difference, command: number, route };
  }
  return undefined;
}

/** What should be as it was, and has been seen so, is read again only now and then. */
function isSpared({ seen, counted, readsAll }: Sides, name: string, expected: Answer): boolean {
  const text = JSON.stringify(expected, (_, value) => (typeof value === "symbol" ? String(value) : value));
  const isAsBefore = seen.get(name) === text;
  seen.set(name, text);
  if (readsAll || !isAsBefore) return false;
  counted.spared++;
  return counted.spared % UNCHANGED_READ !== 0;
}

/** Texts and addresses of everything that was handed to a provider. */
async function outbox({ product, reference, bindings }: Sides, command: number): Promise<Failure | undefined> {
  const got = await product.outbox();
  const expected = reference.world.outbox.map(({ at, links, category, confirms, ...sent }) => ({
    ...{ ...sent, at: iso(at) },
    ...(confirms && { job_id: ANY }),
  }));
  const known = new Set(reference.world.subscribers.map(({ id }) => id));
  const living = expected.filter(({ subscriber_id }) => known.has(subscriber_id));
  const theirs = new Set(living.map(({ subscriber_id }) => bindings.product.get(subscriber_id)));
  const difference = differenceOf(
    bindings,
    new Unordered(living),
    got.filter((item) => theirs.has(item.subscriber_id)),
  );
  return difference && { ...difference, command, route: "outbox" };
}
