// What an import would do, without writing (F13): applies the rules of the store to the stored rows and to the effects
// of earlier rows. A worker that continues the file does not remember the rows of the worker before.
import { timestamp } from "../../../shared/kernel/clock.ts";
import { suppressionReasons } from "../../../shared/rules/addresses.ts";
import { type ImportedConsent, isOptOut } from "../../../shared/rules/import-consents.ts";
import { otherChannels } from "../../../shared/rules/import-mapping.ts";
import {
  type GivenAddresses,
  type Refusals,
  refusalsIn,
  refusedNumbers,
  refusedOfPerson,
  withAddresses,
} from "../../../shared/rules/import-refusals.ts";
import { listChannelOf } from "../../../shared/rules/list-consents.ts";
import { familyOf } from "../../../shared/store/families.ts";
import { addressId } from "../../../shared/store/subscribers/address-items.ts";
import type { AddressRow } from "../../../shared/store/subscribers/addresses.ts";
import {
  type ConsentAssertion,
  consentChange,
  foldedConsent,
  isConfirmedElsewhere,
  unconfirmedAgain,
} from "../../../shared/store/subscribers/consents.ts";
import { keptOf, type RefusalOutcome } from "../../../shared/store/subscribers/import-refusals.ts";
import {
  asProven,
  type ChoiceOutcomes,
  type ImportedFrom,
  judged,
  provenBy,
} from "../../../shared/store/subscribers/imported-consents.ts";
import type { ProfileRow } from "../../../shared/store/subscribers/items.ts";
import type { WorkerContext } from "./context.ts";
import { joinsList } from "./import-person.ts";
import { type GoodRow, type Person, personsOf } from "./persons.ts";
import { givenBy, givenIn, type RefusedRow } from "./refusing.ts";
import {
  idOf,
  MAX_REMEMBERED,
  nameOf,
  type PersonState,
  type Rehearsal,
  readAddresses,
  readPeople,
} from "./rehearsal.ts";
import type { Tally } from "./tally.ts";

type From = Pick<ImportedFrom, "created_at" | "asks" | "isLeft"> & { list: string };

interface Batch {
  rows: readonly GoodRow[];
  refused: readonly RefusedRow[];
  /** The most subscribers to create. */
  room: number;
  /** Whether a row of the file may refuse something. */
  mayRefuse: boolean;
}

/** Counts the effects of a batch. */
export async function rehearse(
  { store, secrets }: WorkerContext,
  from: From,
  rehearsal: Rehearsal,
  { rows, refused, room, mayRefuse }: Batch,
  tally: Tally,
): Promise<void> {
  const root = await secrets.root();
  if (rehearsal.people.size + rehearsal.awaited.size > MAX_REMEMBERED)
    for (const known of Object.values(rehearsal)) known.clear();
  const refusing = refused.map(({ refusals }) => refusals);
  const names = [...rows.map(({ row }) => row.external_id), ...refusing.flatMap((refusal) => nameOf(refusal) ?? [])];
  await readPeople(store, root, rehearsal, { names, from });
  const persons = personsOf(rows, true, (name) => rehearsal.people.get(name));
  const created = persons.filter(({ profile }) => !rehearsal.people.has(profile.external_id));
  const beyond = new Set(created.slice(Math.max(0, room)));
  const taken = persons.filter((person) => !beyond.has(person));
  tally.taken.created = created.length - beyond.size;

  await readAddresses(store, rehearsal, persons, refusing);
  const now = timestamp(store.clock.now());
  // In the order of the import: new persons exist before refusals of rejected rows are recorded, and existing ones
  // change afterwards.
  const news = new Set(created);
  for (const person of taken) if (news.has(person)) applyProfile(rehearsal, person.profile, now);
  const ofNewcomers = new Map(created.map((person) => [person.profile.external_id, givenBy(person)]));
  const given = givenIn(refused, (name = "") => rehearsal.awaited.get(name)?.given);
  const refuseNow = (said: Refusals) => {
    const refusals = withAddresses(said, ofNewcomers.get(said.external_id ?? ""));
    return refuse(rehearsal, from, refusals, given(said.external_id));
  };
  const awaited = [...new Set(names)].flatMap((name) => rehearsal.awaited.get(name)?.refusing ?? []);
  for (const refusals of awaited) refuseNow(refusals);
  for (const { record, problem, refusals } of refused) tally.reject(record, problem, refuseNow(refusals));
  for (const person of taken) if (!news.has(person)) applyProfile(rehearsal, person.profile, now);
  const heldAtStart = new Map(rehearsal.addresses);
  for (const person of persons) {
    if (beyond.has(person))
      for (const { row, email, record } of person.rows) {
        const refusals = withAddresses({ ...refusalsIn(row), email }, givenBy(person));
        tally.reject(
          record,
          "quota",
          mayRefuse ? refuse(rehearsal, from, refusals, given(refusals.external_id)) : undefined,
        );
      }
    else takePerson({ rehearsal, from, heldAtStart }, person, tally);
  }
  for (const { profile, rows: ownRows } of taken) {
    const state = rehearsal.people.get(profile.external_id)!;
    if (!state.isMember && joinsList(from, state, ownRows)) joinList(state, from, now);
    if (!state.isMember) tally.taken.pending += ownRows.length;
  }
}

/** The profile after the rows of the batch. @param at when the address changes, RFC 3339 */
function applyProfile({ people }: Rehearsal, { external_id, email, attributes }: Person["profile"], at: string): void {
  const state: PersonState = people.get(external_id) ?? { consents: {} };
  if (isConfirmedElsewhere(state.consents, email)) {
    const again = unconfirmedAgain(state.consents, at).map(foldedConsent);
    for (const [channel] of familyOf(state.consents, "cc:")) delete state.consents[`cc:${channel}`];
    Object.assign(state.consents, ...again, { confirmed_address: undefined });
  }
  state.email = email ?? state.email;
  state.phone = attributes.phone ?? state.phone;
  people.set(external_id, state);
}

interface RehearsedBatch {
  rehearsal: Rehearsal;
  from: From;
  /** The addresses before the batch. `heldBefore` tells the effects of its other rows. */
  heldAtStart: ReadonlyMap<string, Partial<AddressRow>>;
}

function takePerson({ rehearsal, from, heldAtStart }: RehearsedBatch, { profile, rows }: Person, tally: Tally): void {
  const state = rehearsal.people.get(profile.external_id)!;
  const isHeld = (channel: "email" | "sms" | "chat_app", id: string | undefined): boolean => {
    const row = id === undefined ? undefined : heldAtStart.get(id);
    return row?.reason !== undefined || row?.[`o:${channel}`] !== undefined;
  };
  for (const good of rows) {
    const { consent, choices, isByAddress } = good.row;
    const { heldBefore, isOfAddress, isLeft } = good;
    tally.countRow(good);
    const email = good.email ?? state.email;
    const number = idOf("phone", state.phone);
    if (consent) {
      const isRefused = heldBefore.has("email") || isHeld("email", idOf("email", email));
      const said = { consent, email, isByAddress: isOfAddress, isHeld: isRefused };
      tally.taken.consents[applyMailConsent(rehearsal, state, { ...from, isLeft }, said)]++;
    }
    const held = new Set<string>(
      otherChannels.filter((otherChannel) => heldBefore.has(otherChannel) || isHeld(otherChannel, number)),
    );
    tally.countChoices(applyChoices(state, { ...from, isLeft }, choices, held));
    const refusals = refusalsIn(good.row);
    optOutNumbers(rehearsal, from, refusals, isByAddress);
    optOutOthers(rehearsal, from, refusals);
  }
}

/** Counts the refusal of a rejected row. */
function refuse(rehearsal: Rehearsal, from: From, said: Refusals, given: GivenAddresses | undefined): RefusalOutcome {
  const state = rehearsal.people.get(nameOf(said) ?? "");
  const refusals = state ? said : withAddresses(said, given);
  const { external_id, email, consent, choices } = refusals;
  const isByAddress = state === undefined || external_id === undefined;
  optOutNumbers(rehearsal, from, refusals, isByAddress);
  optOutOthers(rehearsal, from, refusals);
  const stated = { email: email ?? state?.email, isByAddress, isHeld: false };
  if (consent) applyMailConsent(rehearsal, state, from, { ...stated, consent });
  if (state) applyChoices(state, from, choices, new Set());
  else awaitPerson(rehearsal, refusals);
  return keptOf(refusals, state !== undefined);
}

/**
 * Keeps the refusals for a person who does not exist yet. The first row that refuses a thing counts; waiting refusals
 * are applied again in each batch that names the person.
 */
function awaitPerson({ awaited }: Rehearsal, refusals: Refusals): void {
  const { external_id, email, phone } = refusals;
  if (external_id === undefined) return;
  const { given, refusing } = awaited.get(external_id) ?? { given: {}, refusing: [] };
  const left = refusedOfPerson(refusals);
  const before = new Set(refusing.flatMap(thingsRefused));
  const isNews = left !== undefined && thingsRefused(left).some((thing) => !before.has(thing));
  awaited.set(external_id, {
    given: { email: email ?? given.email, phone: phone ?? given.phone },
    refusing: isNews ? [...refusing, left] : refusing,
  });
}

/** The things that a row refuses: mail, an address, or the channel of a choice. */
const thingsRefused = ({ consent, choices }: Refusals): string[] => [
  ...(consent ? [consent.status] : []),
  ...Object.keys(choices),
];

function optOutOthers(rehearsal: Rehearsal, from: From, { consent, otherEmails = [] }: Refusals): void {
  if (consent === undefined) return;
  for (const email of otherEmails)
    applyMailConsent(rehearsal, undefined, from, { consent, email, isByAddress: true, isHeld: false });
}

function optOutNumbers({ addresses }: Rehearsal, { created_at }: From, refusals: Refusals, isByAddress: boolean): void {
  for (const { channel, number, at = created_at } of refusedNumbers(refusals, isByAddress)) {
    const id = addressId("phone", number);
    addresses.set(id, { ...addresses.get(id), [`o:${channel}`]: at });
  }
}

interface MailStatement {
  consent: ImportedConsent;
  email: string | undefined;
  isByAddress: boolean;
  /** The address is suppressed, or opted out. */
  isHeld: boolean;
}

function applyMailConsent(
  { addresses }: Rehearsal,
  state: PersonState | undefined,
  from: From,
  { consent: { status, at: said, isPending }, email, isByAddress, isHeld }: MailStatement,
): ImportedConsent["status"] | "unchanged" {
  const at = said ?? from.created_at;
  if (status === "unknown") return status;
  if (status === "opted_in" && isHeld) return "unchanged";
  const id = idOf("email", email);
  const row = id === undefined ? undefined : (addresses.get(id) ?? {});
  if (status === "suppressed" && id !== undefined && row) {
    const strength = (reason: AddressRow["reason"]) => (reason === undefined ? -1 : suppressionReasons.indexOf(reason));
    const isWeaker = strength(row.reason) < strength("imported") && (!said || row.suppressed_at !== said);
    const after = isWeaker ? { ...row, reason: "imported" as const, suppressed_at: at } : row;
    addresses.set(id, after);
    return after.reason === "imported" && after.suppressed_at === at ? status : "unchanged";
  }
  if (isOptOut({ status, isPending }) && isByAddress && id !== undefined) addresses.set(id, { ...row, "o:email": at });
  const recordedStatus = status === "opted_in" ? status : "opted_out";
  return state
    ? applyConsent(state, from, { channel: "email", status: recordedStatus, consented_at: at, isPending })
    : "unchanged";
}

function applyChoices(
  state: PersonState,
  from: From,
  choices: Refusals["choices"],
  held: ReadonlySet<string>,
): ChoiceOutcomes {
  const outcomes: ChoiceOutcomes = {};
  for (const [channel, { status, at = from.created_at, isPending }] of Object.entries(choices))
    outcomes[channel] =
      status === "unknown" ? status : applyConsent(state, from, { channel, status, consented_at: at, isPending }, held);
  return outcomes;
}

const NONE: ReadonlySet<string> = new Set();

function applyConsent<S extends "opted_in" | "opted_out">(
  state: PersonState,
  from: From,
  statement: ConsentAssertion & { status: S },
  held = NONE,
): S | "unchanged" {
  const assertion = asProven(from, statement, state.consents);
  const verdict = judged(state.consents, assertion, held);
  if (verdict === "new") state.consents = withConsent(state, from, assertion);
  return verdict === "refused" ? "unchanged" : statement.status;
}

/**
 * The consent fields of a profile after an assertion. An opt-out confirms nothing, and a proof is as good as a
 * confirmation.
 */
function withConsent({ consents, email }: PersonState, from: From, assertion: ConsentAssertion): Partial<ProfileRow> {
  const { set, remove } = consentChange(assertion);
  const changed = { ...consents, ...set, ...provenBy(from, email === undefined ? {} : { email }, [assertion]).set };
  for (const name of remove) delete changed[name];
  return changed;
}

/** Adds a member to the list. A member with a proof has confirmed it. @param at RFC 3339 */
function joinList(state: PersonState, from: From, at: string): void {
  const channel = listChannelOf(from.list);
  state.isMember = true;
  if (!from.asks.has(channel) || state.consents[`c:${channel}`] === "opted_in") return;
  state.consents = withConsent(state, from, { channel, status: "opted_in", consented_at: at });
}
