// The columns of an import: our own format and the exports of two other platforms (D-CSV).
import { type RowColumn, rowColumn } from "./import-channels.ts";
import { legendOf, type TimeColumn, timeColumnOf, timeOfYes, withProof } from "./import-column-names.ts";
import { OF_WHOM, usualFields } from "./import-fields.ts";
import {
  ATTRIBUTE,
  type ColumnMapping,
  channelColumn,
  columnName,
  givenTargets,
  IGNORED,
  isField,
  misfitOf,
  OTHERS,
  type OtherChannel,
  REFUSED_KEYS,
  snakeCase,
  TOPIC_TIME,
  topicColumn,
} from "./import-mapping.ts";
import { isReceiver } from "./import-message-logs.ts";
import {
  bareName,
  channelOfNumbers,
  columnKey,
  isCountryColumn,
  isEmailAgain,
  type PluslessNumbers,
  phoneLead,
  pluslessOf,
  rankOf,
  type ShownNumbers,
  type Standard,
} from "./import-names.ts";
import { askedBefore, type SignedName, signedName } from "./import-signs.ts";
import { EVIDENCE, type ImportSource } from "./import-sources.ts";
import { type ColumnType, saysYesOrNo } from "./import-values.ts";
import { topicKeyOf } from "./topics.ts";

/**
 * The columns that the file of rejected rows adds before those of the original. A corrected file may be imported with
 * them: they say nothing about a person.
 */
export const REPORT_COLUMNS = ["line", "reason"];
const isReported = (header: readonly string[], i: number): boolean =>
  i < REPORT_COLUMNS.length && REPORT_COLUMNS.every((name, n) => header[n] === name);

/** Evidence that becomes an attribute too. */
const KEPT = ["optin_ip", "confirm_ip"];

export const MAX_EXTRA_COLUMNS = 100;
export const MAX_VALUE_BYTES = 4_096;

export interface Cell {
  standard?: Standard;
  evidence?: string;
  attribute?: string | undefined;
  /** The key of the topic with the choice in this column. */
  topic?: string;
  /** The key of the topic whose choice has its time in this column. */
  topicTime?: string;
  /** The consent of another channel than mail, or its time, as our exports write it. */
  ofChannel?: { channel: OtherChannel; isTime: boolean };
  /** The statement of the name about consent. */
  signed?: SignedName;
  /** The name of a column that may hold JSON with a consent. */
  name?: string;
  /** The region of the row's phone numbers. */
  isCountry?: boolean;
  /** The rank of a further phone number, the smallest first. It is used if the phone column is empty or unreadable. */
  phoneRank?: number | undefined;
  /** A further address column: `email` again, or `Email 2`. It is used if the address column is empty. */
  isEmailToo?: boolean;
  /** Which of its phone numbers are international ones without their plus. */
  lacksPlus?: PluslessNumbers;
  /** The only channel of its numbers: `WhatsApp Number`. */
  numberOf?: OtherChannel | undefined;
  /** The column with the time of its statement. */
  timeColumn?: TimeColumn | undefined;
  /** Its role for the channel of the row. */
  rowColumn?: RowColumn;
  /** The meanings of its letters or digits, from its name. */
  legend?: ReadonlyMap<string, string>;
  /** Its address is the receiver of a message. */
  isOfReceiver?: boolean;
  /** A standard field whose name is about mail. */
  isOfMail?: boolean;
  /** The time of the row's consent is the time of a yes, not of its withdrawal; it may be a yes by itself. */
  timeOfYes?: "proof" | "time" | undefined;
}

/** Why a file, or a row of it, cannot be imported. */
export interface Problem {
  kind: "problem";
  problem: string;
}

export interface Columns {
  kind: "columns";
  source: ImportSource;
  cells: readonly Cell[];
  /** The file has no ids or mail addresses: the number of a row identifies its person. */
  isOfNumbers: boolean;
  /** The channel of the numbers, by the name of their column. */
  numbersOf: "sms" | "chat_app";
  types: readonly ColumnType[];
  /** Keys in columns `topic:<key>` that are no topics of the workspace; such columns become attributes. */
  unknownTopics: readonly string[];
}

/** Facts about a file beside its header. */
export interface KnownColumns {
  mapping?: ColumnMapping | undefined;
  topics?: readonly string[] | undefined;
  types?: readonly ColumnType[] | undefined;
  /** The findings about numbers without a plus, by column. */
  numbers?: readonly ShownNumbers[] | undefined;
}

/** Reads a header. @returns its columns, or the reason why the file cannot be imported */
export function readHeader(
  header: readonly string[],
  source: ImportSource,
  known: KnownColumns = {},
): Columns | Problem {
  const problem = misfitOf(header, known.mapping);
  if (problem) return { kind: "problem", problem };
  const columns = columnsOfHeader(header, source, known);
  if (!columns.cells.some((cell) => hasNumbers(cell) || (cell.standard && OF_WHOM.includes(cell.standard))))
    return {
      kind: "problem",
      problem: "the columns hold neither an external_id nor an email address, and no phone number",
    };
  const extra = extraProblem(columns);
  return extra ? { kind: "problem", problem: extra } : columns;
}

const WITH_NUMBERS: readonly (RowColumn | undefined)[] = ["address", "sender", "receiver"];
const hasNumbers = ({ standard, rowColumn, phoneRank }: Cell): boolean =>
  standard === "phone" || WITH_NUMBERS.includes(rowColumn) || phoneRank !== undefined;

/** The meanings of a header's columns, also if the file cannot be imported like this. */
export function columnsOfHeader(
  written: readonly string[],
  source: ImportSource,
  { mapping = {}, topics = [], types = [], numbers = [] }: KnownColumns,
): Columns {
  const legends = written.map(legendOf);
  // Letters and digits that stand for answers are no numbers or ids.
  const typesOfCells = types.map((type, i) => (legends[i] && type !== "empty" ? "answers" : type));
  const header = written.map((name, i) => legends[i]?.name ?? name);
  const mapped = givenTargets(mapping);
  const taken = new Set([...mapped.values()].filter((target) => target !== IGNORED));
  const names = written.map(columnName);
  // If two columns have one name, a mapping applies to the first.
  const targets = names.map((name, i) => {
    const target = mapped.get(name);
    return target === IGNORED || names.indexOf(name) === i ? target : undefined;
  });
  const isFree = targets.map((target) => target === undefined);
  const fields = usualFields(header, source, { taken, isFree, types: typesOfCells });
  const unknownTopics: string[] = [];
  const cellOf = (name: string, i: number): Cell => {
    const wanted = columnName(name);
    const target = targets[i];
    if (target !== undefined) return mappedCell(name, target, header);
    if (isReported(written, i)) return {};
    const ofTopic = topicColumn(wanted, topics);
    if (ofTopic && !taken.has(wanted)) {
      taken.add(wanted);
      return ofTopic;
    }
    const ofChannel = channelColumn(wanted);
    if (ofChannel) return { ofChannel };
    const unknown = ofTopic ? undefined : topicKeyOf(wanted);
    if (unknown) unknownTopics.push(unknown);
    const standard = fields.get(i);
    if (standard) return standardCell(name, standard, header);
    // A mapped address column rules out all others.
    const mayBeEmail = !taken.has("email") || mapped.get(wanted) === "email";
    const further = furtherCell(i, source, {
      taken,
      mayBeEmail,
      header,
      written: written[i] ?? "",
      type: typesOfCells[i],
    });
    return mapped.has(OTHERS) ? { ...further, attribute: undefined } : further;
  };
  const found = header.map((name, i): Cell => {
    const legend = legends[i]?.words;
    const cell = cellOf(name, i);
    const shown = cell.lacksPlus === "all" ? undefined : numbers[i];
    return { ...cell, ...(shown && cell.lacksPlus && { lacksPlus: shown }), ...(legend && { legend }) };
  });
  const saysWho = ({ standard }: Cell, i: number) =>
    (standard === "external_id" || standard === "email") && types[i] !== "empty";
  const ofChat = found.some(
    ({ standard }, i) => standard === "phone" && /whatsapp|^wa[\W_]?id$/i.test(header[i] ?? ""),
  );
  const isOfNumbers = found.some(hasNumbers) && !found.some(saysWho);
  const numbersOf = ofChat ? "chat_app" : "sms";
  const cells = withOwnKeys(found, written, isFree);
  return { kind: "columns", source, cells, isOfNumbers, numbersOf, types, unknownTopics };
}

/** Why columns cannot become attributes. A column without values makes none. */
function extraProblem({ cells, types }: Columns): string | undefined {
  const extra = cells.flatMap(({ attribute }, i) => (types[i] === "empty" ? [] : (attribute ?? [])));
  if (extra.length > MAX_EXTRA_COLUMNS)
    return `the header has ${extra.length} extra columns; at most ${MAX_EXTRA_COLUMNS} become attributes: map others, or "${OTHERS}" for all of them, to ignore`;
  const refused = extra.find((key) => REFUSED_KEYS.includes(key));
  return refused && `the header has a column named ${refused}`;
}

/**
 * Names attributes without duplicates: the second column of a name becomes `name_2`. @param isFree the mapping does not
 * name the column
 */
function withOwnKeys(cells: readonly Cell[], header: readonly string[], isFree: readonly boolean[]): Cell[] {
  const keys = header.map(snakeCase);
  const isTaken = ({ standard, attribute }: Cell, i: number) =>
    standard ? keys.lastIndexOf(keys[i] ?? "") > i : attribute !== undefined && !isFree[i];
  const taken = new Set(cells.flatMap((cell, i) => (isTaken(cell, i) ? (cell.attribute ?? keys[i] ?? []) : [])));
  return cells.map((cell, i) => {
    const { attribute } = cell;
    if (attribute === undefined || !isFree[i]) return cell;
    let uniqueName = attribute;
    for (let n = 2; taken.has(uniqueName); n++) uniqueName = `${attribute}_${n}`;
    taken.add(uniqueName);
    return uniqueName === attribute ? cell : { ...cell, attribute: uniqueName };
  });
}

const standardCell = (name: string, standard: Standard, header: readonly string[]): Cell => ({
  standard,
  ...(standard === "phone" && { lacksPlus: pluslessOf(name, header), numberOf: channelOfNumbers(name) }),
  ...(standard === "consent_status" && { name, timeColumn: timeColumnOf(name, header) }),
  ...(standard === "tags" && { name }),
  ...(standard === "email" && isReceiver(name) && { isOfReceiver: true }),
  ...(standard === "consent_at" && { timeOfYes: timeOfYes(name, header) }),
  ...(standard === "consent_status" && /e?mail/.test(columnKey(name)) && { isOfMail: true }),
});

function furtherCell(
  i: number,
  source: ImportSource,
  {
    taken,
    mayBeEmail,
    header,
    written,
    type,
  }: {
    taken: ReadonlySet<string>;
    mayBeEmail: boolean;
    header: readonly string[];
    written: string;
    type: ColumnType | undefined;
  },
): Cell {
  const name = header[i] ?? "";
  const wanted = columnName(name);
  const evidence = EVIDENCE[source].includes(wanted) ? wanted : undefined;
  // The choice of an unknown topic, and the time of it, are about nothing else.
  const isOfTopic = topicKeyOf(wanted) !== undefined || wanted.startsWith(TOPIC_TIME);
  const signed = evidence || isOfTopic ? undefined : (askedBefore(i, header) ?? signedName(name, header));
  // An `Email` column of yes and no is no address, and no attribute `email`.
  const isWay = signed?.isBare && saysYesOrNo(type);
  const attribute =
    isWay || (evidence && !KEPT.includes(evidence)) ? undefined : snakeCase(written) || `column_${i + 1}`;
  const ofRow = rowColumn(name, header);
  const rank = taken.has("phone") || saysYesOrNo(type) ? undefined : rankOf("phone", columnKey(bareName(name)));
  const phoneRank = rank === undefined ? undefined : rank - phoneLead(name);
  const numberOf = saysYesOrNo(type) ? undefined : channelOfNumbers(name);
  return {
    ...(evidence && { evidence }),
    ...(attribute && { attribute }),
    ...(signed && { signed: withProof(signed, name, header), name, timeColumn: timeColumnOf(name, header) }),
    ...((phoneRank ?? numberOf) !== undefined && { phoneRank, numberOf, lacksPlus: pluslessOf(name, header) }),
    ...(mayBeEmail && isEmailAgain(name) && { isEmailToo: true }),
    ...(isCountryColumn(name) && { isCountry: true }),
    ...(ofRow && { rowColumn: ofRow }),
  };
}

/** A name that says no keeps its meaning, whatever the column is mapped to. */
function mappedCell(name: string, target: string, header: readonly string[]): Cell {
  if (target === IGNORED) return {};
  const country = isCountryColumn(name) && { isCountry: true };
  const topic = topicKeyOf(target);
  const signed = signedName(name);
  const isNegative = signed?.sign === "out" || signed?.sign === "suppressed";
  const negative = isNegative && (target === "consent_status" || topic !== undefined) && { signed };
  if (isField(target)) return { ...standardCell(name, target, header), ...negative };
  return topic ? { topic, ...negative } : { attribute: target.slice(ATTRIBUTE.length), ...country };
}
