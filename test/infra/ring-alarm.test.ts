// The operator rings an alarm, against an account with the alarms and the topic of the template.
import { afterEach, expect, it } from "vitest";
import { monitoringOf } from "../../infra/monitoring.ts";
import { requestOf, run } from "../../infra/operate.ts";
import { lookAfterAlarms } from "../../infra/ring-alarm.ts";
import { type AlarmAccount, alarmAccount } from "./support/alarm-account.ts";
import { deployed, EVERYTHING, ofType, type Template, whole } from "./support/template.ts";

/** `Shop-B-ApiFailsAlarm…` is of the stack Shop-B. */
const OTHERS = ["B-ApiFailsAlarm01234567", "something-else"];
const accounts: AlarmAccount[] = [];
afterEach(async () => {
  for (const account of accounts.splice(0)) await account.close();
});

async function accountOf(template: Template, { isConfirmed = true } = {}) {
  const account = await alarmAccount(template, { stackName: "Shop", others: OTHERS, isConfirmed });
  accounts.push(account);
  const credentials = async () => ({ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" });
  const monitoring = monitoringOf({ region: "eu-west-1", credentials, endpoint: account.endpoint });
  const operate = (...words: string[]) => {
    const invoke = (event: object) => lookAfterAlarms(monitoring, "Shop", (event as { alarms: object }).alarms);
    return run(requestOf(words), invoke, 0);
  };
  return { ...account, operate };
}

it("an alarm that the operator rings is mailed by the topic of the template (D18)", async () => {
  const { operate, mails, asked } = await accountOf(whole());
  expect(await operate("alarms", "ring", "ApiFails")).toMatch(/^ApiFails rings/);
  expect(mails()).toEqual([expect.stringMatching(/^ALARM: "Shop-ApiFailsAlarm/)]);
  expect(asked.map(({ target }) => target)).toEqual([
    "GraniteServiceVersion20100801.DescribeAlarms",
    "GraniteServiceVersion20100801.DescribeAlarms",
    "ListSubscriptionsByTopic",
    "GraniteServiceVersion20100801.SetAlarmState",
  ]);
  expect(asked[2]!.authorization).toMatch(/\/eu-west-1\/sns\//);
  expect(asked[3]!.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/monitoring\//);
});

it("each alarm of the stack can be rung, and mails (D18)", async () => {
  const { operate, mails } = await accountOf(whole());
  const all: string[] = JSON.parse(await operate("alarms", "--json")).map(({ name }: { name: string }) => name);
  for (const name of all) expect(await operate("alarms", "ring", name)).toContain(name);
  expect(
    mails()
      .map((mail) => /Shop-([A-Za-z]+)Alarm/.exec(mail!)?.[1])
      .sort(),
  ).toEqual(all.toSorted());
});

it("the operator sees each alarm of the stack with its state, and none of another stack (D18)", async () => {
  const { operate } = await accountOf(whole());
  await operate("alarms", "ring", "ApiFails");
  const seen = JSON.parse(await operate("alarms", "--json"));
  const count = Object.values(whole().Resources).filter(({ Type }) => Type === "AWS::CloudWatch::Alarm").length;
  expect(seen).toHaveLength(count);
  expect(seen).toContainEqual({ name: "ApiFails", state: "ALARM", mails_nobody: null, lost: expect.any(String) });
  expect(await operate("alarms")).toMatch(/ApiFails +ALARM +yes/);
});

it("an alarm that is unknown, rings already or mails nobody is refused with the reason (D18)", async () => {
  const { operate } = await accountOf(whole());
  await expect(operate("alarms", "ring", "Nothing")).rejects.toThrow(/no alarm Nothing .* ApiFails/);
  await operate("alarms", "ring", "ApiFails");
  await expect(operate("alarms", "ring", "ApiFails")).rejects.toThrow("rings already");
  const silent = await accountOf(deployed());
  await expect(silent.operate("alarms", "ring", "ApiFails")).rejects.toThrow("set alarmEmail");
  expect(silent.mails()).toEqual([]);
});

it("an alarm whose address has not confirmed mails nobody, which the operator sees, and is not rung (D1, D18)", async () => {
  const { operate, mails } = await accountOf(whole(), { isConfirmed: false });
  const seen = await operate("alarms");
  expect(seen).toMatch(/ApiFails +OK +no/);
  expect(seen).toContain(`Mails nobody: ${EVERYTHING.alarmEmail} has not confirmed its subscription`);
  await expect(operate("alarms", "ring", "ApiFails")).rejects.toThrow("has not confirmed its subscription");
  expect(mails()).toEqual([]);
});

it("an alarm whose topic lost its address mails nobody, which the operator sees (D1, D18)", async () => {
  const [[subscription] = []] = ofType(whole(), "AWS::SNS::Subscription");
  const { [subscription!]: _, ...Resources } = whole().Resources;
  const { operate } = await accountOf({ ...whole(), Resources });
  expect(await operate("alarms")).toMatch(/ApiFails +OK +no(.*\n)+Mails nobody: nobody is subscribed/);
});

it("what CloudWatch refuses is told with its answer (D18)", async () => {
  const { endpoint } = await accountOf(deployed());
  const monitoring = monitoringOf({
    region: "eu-west-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    endpoint,
  });
  await expect(monitoring("SetAlarmState", { AlarmName: "Nothing" })).rejects.toThrow("ResourceNotFound");
});

it("the switch of the workers is of a deployment, and is refused for the local service (D18)", () => {
  expect(() => requestOf(["workers", "off", "--local", "http://127.0.0.1:3000"])).toThrow("not of the local service");
  expect(() => requestOf(["alarms", "ring", "ApiFails", "more"])).toThrow("one argument too many");
  expect(() => requestOf(["recount", "id", "more"])).toThrow("one argument too many");
});
