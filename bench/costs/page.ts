// docs/performance.md: every row, and why some miss a target.
import { readFileSync } from "node:fs";
import { PRICES, PRICES_OF } from "../../shared/rules/cost.ts";

export const PAGE = new URL("../../docs/performance.md", import.meta.url);

interface MeasuredTable {
  heading: readonly string[];
  /** By the columns of the heading: the first two name the row. */
  rows: readonly (readonly string[])[];
  missed: readonly { work: string; name: string; text: string }[];
}

/** Why a target is not reached, and what was tried, by the work. */
const REASONS: Record<string, string> = {
  "journey: entry, send, delay":
    "Each run pays its row and its entry at the price of a transaction (4), its message (1), and the row by which its event is found (1). The head that guarded entry is gone (25, 12.5, 9.8 and 8.77 before). What is left, and what it would save, says decisions/0067.",
  "push send to many":
    "Claims of groups of ten are 0.105 requests a recipient, rows of the ledger 0.04, profiles and devices 0.03. What is left are chunks of 200, with six requests each (decisions/0084).",
  "event with live segments":
    "Each person is one query, and one more after the write, because a change may have come between; without the second one 1.39 requests and the same units were measured. Who enters pays two rows at the price of a transaction with the counter of the segment (decisions/0012): 4.36 units. One row that is written alone would be 1, which with the event (1.08) is beyond 1.62 too.",
  "upsert, new":
    "In one transaction the profile (2), its index (1) and the counter (2) (decisions/0024); before eight creations in a row also a refused update (1). Measured with other writes: one update that creates too 2 WCU and 1 request; the same with a counter that is taken ahead by 20, as sends do (decisions/0055), 2.05 and 1.05; with a counter written after it 3 and 2. What counts after the creation loses a subscriber with each crash in between, and counts one twice where a reply is lost, until the nightly recount. What is taken ahead shows subscribers that there are not: only a recount, 43 RCU for 1,000, tells how many of them were created, so the bill and the plan's limit would be too high for up to a day. A creation is once in the life of a subscriber, so its count stays exact at every moment.",
  "batch of 1000 events":
    "Each person has a row of what it did in the batch: one query then reads its history, for rules, journeys and the timeline (decisions/0025). Of 992 units these are 950, of 2000 with the rows of the keys 1950; the blocks, their seals, the counter and the register are 42. 950 rows are 38 requests, at 25 each, and 950 profiles are read by ten. A batch of 100 people is far below both limits. Rows of several persons together would be fewer, and each reader of a history would read those of others. With rows of a bucket of persons in place of theirs the batch would write one row for each bucket that it meets: as many as persons, once the workspace has many more than a batch, unless the buckets are few; then a history reads those of all in its bucket, 400 KB after a million events in 256 of them, where 4 RCU are the most. Buckets that a nightly worker takes apart again add a row a person and day. An index has an entry for each row too. The row of a key cannot be that of the person: a key is of the workspace, and another person may send it again.",
  "event that nothing watches":
    "What one run can tell is the multiple of the raw echo, which moves with the machine as the event does. On a busy machine, in turns with the release before (commit 86b3db1e), five and three runs each: 100 a request 5.0 times before and 3.8 now, one a request 67 and 55: a quarter and a fifth less, where 35 % were wanted. At 100 a request 2.6 and 3.4 times were measured since. Random bytes that are drawn ahead took 8 % more off one a request since (2.44 and 2.28 ms, medians of five in turns with commit 47ee9e09), and 18 % off the echo itself, so that its multiple rose. Of what is left the packing of one row an actor is a tenth at 100 a request and 4 % at one, although it takes less memory and two thirds of the time now; rows that are not packed would be 80 bytes longer, which costs more to keep than to pack. At one a request a quarter are the SDK's clients, a quarter the embedded engine, a tenth the collection of garbage. No other function has more than 3 %.",
  "event that a live rule watches":
    "By runs 2.6 to 7 ms were measured, at every length alike: what a history has more of is not read. The echo, of 35 to 98 µs, moved as much. 50, 100 and 400 events before, and 50 in place of 10 that are measured, did not make the runs more alike. What the time is made of was not measured.",
  "GET of one small thing, with authentication":
    "16.6 and 18.9 times were measured on a quiet machine, 21 and 31 times beside a dozen other processes: the request is longer than the echo, and what shares its processor shows in it. An environment checks the signature of a token once and draws random bytes ahead since: 1.12 ms where it was 1.49, and the echo 38 µs where it was 46 (medians of five in turns with commit 47ee9e09, beside ten other processes), so a quarter less of time is a tenth less of the multiple. Of what is left most is three requests by the SDK's clients to the table, and no function has more than 4 %.",
  "live stream, idle":
    "A query each second is 0.5. The rest is the look at the workspace every half minute; that of who is displaced, and a poll before each second small write, are gone (0.55 with them).",
  "live stream, opened":
    "Each stream that is open has an environment of its own, so a stream beside others is a cold start: the clients of the SDK are made, and the keys of the workspace are decrypted. That the clients looked for addresses in the environment and in files was a sixth of it (5.6 ms where it was 6.8, means of twelve times 100 in turns, on a busy machine). Of what is left a tenth is the making of the environment with its keys, and most of the rest the six requests. One that is opened after another has ended takes the environment of that. By how busy the machine was, 4.0 to 9.6 ms and 66 to 123 times the echo were measured.",
  "webhook delivery":
    "The row and its result are two writes, which is the target: with anything more it is missed. Each group of 20 adds the block with its numbers and the claim; a batch of the stream ends the block before it. Of 200 deliveries these are 22 of 422 units. With a write for the end of every block they were 30. A block of 100 would be 4 KB and cost as many units as five of 20; with packed ids 36 would fit into a KB: 2.07. Below two is only what leaves out a row: results of a group in one row, 1.2, which every reader of the log, each retry and each replay would have to look up by the number of a delivery, and a late result would have to take out again.",
  "e-mail with receipts":
    "Claims of groups of ten are 0.1 requests a recipient. Fewer chunks would take fewer requests, and their keys would be hotter (decisions/0084).",
  "first computation of a segment":
    "Where members are few, each of the 16 shards has a leaf and a counter at the price of a transaction (decisions/0057).",
  "unchanged computation of a segment":
    "Where subscribers are few, each of the 16 shards is a query of profiles and one of leaves.",
  "preview of a rule":
    "Up to 10,000 subscribers a preview is exact, so it reads each of the 16 partitions of the subscribers, and the counter: 18 requests; a sample takes fewer. A query reads one partition, and the profiles of 10,000 are 354 RCU. Where the workspace has too many events to read them all, the history of each person that the attributes leave open is a query of 0.5 RCU at least (decisions/0065); what was tried before that is a quarter of it, and what its last page has more: 601 to 637 RCU by runs, as the blocks lie by their ids. One statement of PartiQL can name the 16 partitions: three pages of a MB and the counter would be 4 requests for the same units. They follow each other, where 16 queries run side by side, and requests are not billed: the answer would come later and cost the same.",
};

const wordsOf = (line: string): string[] =>
  line
    .slice(2, -2)
    .split(" | ")
    .map((cell) => cell.trim());

const idOf = ([work = "", size = ""]: readonly string[]): string => `${work} ${size}`;

function rowsIn(page: string, heading: string): string[][] {
  const [, section = ""] = page.split(`## ${heading}\n\n`);
  const [table = ""] = section.split("\n\n");
  return table.split("\n").slice(2).map(wordsOf);
}

/** Sections that other benches write. */
const CEILINGS = "Ceilings of one workspace";
const LOCAL = "The local service";

export const localRowsIn = (page: string): string[][] => rowsIn(page, LOCAL);

const sectionIn = (page: string, heading: string): string =>
  page.split(`\n## ${heading}\n\n`)[1]?.split("\n\n## ")[0] ?? "Not measured.";

const withSection = (page: string, heading: string, text: string): string =>
  page.replace(`## ${heading}\n\n${sectionIn(page, heading)}`, () => `## ${heading}\n\n${text}`);

type Table = readonly (readonly string[])[];

export const withCeilings = (page: string, heading: readonly string[], rows: Table, said: string): string =>
  withSection(page, CEILINGS, `${markdownOf(heading, rows)}\n\n${said}`);

export const withLocal = (page: string, heading: readonly string[], rows: Table, said: string): string =>
  withSection(page, LOCAL, `${markdownOf(heading, rows)}\n\n${said}`);

const missesIn = (page: string): string[] => page.split("\n").filter((line) => line.startsWith("- "));

/** @param former the page whose other rows stay */
export function pageOf({ heading, rows, missed }: MeasuredTable, former: string | undefined): string {
  // Multiples of a floor were measured with the floors that are on the page.
  const isWritten = ([work = ""]: readonly string[]) => former === undefined || !work.startsWith("floor:");
  const measured = new Map(rows.filter(isWritten).map((row) => [idOf(row), row]));
  const before = former === undefined ? [] : rowsIn(former, "Costs");
  const kept = before.map((row) => measured.get(idOf(row)) ?? row);
  const known = new Set(before.map(idOf));
  const merged = [...kept, ...rows.filter((row) => isWritten(row) && !known.has(idOf(row)))];
  const lines = new Map(
    missed.map(({ work, name, text }) => [name, [`- ${text}`, REASONS[work]].filter(Boolean).join(" ")]),
  );
  const misses = merged.flatMap(([work = "", size = ""]) => {
    const name = [work, size].filter(Boolean).join(", ");
    const line = measured.has(idOf([work, size]))
      ? lines.get(name)
      : former && missesIn(former).find((one) => one.startsWith(`- ${name}: `));
    return line ? [line] : [];
  });
  const page = readFileSync(PAGE, "utf8");
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return `# Performance

Written by \`npm run bench -- costs --write\`, version ${version}, Node ${process.version}. Do not edit it by hand.

Units and requests are those of the table, as DynamoDB bills them, without authentication and the limit of requests
where a row does not say otherwise. Processor time is of the machine that ran it, so its targets are multiples of a
floor, the mean of two runs of it before and after: the raw echo is a request through the gateway to a function that
answers what it got, the signed post is an HMAC and a POST of 1 KB to a receiver in the process. "Hottest key" is the
part of the table's write units on one partition key, of loads on many people. The rows of one work show how its cost
grows.

## Costs

${markdownOf(heading, merged)}

## Targets that are not reached

${misses.length === 0 ? "None." : misses.join("\n")}

## ${CEILINGS}

${sectionIn(page, CEILINGS)}

## ${LOCAL}

${sectionIn(page, LOCAL)}

## Prices

Dollars are list prices of us-east-1 of ${PRICES_OF}, without the free tiers, of the table and of the queues. Functions,
the gateway and providers come on top ([deploy.md](deploy.md)).

${markdownOf(
  ["a million", "dollars"],
  Object.entries(PRICES).map(([what, price]) => [what, String(price)]),
)}
`;
}

const markdownOf = (heading: readonly string[], rows: Table) =>
  [heading, heading.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
