// `npm run fuzz`: see USAGE.
import { writeFile } from "node:fs/promises";
import { contents, operationsOf } from "../../docs/generate/contents.ts";
import { recordedCosts } from "../../docs/generate/costs.ts";
import { readArguments, wholeNumber } from "../../tools/arguments.ts";
import { columnsOf } from "../../tools/text-table.ts";
import { openProgress } from "../simulator/report.ts";
import { recordOf } from "./costs.ts";
import { fuzz } from "./fuzz.ts";

const USAGE = `npm run fuzz -- [--requests 20000] [--seed 1] [--cost [--record]]: random requests to every route, made from the published document:
half of them from its schemas, half of them near its examples, in a workspace where their ids name something.

Fails on a 5xx, on an answer that the document does not describe, on a request that takes more than two seconds of CPU,
on data of another workspace in an answer, and on a worker that fails at what was accepted. With --cost also on a request that
costs more than anybody, or whoever has the publishable key, may cause, or than docs/access.md says; the dearest are printed.
--record adds them to docs/costs.json, from which npm run docs takes that page. The same seed makes the same requests. Progress goes to stderr every three seconds, findings to stdout. Ends with 1 if there is one.

Example: npm run fuzz -- --requests 5000 --seed 7`;

const SHOWN = 20;
const RECORD = new URL("../../docs/costs.json", import.meta.url);

const { values } = readArguments(USAGE, {
  options: {
    cost: { type: "boolean" },
    record: { type: "boolean" },
    requests: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
  },
});
const requests = wholeNumber("--requests", values.requests, 1);
const seed = wholeNumber("--seed", values.seed);
const progress = openProgress("requests", requests);

let printed = 0;
const { findings, statuses, refusing, dearest } = await fuzz({
  costs: values.cost ? { known: values.record ? undefined : recordedCosts() } : undefined,
  requests,
  seed,
  onRequest: (_n, found) => {
    for (const { n: at, request, problem } of found.slice(printed)) console.log(`${at}: ${request}\n    ${problem}`);
    progress.add(1, found.length - printed);
    printed = found.length;
  },
});
progress.end();
const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${n} of ${status}`);
console.log(`Answers: ${answers.join(", ")}`);
const rows = dearest
  .filter(({ by }) => by === "public" || by === "sdk" || by === "refused")
  .slice(0, SHOWN)
  .map((one) => [one.route, one.by, String(one.units), String(one.bytes)]);
if (values.record) {
  const there = operationsOf(contents).map(({ endpoint }) => endpoint.route);
  const record = recordOf({ dearest, requests }, there, recordedCosts());
  await writeFile(RECORD, `${JSON.stringify(record, null, 2)}\n`);
}
if (values.cost)
  console.log(columnsOf([["dearest request of", "by", "units", "bytes"], ...rows], ["dearest request of", "by"]));
if (refusing.length > 0) console.log(`Routes that took no request: ${refusing.join(", ")}`);
console.log(`${requests} requests of seed ${seed}: ${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;
