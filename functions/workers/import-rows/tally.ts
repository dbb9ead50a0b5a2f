// Counts the results of the rows of a batch.
import { topicKeyOf } from "../../../shared/rules/topics.ts";
import type { Record } from "../../../shared/store/files/records.ts";
import {
  addedChoices,
  type Choices,
  NO_CONSENTS,
  NO_PHONES,
  oneChoice,
} from "../../../shared/store/subscribers/import-counts.ts";
import type { ConsentSummary, PhoneSummary, RejectedRow } from "../../../shared/store/subscribers/import-items.ts";
import { keptCells } from "../../../shared/store/subscribers/import-problems.ts";
import type { RefusalOutcome } from "../../../shared/store/subscribers/import-refusals.ts";
import type { ChoiceOutcomes } from "../../../shared/store/subscribers/imported-consents.ts";
import type { ImportJob } from "../../../shared/store/subscribers/imports.ts";
import type { GoodRow } from "./persons.ts";

export interface BatchTally {
  /** The most subscribers that may have been created; in a dry run, that would be. */
  created: number;
  failed: number;
  /** Rows of people who become members of the list only when they confirm. */
  pending: number;
  rejected: RejectedRow[];
  warnings: RejectedRow[];
  consents: ConsentSummary;
  phones: PhoneSummary;
  /** By the keys of topics. */
  choices: Choices;
  /** By the channels that send to a number. */
  channels: Choices;
}

/** The note on a rejected row, beside the reason. */
const WHAT_IS_KEPT: globalThis.Record<RefusalOutcome, string> = {
  kept: "; that it opts out is kept",
  awaited: "; that it opts out is kept where it has an address, and else only for whom a row below it names",
  nothing: "",
};

export type Tally = ReturnType<typeof openTally>;

/** Counts the results of a batch. */
export function openTally(job: ImportJob) {
  const taken: BatchTally = {
    created: 0,
    failed: 0,
    pending: 0,
    rejected: [],
    warnings: [],
    consents: { ...NO_CONSENTS },
    phones: { ...NO_PHONES },
    choices: {},
    channels: {},
  };
  const reported = ({ line, cells }: Record, reason: string): RejectedRow => ({
    line: job.line + line,
    reason,
    cells: keptCells(cells),
  });
  return {
    taken,
    /** Counts a rejected row. @param kept how its refusal is kept */
    reject: (record: Record, reason: string, kept: RefusalOutcome = "nothing") => {
      taken.failed++;
      taken.rejected.push(reported(record, reason + WHAT_IS_KEPT[kept]));
    },
    countRow: ({ row: { consent, phone, warnings }, record }: GoodRow) => {
      if (warnings.length > 0) taken.warnings.push(reported(record, warnings.join("; ")));
      if (consent?.doubt) taken.consents[consent.doubt]++;
      if (phone) taken.phones[phone]++;
    },
    countChoices: (outcomes: ChoiceOutcomes) => {
      for (const [channel, outcome] of Object.entries(outcomes)) {
        const topic = topicKeyOf(channel);
        const counted = { [topic ?? channel]: oneChoice(outcome) };
        if (topic === undefined) taken.channels = addedChoices(taken.channels, counted);
        else taken.choices = addedChoices(taken.choices, counted);
      }
    },
  };
}
