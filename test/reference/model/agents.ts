// Sends by an agent: planned, shown to a person, and confirmed (D-MCP, F18, AMB-141).
import { type Operation, ok } from "./access.ts";
import { checkAlone } from "./approvals.ts";
import { audienceOf } from "./audience.ts";
import { type Body, conflict, HOUR, invalid, MINUTE, notFound, type Request, same } from "./kit.ts";
import { checkSend, startSend } from "./notifications.ts";
import { found, newId, type World } from "./world.ts";

export interface SendPlan {
  id: string;
  /** What the agent asked for. */
  asked: Body;
  /** What goes out: the people of a target by id. */
  send: Body;
  /** Content and rule, as they were. */
  named: Body;
  at: number;
  answer: Body | null;
}

const VALID = 10 * MINUTE;
/** So long a confirmation is answered again. */
const KEPT = HOUR;

/** What the send names, and somebody may change before it is confirmed. */
const namedBy = (world: World, { template_id, target }: Body): Body =>
  structuredClone([
    found(world.templates, template_id)?.content ?? null,
    found(world.segments, target?.segment_id)?.rule ?? null,
  ]);

function planSend(world: World, { body }: Request) {
  checkAlone(world, body);
  checkSend(world, body);
  const { target, subscriber_filters, external_ids, ...rest } = body;
  const whom = external_ids ? { external_ids } : target && body;
  const people = whom && audienceOf(world, whom).subscribers.map(({ id }) => id);
  if (people?.length === 0) invalid(target ? "target" : "external_ids");
  const filters = external_ids && subscriber_filters ? { subscriber_filters } : {};
  const send = people ? { ...rest, ...filters, subscriberIds: people } : body;
  const plan = {
    id: newId(world, "plan"),
    asked: body,
    send,
    named: namedBy(world, body),
    at: world.now,
    answer: null,
  };
  world.plans.push(plan);
  return ok({ token: plan.id });
}

/** Exactly those who were planned, less those who may no longer be written to. A repeat is answered as the first. */
function confirmSend(world: World, { body }: Request) {
  const plan = found(world.plans, body.token);
  if (!plan || world.now >= plan.at + KEPT) notFound();
  if (plan.answer) return ok({ ...plan.answer, replayed: true });
  if (world.now >= plan.at + VALID || !same(plan.named, namedBy(world, plan.asked))) conflict();
  checkAlone(world, plan.asked);
  checkSend(world, plan.send);
  const { id, sent } = startSend(world, plan.send, "");
  plan.answer = { id, sent };
  return ok({ ...plan.answer, replayed: false });
}

export const agentOperations: Operation[] = [
  { route: "TOOL plan_send", who: ["agent"], run: planSend },
  { route: "TOOL confirm_send", who: ["agent"], run: confirmSend },
];
