// Schemas of credentials: accepted values, and refused ones that could inject a header or a form field.
import { generateKeyPairSync } from "node:crypto";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { credentialSchema } from "../../shared/contract/credentials.ts";
import { providedChannels } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";

const pem = (curve: string) =>
  generateKeyPairSync("ec", { namedCurve: curve }).privateKey.export({ format: "pem", type: "pkcs8" }) as string;
const p8 = pem("P-256");
const ios = {
  type: "ios_push",
  key: p8,
  key_id: "ABCDE12345",
  team_id: "TEAM123456",
  bundle_id: "com.example.app",
  environment: "sandbox",
};
const smtp = { type: "email", provider: "smtp", from_email: "news@example.com", host: "smtp.example.com" };
const sms = { type: "sms", api_key: "abc", api_secret: "def", sender_id: "Shop" };

const issuesOf = (credentials: { type: string }) => {
  const channel = providedChannels.find((type) => channels[type].credentials.type === credentials.type)!;
  return v.safeParse(credentialSchema(channel), credentials).issues;
};

describe("credentials", () => {
  it.each([
    ["ios_push", ios],
    ["sms", sms],
    ["chat_app", { type: "chat_app", access_token: "EAAG", phone_number_id: "1", waba_id: "2" }],
    ["email over SES", { type: "email", provider: "ses", from_email: "news@example.com", from_name: "Søren" }],
    ["email over SMTP", { ...smtp, port: 587, username: "u", password: "p" }],
    [
      "vapid",
      { type: "vapid", public_key: "B".repeat(87), private_key: "a".repeat(43), subject: "mailto:a@b.example" },
    ],
  ])("credentials of %s are taken (CRD-3 to CRD-7)", (_, credentials) => {
    expect(issuesOf(credentials)).toBeUndefined();
  });

  it.each([
    ["a key of another curve", { ...ios, key: pem("P-384") }, "key"],
    ["what is no key", { ...ios, key: "-----BEGIN PRIVATE KEY-----" }, "key"],
    ["a key id of 9 characters", { ...ios, key_id: "ABCDE1234" }, "key_id"],
    ["SMTP without a host", { ...smtp, host: undefined }, "host"],
    ["a line break in a name", { ...smtp, from_name: "News\r\nBcc: all@example.com" }, "from_name"],
    ["a line break in an address", { ...smtp, reply_to: "a@example.com\r\nBcc: b@example.com" }, "reply_to"],
    ["a line break in a sender", { ...sms, sender_id: "Shop\n" }, "sender_id"],
    ["an empty secret", { ...sms, api_secret: "" }, "api_secret"],
  ])("credentials with %s are refused (CRD-3 to CRD-7)", (_, credentials, field) => {
    expect(issuesOf(credentials)?.map(({ path }) => path?.[0]?.key)).toContain(field);
  });
});
