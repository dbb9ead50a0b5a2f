// Load for a service that is about to be killed: its acknowledged writes, and what must hold for its table afterwards.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../simulator/random.ts";
import type { ServiceProcess } from "./service-process.ts";

/** A subscriber as its one writer knows it. */
interface Person {
  id: string;
  externalId: string;
  /** The last value that was acknowledged. */
  n: number;
  erased: "no" | "asked" | "yes";
}

interface Send {
  key: string;
  to: string[];
  /** Milliseconds until a scheduled one. */
  ahead: number | undefined;
  /** Undefined as long as no answer came. */
  id: string | undefined;
  /** Undefined as long as a cancel has no answer: it may be done, or not. */
  canceled: boolean | undefined;
}

export interface Ledger {
  people: Map<string, Person>;
  sends: Map<string, Send>;
  calls: number;
  acknowledged: number;
  /** Unexpected responses, such as a 500. */
  surprises: string[];
}

export const openLedger = (): Ledger => ({
  people: new Map(),
  sends: new Map(),
  calls: 0,
  acknowledged: 0,
  surprises: [],
});

/** One request; undefined when the service died under it. */
async function ask(service: ServiceProcess, route: string, headers: Record<string, string>, body?: object) {
  const [method = "GET", path = "/"] = route.split(" ");
  try {
    const response = await fetch(service.url + path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
    return { status: response.status, body: (text && JSON.parse(text)) as any };
  } catch {
    return undefined;
  }
}

export async function ownerOf(service: ServiceProcess): Promise<Record<string, string>> {
  const answer = await ask(service, "POST /_local/tokens", {}, { tenant_id: service.tenant });
  return { authorization: `Bearer ${answer?.body.access_token}` };
}

const LANES = 6;

/** Works until the service dies or `isOver`: each lane writes only people of its own. */
export async function load(
  service: ServiceProcess,
  ledger: Ledger,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const owner = await ownerOf(service);
  await Promise.all(
    Array.from({ length: LANES }, (_, lane) => runLane({ service, ledger, owner }, random.fork(), lane, isOver)),
  );
}

interface CrashSetting {
  service: ServiceProcess;
  ledger: Ledger;
  owner: Record<string, string>;
}

async function runLane(working: CrashSetting, random: Random, lane: number, isOver: () => boolean): Promise<void> {
  const { ledger } = working;
  const own = () => [...ledger.people.values()].filter((p) => p.externalId.startsWith(`${lane}-`) && p.erased === "no");
  while (!isOver()) {
    ledger.calls++;
    const dice = random.next();
    const people = own();
    let alive: boolean;
    if (people.length < 3 || dice < 0.3)
      alive = await upsert(working, { externalId: `${lane}-${ledger.calls}`, n: 0, id: "", erased: "no" });
    else if (dice < 0.45) alive = await upsert(working, random.pick(people));
    else if (dice < 0.5) alive = await erase(working, random.pick(people));
    else if (dice < 0.55) alive = await cancel(working, random.pick([...ledger.sends.values()].filter(isAhead)));
    else {
      const to = random.some(people, random.between(1, 3)).map(({ id }) => id);
      const ahead = dice < 0.8 ? undefined : 1_000 + Math.floor(random.next() ** 3 * 600_000);
      alive = await send(working, { key: `${lane}-${ledger.calls}`, to, ahead, id: undefined, canceled: false });
    }
    if (!alive) return;
  }
}

const isAhead = ({ ahead, id, canceled }: Send) => ahead !== undefined && id !== undefined && canceled === false;

/** Notes an answer. @returns whether it is the one that was promised; undefined if the service is gone. */
function promised(ledger: Ledger, answer: { status: number; body: unknown } | undefined, ...statuses: number[]) {
  if (!answer) return undefined;
  if (statuses.includes(answer.status)) ledger.acknowledged++;
  else ledger.surprises.push(`${answer.status} ${JSON.stringify(answer.body)}`);
  return statuses.includes(answer.status);
}

async function upsert({ service, ledger }: CrashSetting, person: Person): Promise<boolean> {
  const { externalId, n } = person;
  const body = { external_id: externalId, attributes: { n: n + 1 } };
  const answer = await ask(service, "POST /api/v1/subscribers/upsert", service.sdk, body);
  const done = promised(ledger, answer, 200);
  if (done) ledger.people.set(externalId, { ...person, id: answer!.body.id, n: n + 1 });
  return done !== undefined;
}

async function erase({ service, ledger, owner }: CrashSetting, person: Person): Promise<boolean> {
  const again = person.erased === "asked";
  person.erased = "asked";
  const answer = await ask(service, `DELETE /api/v1/subscribers/${person.id}`, owner);
  const done = promised(ledger, answer, 204, ...(again ? [404] : []));
  if (done) person.erased = "yes";
  return done !== undefined;
}

async function cancel({ service, ledger, owner }: CrashSetting, job: Send | undefined): Promise<boolean> {
  if (!job) return true;
  job.canceled = undefined;
  const answer = await ask(service, `POST /api/v1/notifications/${job.id}/cancel`, owner);
  const done = promised(ledger, answer, 200, 409);
  if (done !== undefined) job.canceled = answer?.status === 200;
  return done !== undefined;
}

async function send({ service, ledger, owner }: CrashSetting, job: Send): Promise<boolean> {
  ledger.sends.set(job.key, job);
  const now = await ask(service, "GET /_local/clock", {});
  const at = job.ahead && now && new Date(Date.parse(now.body.now) + job.ahead).toISOString();
  const body = { title: job.key, body: "Hi", subscriberIds: job.to, ...(at && { scheduled_at: at }) };
  const headers = { ...owner, "idempotency-key": job.key };
  const answer = now && (await ask(service, "POST /api/v1/notifications", headers, body));
  const done = promised(ledger, answer, 200, 201);
  if (done) job.id = answer!.body.id;
  return done !== undefined;
}

/** After a restart every client asks again for what it got no answer to. */
export async function retryUnanswered(service: ServiceProcess, ledger: Ledger): Promise<void> {
  const working = { service, ledger, owner: await ownerOf(service) };
  for (const job of ledger.sends.values()) {
    // A scheduled time would change the body, so only an immediate send can repeat the key.
    if (job.id === undefined && job.ahead === undefined) await send(working, job);
  }
  for (const person of ledger.people.values()) if (person.erased === "asked") await erase(working, person);
}

export async function advance(service: ServiceProcess, duration: string): Promise<void> {
  const answer = await ask(service, "POST /_local/clock", {}, { advance: duration });
  if (answer && answer.status !== 200) throw new Error(`advance: ${JSON.stringify(answer.body)}`);
}

export type Row = Record<string, Record<string, unknown>>;

/** Calls the embedded AWS of the service through its port. */
export async function aws(service: ServiceProcess, target: string, input: object): Promise<Record<string, unknown>> {
  const response = await fetch(service.aws, {
    method: "POST",
    headers: { "x-amz-target": target, "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify(input),
  });
  return (await response.json()) as Record<string, unknown>;
}

/** Every row of the table. */
export async function scan(
  operate: (input: Record<string, unknown>) => Promise<Record<string, unknown>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let ExclusiveStartKey: unknown;
  do {
    const page = await operate({ TableName: "engagement", ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}) });
    rows.push(...(page.Items as Row[]));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return rows;
}

/** Waits until `ms` have passed or the work is over, whichever is first. */
export const atMost = (ms: number, work: Promise<unknown>): Promise<unknown> => Promise.race([delay(ms), work]);
