// The cells of an imported row by what they hold, and the addresses among them.
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
  /** ISO 3166: where phone numbers without a country code are from, whatever the row says. */
  phoneRegion?: string | undefined;
  /** Where they are from if the row does not say. */
  region?: string | undefined;
}

/** The cells of a row by what they hold. */
export interface SortedCells {
  standard: Partial<Record<Standard, string>>;
  evidence: Record<string, string>;
  attributes: Record<string, Value>;
  signed: SignedCell[];
  /** By the key of a topic. */
  topics: Record<string, { said?: string; signed: SignedCell[]; time?: string }>;
  /** By channel, what our exports say of it. */
  channels: Partial<Record<OtherChannel, { said?: string; time?: string }>>;
  /** The region of its numbers; null for one that nobody can read. */
  region?: string | null;
  /** Its external id cannot be told from those of others. */
  isIdLost?: true;
  /** Of which channel the row is. */
  channel?: RowChannel | undefined;
  /** Its address there. */
  address?: string;
  /** Of a log of messages. */
  message: Partial<Record<LogColumn, string>>;
  /** What its status says, if the name of its column does not say that it is of mail. */
  said?: string;
  /** As its columns have them, the most usual name first. */
  phones: WrittenPhone[];
  /** In columns of one channel. */
  numbers: WrittenNumber[];
  /** In further columns of addresses. */
  furtherEmails?: readonly string[];
  /** Whether the time of its consent is that of a yes. */
  isTimeOfYes?: boolean;
}

interface WrittenNumber {
  text: string;
  lacksPlus: PluslessNumbers | undefined;
  /** The channel that alone it is of. */
  of: OtherChannel | undefined;
}

interface WrittenPhone extends WrittenNumber {
  rank: number;
}

/** The column of the phone comes before others with a name of one. */
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

/** Whose column of the address is empty has the one of a further column. */
function takeFurtherEmails(sorted: SortedCells, cells: Columns["cells"], row: readonly string[]): void {
  const { standard } = sorted;
  const texts = cells.flatMap(({ isEmailToo }, i) => (isEmailToo ? [textOf(row[i] ?? "")] : []));
  sorted.furtherEmails = texts.flatMap(addressesIn);
  if (standard.external_id !== undefined || standard.email !== undefined) return;
  const email = texts.find((text) => readEmail(text).kind === "address");
  if (email !== undefined) standard.email = email;
}

/** The addresses of a row beside the one of its person, for which too holds what it refuses: a mail came back from one cell. */
export function otherEmails(
  { standard, furtherEmails = [] }: SortedCells,
  email: string | undefined,
  consent: ImportedConsent | undefined,
): string[] {
  const further = consent?.status === "opted_out" ? furtherEmails : [];
  return [...new Set([...addressesIn(standard.email ?? ""), ...further])].filter((address) => address !== email);
}

/** Ways to reach somebody, and what stands between several. */
const WAY = /^(?:e-?mails?|sms|texts?|whatsapp|push|phone|calls?|post|mail|fax|in-?app|web ?push)$/i;
const BETWEEN_WAYS = /(?<![\s"'[\]])[\s"'[\]]*[,;|&+/][\s"'[\]]*|(?<!\s)\s+(?:and|und|et|y|e|en|i)\s+/i;
/** Of which channels a column says no that names none, where its cell names them: `doNotContact` is `sms`. */
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

/** A number of a country that cannot be read is of no other one. */
function takeCountry(sorted: SortedCells, value: string): void {
  const region = regionOf(value);
  if (region !== undefined) sorted.region = region;
  else if (!NO_VALUE.test(value) && !/[@,;]/.test(value)) sorted.region ??= null;
}

const saysNo = (tag: string): boolean => saysOut(tag) || saysSuppressed(tag);

/**
 * A tag may be an opt-out too, of the channel that it names: `unsubscribed`, `sms-optout`. Zendesk writes only spaces between
 * tags.
 */
const signedTags = (text: string): SignedCell[] =>
  tagsOf(text)
    .flatMap((tag) => (saysNo(tag) ? [tag] : tag.split(/(?<![:=\s])\s+/).filter(saysNo)))
    .map((tag) => {
      const of = signedName(tag);
      const channels = of && !of.isUnnamed ? of.channels : (["email"] as const);
      return { signed: { sign: "word", channels }, value: tag };
    });

/** In a row of one channel, the address may stand in a column for all of them. */
function takeAddress({ standard, channel, address, phones, numbers }: SortedCells): void {
  if (address === undefined) return;
  if (channel === "email") standard.email ??= address;
  if (channel === "sms") phones.push({ text: address, rank: LAST_PHONE, lacksPlus: undefined, of: undefined });
  // It may be none that texts go to: the person has the one of another row.
  if (channel === "voice") numbers.push({ text: address, lacksPlus: undefined, of: "sms" });
}

/**
 * In a log of messages, the other party; of an opt-out by a message, its author.
 * @param isToReceiver the address of its row is the receiver's
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
    // The other numbers of a message that came to us are ours.
    sorted.phones = message.direction === undefined ? [written] : [...phones, written];
  }
  if (isOut)
    signed.push({
      signed: { sign: "out", channels: email === undefined ? channelsOf(sorted, text) : ["email"] },
      value: "true",
    });
}

/** What an opt-out by a message is of: the channel that it came by, or that its row names, or to which the row has a way. */
function channelsOf({ channel, message, phones: [phone] }: SortedCells, party = ""): SignedChannel[] {
  if (/^whatsapp:/i.test(party)) return ["chat_app"];
  if (channel === "email" || channel === "sms" || channel === "chat_app") return [channel];
  const ofNumber = phone ? [phone.of ?? ("sms" as const)] : [];
  // A subject may be one of a mail, whatever number its writer has.
  return phone && message.subject === undefined ? ofNumber : ["email", ...ofNumber];
}

const MAY_BE_NUMBER = /(?:\d\D{0,3}){6}/;
/** When somebody agreed, in a column named as its channel. */
const IS_DAY = /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ,].*)?$/;
const mayBeNumber = (text: string): boolean => MAY_BE_NUMBER.test(text) && !IS_DAY.test(text);

/** What stands for no value where a name, an address or a number would. */
const NO_VALUE = /^(?:null|nan|none|nil|undefined|<na>|n\/a|#n\/a|#nv|#[\p{L}\d/]+[!?]|\\n|-+)$/iu;
/** A number of which a spreadsheet lost digits: several people have the same. */
const LOST_DIGITS = /^\d[.,]\d+e\+\d+$/i;
/** A whole number as data frames write it. */
const WRITTEN_AS_DECIMAL = /^(\d+)[.,]0$/;
/** The external id in a cell. */
export const readId = (text: string): string => text.replace(WRITTEN_AS_DECIMAL, "$1");
/** Space around a value, and signs that nobody sees. */
const AROUND = /^[\s\p{Cf}]+|(?<![\s\p{Cf}])[\s\p{Cf}]+$/gu;
/** What keeps a spreadsheet from reading a text as a number: `="0151"`. */
const AS_TEXT = /^="([^"]*)"$/;
const NULL_OF_DATABASES = /^\\N$/;
/** A cell without what surrounds its value. */
export const textOf = (cell: string): string =>
  withoutMark(cell.replaceAll(AROUND, "").replace(AS_TEXT, "$1")).replaceAll(AROUND, "").replace(NULL_OF_DATABASES, "");
