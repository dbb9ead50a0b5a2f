// The statements of an imported row about each channel and topic (AMB-132).
import type { RowReading, SortedCells } from "./import-cells.ts";
import { type UnnamedStatement, unnamedOf } from "./import-channels.ts";
import type { Columns } from "./import-columns.ts";
import {
  type ImportedChoice,
  type ImportedChoices,
  type ImportedConsent,
  readChoice,
  readConsent,
  type SignedCell,
} from "./import-consents.ts";
import { otherChannels } from "./import-mapping.ts";
import type { SignedChannel } from "./import-signs.ts";
import type { ImportSource } from "./import-sources.ts";
import { consentChannelOf } from "./topics.ts";

/** The statements of a row about mail, and about everything else. */
interface Statements {
  consent?: ImportedConsent | undefined;
  choices: ImportedChoices;
}

/** Reads the statements of a row. @param hasMail whether the row has a readable mail address */
export function statementsOf(
  { source, isOfNumbers, numbersOf }: Pick<Columns, "source" | "isOfNumbers" | "numbersOf">,
  sorted: SortedCells,
  hasMail: boolean,
  reading: RowReading,
): Statements {
  const statement = sorted.isTimeOfYes ? { ...reading, isTimeOfYes: true } : reading;
  // Words for people who were never asked are no refusal, nor in the columns of other channels.
  const asked = source === "platform_a" ? sorted.signed.filter(({ value }) => !/^never/i.test(value)) : sorted.signed;
  const known = { ...sorted, signed: asked };
  const unnamed = unnamedOf(sorted.channel, { hasMail, hasNumber: sorted.phones.length > 0, isOfNumbers, numbersOf });
  return { consent: ofMail(source, known, unnamed, statement), choices: choicesOf(known, unnamed, statement) };
}

/** `ALL`, as Pinpoint writes it in `OptOut`; in a row of one channel it means all messages of that one. */
const isOfAll = ({ signed, value }: SignedCell): boolean => signed.sign === "out" && /^all$/i.test(value);
/** The keyword with which people answer messages. */
const isOfMessages = ({ signed, value }: SignedCell): boolean =>
  (signed.sign === "out" || signed.sign === "status") && /^(?:stop(?: ?all)?|arr[eê]t)$/i.test(value);

const ofChannel = (
  { signed, channel: ofRow }: Pick<SortedCells, "signed" | "channel">,
  channel: SignedChannel,
  isUnnamedToo: boolean,
): SignedCell[] =>
  signed.filter(
    (cell) =>
      (ofRow === undefined && isOfAll(cell)) ||
      (channel === "sms" && isOfMessages(cell)) ||
      (cell.signed.isUnnamed ? isUnnamedToo : cell.signed.channels.includes(channel)),
  );

/** The statement of a row about a channel. @param read reads it, with or without the columns that name no channel */
function saidOf<C extends { status: ImportedConsent["status"] }>(
  channel: SignedChannel,
  { agreed, refused }: UnnamedStatement,
  read: (isUnnamedToo: boolean) => C | undefined,
): C | undefined {
  if (agreed === channel) return read(true);
  const statements = read(false);
  if (isRefusal(statements) || !refused.includes(channel)) return statements;
  const all = read(true);
  return isRefusal(all) ? all : statements;
}

export const isRefusal = (said: { status: ImportedConsent["status"] } | undefined): boolean =>
  said?.status === "opted_out" || said?.status === "suppressed";

function ofMail(
  source: ImportSource,
  sorted: SortedCells,
  unnamed: UnnamedStatement,
  reading: RowReading,
): ImportedConsent | undefined {
  const { standard, evidence, said } = sorted;
  const { consent_status: _, consent_at: __, ...others } = standard;
  return saidOf("email", unnamed, (isUnnamedToo) =>
    readConsent(
      source,
      {
        standard: isUnnamedToo || said === undefined ? standard : others,
        evidence,
        signed: ofChannel(sorted, "email", isUnnamedToo),
      },
      reading,
    ),
  );
}

function choicesOf(sorted: SortedCells, unnamed: UnnamedStatement, reading: RowReading): ImportedChoices {
  const { standard, topics, said } = sorted;
  const choices: Record<string, ImportedChoice> = {};
  for (const [key, said] of Object.entries(topics)) {
    const choice = readChoice(said, standard, reading);
    if (choice) choices[consentChannelOf(key)] = choice;
  }
  // The time of a consent to mail proves nothing for other channels.
  const { consent_at: _, ...others } = standard;
  for (const channel of otherChannels) {
    const own = sorted.channels[channel];
    const choice = saidOf(channel, unnamed, (isUnnamedToo) => {
      const signedOf = ofChannel(sorted, channel, isUnnamedToo);
      if (own) return readChoice({ ...own, signed: signedOf }, others, reading);
      return isUnnamedToo
        ? readChoice({ said, signed: signedOf }, standard, reading)
        : readChoice({ signed: signedOf }, others, reading);
    });
    if (choice) choices[channel] = choice;
  }
  return choices;
}
