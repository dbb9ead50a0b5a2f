// The synthesized stack, made once for all assertions of a thread: what `cdk synth` would write.
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { App } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type Contents, contents, contentsFor } from "../../../infra/functions.ts";
import { checkRules } from "../../../infra/rules.ts";
import { readSettings } from "../../../infra/settings.ts";
import { EngagementStack, type StackOptions } from "../../../infra/stack.ts";

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any CloudFormation template
  Properties: any;
  DeletionPolicy?: string;
  DependsOn?: string[];
  Condition?: string;
  Metadata?: Record<string, string>;
}

export interface Template {
  Resources: Record<string, Resource>;
  Conditions: Record<string, unknown>;
  Outputs: Record<string, { Value: unknown }>;
}

const root = new URL("../../../", import.meta.url);
export const { context } = JSON.parse(readFileSync(new URL("cdk.json", root), "utf8")) as { context: object };

interface Variation extends StackOptions {
  context?: Record<string, unknown>;
  /** cdk-nag looks at it. */
  rules?: boolean;
  /** CloudFormation's own validation looks at it: more work than all else. */
  validation?: boolean;
}

const placeholder = () => Code.fromInline("export const handler = () => undefined;");

/** What is in no template: traces of where each construct was made. */
const withoutTraces = { "aws:cdk:disable-creation-stack-traces": true };

/** A stack of its own, with the context of cdk.json and what a test changes. @throws on a finding of cdk-nag. */
export function synthesize(variation: Variation = {}): Template {
  const { context: changed = {}, rules = false, validation = false, ...options } = variation;
  process.env.CDK_VALIDATION = String(validation);
  const settled = { ...context, ...withoutTraces, ...changed };
  const app = new App({ analyticsReporting: false, treeMetadata: false, context: settled });
  const settings = readSettings(app.node);
  const stack = new EngagementStack(app, settings.stackName, settings, { code: placeholder, ...options });
  if (rules) checkRules(app, stack);
  return app.synth().getStackByName(settings.stackName).template as Template;
}

/** What the stack as it is deployed contains: no publisher, for nothing is published. */
export const standardContents: Contents = contentsFor(
  readSettings(new App({ analyticsReporting: false, treeMetadata: false, context }).node),
  contents,
);

/** The bus of the stacks that publish. */
export const BUS = "engagement";
let published: Template | undefined;
/** The same stack where every function that there is has work. */
export const publishing = (): Template => {
  published ??= synthesize({ context: { eventBus: BUS, archive: "400" } });
  return published;
};

let made: Template | undefined;
/** The stack as it is deployed; what its functions hold is the business of bundles.test.ts. */
export const deployed = (): Template => {
  made ??= synthesize();
  return made;
};

/** Everything that one may ask for. */
export const EVERYTHING = {
  sdkRequestsPerAddress: "70",
  sdkRequestsPerKey: "700",
  accountConcurrency: "500",
  monthlyBudget: 50,
  webAclArn: "arn:aws:wafv2:us-east-1:1:global/webacl/x/y",
  domain: { name: "api.example.com", certificateArn: "arn:aws:acm:us-east-1:1:certificate/x" },
  emailIdentity: "mail.example.com",
  alarmEmail: "ops@example.com",
  eventBus: BUS,
  archive: "400",
  signIn: { issuer: "https://login.example.com", clientId: "engagement" },
  warmThroughput: '{"reads": 40000, "writes": 20000}',
};

const everything = { ...EVERYTHING, streamConcurrency: "50" };

let full: Template | undefined;
/** The stack with everything that one may ask for. */
export const whole = (): Template => {
  full ??= synthesize({ context: everything });
  return full;
};

/** The same under the rules of cdk-nag and CloudFormation's own validation. @throws on a finding */
export const wholeUnderRules = (): Template => validated({ context: everything, rules: true });

/**
 * A template under CloudFormation's own validation, which takes seconds: it is not shown again what it has passed in this release
 * of the CDK. @throws on a finding
 */
export function validated(variation: Variation): Template {
  const template = synthesize(variation);
  const validator = readFileSync(new URL("node_modules/aws-cdk-lib/package.json", root), "utf8");
  const passed = new URL(`node_modules/.cache/validated/${hash("sha256", validator + JSON.stringify(template))}`, root);
  if (existsSync(passed)) return template;
  synthesize({ ...variation, validation: true });
  mkdirSync(new URL(".", passed), { recursive: true });
  writeFileSync(passed, "");
  return template;
}

export const ofType = (template: Template, type: string): [id: string, resource: Resource][] =>
  Object.entries(template.Resources).filter(([, { Type }]) => Type === type);

/** A value of the template as text, references as `<LogicalId>` and `<LogicalId.Attribute>`. */
export function textOf(value: unknown): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  const [[name, inner] = []] = Object.entries(value as Record<string, unknown>);
  if (name === "Ref") return `<${inner}>`;
  if (name === "Fn::GetAtt") return `<${(inner as string[]).join(".")}>`;
  if (name === "Fn::Join") return (inner as [string, unknown[]])[1].map(textOf).join((inner as [string])[0]);
  if (name === "Fn::Select") return `select(${(inner as unknown[]).map(textOf).join(",")})`;
  if (name === "Fn::Split") return `split(${(inner as unknown[]).map(textOf).join(",")})`;
  throw new Error(`This value cannot be read: ${JSON.stringify(value)}`);
}

/** The properties of the resources of a type in the stack as it is deployed. */
export const only = (type: string) => ofType(deployed(), type).map(([, { Properties }]) => Properties);
