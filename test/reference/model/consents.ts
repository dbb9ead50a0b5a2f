// Consents (D-CONSENT): append-only, the newest statement decides.
import { consentOfAddress, isSameAddress } from "./addresses.ts";
import { optionalInstant, optionalOneOf } from "./checks.ts";
import { type Body, invalid, iso, isRecord, MINUTE } from "./kit.ts";
import type { Consent, Subscriber } from "./records/people.ts";
import { at, found, newId, type World } from "./world.ts";

const CHANNELS = ["email", "sms", "chat_app"];

/** `channel` defaults to email; `consented_at` at most five minutes ahead (AMB-117). */
export function consentAssertion(world: World, body: Body, prefix: string): Body {
  if (!isRecord(body)) invalid(prefix.slice(0, -1));
  const named = Object.fromEntries(Object.entries(body).map(([key, value]) => [`${prefix}${key}`, value]));
  optionalOneOf(named, `${prefix}channel`, CHANNELS);
  if (body.status === undefined) invalid(`${prefix}status`);
  optionalOneOf(named, `${prefix}status`, ["opted_in", "opted_out"]);
  const said = optionalInstant(named, `${prefix}consented_at`);
  if (said !== null && said > world.now + 5 * MINUTE) invalid(`${prefix}consented_at`);

  // AMB-131: no stored time is later than the moment of its recording.
  const consented_at = Math.min(said ?? world.now, world.now);
  const { channel = "email", status, source, ip = null, text = null } = body;
  return { channel, status, consented_at, source, evidence: { ip, text, import_job_id: null } };
}

/** @param isOfAddress the statement of a file, or of a mail's reader, is about the address that the person has */
export function recordConsent(world: World, subscriber: Subscriber, consent: Body, isOfAddress = true): Consent {
  const { channel, status, consented_at, source = null, import_job_id = null, isByMail = false } = consent;
  const { evidence = { ip: null, text: null, import_job_id } } = consent;
  const held = currentConsent(world, subscriber.id, channel);
  // A proof in a file or a mail is as good as a confirmation (docs/decisions/0101-the-confirmed-opt-in.md).
  const isProof = isByMail || evidence.import_job_id !== null;
  const isProven = source === "confirmed_opt_in" || (isProof && isOfAddress && asks(world, channel));
  const isStill = held?.status === "opted_in" && held.isConfirmed;
  const row: Consent = {
    ...{ id: newId(world, "consent"), subscriber_id: subscriber.id, channel, status, consented_at, source, evidence },
    isConfirmed: status === "opted_in" && (isProven || isStill),
    ...{ express: status === "opted_in" || status === "pending", recorded_at: world.now, order: world.order++ },
  };
  world.consents.push(row);
  return row;
}

/**
 * The newest decides: by the time of the statement, of one time the one recorded later. An opt-out of a file holds over
 * an opt-in that was recorded before it, whatever their times (AMB-132).
 */
export function currentConsent(world: World, subscriber: string, channel: string): Consent | undefined {
  const rows = world.consents.filter((row) => row.subscriber_id === subscriber && row.channel === channel);
  const isFromFile = (row: Consent) => row.status === "opted_out" && row.evidence.import_job_id !== null;
  return rows.reduce<Consent | undefined>(
    (held, row) => (!held || row.consented_at >= held.consented_at || isFromFile(row) ? row : held),
    undefined,
  );
}

export function currentConsents(world: World, subscriber: Subscriber): Body[] {
  const { id } = subscriber;
  return CHANNELS.flatMap((channel): Body[] => {
    const row = currentConsent(world, id, channel);
    const of = consentOfAddress(world, subscriber, channel, row);
    if (of) return [{ channel, status: of.status, consented_at: iso(of.at) }];
    return row ? [{ channel, status: row.status, consented_at: iso(row.consented_at) }] : [];
  });
}

/** D-CONSENT: marketing demands no opt-out, or an opt-in where the workspace says so; a suppression stops all mail. */
export function maySend(world: World, subscriber: string, channel: string, category: string): string | null {
  if (!CHANNELS.includes(channel)) return null;
  const own = currentConsent(world, subscriber, channel);
  const of = consentOfAddress(world, found(world.subscribers, subscriber), channel, own);
  const status = of?.status ?? own?.status;
  if (status === "suppressed") return "suppressed";
  if (category === "transactional") return null;
  if (status === "opted_out" || status === "pending") return "no_consent";
  const isOptIn = channel === "email" && world.settings.email_consent_mode === "opt_in";
  return isOptIn && status !== "opted_in" ? "no_consent" : null;
}

/** What holds for the addresses comes first (AMB-128). */
export const consentsOfAddresses = (world: World, subscriber: Subscriber): Body[] =>
  CHANNELS.flatMap((channel) => {
    const of = consentOfAddress(world, subscriber, channel, currentConsent(world, subscriber.id, channel));
    if (!of) return [];
    const { id, status, at, source, note } = of;
    const evidence = { ip: null, text: note, import_job_id: null };
    const times = { consented_at: iso(at), recorded_at: iso(at) };
    return [{ id, subscriber_id: subscriber.id, channel, status, express: false, source, evidence, ...times }];
  });

/** The workspace asks for mail, a topic and a list for themselves. */
export function asks(world: World, channel: string): boolean {
  const [kind, name] = channel.split(/:(.*)/);
  if (kind === "topic") return world.topics.some(({ key, double_opt_in }) => key === name && double_opt_in);
  if (kind === "list") return found(world.lists, name)?.double_opt_in === true;
  return kind === "email" && world.settings.double_opt_in === true;
}

/**
 * Records a consent. An opt-in that must be confirmed is pending. A person who has opted in before stays so, unless it is
 * said of another address than `before`.
 */
export function stated(world: World, subscriber: Subscriber, consent: Body, before = subscriber.email): Consent {
  const isIn = currentConsent(world, subscriber.id, consent.channel)?.status === "opted_in";
  const isHeld = isIn && isSameAddress(before, subscriber.email);
  const isAsked = consent.status === "opted_in" && !isHeld && asks(world, consent.channel);
  const row = recordConsent(world, subscriber, isAsked ? { ...consent, status: "pending" } : consent);
  if (isAsked) at(world, world.now, () => world.askOwner(subscriber, row));
  return row;
}

/**
 * A confirmation is of one address: the owner of the next one is asked anew.
 * @param stated the channel that the same call says something of: that is asked instead
 */
export function addressChanged(
  world: World,
  subscriber: Subscriber,
  before: string | null,
  stated?: string | undefined,
): void {
  if (isSameAddress(before, subscriber.email)) return;
  const channels = new Set(
    world.consents.filter((row) => row.subscriber_id === subscriber.id).map((row) => row.channel),
  );
  for (const channel of channels) {
    const row = currentConsent(world, subscriber.id, channel)!;
    if (channel === stated || row.status !== "opted_in" || !row.isConfirmed) continue;
    const said = { channel, status: "pending", consented_at: world.now, source: "address_changed" };
    const next = recordConsent(world, subscriber, { ...said });
    const isLeft = ({ of, subscriber_id }: Body) => subscriber_id === subscriber.id && channel === `list:${of}`;
    world.memberships = world.memberships.filter((membership) => !isLeft(membership));
    at(world, world.now, () => world.askOwner(subscriber, next));
  }
}
