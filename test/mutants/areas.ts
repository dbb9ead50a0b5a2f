// The areas of the product that mutations are drawn from, with the tests and the scenarios that must notice them.
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Area {
  /** Globs of files. In `shared` they name subjects rather than floors. */
  code: readonly string[];
  /** Globs of test files. */
  suites: readonly string[];
  scenarios: readonly string[];
}

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const api = (...names: string[]) => names.map((name) => `test/api/${name}*.test.ts`);
const group = (name: string) => `functions/api/${name}/*.ts`;
const worker = (name: string) => `functions/workers/${name}/*.ts`;
const subject = (name: string) => `shared/**/${name}/**/*.ts`;
const rule = (name: string) => `shared/**/rules/${name}.ts`;

export const areas: Readonly<Record<string, Area>> = {
  sends: {
    code: [
      worker("deliver"),
      worker("fan-out"),
      subject("sends"),
      ...["progress", "reasons", "caps", "quiet-hours", "split"].map(rule),
    ],
    suites: [
      "test/rules/{progress,quiet-hours,split}*.test.ts",
      ...api("delivery", "rounds", "single-sends", "notifications", "quiet-hours", "frequency-caps", "split-holdout"),
      ...api("smart", "ledger-crash", "late-delivery", "inbox", "recipients", "brake", "preview", "pacing", "stops"),
      ...api("lists-searched"),
    ],
    scenarios: ["sends", "pushes", "nights", "timers", "topics", "brakes"],
  },
  events: {
    code: [subject("events"), group("events")],
    suites: api("events", "identify"),
    scenarios: ["events", "segments"],
  },
  journeys: {
    code: [subject("journeys"), worker("step-journey"), rule("journey-*")],
    suites: ["test/rules/journeys*.test.ts", ...api("journey")],
    scenarios: ["journeys"],
  },
  segments: {
    code: [subject("segments"), subject("lists"), worker("segment")],
    suites: ["test/rules/segment*.test.ts", ...api("segments", "lists")],
    scenarios: ["segments"],
  },
  webhooks: {
    code: [subject("webhooks"), worker("post-webhook")],
    suites: api("webhook"),
    scenarios: ["webhooks"],
  },
  timers: {
    code: [worker("due"), worker("react"), "shared/**/timers.ts"],
    suites: api("timers", "notifications-schedule", "schedules", "segments-dynamic", "journeys-waits"),
    scenarios: ["timers", "sends", "journeys"],
  },
  subscribers: {
    code: [subject("subscribers"), worker("erase")],
    suites: api(
      ...["subscriber", "identify", "devices", "ledger-erasure", "imports", "erasures", "smart", "suppressions"],
      ...["confirmed", "inbound-messages"],
    ),
    scenarios: ["sends", "events"],
  },
  insights: {
    code: [subject("insights"), group("insights"), worker("attribute"), rule("{attribution,lift}")],
    suites: [
      "test/rules/lift*.test.ts",
      ...api(
        "insights",
        "interactions",
        "series",
        "annotations",
        "late-results",
        "campaign-report",
        "journey-funnel",
        "conversions-identified",
      ),
    ],
    scenarios: ["targets", "experiences"],
  },
  imports: {
    code: [group("imports"), worker("import-rows"), "shared/**/*import*.ts", rule("csv")],
    suites: ["test/rules/import-columns*.test.ts", ...api("imports")],
    scenarios: ["imports"],
  },
  experiences: {
    code: [subject("experiences"), group("experiences"), worker("end-experience"), rule("experience-*")],
    suites: ["test/rules/arbitration*.test.ts", ...api("experiences", "assets")],
    scenarios: ["experiences"],
  },
  usage: {
    code: ["shared/**/*usage*.ts", "shared/**/{plans,sends-ahead}.ts", group("billing")],
    suites: [
      "test/identity/{quotas,plans,operator}.test.ts",
      ...api("events-quota", "events-budgets", "journeys-budgets", "sends-ahead", "sends-settled", "subscriber-counts"),
    ],
    scenarios: ["quota"],
  },
  audit: {
    code: [subject("audit"), group("audit")],
    suites: api("audit"),
    scenarios: ["keys"],
  },
  sandbox: {
    code: [subject("sandbox"), "shared/**/sandbox*.ts", worker("move-clock"), group("tests")],
    suites: api("test-clock", "test-sends", "sandbox-outbox"),
    scenarios: ["sandboxes"],
  },
  exports: {
    code: [subject("exports"), "shared/**/*export*.ts", "functions/**/*export*.ts"],
    suites: api("exports", "events-export", "events-erasing", "subscriber-export"),
    scenarios: ["events"],
  },
  stream: {
    code: ["functions/stream/*.ts", "shared/**/stream-items.ts"],
    suites: ["test/identity/signed-ids.test.ts", ...api("stream", "experiences-{delivery,hiding}")],
    scenarios: ["live"],
  },
};

/** @throws if one of the globs names no file: what it meant has moved. */
function filesOf(globs: readonly string[]): string[] {
  const found = globs.map((pattern) => ({ pattern, files: globSync(pattern, { cwd: ROOT }) }));
  const empty = found.filter(({ files }) => files.length === 0).map(({ pattern }) => pattern);
  if (empty.length > 0) throw new Error(`No file is called ${empty.join(", ")}.`);
  return [...new Set(found.flatMap(({ files }) => files))].sort();
}

/** The files that an area's mutations are drawn from. Declarations of items are checked by what reads and writes them. */
export const codeOf = ({ code }: Area): string[] => filesOf(code).filter((file) => !/items?\.ts$/.test(file));

export const suitesOf = ({ suites }: Area): string[] => filesOf(suites);
