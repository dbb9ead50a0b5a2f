// The phone numbers of an imported row: the one of its person, and those that what it refuses holds for (AMB-132, AMB-133).
import type { RowReading, SortedCells } from "./import-cells.ts";
import { type OtherChannel, otherChannels } from "./import-mapping.ts";
import { numbersIn, type PhoneForm, readPhone } from "./import-phones.ts";

/** What became of a phone number. */
export type PhoneKind = "kept" | "converted" | "unreadable";

/** By channel, numbers in E.164 form. */
export type NumbersByChannel = Readonly<Partial<Record<OtherChannel, readonly string[]>>>;

interface RowNumbers {
  /** Of the number of its person; undefined for a row without one. */
  kind?: PhoneKind;
  /** What a file of numbers, and its warnings, say of a number that is not read. */
  problem?: string;
  /** Those that what it refuses there holds for: of the column of the channel, else each of the row. */
  numbers: NumbersByChannel;
  /** Where its person has another number: what agrees to the channel is of that one. */
  elsewhere: readonly OtherChannel[];
}

const UNREADABLE = "has a phone number that cannot be read";
/** Said of a number that is not read: it may be somebody else's. */
export const DOUBTFUL_NUMBER =
  "has a phone number without the code of its country, which may be of two: write it with a plus, or say the country";

/**
 * The first number that can be read becomes that of the person. Where none can, the first stays as it is: a send says that
 * it is invalid.
 */
export function takeNumbers(sorted: SortedCells, reading: RowReading): RowNumbers {
  const { attributes, phones, channels } = sorted;
  const form = formOf(sorted, reading);
  const numbers = numbersOf(sorted, form);
  const read = phones.map(({ text, lacksPlus }) => ({ text, ...readPhone(text, { ...form, lacksPlus }) }));
  const taken = read.find(({ kind }) => kind !== "unreadable") ?? read[0];
  // What our own exports say is of the number that the person has, whatever its attributes are called.
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
