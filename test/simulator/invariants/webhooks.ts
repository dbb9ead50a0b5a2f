// Every event is one delivery to each endpoint that asks for it, numbered without gaps. Each delivery is attempted by its
// policy, and its log is what its receiver saw (WHK, AMB-124).
import { isDeepStrictEqual } from "node:util";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { webhookSamples } from "../../../shared/rules/webhook-events.ts";
import { inboxRow, isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import type { Hook } from "../ledger.ts";
import { ask } from "../questions.ts";
import type { Post } from "../receivers.ts";
import type { SimWorld } from "../world.ts";

type Broken = (text: string, ...entities: string[]) => void;
// biome-ignore lint/suspicious/noExplicitAny: whatever JSON came back
type Json = any;

const ROUTE = "GET /api/v1/webhooks/{id}/deliveries";
/** Attempts of a series, and the pauses between them. */
const PAUSES_MS = [SECOND, 2 * SECOND, 4 * SECOND];
/** An invocation ends within this time, so the result of a post is written by then or never. */
const INVOCATION_MS = 75 * SECOND;
/** A lease is so much longer than an attempt. */
const LEASE_MARGIN_MS = 10 * SECOND;
const INTERACTIONS = "#JI#";

/** `<event> <what it is about>`, as the payload says it. */
const nameOf = ({ event_type, data }: Json): string => {
  if (event_type === "subscriber.created") return `${event_type} ${data.subscriber_id}`;
  if (event_type === "notification.terminal") return `${event_type} ${data.job_id} ${data.delivered} ${data.failed}`;
  return event_type === "notification.interaction"
    ? `${event_type} ${data.job_id} ${data.interaction_type}`
    : `${event_type} ${data.job_id}`;
};

/** What a test of an endpoint sends, also one that had no answer. */
const isSample = ({ event_type, data }: Json): boolean =>
  isDeepStrictEqual(data, webhookSamples[event_type as keyof typeof webhookSamples]);

export const webhooks: Invariant = {
  name: "webhooks",
  watch: (world, broken) => {
    const { ledger, kernel } = world;
    /** By workspace: what happened, in the words of `nameOf`. */
    const happened = new Map<string, string[]>();
    const note = (tenant: string, name: string) => happened.set(tenant, [...(happened.get(tenant) ?? []), name]);
    /** By endpoint: the deliveries in the order in which their rows were written. */
    const accepted = new Map<string, string[]>();
    const troubles = new Map<string, number[]>();
    world.onLog(({ label }) => troubles.set(label, [...(troubles.get(label) ?? []), kernel.now()]));
    const isLost = ({ by, at, status }: Post) =>
      // With clocks this far apart a lease may end while its worker is still at it.
      world.profile.skewMs > LEASE_MARGIN_MS ||
      status === undefined ||
      !by.alive ||
      (troubles.get(by.label) ?? []).some((trouble) => trouble >= at && trouble <= at + INVOCATION_MS);
    return {
      commit: ({ pk, sk, before, after }) => {
        if (ledger.hooks.size === 0) return;
        const place = placeOf(pk);
        if (!place || !after) return;
        const { tenant, kind, id } = place;
        if (kind === "webhook" && sk.startsWith("D#") && !before)
          accepted.set(id, [...(accepted.get(id) ?? []), sk.slice(2)]);
        else if (/^S[0-9a-f]$/.test(kind) && !before && sk.length === 36) note(tenant, `subscriber.created ${sk}`);
        else if (isJob(pk) && before?.status !== after.status) {
          if (after.status === "queued") note(tenant, `notification.dispatched ${after.id}`);
          if (after.status === "completed" || after.status === "failed")
            note(tenant, `notification.terminal ${after.id} ${after["n:delivered"] ?? 0} ${after["n:failed"] ?? 0}`);
        } else if (pk.includes(INTERACTIONS) && !before && !inboxRow(pk, sk))
          note(tenant, `notification.interaction ${after.job} ${after.interaction}`);
      },
      end: async () => {
        for (const hook of ledger.hooks.values()) {
          const log = await readLog(world, hook, {});
          if (!log) continue;
          const say = (text: string, delivery = "") => broken(`endpoint ${hook.id}: ${text}`, hook.id, delivery);
          judgeLog(hook, log, happened.get(hook.tenant) ?? [], say);
          judgeNumbers(world, log, accepted.get(hook.id) ?? [], say);
          const missing = (await readLog(world, hook, { missing: "true" })) ?? [];
          const left = log.filter((one) => !wasTaken(one)).map(({ id, sequence }) => ({ id, sequence }));
          const wanted = left.sort((a, b) => a.sequence - b.sequence).map(({ id }) => id);
          if (`${wanted}` !== `${missing.map(({ id }) => id)}`)
            say(`${wanted} are missing, and it lists ${missing.map(({ id }) => id)}`);
          for (const delivery of log) {
            const posts = world.receivers.posts.filter(
              ({ url, headers }) => url === hook.url && headers["x-service-delivery"] === delivery.id,
            );
            judgeDelivery(world, hook, { delivery, posts, isLost }, say);
          }
        }
      },
    };
  },
};

async function readLog(world: SimWorld, hook: Hook, filter: Record<string, string>): Promise<Json[] | undefined> {
  const log: Json[] = [];
  let cursor = "";
  do {
    const query = { limit: "7", ...filter, ...(cursor && { cursor }) };
    const request = { params: { id: hook.id }, query };
    const { status, body } = await ask(world, world.ledger.tenants.get(hook.tenant)!, ROUTE, request);
    if (status !== 200) return undefined;
    log.push(...body.items);
    cursor = body.next_cursor;
  } while (cursor);
  return log;
}

/** What happened is in the log, each once, and nothing else. Payloads of the erased are empty. */
function judgeLog(hook: Hook, log: readonly Json[], happened: readonly string[], say: Broken): void {
  const shown = new Map<string, number>();
  for (const { payload } of log)
    if (payload && !isSample(payload)) shown.set(nameOf(payload), (shown.get(nameOf(payload)) ?? 0) + 1);
  const wanted = new Map<string, number>();
  for (const name of happened)
    if (hook.events.some((event) => name.startsWith(event))) wanted.set(name, (wanted.get(name) ?? 0) + 1);
  const erased = log.filter(({ payload }) => payload === null).length;
  let absent = 0;
  for (const [name, n] of wanted) {
    const found = shown.get(name) ?? 0;
    if (found > n) say(`${name} happened ${n} times and was delivered as ${found}`);
    if (found < n && !name.startsWith("subscriber.created"))
      say(`${name} happened ${n} times and was noted ${found} times`);
    absent += n - found;
  }
  for (const name of shown.keys()) if (!wanted.has(name)) say(`${name} never happened`);
  if (absent !== erased) say(`${absent} events have no payload, and ${erased} were erased`);
}

/** From 1 without gaps; in the order of acceptance, where no record of the stream was given up. */
function judgeNumbers({ profile }: SimWorld, log: readonly Json[], accepted: readonly string[], say: Broken): void {
  const numbers = new Map(log.map(({ id, sequence }) => [id as string, sequence as number]));
  const sorted = [...numbers.values()].sort((a, b) => a - b);
  if (sorted.some((n, i) => n !== i + 1)) say(`the numbers are ${sorted}`);
  if (profile.poison > 0) return;
  const inOrder = accepted.map((id) => numbers.get(id)!);
  if (inOrder.some((n, i) => n !== i + 1)) say(`in the order of acceptance the numbers are ${inOrder}`);
}

interface JudgedDelivery {
  delivery: Json;
  posts: Post[];
  isLost(post: Post): boolean;
}

/** The receiver has it, also where it was sent again and failed then. */
const wasTaken = ({ outcome, attempts }: Json): boolean =>
  outcome === "delivered" ||
  attempts.some(({ status_code }: Json) => status_code !== null && status_code >= 200 && status_code < 300);

function judgeDelivery(
  { profile, receivers }: SimWorld,
  hook: Hook,
  { delivery, posts, isLost }: JudgedDelivery,
  say: Broken,
): void {
  const { id, outcome, attempts, attempt_count, sequence, payload, last_status_code } = delivery;
  if (outcome === "pending") {
    say(`${id} is pending`, id);
    return;
  }
  const reopened = hook.reopenings.filter((one) => one.delivery === undefined || one.delivery === id);
  const max = (PAUSES_MS.length + 1) * (1 + reopened.length);
  if (attempt_count > max) say(`${id} was attempted ${attempt_count} times, ${max} were due`, id);
  if (posts.length > attempt_count)
    say(`${id} was posted ${posts.length} times and counts ${attempt_count} attempts`, id);
  const tries = receivers.tries.get(id) ?? 0;
  if (profile.crash === 0 && tries !== attempt_count)
    say(`${id} was tried ${tries} times and counts ${attempt_count}`, id);
  if (new Set(posts.map(({ body }) => body)).size > 1) say(`${id} was posted with different bodies`, id);
  for (const { headers } of posts)
    if (headers["x-service-sequence"] !== String(sequence))
      say(`${id} was posted as number ${headers["x-service-sequence"]}, it is ${sequence}`, id);
  const count = (all: readonly (number | null)[]) => {
    const sums = new Map<number, number>();
    for (const one of all) if (one !== null) sums.set(one, (sums.get(one) ?? 0) + 1);
    return sums;
  };
  const logged = count(attempts.map(({ status_code }: Json) => status_code));
  const told = count(posts.map(({ status = null }) => status));
  const known = count(posts.filter((post) => !isLost(post)).map(({ status = null }) => status));
  for (const [status, n] of logged)
    if (n > (told.get(status) ?? 0))
      say(`${id} logs ${n} times ${status}, which was answered ${told.get(status) ?? 0} times`, id);
  for (const [status, n] of known)
    if (n > (logged.get(status) ?? 0))
      say(`${id} was answered ${n} times ${status}, it logs ${logged.get(status) ?? 0}`, id);
  const last = attempts.at(-1);
  const isErased = payload === null;
  if (attempts.length !== attempt_count) say(`${id} has ${attempt_count} attempts and logs ${attempts.length}`, id);
  if (last === undefined) {
    if (!isErased) say(`${id} ${outcome} without an attempt`, id);
    return;
  }
  const isDelivered = last.status_code !== null && last.status_code < 300;
  if (isDelivered !== (outcome === "delivered") && !isErased)
    say(`${id} is ${outcome}, its last attempt got ${last.status_code}`, id);
  const lastStatus = attempts.findLast(({ status_code }: Json) => status_code !== null)?.status_code ?? null;
  if (lastStatus !== last_status_code) say(`${id} shows ${last_status_code} after ${lastStatus}`, id);
  const isOver = isDelivered || (last.status_code !== null && last.status_code < 500);
  if (!isOver && !isErased && attempt_count < PAUSES_MS.length + 1)
    say(`${id} was given up after ${attempt_count} attempts`, id);
  const isEarly = posts.some(
    (post, i) => i > 0 && post.at < posts[i - 1]!.at + PAUSES_MS[0]! - 2 * profile.skewMs - 100,
  );
  if (isEarly && reopened.length === 0) say(`${id} was posted again too early`, id);
}
