// A send by an agent (AGT-3): planned first, then confirmed, so that the send is the one that was previewed.
import * as v from "valibot";
import { MAX_GIVEN_IDS, NewNotification } from "../../../shared/contract/notification-input.ts";
import { requireFew } from "../../../shared/http/gates.ts";
import { MINUTE, SECOND, timestamp, ttl } from "../../../shared/kernel/clock.ts";
import { ApiError, conflict, invalid, notFound } from "../../../shared/kernel/errors.ts";
import { judge } from "../../../shared/rules/audience.ts";
import { plans } from "../../../shared/rules/plans.ts";
import { present } from "../../../shared/store/conditions.ts";
import type { Store, StoreReader } from "../../../shared/store/context.ts";
import { hashOf } from "../../../shared/store/hash.ts";
import type { Secrets } from "../../../shared/store/secrets.ts";
import { zoneFor } from "../../../shared/store/segments/rules.ts";
import { findSegment } from "../../../shared/store/segments/segments.ts";
import { audienceRules, givenIdsOf, givenWrites } from "../../../shared/store/sends/audience/audiences.ts";
import type { SendPreview } from "../../../shared/store/sends/audience/preview.ts";
import { sampleOf } from "../../../shared/store/sends/audience/preview-sample.ts";
import { ConditionalSend, IdempotencyRecord, SendPlan } from "../../../shared/store/sends/jobs/job-items.ts";
import { oneOffSpec } from "../../../shared/store/sends/jobs/one-off.ts";
import { namedByExternalIds } from "../../../shared/store/subscribers/external-ids.ts";
import { requireTemplate } from "../../../shared/store/templates/templates.ts";
import { usageOf } from "../../../shared/store/workspaces/usage.ts";
import { hasConditions } from "./small-groups.ts";
import { type Agent, type Arguments, holdsScope, shownTo, type Tools } from "./tools.ts";

export const CREATE = "POST /api/v1/notifications";
const PREVIEW = "POST /api/v1/notifications/preview";

const VALID_MS = 10 * MINUTE;
/** How long a repeated confirmation gets the same answer. */
const KEPT_MS = 60 * MINUTE;
const TOKEN_BYTES = 24;
/** A plan's row stores the request twice, and an item has at most 400 KB. */
const MAX_ASKED_BYTES = 200_000;
const CHANGED =
  "The content, the channels or the rule of the send have changed since it was planned. Plan the send again.";
const TOKEN = /^plan_[A-Za-z0-9_-]{32}$/;
export interface SendContext {
  agent: Agent;
  store: Store;
  secrets: Secrets;
  run(route: string, args: Arguments, headers?: Readonly<Record<string, string>>): ReturnType<Tools["run"]>;
}

/**
 * Plans a send for an agent (D-MCP): previews it, and keeps the preview under a token that confirms it. It sends
 * nothing.
 */
export async function planSend({ agent, store, secrets, run }: SendContext, args: Arguments): Promise<unknown> {
  for (const name of ["idempotency_key", "preview_id"])
    if (args[name] !== undefined)
      throw invalid({ [name]: "must be left out: the plan holds its recipients, and its token makes a repeat safe" });
  if (Buffer.byteLength(JSON.stringify(args)) > MAX_ASKED_BYTES)
    throw invalid({ content: `must have at most ${MAX_ASKED_BYTES} bytes in all: save a larger mail as a template` });
  requireFew(agent.workspace, args);

  const content = await contentOf(store, args);
  const id = store.ids.uuid();
  const recipients = await audienceOf({ agent, store, secrets }, args, id);
  const { target, subscriber_filters, external_ids: _, ...rest } = args;
  // The filters have already decided who is in a target.
  const said =
    target === undefined ? { ...rest, ...(subscriber_filters !== undefined && { subscriber_filters }) } : rest;
  const asked = recipients ? { ...said, subscriberIds: recipients } : args;

  const { preview_id, ...preview } = (await run(PREVIEW, asked)) as StoredPreview;
  const now = store.clock.now();
  const token = `plan_${store.ids.bytes(TOKEN_BYTES).toString("base64url")}`;
  if (recipients) await store.writeAll(givenWrites(id, recipients, now));
  await store.put(
    SendPlan,
    { token },
    {
      id,
      agent_key: agent.key,
      body: JSON.stringify({ ...(recipients ? said : args), preview_id }),
      asked: JSON.stringify(args),
      digest: hashOf(content),
      ...((hasConditions(args) || READS_PEOPLE.test(content)) && { conditional: true }),
      until: now + VALID_MS,
      expires: ttl(now + KEPT_MS),
    },
  );

  const { plan: name, sendCap } = agent.workspace;
  const { sends } = await usageOf(store);
  const limit = Math.min(plans[name].sends, sendCap ?? Number.POSITIVE_INFINITY);
  return {
    token,
    expires_at: timestamp(now + VALID_MS),
    ...(shownTo(agent, PREVIEW, preview) as object),
    cost: { ...preview.cost, sends: preview.counts.sent, used: sends, limit, left: Math.max(0, limit - sends) },
    next: "Show this to a person. To send exactly this, call confirm_send with the token before it expires.",
  };
}

/**
 * The ids of the people in a target, or behind external ids, as they are now (AMB-141). Undefined if the send names ids
 * itself. For an agent without `read:pii` an empty audience must look like a small one: then it is the id of the plan,
 * which no subscriber has.
 * @throws 422 for an empty audience, or one larger than a plan can hold
 */
async function audienceOf(
  { agent, store, secrets }: Omit<SendContext, "run">,
  args: Arguments,
  plan: string,
): Promise<string[] | undefined> {
  const input = v.safeParse(NewNotification, args);
  // The preview makes the same check, and reports the problem.
  if (!input.success) return undefined;
  if (input.output.external_ids) {
    const named = await namedByExternalIds(store, await secrets.root(), [...new Set(input.output.external_ids)]);
    const known = named.filter(({ exists }) => exists).map(({ id }) => id);
    if (known.length === 0) throw invalid({ external_ids: "name nobody" });
    return known;
  }
  if (input.output.target === undefined) return undefined;
  const { spec } = await oneOffSpec(store, agent.workspace.plan, input.output);
  const zone = await zoneFor(store, spec.subscriber_filters);
  const reach = { channels: [], category: spec.category, emailConsent: "opt_out" } as const;
  const rules = audienceRules("", spec, { reach, zone });
  const { candidates } = await sampleOf(store, spec, rules, { given: undefined, max: MAX_GIVEN_IDS + 1, id: "" });
  if (candidates.length > MAX_GIVEN_IDS)
    throw invalid({ target: `must have at most ${MAX_GIVEN_IDS} people: a plan holds its recipients` });
  const people = candidates.filter((candidate) => judge(candidate, rules).kind !== "excluded").map(({ id }) => id);
  if (people.length > 0) return people;
  if (holdsScope(agent, "read:pii") || !hasConditions(args)) throw invalid({ target: "has nobody in it" });
  return [plan];
}

/** Confirms a planned send. @throws 404 for a token of another key, 409 if the plan has changed since it was shown */
export async function confirmSend({ agent, store, run }: SendContext, { token, ...more }: Arguments): Promise<unknown> {
  for (const name of Object.keys(more)) throw invalid({ [name]: "is not a known field" });
  if (typeof token !== "string") throw invalid({ token: "must be a string" });
  const plan = TOKEN.test(token) ? await store.get(SendPlan, { token }) : undefined;
  const now = store.clock.now();
  if (!plan || plan.agent_key !== agent.key || plan.expires * SECOND <= now) throw notFound("plan");
  if (plan.job !== undefined) return { id: plan.job, sent: plan.sent ?? 0, replayed: true };

  // The send may have been made though its answer was lost. Then it is neither late nor changed.
  const key = `plan-${plan.id}`;
  const made = await store.get(IdempotencyRecord, { key });
  if (made && plan.conditional) await store.put(ConditionalSend, { job: made.id }, {});
  if (made) return { id: made.id, sent: made.sent, replayed: true };

  if (plan.body === undefined || plan.asked === undefined || plan.until <= now)
    throw conflict("The plan has expired. Plan the send again.");
  if (hashOf(await contentOf(store, JSON.parse(plan.asked) as Arguments)) !== plan.digest) throw conflict(CHANGED);
  requireFew(agent.workspace, JSON.parse(plan.asked) as Arguments);

  const people = await givenIdsOf(store, plan.id);
  // The id is the idempotency key, so two confirmations at the same time make one send.
  const body = { ...(JSON.parse(plan.body) as Arguments), ...(people.length > 0 && { subscriberIds: people }) };
  const created = await run(CREATE, body, { "idempotency-key": key }).catch(orChanged);
  const { id, sent } = created as { id: string; sent: number };
  if (plan.conditional) await store.put(ConditionalSend, { job: id }, {});
  await store.change(SendPlan, { token }, { set: { job: id, sent }, remove: ["body", "asked"] as const }, present());
  return { id, sent, replayed: false };
}

/** Turns a refused draw into a conflict: the draw of a plan belongs to the send that was shown, with its channels. */
function orChanged(error: unknown): never {
  const isOfAnother = error instanceof ApiError && error.details.fields?.preview_id !== undefined;
  throw isOfAnother ? conflict(CHANGED) : error;
}

type StoredPreview = SendPreview & { preview_id: string };

/** A text with attributes is personal: a blank or overlong result says what a subscriber has. */
const READS_PEOPLE = /\bsubscriber\b/;

/** The content of a send: its body, and the resources it names, which may change in the meantime. */
async function contentOf(store: StoreReader, args: Partial<v.InferOutput<typeof NewNotification>>): Promise<string> {
  const { template_id, target } = args;
  const [template, segment] = await Promise.all([
    template_id === undefined ? null : requireTemplate(store, template_id),
    target?.type === "segment" ? findSegment(store, target.segment_id) : null,
  ]);
  return JSON.stringify([args, template?.content ?? null, segment?.rule ?? null]);
}
