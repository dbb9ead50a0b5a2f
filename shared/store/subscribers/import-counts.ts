// The counters of an import: consents, phone numbers, and choices of topics and channels.
import { familyOf } from "../families.ts";
import type { RowOf } from "../item.ts";
import { fromJson } from "../json-text.ts";
import type { ChoiceSummary, ConsentSummary, ImportItem, PhoneSummary } from "./import-items.ts";

type CountedImport = RowOf<typeof ImportItem>;

const NO_CHOICES: ChoiceSummary = { opted_in: 0, opted_out: 0, unknown: 0, unchanged: 0 };
export const NO_CONSENTS: ConsentSummary = { ...NO_CHOICES, suppressed: 0, yes_without_time: 0, future: 0 };
export const NO_PHONES: PhoneSummary = { kept: 0, converted: 0, unreadable: 0 };

export const consentSummaryOf = (job: CountedImport): ConsentSummary => ({
  ...NO_CONSENTS,
  ...Object.fromEntries(familyOf(job, "consent:")),
});

export const phoneSummaryOf = (job: CountedImport): PhoneSummary => ({
  ...NO_PHONES,
  ...Object.fromEntries(familyOf(job, "phone:")),
});

export type Choices = Readonly<Record<string, ChoiceSummary>>;

/** Both counts together, by the keys of topics. */
export function addedChoices(choices: Choices, others: Choices): Choices {
  const sum: Record<string, ChoiceSummary> = { ...choices };
  for (const [key, { opted_in, opted_out, unknown, unchanged }] of Object.entries(others)) {
    const before = sum[key] ?? NO_CHOICES;
    sum[key] = {
      opted_in: before.opted_in + opted_in,
      opted_out: before.opted_out + opted_out,
      unknown: before.unknown + unknown,
      unchanged: before.unchanged + unchanged,
    };
  }
  return sum;
}

export const oneChoice = (outcome: keyof ChoiceSummary): ChoiceSummary => ({ ...NO_CHOICES, [outcome]: 1 });

export const channelChoicesOf = ({ channels }: CountedImport): Choices =>
  channels === undefined ? {} : fromJson(channels);

export const choicesOf = ({ choices }: CountedImport): Choices => (choices === undefined ? {} : fromJson(choices));
