// The confirmed opt-in (AMB-129, docs/decisions/0101-the-confirmed-opt-in.md) and the links of mails (AMB-130, AMB-143, AMB-149).
import { addressOf, askedAt, isSameAddress, liftByOwner, mayBeAsked, optOutAddress } from "./addresses.ts";
import { currentConsent, recordConsent, stated } from "./consents.ts";
import { isUsable } from "./gates.ts";
import { notifyHooks } from "./hooks.ts";
import { ANY, DAY, Refusal } from "./kit.ts";
import { addMember } from "./lists.ts";
import type { Consent, Subscriber } from "./records/people.ts";
import type { SentMessage } from "./records/sends.ts";
import { createJob, dispatch, takeQuota } from "./sending.ts";
import { topicOf } from "./topics.ts";
import { found, type World } from "./world.ts";

const MAILS = { count: 3, within: 7 * DAY };
const LINK_LIVES = 30 * DAY;

/** One mail to the address, also if it bounced or complained, at most three in seven days; none where nothing can go out. */
export function askOwner(world: World, subscriber: Subscriber, row: Consent): void {
  const isStill = world.subscribers.includes(subscriber) && currentConsent(world, subscriber.id, row.channel) === row;
  const channel = world.channels.find((one) => one.type === "email" && isUsable(one));
  const [kind, name] = row.channel.split(/:(.*)/);
  const isGone = kind === "list" ? !found(world.lists, name) : kind === "topic" && !topicOf(world, name);
  if (!isStill || isGone || !channel || subscriber.email === null) return;
  if (!mayBeAsked(world, subscriber.email)) return;
  // Others add to a list: who has opted out of mail has said nothing since.
  if (kind === "list" && hasOptedOut(world, subscriber)) return;
  const times = askedAt(world, subscriber.email);
  if (times.filter((time) => time > world.now - MAILS.within).length >= MAILS.count) return;
  const spec = {
    subscriberIds: [subscriber.id],
    channel_ids: [channel.id],
    category: "transactional",
    confirms: row.id,
  };
  const job = createJob(world, { ...spec, title: ANY, body: ANY }, { type: "api", id: null });
  try {
    takeQuota(world, job);
  } catch (error) {
    if (error instanceof Refusal) return;
    throw error;
  }
  times.push(world.now);
  dispatch(world, job);
}

/** Of mail, by a statement or by a link to the address; a bounce of it hides neither. */
function hasOptedOut(world: World, { id, email }: Subscriber): boolean {
  const own = currentConsent(world, id, "email");
  const at = addressOf(world, email)?.optedOut.email;
  if (at === undefined || own?.status === "opted_out") return own?.status === "opted_out";
  return own?.status !== "opted_in" || own.consented_at <= at;
}

/** What a link of a mail does. A page that is only looked at changes nothing. */
export function follow(
  world: World,
  mail: SentMessage,
  link: string,
  method: string,
  form: Form = { shown: [], in: [] },
): { status: number; location?: string } {
  const subscriber = found(world.subscribers, mail.subscriber_id);
  if (link === "click") {
    if (subscriber) clicked(world, mail);
    return { status: 302, location: mail.links[0]! };
  }
  if (link === "preferences") {
    if (method === "POST" && subscriber) saved(world, subscriber, mail, form);
  } else if (method === "POST" && link === "unsubscribe") unsubscribed(world, subscriber, mail);
  else if (method === "POST" && subscriber) confirmed(world, subscriber, mail);
  return { status: 200 };
}

interface Form {
  shown: string[];
  in: string[];
}

/**
 * TPC-4: a choice for each topic that the page showed; the others stay. Its reader has the mail: nothing is asked again, unless
 * the address of the person is another one by now.
 */
function saved(world: World, subscriber: Subscriber, { to }: SentMessage, form: Form): void {
  const isOwner = isSameAddress(subscriber.email, to);
  for (const { key } of world.topics.filter((topic) => form.shown.includes(topic.key))) {
    const [channel, status] = [`topic:${key}`, form.in.includes(key) ? "opted_in" : "opted_out"];
    if (currentConsent(world, subscriber.id, channel)?.status === status) continue;
    const said = { channel, status, consented_at: world.now, source: ANY };
    if (isOwner) recordConsent(world, subscriber, { ...said, isByMail: true });
    else stated(world, subscriber, said);
  }
}

function clicked(world: World, { job_id, subscriber_id }: SentMessage): void {
  const [interaction, platform] = ["email_clicked", "email"];
  const row = { job_id, interaction, platform, subscriber_id, variant_id: null, email: null };
  world.interactions.push({ ...row, occurred_at: world.now, received_at: world.now, said: null });
  notifyHooks(world, "notification.interaction", { job_id, interaction_type: interaction, platform });
}

/** AMB-130: of the address, also when its person is gone, and of the person. A repeat changes nothing. */
function unsubscribed(world: World, subscriber: Subscriber | undefined, { job_id, to }: SentMessage): void {
  optOutAddress(world, to, world.now, "email", isSameAddress(subscriber?.email, to));
  if (!subscriber) return;
  const consent = { channel: "email", status: "opted_out", consented_at: world.now, source: "unsubscribe" };
  const isOut = currentConsent(world, subscriber.id, "email")?.status === "opted_out";
  if (!isOut) recordConsent(world, subscriber, consent);
  const recipient = found(world.jobs, job_id)?.recipients.find((one) => one.subscriber_id === subscriber.id);
  if (recipient && !isOut) recipient.hasUnsubscribed = true;
}

/** The person of that channel, or somebody by a link to the address. */
const optedOutSince = (world: World, { id, email }: Subscriber, channel: string, asked: number): boolean =>
  (addressOf(world, email)?.optedOut.email ?? Number.NEGATIVE_INFINITY) >= asked ||
  world.consents.some(
    (row) =>
      row.subscriber_id === id && row.channel === channel && row.status === "opted_out" && row.recorded_at >= asked,
  );

/** It holds for the address that the mail went to, while the statement is pending, and nobody opted out since it was asked. */
function confirmed(world: World, subscriber: Subscriber, mail: SentMessage): void {
  const row = world.consents.find(({ id }) => id === mail.confirms);
  const isOpen = row && currentConsent(world, subscriber.id, row.channel)?.status === "pending";
  if (!isOpen || !isSameAddress(subscriber.email, mail.to) || world.now >= mail.at + LINK_LIVES) return;
  if (optedOutSince(world, subscriber, row.channel, found(world.jobs, mail.job_id)!.created_at)) return;
  const [kind, name] = row.channel.split(/:(.*)/);
  if (kind === "list" && !found(world.lists, name)) return;
  const evidence = { ip: ANY, text: ANY, import_job_id: null };
  const consent = { channel: row.channel, status: "opted_in", consented_at: world.now, source: "confirmed_opt_in" };
  recordConsent(world, subscriber, { ...consent, evidence });
  liftByOwner(world, mail.to);
  if (kind === "list") addMember(world, name!, subscriber.id);
}
