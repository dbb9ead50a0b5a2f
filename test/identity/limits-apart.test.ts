// What somebody uses up of a limit is left to everybody else (docs/limits.md).
import { authenticator } from "otplib";
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
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
type Deed = (here: Setting, user: User) => Promise<{ status: number }>;

const login: Deed = ({ post }, { email }) => post("login", { email, password: "wrong horse" });
const forgot: Deed = ({ post }, { email }) => post("password/forgot", { email });
const resend: Deed = ({ post }, { as }) => post("email/resend", {}, as);
const change: Deed = ({ post }, { as }) =>
  post("password/change", { current_password: "wrong horse", password: "correct horse staple" }, as);
const code: Deed = ({ post }, { email }) => post("login", { email, password: PASSWORD, code: "000000" });

async function enrol({ world, post }: Setting, { as }: User): Promise<void> {
  const { key } = (await post("second-factor/begin", { current_password: PASSWORD }, as)).body;
  const shown = authenticator.clone({ epoch: world.clock.now() }).generate(key);
  expect((await post("second-factor/confirm", { code: shown }, as)).status).toBe(200);
}

it.each<[what: string, deed: Deed, uses: number, pause?: { every: number; ms: number }]>([
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

it.each<[what: string, deed: Deed, allowed: number]>([
  ["resets of a password", forgot, 3],
  ["mails that confirm an address", resend, 5],
])(
  "%s are counted of one mailbox together, whatever follows the plus of its addresses (LIM-4, D11)",
  async (_, deed, allowed) => {
    const here = await setting();
    const users = [await here.register("eve+1"), await here.register("eve+2")];
    const statuses: number[] = [];
    for (let n = 0; n <= allowed; n++) statuses.push((await deed(here, users[n % 2]!)).status);

    expect(statuses.indexOf(429)).toBe(allowed);
  },
);

it.each<[what: string, deed: Deed, uses: number]>([
  ["resets of a password", forgot, 4],
  ["mails that confirm an address", resend, 6],
])(
  "%s for names with a plus that a stranger made up keep nobody from those of the own address (LIM-4, D11)",
  async (_, deed, uses) => {
    const here = await setting();
    const stranger = await here.register("ada+stranger");
    for (let n = 0; n < uses; n++) await deed(here, stranger);

    expect((await deed(here, stranger)).status).toBe(429);
    expect((await deed(here, here.ada)).status).not.toBe(429);
  },
);
