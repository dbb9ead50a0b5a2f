// The arguments and the context of a deployment reach its checks and cdk deploy alike (F6).
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { addedTo, argumentsOf, contextOfFiles } from "../../infra/deploy.ts";
import { synthesize } from "./support/template.ts";

it("the arguments of a deployment reach the checks and cdk deploy alike", () => {
  expect(
    argumentsOf(["-c", "stackName=B", "--anyway", "--context=removal=destroy", "--require-approval", "never"]),
  ).toEqual({
    context: { stackName: "B", removal: "destroy" },
    account: {},
    anyway: true,
    drop: false,
    check: false,
    help: false,
    rest: ["--context", "stackName=B", "--context", "removal=destroy", "--require-approval", "never"],
  });
  // As docs/operate.md writes it; the CDK cuts a value at the end of its first line.
  expect(argumentsOf(["-c", 'existing={\n  "table": {"name": "x"},\n  "keys": {}}']).rest).toEqual([
    "--context",
    'existing={ "table": {"name": "x"}, "keys": {}}',
  ]);
  expect(argumentsOf(["--profile", "staging", "--region=eu-west-1"])).toMatchObject({
    account: { AWS_PROFILE: "staging", AWS_REGION: "eu-west-1" },
    rest: ["--profile", "staging", "--region", "eu-west-1"],
  });
  expect(() => argumentsOf(["--profile"])).toThrow("--profile needs a value");
  expect(() => argumentsOf(["-c"])).toThrow("takes name=value");
  expect(() => argumentsOf(["--chek"])).toThrow("Unknown option '--chek'.");
});

it("a deployment says the commit that somebody names, as outside a Git repository nothing else does (F6)", () => {
  expect(addedTo({ commit: "c0ffee" }, { chosen: { accountConcurrency: "80" } })).toEqual({
    commit: "c0ffee",
    accountConcurrency: "80",
  });
  expect(addedTo({ commit: "" }, { chosen: {} }).commit).toMatch(/^[0-9a-f]{40}(?:-changed)?$|^unknown$/);
});

it("no spelling of a context passes the checks by, be it an option or a file that the CDK reads (F6)", async () => {
  expect(argumentsOf(["-c=workers=off"])).toMatchObject({
    context: { workers: "off" },
    rest: ["--context", "workers=off"],
  });
  expect(() => argumentsOf(["-vc", "workers=off"])).toThrow("stand apart, unlike '-vc'");
  const [home, project] = [await mkdtemp(join(tmpdir(), "home-")), await mkdtemp(join(tmpdir(), "project-"))];
  await writeFile(join(home, ".cdk.json"), JSON.stringify({ context: { registration: "open", removal: "destroy" } }));
  await writeFile(join(project, "cdk.context.json"), JSON.stringify({ removal: "retain", workers: "off" }));
  await writeFile(join(project, "cdk.json"), JSON.stringify({ context: { workers: "on" } }));
  expect(contextOfFiles(project, home)).toEqual({ registration: "open", removal: "retain", workers: "on" });
  expect(contextOfFiles(home, project)).toEqual({});
});

it.each(["alarmMail", "AlarmEmail", "alarm_email", "alarm-email", " alarmEmail"])(
  "the setting %j is refused, as there is none of this spelling (F6)",
  (name) => {
    expect(() => synthesize({ context: { [name]: "a@example.com" } })).toThrow("there is no such setting");
  },
);
