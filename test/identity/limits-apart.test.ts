// What somebody uses up of a limit is left to everybody else (docs/limits.md).
import { authenticator } from "otplib";
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { mailedToken } from "../support/accounts.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const PASSWORD = "correct horse battery";

async function setting() {
  const world = await fresh({ env: { CONFIRM_ADDRESSES: "1" } });
  const post = (path: string, body: object, as = {}) => world.call(`POST /api/v1/auth/${path}`, { body, as });
  const register = async (name: string) => {
    const email = `${name}@lovelace.example`;
    const { body } = await post("register", { email, password: PASSWORD, name, workspace_name: name });
    return { email, as: { authorization: `Bearer ${body.access_token}` } };
  };
  return { world, post, register, ada: await register("ada"), bob: await register("bob") };
}
type Setting = Awaited<ReturnType<typeof setting>>;
type User = Setting["ada"];
type LimitedCall = (here: Setting, user: User) => Promise<{ status: number }>;

const login: LimitedCall = ({ post }, { email }) => post("login", { email, password: "wrong horse" });
const forgot: LimitedCall = ({ post }, { email }) => post("password/forgot", { email });
const resend: LimitedCall = ({ post }, { as }) => post("email/resend", {}, as);
const change: LimitedCall = ({ post }, { as }) =>
  post("password/change", { current_password: "wrong horse", password: "correct horse staple" }, as);
const code: LimitedCall = ({ post }, { email }) => post("login", { email, password: PASSWORD, code: "000000" });

async function enrol({ world, post }: Setting, { as }: User): Promise<void> {
  const { key } = (await post("second-factor/begin", { current_password: PASSWORD }, as)).body;
  const shown = authenticator.clone({ epoch: world.clock.now() }).generate(key);
  expect((await post("second-factor/confirm", { code: shown }, as)).status).toBe(200);
}

it.each<[what: string, deed: LimitedCall, uses: number, pause?: { every: number; ms: number }]>([
  ["wrong passwords from one network", login, 11],
  ["resets of a password in an hour", forgot, 4],
  ["resets of a password in a day", forgot, 11, { every: 3, ms: HOUR }],
  ["mails that confirm an address", resend, 6],
  ["wrong passwords in an open session", change, 11],
  ["wrong codes in a quarter of an hour", code, 11],
  ["wrong codes in a day", code, 31, { every: 5, ms: 15 * MINUTE }],
])("%s are counted of each user alone (LIM-4, D11, ACC-11)", async (_, deed, uses, pause) => {
  const here = await setting();
  const { world, ada, bob } = here;
  if (deed === code) for (const user of [ada, bob]) await enrol(here, user);
  const statuses: number[] = [];
  for (let n = 0; n < uses; n++) {
    if (pause && n % pause.every === 0) await world.advance(pause.ms);
    statuses.push((await deed(here, ada)).status);
  }

  expect(statuses.at(-1)).toBe(429);
  expect((await deed(here, bob)).status).not.toBe(429);
});

/** How many mails with such a title went to names of a mailbox. */
async function mailsTo({ world }: Setting, mailbox: string, title: string): Promise<number> {
  await world.settle();
  const { items } = (await world.call("GET /_local/outbox?channel=email&limit=1000")).body;
  const isOf = (to: string) => to.replace(/\+.*@/, "@") === `${mailbox}@lovelace.example`;
  return items.filter((item: { to: string; title: string }) => isOf(item.to) && item.title.startsWith(title)).length;
}

it.each([
  ["five mails an hour", 1, 5],
  ["ten mails a day", 3, 10],
])(
  "names with a plus that nobody confirmed get %s together, and the answers do not tell (LIM-4, D11)",
  async (_, hours, mails) => {
    const here = await setting();
    const users = [await here.register("eve+1"), await here.register("eve+2"), await here.register("eve+3")];
    const statuses: number[] = [];
    for (let hour = 0; hour < hours; hour++) {
      await here.world.advance(hour * HOUR);
      for (const user of users) for (let n = 0; n < 3; n++) statuses.push((await forgot(here, user)).status);
    }

    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(await mailsTo(here, "eve", "")).toBe(mails);
  },
);

it.each<[whose: string, name: string, isConfirmed: boolean]>([
  ["the own address", "ada", false],
  ["a name of the own address with a plus that its user confirmed", "ada+own", true],
])(
  "what strangers ask for made-up names with a plus keeps nobody from the resets of %s (LIM-4, D11)",
  async (_, name, isConfirmed) => {
    const here = await setting();
    const own = name === "ada" ? here.ada : await here.register(name);
    if (isConfirmed) await here.post("email/confirm", { token: await mailedToken(here.world, own.email, "Confirm") });
    const strangers = [await here.register("ada+1"), await here.register("ada+2"), await here.register("ada+3")];
    const nobody = { ...strangers[0]!, email: "ada+nobody@lovelace.example" };
    for (const one of [...strangers, nobody]) for (let n = 0; n < 4; n++) await forgot(here, one);
    const before = await mailsTo(here, "ada", "Reset");

    expect((await forgot(here, own)).status).toBe(202);
    expect(await mailsTo(here, "ada", "Reset")).toBe(before + 1);
  },
);

it("a mail to a name with a plus that is tried again and again counts once, and comes when mails are sent again (LIM-4, D11)", async () => {
  const here = await setting();
  const { world } = here;
  await world.settle();
  await world.call("POST /_local/faults", { body: { channel: "aws:ses" } });
  await here.register("eve+own");
  const tries = () => world.logs.filter(({ message }) => message === "a mail was not sent").length;
  for (let n = 0; n < 50 && tries() < 7; n++) await world.advance(MINUTE);
  expect(tries()).toBe(7);
  await world.call("DELETE /_local/faults");
  await world.advance(9 * MINUTE);

  expect(await mailsTo(here, "eve", "Confirm")).toBe(1);
});
