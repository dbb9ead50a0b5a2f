// Sorts the cells of an imported row by their content, and finds the addresses among them.
import { withoutMark } from "./csv.ts";
import { addressesIn, readEmail } from "./import-addresses.ts";
import { saysOut, saysSuppressed } from "./import-answers.ts";
import { type RowChannel, type RowColumn, rowChannelOf } from "./import-channels.ts";
import { PROOF } from "./import-column-names.ts";
import type { Columns } from "./import-columns.ts";
import type { ConsentReading, ImportedConsent, SignedCell } from "./import-consents.ts";
import { OF_WHOM } from "./import-fields.ts";
import { refusedInJson } from "./import-json.ts";
import type { OtherChannel } from "./import-mapping.ts";
import { type LogColumn, partyOf } from "./import-message-logs.ts";
import type { PluslessNumbers, Standard } from "./import-names.ts";
import { regionOf } from "./import-places.ts";
import { type SignedChannel, type SignedName, signedName } from "./import-signs.ts";
import { cellValue, isMissing, tagsOf, type Value } from "./import-values.ts";

export interface RowReading extends ConsentReading {
  /** The ISO 3166 region of phone numbers without a country code, whatever the row says. */
  phoneRegion?: string | undefined;
  /** Their region if the row does not say. */
  region?: string | undefined;
}

/** The cells of a row, sorted by content. */
export interface SortedCells {
  standard: Partial<Record<Standard, string>>;
  evidence: Record<string, string>;
  attributes: Record<string, Value>;
  signed: SignedCell[];
  /** By the key of a topic. */
  topics: Record<string, { said?: string; signed: SignedCell[]; time?: string }>;
  /** By channel: the consent columns of our own exports. */
  channels: Partial<Record<OtherChannel, { said?: string; time?: string }>>;
  /** The region of its numbers; null for an unreadable one. */
  region?: string | null;
  /** Its external id cannot be told from others. */
  isIdLost?: true;
  channel?: RowChannel | undefined;
  /** Its address on that channel. */
  address?: string;
  /** The columns of a message log. */
  message: Partial<Record<LogColumn, string>>;
  /** The words of its status, if the name of the column does not say that it is about mail. */
  said?: string;
  /** The numbers as written, the most usual column name first. */
  phones: WrittenPhone[];
  /** Numbers in columns of one channel. */
  numbers: WrittenNumber[];
  /** Addresses in further address columns. */
  furtherEmails?: readonly string[];
  /** Whether the time of its consent is the time of a yes. */
  isTimeOfYes?: boolean;
}

interface WrittenNumber {
  text: string;
  lacksPlus: PluslessNumbers | undefined;
  /** The only channel of the number. */
  of: OtherChannel | undefined;
}

interface WrittenPhone extends WrittenNumber {
  rank: number;
}

/** The phone column comes before others with the name of a phone. */
const FIRST_PHONE = Number.NEGATIVE_INFINITY;
const LAST_PHONE = Number.POSITIVE_INFINITY;

const emptyRow = (): SortedCells => ({
  standard: {},
  evidence: {},
  attributes: {},
  signed: [],
  topics: {},
  channels: {},
  message: {},
  phones: [],
  numbers: [],
});

/** Sorts a row of as many cells as its header has. */
export function sortCells({ cells, types }: Columns, row: readonly string[]): SortedCells {
  const sorted = emptyRow();
  const topicOf = (key: string) => {
    sorted.topics[key] ??= { signed: [] };
    return sorted.topics[key];
  };
  for (const [
    i,
    {
      standard,
      evidence,
      attribute,
      topic,
      topicTime,
      ofChannel,
      signed,
      isCountry,
      lacksPlus,
      phoneRank,
      numberOf: of,
      timeColumn,
      ...cell
    },
  ] of cells.entries()) {
    const written = textOf(row[i] ?? "");
    const value = cell.legend?.get(written.toLowerCase()) ?? written;
    if (value === "" || (standard && OF_WHOM.includes(standard) && NO_VALUE.test(value))) continue;
    if (standard && standard !== "consent_status" && isMissing(value)) continue;
    const refused = cell.name === undefined ? undefined : refusedInJson(cell.name, value);
    if (refused) sorted.signed.push(...refused);
    if (standard === "external_id" && LOST_DIGITS.test(value)) sorted.isIdLost = true;
    else if (standard && !signed && !(refused && standard === "consent_status"))
      sorted.standard[standard] = standard === "external_id" ? readId(value) : value;
    if (standard === "consent_status" && !signed && !refused && !cell.isOfMail) sorted.said = value;
    const at = timeColumn === undefined ? undefined : textOf(row[timeColumn.at] ?? "") || undefined;
    const [time, suppressedAt] = timeColumn?.isOfEntry ? [undefined, at] : [at, undefined];
    if (standard === "consent_status" && time !== undefined) sorted.standard.consent_at ??= time;
    if (cell.timeOfYes) sorted.isTimeOfYes = true;
    if (cell.timeOfYes === "proof") sorted.signed.push({ signed: PROOF, value });
    if (standard === "tags" && !refused) sorted.signed.push(...signedTags(value));
    if (cell.rowColumn) takeRowColumn(sorted, cell.rowColumn, value);
    if (evidence) sorted.evidence[evidence] = value;
    const type = types[i] ?? "text";
    if (attribute && (type === "text" || !isMissing(value))) sorted.attributes[attribute] = cellValue(written, type);
    if (topic && signed) topicOf(topic).signed.push({ signed, value, time });
    else if (topic) topicOf(topic).said = value;
    else if (signed && !refused)
      sorted.signed.push({ signed: ofNamedChannels(signed, value), value, time, suppressedAt });
    if (topicTime) topicOf(topicTime).time = value;
    if (ofChannel) {
      const { channel, isTime } = ofChannel;
      sorted.channels[channel] = { ...sorted.channels[channel], [isTime ? "time" : "said"]: value };
    }
    if (isCountry) takeCountry(sorted, value);
    const rank = standard === "phone" ? FIRST_PHONE : phoneRank;
    if (rank !== undefined && !NO_VALUE.test(value)) sorted.phones.push({ text: value, rank, lacksPlus, of });
    if (of && mayBeNumber(value)) sorted.numbers.push({ text: value, lacksPlus, of });
  }
  takeFurtherEmails(sorted, cells, row);
  sorted.phones.sort((a, b) => a.rank - b.rank);
  takeAddress(sorted);
  takeParty(
    sorted,
    cells.some(({ isOfReceiver }) => isOfReceiver),
  );
  return sorted;
}

/** Takes the address of a further column if the person's own column is empty. */
function takeFurtherEmails(sorted: SortedCells, cells: Columns["cells"], row: readonly string[]): void {
  const { standard } = sorted;
  const texts = cells.flatMap(({ isEmailToo }, i) => (isEmailToo ? [textOf(row[i] ?? "")] : []));
  sorted.furtherEmails = texts.flatMap(addressesIn);
  if (standard.external_id !== undefined || standard.email !== undefined) return;
  const email = texts.find((text) => readEmail(text).kind === "address");
  if (email !== undefined) standard.email = email;
}

/** The other addresses of a row, to which its refusals apply as well: one cell may name a bounced mail. */
export function otherEmails(
  { standard, furtherEmails = [] }: SortedCells,
  email: string | undefined,
  consent: ImportedConsent | undefined,
): string[] {
  const further = consent?.status === "opted_out" ? furtherEmails : [];
  return [...new Set([...addressesIn(standard.email ?? ""), ...further])].filter((address) => address !== email);
}

/** Ways to contact a person, and the separators between several. */
const WAY = /^(?:e-?mails?|sms|texts?|whatsapp|push|phone|calls?|post|mail|fax|in-?app|web ?push)$/i;
const BETWEEN_WAYS = /(?<![\s"'[\]])[\s"'[\]]*[,;|&+/][\s"'[\]]*|(?<!\s)\s+(?:and|und|et|y|e|en|i)\s+/i;
/** The channels of a column that says no and names none, if its cell names them: `doNotContact` is `sms`. */
function ofNamedChannels(signed: SignedName, value: string): SignedName {
  if (signed.sign !== "out" || (signed.channels.length < 2 && !signed.isUnnamed)) return signed;
  const ways = value.replaceAll(/^[\s"'[]+|(?<![\s"'\]])[\s"'\]]+$/g, "").split(BETWEEN_WAYS);
  if (!ways.every((way) => WAY.test(way))) return signed;
  const { isUnnamed: _, ...named } = signed;
  const channels = ways.flatMap((way) => {
    const of = signedName(way);
    return of && !of.isUnnamed ? of.channels : [];
  });
  return { ...named, channels: [...new Set(channels)] };
}

function takeRowColumn(sorted: SortedCells, column: RowColumn, value: string): void {
  if (column === "address") sorted.address = value;
  else if (column === "channel" || column === "device") sorted.channel = rowChannelOf(column, value) ?? sorted.channel;
  else sorted.message[column] = value;
}

/** The region of a number with an unreadable country stays unknown. */
function takeCountry(sorted: SortedCells, value: string): void {
  const region = regionOf(value);
  if (region !== undefined) sorted.region = region;
  else if (!NO_VALUE.test(value) && !/[@,;]/.test(value)) sorted.region ??= null;
}

const saysNo = (tag: string): boolean => saysOut(tag) || saysSuppressed(tag);

/**
 * Tags that mean an opt-out, of the channel in the tag: `unsubscribed`, `sms-optout`. Zendesk separates tags only by
 * spaces.
 */
const signedTags = (text: string): SignedCell[] =>
  tagsOf(text)
    .flatMap((tag) => (saysNo(tag) ? [tag] : tag.split(/(?<![:=\s])\s+/).filter(saysNo)))
    .map((tag) => {
      const of = signedName(tag);
      const channels = of && !of.isUnnamed ? of.channels : (["email"] as const);
      return { signed: { sign: "word", channels }, value: tag };
    });

/** In a row of one channel, the address may be in a column for all channels. */
function takeAddress({ standard, channel, address, phones, numbers }: SortedCells): void {
  if (address === undefined) return;
  if (channel === "email") standard.email ??= address;
  if (channel === "sms") phones.push({ text: address, rank: LAST_PHONE, lacksPlus: undefined, of: undefined });
  // It may be a number that receives no texts: the person then has the one of another row.
  if (channel === "voice") numbers.push({ text: address, lacksPlus: undefined, of: "sms" });
}

/**
 * Takes the other party of a logged message, or the author of an opt-out by message. @param isToReceiver the address of
 * its row is the receiver's
 */
function takeParty(sorted: SortedCells, isToReceiver: boolean): void {
  const { message, phones, signed, standard } = sorted;
  const party = partyOf(message);
  if (!party) return;

  const { from: text, isOut } = party;
  const [email] = addressesIn(text ?? "");
  if (email !== undefined && (isToReceiver || standard.email === undefined)) standard.email = email;
  else if (email !== undefined) sorted.furtherEmails = [...(sorted.furtherEmails ?? []), email];
  else if (text !== undefined && (message.direction !== undefined || mayBeNumber(text))) {
    const written: WrittenPhone = { text, rank: LAST_PHONE, lacksPlus: "long", of: undefined };
    // The other numbers of an inbound message are ours.
    sorted.phones = message.direction === undefined ? [written] : [...phones, written];
  }
  if (isOut)
    signed.push({
      signed: { sign: "out", channels: email === undefined ? channelsOf(sorted, text) : ["email"] },
      value: "true",
    });
}

/**
 * The channels of an opt-out by message: the channel of the message, the one that its row names, or the ones that the
 * row has addresses for.
 */
function channelsOf({ channel, message, phones: [phone] }: SortedCells, party = ""): SignedChannel[] {
  if (/^whatsapp:/i.test(party)) return ["chat_app"];
  if (channel === "email" || channel === "sms" || channel === "chat_app") return [channel];
  const ofNumber = phone ? [phone.of ?? ("sms" as const)] : [];
  // A subject may belong to a mail, also beside a phone number.
  return phone && message.subject === undefined ? ofNumber : ["email", ...ofNumber];
}

const MAY_BE_NUMBER = /(?:\d\D{0,3}){6}/;
/** A date in a column with the name of a channel: when the person agreed. */
const IS_DAY = /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ,].*)?$/;
const mayBeNumber = (text: string): boolean => MAY_BE_NUMBER.test(text) && !IS_DAY.test(text);

/** Placeholders for a missing name, address or number. */
const NO_VALUE = /^(?:null|nan|none|nil|undefined|<na>|n\/a|#n\/a|#nv|#[\p{L}\d/]+[!?]|\\n|-+)$/iu;
/** A number whose digits a spreadsheet dropped: several people have the same. */
const LOST_DIGITS = /^\d[.,]\d+e\+\d+$/i;
/** A whole number as data frames write it. */
const WRITTEN_AS_DECIMAL = /^(\d+)[.,]0$/;
export const readId = (text: string): string => text.replace(WRITTEN_AS_DECIMAL, "$1");
/** Space around a value, and invisible characters. */
const AROUND = /^[\s\p{Cf}]+|(?<![\s\p{Cf}])[\s\p{Cf}]+$/gu;
/** The form that keeps a spreadsheet from reading a text as a number: `="0151"`. */
const AS_TEXT = /^="([^"]*)"$/;
const NULL_OF_DATABASES = /^\\N$/;
/** A cell without the characters around its value. */
export const textOf = (cell: string): string =>
  withoutMark(cell.replaceAll(AROUND, "").replace(AS_TEXT, "$1")).replaceAll(AROUND, "").replace(NULL_OF_DATABASES, "");
