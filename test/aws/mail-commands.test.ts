// What SES is asked for a mail, and what each of its answers means for the mail.
import { GetEmailIdentityCommand, SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import { mockClient } from "aws-sdk-client-mock";
import { describe, expect, it } from "vitest";
import { openSes } from "../../shared/providers/ses.ts";
import { awsDeps, failure } from "./clients.ts";

type Ses = ReturnType<typeof openSes>;
const credentials = { provider: "ses", from_email: "shop@example.com", from_name: "Shop" } as Parameters<
  Ses["send"]
>[0];
const message = {
  tenant: "shop",
  job: "j",
  subscriber: "s",
  target: "email",
  address: { email: "anna@example.com" },
  title: "Hello",
  body: "World",
} as Parameters<Ses["send"]>[1];

/** @param sleep how the time limit of a request passes: by default, it does not */
function mockedSes(sleep: () => Promise<void> = () => new Promise(() => undefined), env: Record<string, string> = {}) {
  const deps = awsDeps({});
  const clock = { ...deps.clock, sleep };
  const mocked = mockClient(deps.aws(SESv2Client, { maxAttempts: 1 }));
  const ses = openSes({ aws: deps.aws, clock, env });
  return { mocked, ses, send: () => ses.send(credentials, message, "source") };
}

it("a mail is its own source, with tags that its events return", async () => {
  const { mocked, send } = mockedSes();
  mocked.on(SendEmailCommand).resolves({ MessageId: "m" });
  await send();
  expect(mocked.call(0).args[0].input).toEqual({
    FromEmailAddress: "shop@example.com",
    Destination: { ToAddresses: ["anna@example.com"] },
    Content: { Raw: { Data: Buffer.from("source") } },
    EmailTags: [
      { Name: "tenant", Value: "shop" },
      { Name: "job", Value: "j" },
      { Name: "subscriber", Value: "s" },
    ],
  });
});

it("a mail names the configuration set of its credentials", async () => {
  const { mocked, ses } = mockedSes();
  mocked.on(SendEmailCommand).resolves({ MessageId: "m" });
  await ses.send({ ...credentials, configuration_set: "events" } as never, message, "source");
  expect(mocked.call(0).args[0].input).toMatchObject({ ConfigurationSetName: "events" });
});

it("an answer is the id of the mail, also without metadata", async () => {
  const { mocked, send } = mockedSes();
  mocked.on(SendEmailCommand).resolves({ MessageId: "m" });
  expect(await send()).toMatchObject({ kind: "accepted", providerId: "m" });
});

describe("outcomes", () => {
  const status = (httpStatusCode: number) => ({ $metadata: { httpStatusCode } });
  it.each([
    ["TooManyRequestsException", status(429), { kind: "retryable", isThrottled: true }],
    ["LimitExceededException", status(400), { kind: "retryable", isThrottled: true }],
    ["ThrottlingException", { $metadata: undefined }, { kind: "retryable", isThrottled: true }],
    ["ServiceUnavailable", status(503), { kind: "retryable" }],
    ["MessageRejected", status(400), { kind: "rejected" }],
    ["ExpiredTokenException", status(403), { kind: "retryable" }],
    ["AccessDeniedException", status(403), { kind: "rejected" }],
    ["InternalServerError", status(500), { kind: "unknown" }],
    ["Error", { code: "ENOTFOUND", $metadata: undefined }, { kind: "retryable" }],
    ["Error", { code: "ECONNRESET", $metadata: undefined }, { kind: "unknown" }],
    ["TimeoutError", { $metadata: undefined }, { kind: "unknown" }],
  ])("%s with %j is %j", async (name, more, outcome) => {
    const { mocked, send } = mockedSes();
    mocked.on(SendEmailCommand).rejects(failure(name, more));
    expect(await send()).toMatchObject(outcome);
  });

  it("a mail is sent once, however it ends", async () => {
    const { mocked, send } = mockedSes();
    mocked.on(SendEmailCommand).rejects(failure("TimeoutError"));
    await send();
    expect(mocked.calls()).toHaveLength(1);
  });

  it("a mail that SES does not answer in time may have been sent", async () => {
    const { mocked, send } = mockedSes(async () => undefined);
    mocked.on(SendEmailCommand).callsFake(() => new Promise(() => undefined));
    expect(await send()).toEqual({ kind: "unknown", reason: "no answer in time" });
  });
});

describe("the identity of a sender", () => {
  it("the identity of a sender is looked up by its address, then by its domain", async () => {
    const { mocked, ses } = mockedSes();
    mocked.on(GetEmailIdentityCommand).rejects(failure("NotFoundException"));
    expect(await ses.verify(credentials, "shop")).toMatchObject({ kind: "refused" });
    expect(mocked.calls().map(({ args: [{ input }] }) => input)).toEqual([
      { EmailIdentity: "shop@example.com" },
      { EmailIdentity: "example.com" },
    ]);
  });

  it("the identity of a sender is verified only where SES says so", async () => {
    const { mocked, ses } = mockedSes();
    mocked.on(GetEmailIdentityCommand).resolves({});
    expect(await ses.verify(credentials, "shop")).toMatchObject({ kind: "refused" });
    mocked.on(GetEmailIdentityCommand).resolves({ VerifiedForSendingStatus: true });
    expect(await ses.verify(credentials, "shop")).toEqual({ kind: "verified" });
  });

  const given = (to: string) => ({
    VerifiedForSendingStatus: true,
    Tags: [{ Key: "engagement-workspace", Value: to }],
  });

  it("the identity of a sender that is given to workspaces is of these alone (D-EMAIL, CHN-10)", async () => {
    const { mocked, ses } = mockedSes();
    mocked.on(GetEmailIdentityCommand).resolves(given("bakery"));
    expect(await ses.verify(credentials, "shop")).toMatchObject({ kind: "refused" });
    mocked.on(GetEmailIdentityCommand).resolves(given("bakery shop"));
    expect(await ses.verify(credentials, "shop")).toEqual({ kind: "verified" });
  });

  it("the identity of an address sends for nobody whom that of its domain excludes (D-EMAIL, CHN-10)", async () => {
    const { mocked, ses } = mockedSes();
    mocked
      .on(GetEmailIdentityCommand, { EmailIdentity: "shop@example.com" })
      .resolves({ VerifiedForSendingStatus: true });
    mocked.on(GetEmailIdentityCommand, { EmailIdentity: "example.com" }).resolves(given("bakery"));

    expect(await ses.verify(credentials, "shop")).toMatchObject({ kind: "refused" });
  });

  it("the identity of a sender is nobody's until it is given, where anybody may have a workspace (D-EMAIL, CHN-10)", async () => {
    const { mocked, ses } = mockedSes(undefined, { STRANGERS: "1" });
    mocked.on(GetEmailIdentityCommand).resolves({ VerifiedForSendingStatus: true });
    expect(await ses.verify(credentials, "shop")).toMatchObject({ error: expect.stringContaining("ask the operator") });
    mocked.on(GetEmailIdentityCommand, { EmailIdentity: "example.com" }).resolves(given("shop"));
    expect(await ses.verify(credentials, "shop")).toEqual({ kind: "verified" });
  });
});
