// Reads the settings of `npm start` from the environment. An invalid value stops the start with one line.
import { registrations } from "../shared/http/registration.ts";
import { type PlanName, planNames } from "../shared/rules/plans.ts";
import { BUCKET_NAME } from "./aws/index.ts";
import { type LocalStack, readStack } from "./template.ts";

export interface Settings {
  /** 0 takes a free port. */
  port: number;
  /** A folder, or `:memory:`. */
  dataFolder: string;
  plan: PlanName;
  /** A second port, for the embedded AWS services; unset: none. */
  awsPort: number | undefined;
  /** Another DynamoDB on this machine, instead of the embedded one. */
  dynamodbEndpoint: string | undefined;
  /** Invocations at once of all functions; undefined: no limit. */
  accountConcurrency: number | undefined;
  /** Requests to the gateway of all callers together; undefined: no limit. */
  requestsPerSecond: number | undefined;
  /** A stack that was synthesized, whose alarms watch the service; undefined: none. */
  stack: LocalStack | undefined;
  /** Whether each request is logged. */
  logsRequests: boolean;
  /** Settings that the functions read themselves. */
  passedOn: Record<string, string>;
}

const DEFAULT_PORT = 3_000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const MAX_PORT = 65_535;

/** A reason not to start, printed as one line without a stack. */
export const startRefused = (message: string): Error => Object.assign(new Error(message), { name: "StartRefused" });

export const isStartRefused = (error: unknown): error is Error =>
  error instanceof Error && error.name === "StartRefused";

/** @throws a `StartRefused` that names the invalid variable. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const plan = planNames.find((name) => name === (env.DEFAULT_PLAN || "enterprise"));
  if (!plan) throw startRefused(`DEFAULT_PLAN is "${env.DEFAULT_PLAN}"; it must be one of ${planNames.join(", ")}.`);
  const { REGISTRATION = "" } = env;
  if (REGISTRATION && !registrations.some((mode) => mode === REGISTRATION))
    throw startRefused(`REGISTRATION is "${REGISTRATION}"; it must be one of ${registrations.join(", ")}.`);
  if (!env.SIGN_IN_ISSUER !== !env.SIGN_IN_CLIENT_ID)
    throw startRefused("SIGN_IN_ISSUER and SIGN_IN_CLIENT_ID belong together: one of them is not set.");
  if (env.LOG && env.LOG !== "quiet") throw startRefused(`LOG is "${env.LOG}"; it must be quiet or unset.`);
  return {
    port: portOf("PORT", env.PORT) ?? DEFAULT_PORT,
    dataFolder: env.DATA_DIR || ".data",
    plan,
    awsPort: portOf("AWS_PORT", env.AWS_PORT),
    dynamodbEndpoint: endpointOf(env.AWS_ENDPOINT_URL_DYNAMODB),
    accountConcurrency: limitOf("ACCOUNT_CONCURRENCY", env.ACCOUNT_CONCURRENCY),
    requestsPerSecond: limitOf("GATEWAY_LIMIT", env.GATEWAY_LIMIT),
    stack: stackOf(env.STACK_TEMPLATE),
    logsRequests: env.LOG !== "quiet",
    passedOn: Object.fromEntries([
      ...(REGISTRATION ? [["REGISTRATION", REGISTRATION]] : []),
      ...Object.entries(TEXTS).flatMap(([name, form]) => (env[name] ? [[name, textOf(name, env[name], form)]] : [])),
      ...FLAGS.flatMap((name) => (isOn(name, env[name]) ? [[name, "1"]] : [])),
      // The setting is on as on a deployment that can send mail: the mails are in the outbox.
      ...(isOn(CONFIRMING, env[CONFIRMING] || "1") ? [[CONFIRMING, "1"]] : []),
      ...AMOUNTS.flatMap((name) => (env[name] ? [[name, amountOf(name, env[name])]] : [])),
    ]),
  };
}

const FLAGS = ["WEBHOOK_ALLOW_LOOPBACK", "PROVIDERS_ALLOW_LOOPBACK"];
const CONFIRMING = "CONFIRM_ADDRESSES";
const TEXTS: Record<string, Form> = {
  SIGN_IN_ISSUER: { form: /^https:\/\/\S+$/, of: "an https URL" },
  SIGN_IN_CLIENT_ID: { form: /\S/, of: "the id of a client" },
  EVENT_BUS: { form: /^[\w.-]{1,256}$/, of: "the name of an event bus" },
  ARCHIVE_BUCKET: { form: BUCKET_NAME, of: "the name of a bucket" },
};
const AMOUNTS = ["SDK_REQUESTS_PER_ADDRESS", "SDK_REQUESTS_PER_KEY"];

interface Form {
  form: RegExp;
  /** The name of the thing that has the form, for the refusal. */
  of: string;
}

function textOf(name: string, text: string, { form, of }: Form): string {
  if (form.test(text)) return text;
  throw startRefused(`${name} is "${text}"; it must be ${of}.`);
}

function isOn(name: string, text: string | undefined): boolean {
  if (text && !["0", "1"].includes(text)) throw startRefused(`${name} is "${text}"; it must be 1, 0 or unset.`);
  return text === "1";
}

function amountOf(name: string, text: string): string {
  if (/^\d{1,9}$/.test(text)) return text;
  throw startRefused(`${name} is "${text}"; it must be a whole number.`);
}

const limitOf = (name: string, text: string | undefined): number | undefined =>
  Number(amountOf(name, text || "0")) || undefined;

function stackOf(file: string | undefined): LocalStack | undefined {
  if (!file) return undefined;
  try {
    return readStack(file);
  } catch (error) {
    throw startRefused(`STACK_TEMPLATE is "${file}", which is no template: ${(error as Error).message}.`);
  }
}

function endpointOf(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" && LOOPBACK.test(url.hostname)) return url.href;
  throw startRefused(
    `AWS_ENDPOINT_URL_DYNAMODB is "${text}"; it must be an http URL on this machine, such as http://127.0.0.1:8000.`,
  );
}

function portOf(name: string, text: string | undefined): number | undefined {
  if (!text) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= MAX_PORT) return port;
  throw startRefused(`${name} is "${text}"; it must be a port number from 0 to ${MAX_PORT}.`);
}
