// The tests of our DynamoDB, run against another engine: what fails there must be known to differ.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SuiteResult {
  passed: number;
  /** How many of the failed are known to differ, by the reason. */
  explained: Map<string, number>;
  /** Tests that need what only the embedded service has. */
  onlyOurs: number;
  failed: { test: string; message: string }[];
}

/** How a test fails that asks another engine for something only ours has. */
const ONLY_OURS = "Only the embedded service has this.";

interface Report {
  testResults: { assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
}

/** Files about the engine from within: its storage, its SDK client, its numbers. */
const INTERNAL = ["client", "durability", "numbers", "model"];

/** Tests that DynamoDB Local is known not to pass, and why. */
const KNOWN: [tests: RegExp, why: string][] = [
  [
    /refused|refuse |refuses|reported together|serialization fault|is a reason|says which|free again|not found|stand in the order|checked first/,
    "rejects with its own messages, or not at all",
  ],
  [/makes no item|is judged all the same|in a transaction too/, "creates an item by an update that only removes"],
  [
    /takes no empty name|has a name of 255|is defined once|another type than|does one thing|of a deleted table|leaves out the items|another segment|more than 38 digits|of several types|parser stumbles|looked at$|not read at all|cannot be asked for|judged before|reported before|may go on after|names tables as/,
    "rejects with its own messages, or not at all",
  ],
  [/UPDATED_(OLD|NEW)/, "returns the whole attribute where a part of it was updated"],
  [/doubles the table|batch rounds|whole scan/, "bills differently"],
  [/does not mind its absence/, "returns the capacity of a delete without a request for it"],
  [/client token|use its token up/, "remembers client tokens across tables of one name"],
  [/fault leaves|made to lag|hottest keys|filled from what is there/, "has no faults, meter or fast indexes"],
  [
    /streams API describes|being made|has no children|no table of ours has/,
    "describes streams and tables differently, and takes what ours refuses",
  ],
  [/every type comes back|changes nothing/, "returns sets in its own order"],
];

export function runSuite(endpoint: string): SuiteResult {
  const folder = mkdtempSync(join(tmpdir(), "parity-"));
  const file = join(folder, "report.json");
  const words = [
    "run",
    "local/aws/test/dynamodb",
    "--reporter=json",
    `--outputFile=${file}`,
    "--no-file-parallelism",
    "--testTimeout=120000",
  ];
  const excluded = INTERNAL.map((name) => `--exclude=local/aws/test/dynamodb/${name}.test.ts`);
  try {
    spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", ...words, ...excluded], {
      env: { ...process.env, PARITY_ENDPOINT: endpoint },
      stdio: "ignore",
    });
    const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === "failed");
    const ours = failed.filter(({ failureMessages }) => failureMessages.join().includes(ONLY_OURS));
    const explained = new Map<string, number>();
    const known = failed.filter((test) => {
      const why = !ours.includes(test) && KNOWN.find(([tests]) => tests.test(test.fullName))?.[1];
      if (why) explained.set(why, (explained.get(why) ?? 0) + 1);
      return why;
    });
    return {
      explained,
      passed: tests.filter(({ status }) => status === "passed").length,
      onlyOurs: ours.length,
      failed: failed
        .filter((test) => !ours.includes(test) && !known.includes(test))
        .map(({ fullName, failureMessages }) => ({ test: fullName, message: failureMessages[0] ?? "" })),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
