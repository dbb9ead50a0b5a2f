// npm run parity -- [--ops N] [--seed S] [--only suite|operations] [--most N]: our DynamoDB beside Amazon's own local one.
import { readArguments, refuse, wholeNumber } from "../../tools/arguments.ts";
import { type Comparison, compare } from "./compare.ts";
import { hasDynamoDbLocal, startDynamoDbLocal } from "./engines.ts";
import { runSuite, type SuiteResult } from "./suite.ts";

const USAGE = `npm run parity -- [--ops 50000] [--seed 1]: random requests to our DynamoDB and to DynamoDB Local, compared.

  --only NAME         suite or operations
  --most N            differences that are printed, 20 by default

DynamoDB Local is installed by tools/install-parity.sh. Ends with 1 if a difference is not explained.

Example: npm run parity -- --ops 5000 --only operations`;

const { values } = readArguments(USAGE, {
  options: {
    ops: { type: "string", default: "50000" },
    seed: { type: "string", default: "1" },
    most: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
if (values.only !== undefined && !["suite", "operations"].includes(values.only))
  refuse(`There is nothing called "${values.only}" to compare with.`);
if (!hasDynamoDbLocal()) {
  console.error("DynamoDB Local is not here. `sh tools/install-parity.sh` installs it; it needs Java 17.");
  process.exit(1);
}

const local = await startDynamoDbLocal();
try {
  if (values.only !== "operations") tellSuite(runSuite(local.endpoint));
  const options = {
    operations: wholeNumber("--ops", values.ops, 1),
    seed: wholeNumber("--seed", values.seed),
    most: wholeNumber("--most", values.most),
  };
  if (values.only !== "suite") tell(await compare(local, options));
} finally {
  await local.close();
}

function tellSuite({ passed, onlyOurs, explained, failed }: SuiteResult): void {
  console.log(`suite: ${passed} passed by dynamodb-local, ${onlyOurs} only ours, ${failed.length} failed unexplained`);
  for (const [why, times] of explained) console.log(`  ${String(times).padStart(6)} × ${why}`);
  for (const { test, message } of failed) console.log(`\n${test}\n  ${message.split("\n    at ")[0]}`);
  if (failed.length > 0 || passed === 0) process.exitCode = 1;
}

function tell(found: Comparison): void {
  const { operations, agreed, refusals, explained, unexplained } = found;
  console.log(`${operations} operations (${refusals} refused), ${agreed} alike, ${unexplained.length} unexplained`);
  for (const [why, times] of explained) console.log(`  ${String(times).padStart(6)} × ${why}`);
  for (const { at, request, ours, theirs } of unexplained) {
    console.log(`\n#${at} ${request.operation} ${JSON.stringify(request.input)}`);
    for (const [who, { refused = "", answer }] of Object.entries({ ours, theirs }))
      console.log(`  ${who.padEnd(14)} ${refused} ${JSON.stringify(answer)}`);
  }
  if (unexplained.length > 0) process.exitCode = 1;
}
