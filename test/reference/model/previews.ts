// What is shown before it is done: whom a send would reach, and how a text would read (F8, A10, AMB-140).
import { type Operation, ok, read } from "./access.ts";
import { audienceOf } from "./audience.ts";
import { contentOf } from "./delivering.ts";
import { channelsOf, classOf, isReasons, isUsable, reach } from "./gates.ts";
import { ANY, type Body, Exactly, invalid, isRecord, type Request, sorted, Unordered } from "./kit.ts";
import { checkSend } from "./notifications.ts";
import type { Subscriber } from "./records/people.ts";
import type { Job, Recipient } from "./records/sends.ts";
import { render, saidBy } from "./render.ts";
import { decide } from "./sending.ts";
import { reasonsOf } from "./tallies.ts";
import { found, newId, type World } from "./world.ts";

/** AMB-140: the draw of a preview, which a send may name. Nothing is written. */
function preview(world: World, { body: { render_for, ...body }, given }: Request) {
  checkSend(world, body);
  if (render_for !== undefined && !found(world.subscribers, render_for)) invalid("render_for");
  const id = newId(world, "preview");
  world.previews.push({ id, said: JSON.stringify(sorted(body)), at: world.now });
  return ok({ preview_id: id, ...foreseen(world, body, given?.preview_id ?? id, render_for) });
}

/** F8: what a send made right after would count. What waits for a morning meets the caps of that day, as far as they are known. */
function foreseen(world: World, spec: Body, unit: string, render_for: string | undefined): Body {
  if (spec.scheduled_at !== undefined) return {};
  const { subscribers, unknown } = audienceOf(world, spec);
  const job = { spec, unit } as Job;
  const recipients = subscribers.map((subscriber) => decide(world, job, subscriber));
  const inState = (...states: string[]) => recipients.filter(({ state }) => states.includes(state));
  const sent = inState("pending", "deferred");
  const isOpen = world.settings.frequency_caps.length > 0 && inState("deferred").length > 0;
  const nobody = unknown.map((): Recipient => ({ state: "skipped", reasons: ["unknown_subscriber"] }) as Recipient);
  const skipped = [...inState("skipped"), ...nobody];
  const counts = {
    ...{ total: recipients.length + nobody.length, held_out: inState("held_out").length },
    ...{ sent: sent.length, deferred: inState("deferred").length, skipped: skipped.length },
  };
  if (isOpen) return { counts: { total: counts.total, held_out: counts.held_out } };
  const shown = found(world.subscribers, render_for);
  const types = new Set(usable(world, spec).map(({ type }) => type));
  const armB = sent.find((one) => one.subscriber_id === render_for)?.variant === "b" ? spec.variant_b : undefined;
  const { data, category = "marketing" } = spec;
  const said = { content: contentOf(world, spec), armB, channels: [...types], data, category };
  const renderings = shown && new Unordered(readings(said, shown));
  const isSmart = spec.channel_arbitration_mode === "smart";
  return {
    ...{ exact: true, counts, skip_reasons: reasonsOf({ recipients: skipped } as Job) },
    by_class: isSmart ? ANY : new Exactly(byClass(sent)),
    missed_by_class: missed(world, spec, sent),
    ...(shown && { rendered_for: render_for, renderings }),
  };
}

const usable = (world: World, spec: Body) => channelsOf(world, spec).filter(isUsable);

function byClass(sent: Recipient[]): Record<string, number> {
  const classes = sent.flatMap(({ deliveries }) => [...new Set(deliveries.map(({ class: name }) => name))]);
  return Object.fromEntries([...Map.groupBy(classes, (name) => name)].map(([name, all]) => [name, all.length]));
}

/** F8: which classes do not reach somebody whom another one reaches, and why. Caps and texts are not looked at. */
function missed(world: World, spec: Body, sent: Recipient[]): Body {
  const classes = Map.groupBy(usable(world, spec), ({ type }) => classOf(type));
  const counted: Record<string, Record<string, number>> = {};
  for (const { subscriber_id } of sent)
    for (const [name, channels] of classes) {
      const results = channels.map((channel) => reach(world, spec, channel, found(world.subscribers, subscriber_id)!));
      const reasons = [...new Set(results.filter(isReasons).flat())];
      if (!results.every(isReasons)) continue;
      if (reasons.length > 1) return ANY;
      const [reason] = reasons as [string];
      counted[name] = { ...counted[name], [reason]: (counted[name]?.[reason] ?? 0) + 1 };
    }
  return new Exactly(Object.fromEntries(Object.entries(counted).map(([name, own]) => [name, new Exactly(own)])));
}

const NOBODY = { id: "", external_id: "", email: null, attributes: {} } as unknown as Subscriber;

/** A10: how a text reads on each channel, by the rules of a send. Nothing is stored or sent. */
function texts(world: World, { body }: Request) {
  if (!isRecord(body.content)) invalid("content");
  const subscriber = body.render_for === undefined ? NOBODY : found(world.subscribers, body.render_for);
  if (!subscriber) return invalid("render_for");
  return ok({ renderings: readings(body, subscriber) });
}

/** A text message begins with its title, and a mail of marketing ends with its footer. */
function readings({ content, armB, channels, data = {}, category }: Body, subscriber: Subscriber): Body[] {
  return channels.map((channel: string) => {
    const said = saidBy(content, armB, classOf(channel));
    const [title, body] = [said.title, said.body].map((text) => render(text, { subscriber, data, event: {} }));
    if (channel === "sms") return { channel, title: null, body: title === "" ? body : `${title}\n${body}` };
    return { channel, title, body: channel === "email" && category === "marketing" ? ANY : body };
  });
}

export const previewOperations: Operation[] = [
  read("POST /api/v1/notifications/preview", preview),
  read("POST /api/v1/templates/preview", texts),
];
