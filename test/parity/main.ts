// npm run parity -- [--ops N] [--seed S] [--only suite|dynamodb-local|dynalite] [--most N]: our DynamoDB beside two others.
import { readArguments, refuse, wholeNumber } from "../../tools/arguments.ts";
import { type Comparison, compare } from "./compare.ts";
import { hasEngines, startDynalite, startDynamoDbLocal } from "./engines.ts";
import { runSuite, type SuiteResult } from "./suite.ts";

const USAGE = `npm run parity -- [--ops 50000] [--seed 1]: random requests to our DynamoDB and to two others, compared.

  --only NAME         suite, dynamodb-local or dynalite
  --most N            differences that are printed, 20 by default

The other engines are installed by tools/install-parity.sh. Ends with 1 if a difference is not explained.

Example: npm run parity -- --ops 5000 --only dynalite`;

const { values } = readArguments(USAGE, {
  options: {
    ops: { type: "string", default: "50000" },
    seed: { type: "string", default: "1" },
    most: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
if (values.only !== undefined && !["suite", "dynamodb-local", "dynalite"].includes(values.only))
  refuse(`There is nothing called "${values.only}" to compare with.`);
if (!hasEngines()) {
  console.error("The other engines are not here. `sh tools/install-parity.sh` installs them; they need Java 17.");
  process.exit(1);
}

const local = await startDynamoDbLocal();
const dynalite = await startDynalite();
try {
  if (!values.only || values.only === "suite") tellSuite(runSuite(local.endpoint));
  const options = {
    operations: wholeNumber("--ops", values.ops, 1),
    seed: wholeNumber("--seed", values.seed),
    most: wholeNumber("--most", values.most),
  };
  for (const engine of [local, dynalite]) {
    if (values.only && values.only !== engine.name) continue;
    const isLocal = engine === local;
    tell(engine.name, await compare(engine, { ...options, transactions: isLocal }, isLocal ? undefined : local));
  }
} finally {
  await Promise.all([local.close(), dynalite.close()]);
}

function tellSuite({ passed, onlyOurs, explained, failed }: SuiteResult): void {
  console.log(`suite: ${passed} passed by dynamodb-local, ${onlyOurs} only ours, ${failed.length} failed unexplained`);
  for (const [why, times] of explained) console.log(`  ${String(times).padStart(6)} × ${why}`);
  for (const { test, message } of failed) console.log(`\n${test}\n  ${message.split("\n    at ")[0]}`);
  if (failed.length > 0 || passed === 0) process.exitCode = 1;
}

function tell(name: string, found: Comparison): void {
  const { operations, agreed, refusals, explained, unexplained } = found;
  console.log(
    `${name}: ${operations} operations (${refusals} refused), ${agreed} alike, ${unexplained.length} unexplained`,
  );
  for (const [why, times] of explained) console.log(`  ${String(times).padStart(6)} × ${why}`);
  for (const { at, request, ours, theirs } of unexplained) {
    console.log(`\n#${at} ${request.operation} ${JSON.stringify(request.input)}`);
    for (const [who, { refused = "", answer }] of Object.entries({ ours, [name]: theirs }))
      console.log(`  ${who.padEnd(14)} ${refused} ${JSON.stringify(answer)}`);
  }
  if (unexplained.length > 0) process.exitCode = 1;
}
