// Consents of imported rows: noted once per row. An import never reverts an opt-out (D-CSV).
import { createHash } from "node:crypto";
import { uuidV8 } from "../../kernel/ids.ts";
import { normalizedAddress } from "../../rules/addresses.ts";
import { chunksOf } from "../../rules/chunks.ts";
import {
  type ImportedChoice,
  type ImportedChoices,
  type ImportedConsent,
  isOptOut,
} from "../../rules/import-consents.ts";
import { absent, all, any, asRead, below, is, present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type ConditionOf, changeItem } from "../item.ts";
import type { Item } from "../model.ts";
import { contended, done, failuresOf, transacted, untilUncontended } from "../refusals.ts";
import { addressId } from "./address-items.ts";
import { beingChanged } from "./address-moves.ts";
import { optOutWrite, suppressAddress } from "./addresses.ts";
import {
  type ConsentAssertion,
  confirmedAsRead,
  confirmedBefore,
  consentChange,
  consentWrite,
  isNewestConsent,
  isOpenConsent,
} from "./consents.ts";
import { ConsentItem, isAlive, Profile, type ProfileRow } from "./items.ts";
import { getProfile, type LivingProfile } from "./subscribers.ts";

const CHANNEL = "email";
/** A file of 50 MB has less than 2^26 lines: 12 bits of an id and these. */
const LOW_LINE_BITS = 14;

export interface ImportedFrom {
  job: string;
  /** When the import was created, RFC 3339. */
  created_at: string;
  /** The line in the file. */
  line: number;
  /**
   * The opt-ins that count only after the owner of the address confirms. A proof confirms for the address of its row.
   */
  asks: ReadonlySet<string>;
  /** The address of the row is not the one that its person has by the file. */
  isLeft?: boolean;
}

interface ImportedAddress {
  email: string | undefined;
  held: ReadonlySet<string>;
  /** The row names an address and no person. */
  isByAddress: boolean;
  isHeldBefore: boolean;
  /** Beside the one of its person: its text would outlive the erasure of that. */
  isFurther?: true;
}

/**
 * A suppression is of the address, which the row names or the profile has. Without one it is an opt-out. An import resubscribes
 * nobody whose address is suppressed or opted out. An opt-out in a row that names an address and no person is of the
 * address too (docs/decisions/0117).
 * @param email of the row, or of one of its person before it
 * @param held the held addresses of people who agree in the batch, before it and by its rejected rows
 * @param isHeldBefore whether a row before it suppresses its address, or opts it out
 * @returns the status that was recorded, by this reader or by one before it, or that nothing changed
 */
export async function recordImportedConsent(
  store: Store,
  subscriber: string,
  from: ImportedFrom,
  imported: ImportedConsent,
  { email, isByAddress, held, isHeldBefore }: ImportedAddress,
): Promise<ImportedConsent["status"] | "unchanged"> {
  const { status, at: consented_at = from.created_at, source, ip, isPending } = imported;
  if (status === "unknown") return "unknown";
  const common = { channel: CHANNEL, import_job_id: from.job, consented_at, source, ip, isPending };
  const profile = email === undefined ? await getProfile(store, subscriber) : undefined;
  const named = email ?? profile?.email;
  if (status === "opted_in") {
    const isHeld = isHeldBefore || held.has(normalizedAddress(CHANNEL, named) ?? "");
    const agreed = { status, ...common };
    if (isHeld) return (await isRecorded(store, subscriber, from, agreed)) ? status : "unchanged";
    return recordOwn(store, subscriber, from, agreed);
  }

  const ofAddress = await recordOfAddress(store, from, imported, { email: named, isByAddress });
  if (ofAddress.kind === "suppressed") return ofAddress.isThisRow ? status : "unchanged";
  return recordOwn(store, subscriber, from, { status: "opted_out", ...common });
}

/**
 * The statement of a row about an address, for every subscriber that has it. `isThisRow`: the row itself suppresses the
 * address.
 */
type OfAddress = { kind: "nothing" } | { kind: "opted out" } | { kind: "suppressed"; isThisRow: boolean };

/** Records it, also where the row's own person is none: beyond the plan's subscribers, an address stays one to leave alone. */
export async function recordOfAddress(
  store: Store,
  from: Pick<ImportedFrom, "created_at">,
  { status, at, source, isPending }: ImportedConsent,
  { email, isByAddress, isFurther }: Pick<ImportedAddress, "email" | "isByAddress" | "isFurther">,
): Promise<OfAddress> {
  const consented_at = at ?? from.created_at;
  const address = normalizedAddress(CHANNEL, email);
  if (address === undefined) return { kind: "nothing" };
  if (isOptOut({ status, isPending }) && isByAddress) {
    const text = isFurther ? undefined : address;
    const write = optOutWrite(CHANNEL, { id: addressId(CHANNEL, address), text }, CHANNEL, consented_at);
    await transacted(store, [write]);
    return { kind: "opted out" };
  }
  if (status !== "suppressed") return { kind: "nothing" };
  const said = {
    reason: "imported",
    source: source ?? "import",
    at: Date.parse(consented_at),
    isDated: at !== undefined,
  } as const;
  const { row } = await suppressAddress(store, { kind: CHANNEL, address, ...said });
  return { kind: "suppressed", isThisRow: row.reason === said.reason && row.suppressed_at === consented_at };
}

/** Records the person's own consent. */
async function recordOwn<S extends "opted_in" | "opted_out">(
  store: Store,
  subscriber: string,
  from: ImportedFrom,
  statement: ConsentAssertion & { status: S },
): Promise<S | "unchanged"> {
  const { status } = statement;
  const profile = isAsked(from, statement) ? await getProfile(store, subscriber) : undefined;
  const assertion = profile ? asProven(from, statement, profile) : statement;
  const confirmed = profile ? provenBy(from, profile, [assertion]) : { set: {}, when: [] };
  const stating = consentChange(assertion);
  const isNotErased = [present(), absent("erased_at")];
  const conditions = {
    opted_in: [
      ...isNotErased,
      isOpenConsent(CHANNEL),
      isNewestConsent(assertion),
      isNews(assertion),
      ...confirmed.when,
    ],
    opted_out: [...isNotErased, statement.isPending ? absent(`c:${CHANNEL}` as const) : isOpenConsent(CHANNEL)],
  };
  const change = { set: { ...stating.set, ...confirmed.set }, remove: stating.remove };
  const failures = await failuresOf(store, [
    changeItem(Profile, { id: subscriber }, change, all(...conditions[status])),
    consentWrite(store, { subscriber, id: assertionId(from, assertion) }, assertion, absent()),
  ]);
  const [refused, recorded] = failures;
  // An earlier reader recorded it, or an earlier import of the file, and what came later stays.
  return failures.length === 0 || recorded || isKnown(refused?.old, assertion) ? status : "unchanged";
}

const isAsked = ({ asks }: Pick<ImportedFrom, "asks">, { channel, status }: ConsentAssertion): boolean =>
  status !== "opted_out" && asks.has(channel);

/** A proof is of the address of its row. Where the file gives its person another one, the owner of that is asked. */
export const asProven = (
  from: Pick<ImportedFrom, "asks" | "isLeft">,
  said: ConsentAssertion,
  profile: Partial<ProfileRow>,
): ConsentAssertion =>
  from.isLeft && isAsked(from, said) ? confirmedBefore({ ...said, status: "pending" }, profile, undefined) : said;

/** The confirmations by the proofs of a row. */
export function provenBy(
  from: Pick<ImportedFrom, "asks" | "isLeft">,
  profile: Partial<ProfileRow>,
  said: readonly ConsentAssertion[],
) {
  const channels = said.filter((assertion) => isAsked(from, assertion)).map(({ channel }) => channel);
  if (!from.isLeft) return confirmedAsRead(profile, channels);
  return { set: {}, when: channels.map((channel) => asRead(`c:${channel}`, profile[`c:${channel}`])) };
}

/** The same opt-in of the same time is there already, as it is once a file was imported. */
const isKnown = (profile: Item | undefined, { channel, status, consented_at }: ConsentAssertion): boolean =>
  status !== "opted_out" && profile?.[`c:${channel}`] === status && profile[`ct:${channel}`] === consented_at;
const isNews = ({ channel, status, consented_at }: ConsentAssertion): ConditionOf<typeof Profile> =>
  any(
    absent(`c:${channel}`),
    below(`ct:${channel}`, consented_at),
    ...(status === "opted_in" ? [is<`c:${string}`>(`c:${channel}`, "pending")] : []),
  );

/** Whether an earlier reader of the row, which stopped before it was counted, recorded this. */
const isRecorded = async (store: Store, subscriber: string, from: ImportedFrom, assertion: ConsentAssertion) =>
  (await store.get(ConsentItem, { subscriber, consent: assertionId(from, assertion) })) !== undefined;

/** The same for every reader of the row. The assertions of a file are in the order of its lines. */
function assertionId({ job, created_at, line }: ImportedFrom, { channel }: ConsentAssertion): string {
  const tail = createHash("sha256").update(`${job} ${line} ${channel}`).digest();
  // The version and the variant of the id take the bits above (RFC 9562).
  tail.writeUInt16BE((line >>> LOW_LINE_BITS) & 0xfff, 0);
  tail.writeUInt16BE(line & ((1 << LOW_LINE_BITS) - 1), 2);
  return uuidV8(Date.parse(created_at), tail);
}

/** Choices of one transaction, which holds the profile, whose condition has 4 KB, and a row of the history for each. */
const CHOICES_AT_ONCE = 25;
const MAX_ATTEMPTS = 5;

/** By the channel of the consent. */
export type ChoiceOutcomes = Record<string, ImportedChoice["status"] | "unchanged">;

/**
 * Records the choices of a row, with the rules of a consent: an opt-in never reverts an opt-out or what is newer.
 * @param held the channels whose address opted out, or is suppressed: an opt-in of them is none
 * @returns what was recorded, or that nothing changed
 */
export async function recordImportedChoices(
  store: Store,
  subscriber: string,
  from: ImportedFrom,
  choices: ImportedChoices,
  held: ReadonlySet<string> = new Set(),
): Promise<ChoiceOutcomes> {
  const outcomes: ChoiceOutcomes = {};
  const assertions = new Map<string, ConsentAssertion>();
  for (const [channel, { status, at: consented_at = from.created_at, source, isPending }] of Object.entries(choices)) {
    outcomes[channel] = status;
    if (status === "unknown") continue;
    assertions.set(channel, { channel, status, consented_at, source, import_job_id: from.job, isPending });
  }
  for (const batch of chunksOf([...assertions], CHOICES_AT_ONCE))
    Object.assign(outcomes, await recordSome(store, subscriber, { ...from, held }, new Map(batch)));
  return outcomes;
}

async function recordSome(
  store: Store,
  subscriber: string,
  from: ImportedFrom & { held: ReadonlySet<string> },
  assertions: ReadonlyMap<string, ConsentAssertion>,
): Promise<ChoiceOutcomes> {
  return untilUncontended(
    beingChanged,
    async () => {
      const profile = await getProfile(store, subscriber);
      const verdicts = [...assertions].map(([key, statement]) => {
        const assertion = profile ? asProven(from, statement, profile) : statement;
        return { key, assertion, verdict: profile ? judged(profile, assertion, from.held) : "refused" };
      });
      const news = verdicts.filter(({ verdict }) => verdict === "new").map(({ assertion }) => assertion);
      if (profile && news.length > 0) {
        const isWritten = await writeAll(store, profile, from, news);
        if (!isWritten) return contended;
      }
      const refused = verdicts.filter(({ verdict }) => verdict === "refused");
      const keys = refused.map(({ assertion }) => ({ subscriber, consent: assertionId(from, assertion) }));
      const recorded = await store.getAll(ConsentItem, keys);
      return done(Object.fromEntries(refused.flatMap(({ key }, i) => (recorded[i] ? [] : [[key, "unchanged"]]))));
    },
    MAX_ATTEMPTS,
  );
}

/** How a choice relates to a profile. `known`: an earlier reader of the row or an earlier import recorded the opt-in. */
export function judged(
  profile: Partial<ProfileRow>,
  { channel, status, consented_at, isPending }: ConsentAssertion,
  held: ReadonlySet<string>,
) {
  if (status !== "opted_out" && held.has(channel)) return "refused";
  const [newest, at] = [profile[`c:${channel}`], profile[`ct:${channel}`]];
  if (isPending && newest !== undefined) return "refused";
  if (status !== "opted_out" && newest === status && at === consented_at) return "known";
  const isOpen = newest === undefined || newest === "opted_in" || newest === "pending";
  const isNewest = at === undefined || at <= consented_at;
  return isOpen && (isNewest || status === "opted_out") ? "new" : "refused";
}

/** Writes the choices. @returns false if another write changed one of them in the meantime */
function writeAll(
  store: Store,
  profile: LivingProfile,
  from: ImportedFrom,
  news: readonly ConsentAssertion[],
): Promise<boolean> {
  const confirmed = provenBy(from, profile, news);
  const conditions = news.flatMap((assertion) => [
    isOpenConsent(assertion.channel),
    ...(assertion.status !== "opted_out" ? [isNewestConsent(assertion)] : []),
  ]);
  const { set, remove } = consentChange(...news);
  const isAsRead = all(isAlive(), ...conditions, ...confirmed.when);
  return transacted(store, [
    changeItem(Profile, { id: profile.id }, { set: { ...set, ...confirmed.set }, remove }, isAsRead),
    ...news.map((assertion) =>
      consentWrite(store, { subscriber: profile.id, id: assertionId(from, assertion) }, assertion),
    ),
  ]);
}
