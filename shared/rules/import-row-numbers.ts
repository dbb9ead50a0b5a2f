// The phone numbers of an imported row: the person's, and those to which its refusals apply (AMB-132, AMB-133).
import type { RowReading, SortedCells } from "./import-cells.ts";
import { type OtherChannel, otherChannels } from "./import-mapping.ts";
import { numbersIn, type PhoneForm, readPhone } from "./import-phones.ts";

/** How a phone number was read. */
export type PhoneKind = "kept" | "converted" | "unreadable";

/** By channel, numbers in E.164 form. */
export type NumbersByChannel = Readonly<Partial<Record<OtherChannel, readonly string[]>>>;

interface RowNumbers {
  /** How the person's number was read; undefined for a row without one. */
  kind?: PhoneKind;
  /** The problem of an unread number, for a file of numbers and for warnings. */
  problem?: string;
  /** The numbers to which refusals apply: those of the channel's column, else all of the row. */
  numbers: NumbersByChannel;
  /** Channels whose number is another one than the person's: a consent to such a channel applies to that one. */
  elsewhere: readonly OtherChannel[];
}

const UNREADABLE = "has a phone number that cannot be read";
/** The problem of a number that is not read: it may be another person's. */
export const DOUBTFUL_NUMBER =
  "has a phone number without the code of its country, which may be of two: write it with a plus, or say the country";

/**
 * The first readable number becomes the person's. If none is readable, the first stays as it is: a send says that it is
 * invalid.
 */
export function takeNumbers(sorted: SortedCells, reading: RowReading): RowNumbers {
  const { attributes, phones, channels } = sorted;
  const form = formOf(sorted, reading);
  const numbers = numbersOf(sorted, form);
  const read = phones.map(({ text, lacksPlus }) => ({ text, ...readPhone(text, { ...form, lacksPlus }) }));
  const taken = read.find(({ kind }) => kind !== "unreadable") ?? read[0];
  // The consents of our own exports apply to the person's number, whatever its attributes are called.
  const isOfRow = (channel: OtherChannel) => !channels[channel] && sorted.numbers.some(({ of }) => of === channel);
  if (!taken) return { numbers, elsewhere: otherChannels.filter(isOfRow) };

  if (taken.kind === "unreadable") {
    attributes.phone = taken.text;
    const problem = taken.isDoubtful ? DOUBTFUL_NUMBER : UNREADABLE;
    return { kind: taken.kind, problem, numbers, elsewhere: [] };
  }
  const { kind, phone: ownPhone } = taken;
  attributes.phone = ownPhone;
  const hasOther = (channel: OtherChannel) =>
    isOfRow(channel) && !numbersOfColumn(sorted, channel, form).includes(ownPhone);
  return { kind, numbers, elsewhere: otherChannels.filter(hasOther) };
}

function formOf({ region: ofRow }: SortedCells, reading: RowReading): PhoneForm {
  const said = reading.phoneRegion ?? ofRow;
  return { region: said === null ? undefined : (said ?? reading.region), isRegionSaid: typeof said === "string" };
}

const numbersOfColumn = ({ numbers }: SortedCells, channel: OtherChannel, form: PhoneForm): string[] =>
  numbers.flatMap(({ text, lacksPlus, of }) => (of === channel ? numbersIn(text, { ...form, lacksPlus }) : []));

function numbersOf(sorted: SortedCells, form: PhoneForm): NumbersByChannel {
  const { phones, channels } = sorted;
  const read = (rows: typeof phones): string[] =>
    rows.flatMap(({ text, lacksPlus }) => numbersIn(text, { ...form, lacksPlus }));
  const refusedOf = (channel: OtherChannel): string[] => {
    if (channels[channel]) return read(phones.slice(0, 1));
    const numbers = numbersOfColumn(sorted, channel, form);
    if (numbers.length > 0) return numbers;
    const others = phones.filter(({ of }) => of === undefined || of === channel);
    return read(others.length > 0 ? others : phones);
  };
  return Object.fromEntries(otherChannels.map((channel) => [channel, [...new Set(refusedOf(channel))]]));
}
