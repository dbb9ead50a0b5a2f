// What AWS limits in characters, at the longest names that a deployment can have.
import { describe, expect, it } from "vitest";
import { EVERYTHING, ofType, type Resource, synthesize, type Template, validated } from "./support/template.ts";

/** Of all inline policies of a role together. */
const INLINE_CHARACTERS = 10_240;
const MANAGED_CHARACTERS = 6_144;
const ENVIRONMENT_BYTES = 4_096;
/** Of a stack: resources, outputs, and bytes of its template. */
const RESOURCES = 500;
const OUTPUTS = 200;
const TEMPLATE_BYTES = 1_000_000;

const ACCOUNT = "123456789012";
const UUID = "12345678-1234-1234-1234-123456789012";
/** What CloudFormation puts behind a name that it makes. */
const RANDOM = "ABCDEFGHIJKLM";
const stackName = `L${"o".repeat(38)}g`;
const certificateArn = `arn:aws:acm:us-east-1:${ACCOUNT}:certificate/${UUID}`;

/** The longest that settings take: addresses, names, and 2,000 characters of keys. */
const MAX_SETTING = 256;
const issuer = "https://issuer.example/".padEnd(MAX_SETTING, "x");
const publicKey = (characters: number) => ({ kid: UUID, n: "n".repeat(characters) });
const jwksOf = (...characters: number[]) => ({ keys: characters.map(publicKey) });
const tokenIssuer = { issuer, audience: "a".repeat(MAX_SETTING), jwks: jwksOf(342, 342, 342, 552) };
const LABEL = "a".repeat(63);
const domain = { name: `${LABEL}.${LABEL}.${LABEL}.${"a".repeat(49)}.api.example`, certificateArn };
const signIn = { issuer, clientId: "c".repeat(MAX_SETTING) };
const on = { ...EVERYTHING, stackName, domain, signIn, tokenIssuer, streamConcurrency: "50", registration: "invite" };
const settings = { on, off: { stackName } };

const queueOf = ({ Properties }: Resource) => Properties.QueueName as string;

/** The name or ARN that a resource gets, as long as it can be. */
function nameOf(id: string, resource: Resource): string {
  const made = `${stackName}-${id}-${RANDOM}`;
  const { Type, Properties } = resource;
  if (Type === "AWS::S3::Bucket") return made.toLowerCase().padEnd(63, "x").slice(0, 63);
  if (Type === "AWS::IAM::Role") return made.slice(0, 64);
  if (Type === "AWS::KMS::Key") return UUID;
  if (Type === "AWS::ApiGatewayV2::Api") return "abcdefghij";
  if (Type === "AWS::CloudFront::Distribution") return "d123456789abcd.cloudfront.net";
  return Properties.QueueName ?? Properties.FunctionName ?? Properties.LogGroupName ?? Properties.Name ?? made;
}

const kinds: Record<string, [service: string, before: string]> = {
  "AWS::DynamoDB::Table": ["dynamodb", "table/"],
  "AWS::IAM::Role": ["iam", "role/"],
  "AWS::KMS::Key": ["kms", "key/"],
  "AWS::Logs::LogGroup": ["logs", "log-group:"],
  "AWS::Lambda::Function": ["lambda", "function:"],
  "AWS::SQS::Queue": ["sqs", ""],
};

/** Values of the template with their references resolved. */
function resolver({ Resources }: Template, region: string) {
  const pseudo: Record<string, string> = {
    "AWS::Region": region,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": stackName,
    "AWS::StackId": `arn:aws:cloudformation:${region}:${ACCOUNT}:stack/${stackName}/${UUID}`,
  };
  const attribute = (id: string, name: string): string => {
    const resource = Resources[id]!;
    const own = nameOf(id, resource);
    if (name === "StreamArn") return `${attribute(id, "Arn")}/stream/2026-11-26T00:00:00.000`;
    if (name !== "Arn") return own;
    if (resource.Type === "AWS::S3::Bucket") return `arn:aws:s3:::${own}`;
    const kind = kinds[resource.Type];
    if (!kind) throw new Error(`The ARN of a ${resource.Type} is not known here.`);
    return `arn:aws:${kind[0]}:${region}:${ACCOUNT}:${kind[1]}${own}`;
  };
  const ref = (id: string): string => {
    const { Type } = Resources[id]!;
    if (Type === "AWS::SQS::Queue") return `https://sqs.${region}.amazonaws.com/${ACCOUNT}/${queueOf(Resources[id]!)}`;
    return nameOf(id, Resources[id]!);
  };
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const [[name, inner] = []] = Object.entries(value);
    if (name === "Ref") return pseudo[inner] ?? ref(inner);
    if (name === "Fn::GetAtt") return attribute(inner[0], inner[1]);
    if (name === "Fn::Join") return (resolve(inner[1]) as string[]).join(inner[0]);
    if (name === "Fn::Split") return String(resolve(inner[1])).split(inner[0]);
    if (name === "Fn::Select") return (resolve(inner[1]) as string[])[Number(inner[0])];
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one)]));
  };
  return resolve;
}

const charactersOf = (value: unknown) => JSON.stringify(value).length;

it.each([
  ["more than 2,000 characters of keys", { tokenIssuer: { ...tokenIssuer, jwks: jwksOf(342, 342, 342, 553) } }],
  ["an audience of any length", { tokenIssuer: { ...tokenIssuer, audience: "a".repeat(MAX_SETTING + 1) } }],
  ["an identity provider's address of any length", { signIn: { ...signIn, issuer: `${issuer}x` } }],
])("no deployment takes %s (D17)", (_, context) => {
  expect(() => synthesize({ context })).toThrow(/The context (tokenIssuer|signIn)\..* is wrong/);
});

describe.each(["on", "off"] as const)("with every setting %s", (which) => {
  const template = synthesize({ context: settings[which] });

  it("the template is one that CloudFormation takes: its types, properties, values and references (F6)", () => {
    expect(validated({ context: settings[which] })).toEqual(template);
  });

  const tooLarge = (
    type: string,
    limit: number,
    measured: (resource: Resource, resolve: (value: unknown) => unknown) => number,
  ) =>
    ["us-east-1", "eu-central-1", "ap-southeast-1"].flatMap((region) => {
      const resolve = resolver(template, region);
      return ofType(template, type).flatMap(([id, resource]) => {
        const size = measured(resource, resolve);
        return size > limit ? [`${region} ${id}: ${size}`] : [];
      });
    });

  it("the template is within what CloudFormation takes of resources, outputs and bytes (F6)", () => {
    expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(RESOURCES);
    expect(Object.keys(template.Outputs).length).toBeLessThanOrEqual(OUTPUTS);
    expect(Buffer.byteLength(JSON.stringify(template))).toBeLessThanOrEqual(TEMPLATE_BYTES);
  });

  it("the inline policies of each role are within 10,240 characters, at the longest names (F6)", () => {
    const sizeOf = ({ Properties }: Resource, resolve: (value: unknown) => unknown) =>
      (Properties.Policies ?? []).reduce(
        (sum: number, { PolicyDocument }: { PolicyDocument: object }) => sum + charactersOf(resolve(PolicyDocument)),
        0,
      );
    expect(tooLarge("AWS::IAM::Role", INLINE_CHARACTERS, sizeOf)).toEqual([]);
  });

  it("each managed policy is within 6,144 characters, at the longest names (F6)", () => {
    const sizeOf = ({ Properties }: Resource, resolve: (value: unknown) => unknown) =>
      charactersOf(resolve(Properties.PolicyDocument));
    expect(tooLarge("AWS::IAM::ManagedPolicy", MANAGED_CHARACTERS, sizeOf)).toEqual([]);
  });

  it("the environment of each function is within 4 KB, at the longest names (F6)", () => {
    const sizeOf = ({ Properties }: Resource, resolve: (value: unknown) => unknown) =>
      charactersOf(resolve(Properties.Environment?.Variables ?? {}));
    expect(tooLarge("AWS::Lambda::Function", ENVIRONMENT_BYTES, sizeOf)).toEqual([]);
  });
});
