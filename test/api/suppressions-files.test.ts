// Files of suppressed addresses, as providers of mail export them (AMB-128).
import { expect, it } from "vitest";
import { client } from "../support/opt-outs.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("an import of suppressions suppresses the addresses of its file and names the rows that have none (AMB-128)", async () => {
  const { tenant } = await withTenant();
  const { call } = client(tenant);
  const file =
    "Email Address,Reason,Created\nA@example.com,hard bounce,2024-03-04T05:06:07Z\nnobody,,\n+4915112345678,,\n";
  const load = () => call("POST /api/v1/suppressions/import", { csv: file });
  expect((await load()).body).toEqual({
    ...{ suppressed: 2, unchanged: 0, rejected: 1 },
    problems: [{ line: 3, reason: "no email address, and no phone number that can be read" }],
  });
  expect((await load()).body).toMatchObject({ suppressed: 0, unchanged: 2 });
  const [a] = (await call("GET /api/v1/suppressions?address=a@example.com")).body.items;
  expect(a).toMatchObject({ reason: "imported", note: "hard bounce", suppressed_at: "2024-03-04T05:06:07.000Z" });
});

it("an import of suppressions names the first hundred rows without an address, and counts all (AMB-128)", async () => {
  const { tenant } = await withTenant();
  const csv = `email\n${"nobody\n".repeat(101)}ada@example.com\n`;

  const { body } = await client(tenant).call("POST /api/v1/suppressions/import", { csv });

  expect(body).toMatchObject({ suppressed: 1, rejected: 101 });
  expect(body.problems).toHaveLength(100);
});

it.each([
  ["SendGrid", "email,created,group_id,group_name\nada@example.com,1683195072,14,News\n", "2023-05-04T10:11:12.000Z"],
  ["SES", "EmailAddress,Reason,LastUpdateTime\nada@example.com,BOUNCE,2023-05-04T10:11:12.5+00:00\n", "2023-05-04"],
  [
    "SparkPost",
    "recipient,type,source,created\nada@example.com,non_transactional,Bounce Rule,2023-05-04\n",
    "2023-05-04",
  ],
  ["Mailgun", 'address,code,error,created_at\nada@example.com,550,x,"Thu, 04 May 2023 10:11:12 UTC"\n', "2023-05-04"],
  [
    "SES, answered by its command line",
    '{\n "SuppressedDestinationSummaries": [\n  {\n   "EmailAddress": "ada@example.com",\n   "Reason": "BOUNCE",\n   "LastUpdateTime": "2023-05-04T10:11:12+00:00"\n  }\n ]\n}',
    "2023-05-04",
  ],
  ["SendGrid, in JSON", '[{"created":1683195072,"email":"ada@example.com","reason":"550"}]', "2023-05-04"],
  ["JSON lines", '{"email":"ada@example.com"}\n{"email":"ada@example.com","reason":"x"}\n', "2026-11-20"],
  ["JSON", '["ada@example.com"]', "2026-11-20"],
  ["no header", "Ada <ada@example.com>\n", "2026-11-20"],
  ["SES without a header", "ada@example.com,BOUNCE,2023-05-04T10:11:12.345Z\n", "2023-05-04T10:11:12"],
  ["a clock that is ahead", "email,created\nada@example.com,2027-05-04\n", "2026-11-20"],
])("a file of suppressed addresses as of %s is read (AMB-128)", async (_, csv, at) => {
  const { tenant } = await withTenant();
  const { call } = client(tenant);
  expect((await call("POST /api/v1/suppressions/import", { csv })).body).toMatchObject({
    suppressed: 1,
    rejected: 0,
  });
  const [one] = (await call("GET /api/v1/suppressions")).body.items;
  expect([one.address, one.suppressed_at.slice(0, at.length)]).toEqual(["ada@example.com", at]);
});

it.each([
  [
    "quotes of spreadsheets",
    'email;reason\n="a@example.com";x\n\'b@example.com;y\n',
    ["a@example.com", "b@example.com"],
  ],
  ["a row of two addresses", "email,phone\na@example.com,+49 151 1234567\n", ["+491511234567", "a@example.com"]],
  ["several addresses in a cell", "email\na@example.com; B <b@example.com>\n", ["a@example.com", "b@example.com"]],
  [
    "several columns of addresses",
    "email,second_email\na@example.com,b@example.com\n",
    ["a@example.com", "b@example.com"],
  ],
  [
    "no address of another",
    "email,owner email,email subject\na@example.com,o@example.com,c@example.com\n",
    ["a@example.com"],
  ],
  ["numbers of the workspace's region", "Phone\n0151 1234567\n", ["+491511234567"]],
  ["numbers of the row's country", "Phone,Country\n07912 345678,GB\n", ["+447912345678"]],
  ["numbers without a plus", "msisdn,reason\n447700900123,STOP\n", ["+447700900123"]],
  ["rows below a title", "Suppressed on 1 May\nemail\na@example.com\n", ["a@example.com"]],
  ["an unusual name", "Bounced mail address,reason\na@example.com,x\n", ["a@example.com"]],
])("%s are read (AMB-128, AMB-133)", async (_, csv, expected) => {
  const { tenant } = await withTenant();
  const { call } = client(tenant);
  await tenant.call("PATCH /api/v1/workspace", { region: "DE" });
  expect((await call("POST /api/v1/suppressions/import", { csv })).body).toMatchObject({ rejected: 0 });

  const { items } = (await call("GET /api/v1/suppressions")).body;
  expect(items.map(({ address }: { address: string }) => address).toSorted()).toEqual(expected);
});

it.each(['{"items":[{"email":"ada@example.com"}', '[{"name":"Ada"}]'])(
  "%j: JSON that cannot be read, or has no addresses, is refused and not taken for an empty file (AMB-128)",
  async (csv) => {
    const { tenant } = await withTenant();
    expect((await client(tenant).call("POST /api/v1/suppressions/import", { csv })).status).toBe(400);
  },
);

it.each([
  ["Klaviyo", "Email,Email Suppressions", "[]", '"[""HARD_BOUNCE""]"'],
  ["Brevo", "EMAIL,EMAIL_BLACKLISTED", "No", "Yes"],
  ["SendGrid", "email,event,reason", "delivered,250 ok", "bounce,550 no such user"],
  ["Postmark", "Email,Type,BouncedAt", "SoftBounce,2026-03-01", "HardBounce,2026-03-01"],
  ["ActiveCampaign", "Email,Status", "Active", "Bounced"],
  ["Salesforce", "EmailAddress,BounceCategory", "Soft bounce", "Hard bounce"],
])("a file of %s of everybody leaves out who is not suppressed, and says so (AMB-128)", async (_, names, no, yes) => {
  const { tenant } = await withTenant();
  const { call } = client(tenant);
  const csv = `${names}\nada@example.com,${no}\nbob@example.com,${yes}\n`;

  expect((await call("POST /api/v1/suppressions/import", { csv })).body).toEqual({
    ...{ suppressed: 1, unchanged: 0, rejected: 1 },
    problems: [{ line: 2, reason: "says that nothing is suppressed" }],
  });
  expect((await call("GET /api/v1/suppressions")).body.items).toMatchObject([{ address: "bob@example.com" }]);
});

it.each([
  ["email,Suppressed At\nada@example.com,2023-05-04\n"],
  ["email,Blocklisted at,Reason\nada@example.com,2023-05-04,Something else\n"],
  ["Email,Status,UNSUB_TIME\nada@example.com,,2023-05-04\n"],
  ["Subscriber,email,DateUnsubscribed\nx,ada@example.com,2023-05-04\n"],
])("the time in %j is that of the suppression (AMB-128)", async (csv) => {
  const { tenant } = await withTenant();
  const { call } = client(tenant);
  await call("POST /api/v1/suppressions/import", { csv });
  const [one] = (await call("GET /api/v1/suppressions")).body.items;
  expect(one).toMatchObject({ address: "ada@example.com", suppressed_at: "2023-05-04T00:00:00.000Z" });
});
