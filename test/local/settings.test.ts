// What the local service is told by its environment.
import { expect, test } from "vitest";
import { readSettings } from "../../local/settings.ts";

test("settings have defaults, and read what is given", () => {
  const passedOn = { CONFIRM_ADDRESSES: "1" };
  const usual = {
    port: 3_000,
    dataFolder: ".data",
    plan: "enterprise",
    awsPort: undefined,
    dynamodbEndpoint: undefined,
    logsRequests: true,
    passedOn,
  };
  expect(readSettings({})).toEqual(usual);
  expect(readSettings({ PORT: "", DATA_DIR: "", AWS_PORT: "" })).toEqual(usual);
  const given = {
    PORT: "0",
    DATA_DIR: ":memory:",
    DEFAULT_PLAN: "free",
    AWS_PORT: "8000",
    AWS_ENDPOINT_URL_DYNAMODB: "http://localhost:8001",
    WEBHOOK_ALLOW_LOOPBACK: "1",
    PROVIDERS_ALLOW_LOOPBACK: "0",
    SDK_REQUESTS_PER_KEY: "50",
    CONFIRM_ADDRESSES: "0",
    REGISTRATION: "invite",
    LOG: "quiet",
  };
  expect(readSettings(given)).toEqual({
    port: 0,
    dataFolder: ":memory:",
    plan: "free",
    awsPort: 8_000,
    dynamodbEndpoint: "http://localhost:8001/",
    logsRequests: false,
    passedOn: { REGISTRATION: "invite", WEBHOOK_ALLOW_LOOPBACK: "1", SDK_REQUESTS_PER_KEY: "50" },
  });
});

test.each([
  ["PORT", "high"],
  ["PORT", "65536"],
  ["AWS_PORT", "-1"],
  ["DEFAULT_PLAN", "gold"],
  ["AWS_ENDPOINT_URL_DYNAMODB", "http://192.168.0.1:8000"],
  ["AWS_ENDPOINT_URL_DYNAMODB", "https://dynamodb.us-east-1.amazonaws.com"],
  ["AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1.example.com"],
  ["AWS_ENDPOINT_URL_DYNAMODB", "8000"],
  ["WEBHOOK_ALLOW_LOOPBACK", "yes"],
  ["CONFIRM_ADDRESSES", "no"],
  ["SDK_REQUESTS_PER_ADDRESS", "many"],
  ["LOG", "loud"],
  ["REGISTRATION", "shut"],
  ["ARCHIVE_BUCKET", "My_Archive"],
  ["EVENT_BUS", "my bus"],
])("the setting %s=%s is refused by name", (name, value) => {
  expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`^${name} is `));
});

test.each([
  [{ SIGN_IN_ISSUER: "login.example.com", SIGN_IN_CLIENT_ID: "a" }, "SIGN_IN_ISSUER is"],
  [{ SIGN_IN_ISSUER: "https://login.example.com" }, "belong together"],
  [{ SIGN_IN_CLIENT_ID: "a" }, "belong together"],
])("an identity provider as %j is refused, which would let nobody in (ACC-15)", (given, reason) => {
  expect(() => readSettings(given)).toThrow(reason);
});
