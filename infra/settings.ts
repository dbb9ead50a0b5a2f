// The settings of a deployment: the context of cdk.json, or `-c name=value`.
import type { Node } from "constructs";
import * as v from "valibot";
import { planNames } from "../shared/plans.ts";

const Whole = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer(), v.minValue(1));

const Settings = v.object({
  /** Also the prefix of every function's name. */
  stackName: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9-]{0,39}$/)), "Engagement"),
  /** Your own domain for the service. Its certificate must be in us-east-1, as CloudFront requires. */
  domain: v.optional(v.object({ name: v.string(), certificateArn: v.string() })),
  /** The plan of a newly registered workspace. */
  defaultPlan: v.optional(v.picklist(planNames), "enterprise"),
  /** Another issuer of dashboard tokens, with the keys it publishes (D-AUTH). */
  tokenIssuer: v.optional(
    v.object({
      issuer: v.pipe(v.string(), v.url()),
      audience: v.string(),
      jwks: v.object({ keys: v.pipe(v.array(v.looseObject({ kid: v.string(), n: v.string() })), v.minLength(1)) }),
    }),
  ),
  /** The address that alarms are mailed to. Without it they only change their state. */
  alarmEmail: v.optional(v.pipe(v.string(), v.email())),
  /** The domain to send e-mail from: creates its SES identity, and a queue of the outcomes of mails. */
  emailIdentity: v.optional(v.pipe(v.string(), v.regex(/^(?:[a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, "must be a domain"))),
  /**
   * Reserved for live streams, and their limit. Without it they share the account's concurrency
   * (docs/decisions/0021#live-streams).
   */
  streamConcurrency: v.optional(Whole),
  /** How many invocations a queue may run at once, at least 2. */
  workerConcurrency: v.optional(v.pipe(Whole, v.minValue(2)), 10),
  /** `destroy` removes data with the stack, for trials; `retain` keeps it. */
  removal: v.optional(v.picklist(["retain", "destroy"]), "retain"),
});

export type Settings = v.InferOutput<typeof Settings>;

/** @throws an error whose message names the setting. */
export function readSettings(node: Node): Settings {
  const given = Object.fromEntries(
    Object.keys(Settings.entries).map((name) => [name, node.tryGetContext(name) ?? undefined]),
  );
  const settings = v.safeParse(Settings, given);
  if (settings.success) return settings.output;
  const [issue] = settings.issues;
  throw new Error(`The context ${v.getDotPath(issue)} is wrong: ${issue.message}`);
}
