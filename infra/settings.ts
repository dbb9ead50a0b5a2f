// The settings of a deployment: the context of cdk.json, or `-c name=value`, where an object is JSON text.
import type { Node } from "constructs";
import * as v from "valibot";
import { queueNames } from "../shared/contract/messages.ts";
import type { PublishedParts } from "../shared/contract/stream-sources.ts";
import { registrations } from "../shared/http/registration.ts";
import { planNames } from "../shared/rules/plans.ts";
import { UNKNOWN_COMMIT } from "../tools/release.ts";

/** Blanks would count as 0, which lifts a limit. */
const Numeric = v.pipe(
  v.union([v.pipe(v.string(), v.regex(/\S/, "must be a number")), v.number()]),
  v.transform(Number),
  v.finite(),
);
const Amount = v.pipe(Numeric, v.integer(), v.minValue(0));
const Whole = v.pipe(Amount, v.minValue(1));
/** The longest lifecycle of S3. */
const MAX_DAYS = 2_147_483_647;

/** The minimum that AWS accepts for a queue, and the number that it gets if the account allows it. */
const MIN_CONCURRENCY = 2;
const USUAL_CONCURRENCY = 10;
const MAX_CONCURRENCY = 1_000;
/** With fewer invocations at once, the queues alone can use up the account. */
export const FEWEST_INVOCATIONS = MIN_CONCURRENCY * queueNames.length;

const arnOf = (service: string) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^arn:aws[\\w-]*:${service}:[a-z0-9-]+:\\d{12}:`), `must be an ARN of ${service}`),
  );

const KeyArn = v.pipe(arnOf("kms"), v.regex(/:key\/[\w-]+$/, "must be the ARN of a key, and of no alias"));

/** The root secrets are in the table, encrypted with the encryption key: neither is of use without the other. */
const Existing = v.strictObject({
  table: v.pipe(
    v.strictObject({ name: v.string(), streamArn: arnOf("dynamodb") }),
    v.check(({ name, streamArn }) => streamArn.includes(`:table/${name}/stream/`), "has a stream of another table"),
  ),
  keys: v.strictObject({ encryption: KeyArn, signing: v.optional(KeyArn) }),
  buckets: v.optional(
    v.strictObject({
      assets: v.optional(v.string()),
      imports: v.optional(v.string()),
      archive: v.optional(v.string()),
    }),
    {},
  ),
});

/** The fields that verify a signature. Other fields of a published key, such as certificates (`x5c`), are left out. */
const PublicKey = v.object({
  kid: v.string(),
  n: v.string(),
  kty: v.optional(v.string(), "RSA"),
  e: v.optional(v.string(), "AQAB"),
  alg: v.optional(v.string(), "RS256"),
  use: v.optional(v.string(), "sig"),
});

/** A text in the environment of functions, which AWS limits to 4 KB each (test/infra/sizes.test.ts). */
const Short = v.pipe(v.string(), v.nonEmpty(), v.maxLength(256));
const Host = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    "must be a domain, such as mail.example.com",
  ),
);
const HttpsAddress = v.pipe(Short, v.url(), v.startsWith("https://", "must be an https URL"));
/** Four RSA keys of 2,048 bits, or two of 4,096. */
const MAX_KEYS_CHARACTERS = 2_000;
const PublicKeys = v.pipe(
  v.object({ keys: v.pipe(v.array(PublicKey), v.minLength(1)) }),
  v.check(
    (jwks) => JSON.stringify(jwks).length <= MAX_KEYS_CHARACTERS,
    `has more than ${MAX_KEYS_CHARACTERS} characters, which is what the environment of a function has room for: leave out keys that sign no more`,
  ),
);

/** The name of the stack of a deployment that names none. */
export const STACK_NAME = "Engagement";

const Settings = v.object({
  /** Also the prefix of every function's name. */
  stackName: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9-]{0,39}$/)), STACK_NAME),
  /** Your own domain for the service. Its certificate must be in us-east-1, as CloudFront requires. */
  domain: v.optional(
    v.strictObject({
      name: Host,
      certificateArn: v.pipe(
        v.string(),
        v.regex(/^arn:aws[\w-]*:acm:us-east-1:\d+:certificate\//, "must be a certificate of ACM in us-east-1"),
      ),
    }),
  ),
  /** The plan of a newly registered workspace. */
  defaultPlan: v.optional(v.picklist(planNames), "enterprise"),
  /** Another issuer of dashboard tokens, with the keys it publishes (D-AUTH). */
  tokenIssuer: v.optional(v.object({ issuer: v.pipe(Short, v.url()), audience: Short, jwks: PublicKeys })),
  /** An OpenID Connect provider through which members of every workspace may sign in, as a public client (ACC-15). */
  signIn: v.optional(v.strictObject({ issuer: HttpsAddress, clientId: Short })),
  /** The name of an EventBridge bus of this account and region, to which events are published. */
  eventBus: v.optional(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,256}$/, "must be the name of an event bus of this account")),
  ),
  /** For how many days events are kept in the archive, a bucket for Athena. Without it there is no archive. */
  archive: v.optional(v.pipe(Whole, v.maxValue(MAX_DAYS))),
  /** The address that alarms are mailed to. Without it they only change their state. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email())),
  /** The domain to send email from: creates its SES identity, and a queue of the outcomes of mails. */
  emailIdentity: v.optional(Host),
  /**
   * Reserved for live streams, and their limit. Without it they share the account's concurrency, and their limit is half
   * of it (docs/decisions/0021#live-streams).
   */
  streamConcurrency: v.optional(Whole),
  /** Requests with a publishable key in a minute, by one network address and with one key; 0 lifts the limit. */
  sdkRequestsPerAddress: v.optional(Amount, 6_000),
  sdkRequestsPerKey: v.optional(Amount, 60_000),
  /** Who may register: anyone, addresses that the operator invited, or only through the operator (D-AUTH). */
  registration: v.optional(v.picklist(registrations), "closed"),
  /** An amount in US dollars a month: alarmEmail gets a mail when the account spends more. */
  monthlyBudget: v.optional(v.pipe(Numeric, v.minValue(1))),
  /** A web ACL of AWS WAF, in us-east-1, for the distribution. */
  webAclArn: v.optional(
    v.pipe(v.string(), v.regex(/^arn:aws[\w-]*:wafv2:us-east-1:\d+:global\//, "must be of us-east-1 and global")),
  ),
  /** The account's limit of Lambda invocations at once, of which an alarm tells. `npm run deploy` reads it. */
  accountConcurrency: v.optional(Whole, 1_000),
  /** What the table and its indexes can take at once, a second: raised before a large send, never lowered. */
  warmThroughput: v.optional(
    v.strictObject({ reads: v.pipe(Whole, v.minValue(12_000)), writes: v.pipe(Whole, v.minValue(4_000)) }),
  ),
  /** How many invocations a queue may run at once. Without it, as many as the account allows. */
  workerConcurrency: v.optional(v.pipe(Whole, v.minValue(MIN_CONCURRENCY), v.maxValue(MAX_CONCURRENCY))),
  /** `off`: no message and no timer is handled, so nothing is sent; a copy beside a running deployment (docs/operate.md). */
  workers: v.optional(v.picklist(["on", "off"]), "on"),
  /** The commit of the repository, for `/healthz`. `npm run deploy` reads it. */
  commit: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)), UNKNOWN_COMMIT),
  /** Storage that is there already: restored, or left by an earlier deployment (docs/operate.md). */
  existing: v.optional(Existing),
  /** `destroy` removes data with the stack, for trials; `retain` keeps it. */
  removal: v.optional(v.picklist(["retain", "destroy"]), "retain"),
});

export type Settings = v.InferOutput<typeof Settings>;

/** The events that go to the account's own event bus and archive. */
export const publishedBy = ({ eventBus, archive }: Settings): PublishedParts => ({
  bus: eventBus !== undefined,
  archive: archive !== undefined,
});

export const publishes = (settings: Settings): boolean => Object.values(publishedBy(settings)).some(Boolean);

/** How many invocations a queue may run at once: all queues together take half of what is not reserved, if they can. */
export function workerConcurrencyOf({
  workerConcurrency,
  accountConcurrency,
  streamConcurrency = 0,
}: Settings): number {
  if (workerConcurrency !== undefined) return workerConcurrency;
  const share = Math.floor((accountConcurrency - streamConcurrency) / 2 / queueNames.length);
  return Math.min(USUAL_CONCURRENCY, Math.max(MIN_CONCURRENCY, share));
}

/** Names of the CDK's own context have a hyphen, a colon or an `@`. */
const WORD = /^\s*\w+\s*$/;
const lettersOf = (name: string) => name.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
const known = new Set(Object.keys(Settings.entries).map(lettersOf));
const isMisspelt = (name: string) =>
  !Object.hasOwn(Settings.entries, name) && (WORD.test(name) || known.has(lettersOf(name)));

/** @throws an error whose message names the setting, also one that there is not: what is misspelt would be left out. */
export function readSettings(node: Node): Settings {
  const unknown = Object.keys(node.getAllContext()).find(isMisspelt);
  if (unknown !== undefined) throw new Error(`The context ${unknown} is wrong: there is no such setting.`);
  const values = Object.fromEntries(
    Object.keys(Settings.entries).map((name) => [name, contextOf(name, node.tryGetContext(name) ?? undefined)]),
  );
  const settings = v.safeParse(Settings, values);
  if (settings.success) return settings.output;
  const [issue] = settings.issues;
  throw new Error(`The context ${v.getDotPath(issue)} is wrong: ${issue.message}`);
}

/** `-c name=value` gives text: that of an object is JSON, and none at all unsets what cdk.json sets. */
function contextOf(name: string, value: unknown): unknown {
  if (value === "") return undefined;
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`The context ${name} is wrong: ${(error as Error).message}`);
  }
}
