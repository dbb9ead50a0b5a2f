// Uploads from a browser's form: the fields are checked against the signed policy, then the file is stored.
import { awsFailure, type Wire } from "../stand-in.ts";
import { accessDenied, invalidArgument, malformed, notImplemented, tooLarge, tooSmall } from "./errors.ts";
import { keptHeaders } from "./objects.ts";
import { type Keys, requireSame, scopeOf, sign, unknownKey } from "./signatures.ts";

interface Form {
  /** The fields of the form by lower-case name. */
  fields: Map<string, string>;
  file: Buffer;
  fileName: string;
}

/** Reads `multipart/form-data`; fields after the file are ignored, as in S3. */
export function readForm(contentType: string, body: Buffer): Form {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (!boundary) throw badForm();
  const mark = Buffer.from(`\r\n--${boundary}`);
  const whole = Buffer.concat([Buffer.from("\r\n"), body]);
  const fields = new Map<string, string>();
  let at = whole.indexOf(mark);
  while (at >= 0) {
    const start = at + mark.length + 2;
    const head = whole.indexOf("\r\n\r\n", start);
    const end = whole.indexOf(mark, start);
    if (head < 0 || end < 0 || head > end) break;
    const heading = whole.toString("utf8", start, head);
    const name = /[; ]name="([^"]*)"/.exec(heading)?.[1]?.toLowerCase();
    const content = whole.subarray(head + 4, end);
    if (name === "file") return { fields, file: content, fileName: /filename="([^"]*)"/.exec(heading)?.[1] ?? "" };
    if (name !== undefined) fields.set(name, content.toString("utf8"));
    at = end;
  }
  throw invalidArgument("POST requires exactly one file upload per request.");
}

const badForm = () =>
  awsFailure("MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.");

type Condition = Record<string, unknown> | [operator: string, name: unknown, value: unknown];

/** Fields that need no condition. */
const FREE = new Set(["policy", "x-amz-signature", "file"]);

/** @throws 403 for a policy that is not ours, has expired, or does not allow this form. */
function checkPolicy({ fields, file }: Form, bucket: string, keys: Keys, now: number): void {
  const field = (name: string) => fields.get(name) ?? "";
  if (!fields.has("policy")) throw accessDenied();
  const { accessKey, scope } = scopeOf(field("x-amz-credential"));
  const secret = keys.get(accessKey);
  if (secret === undefined) throw unknownKey();
  requireSame(sign(secret, scope, field("policy")), field("x-amz-signature"));

  const { expiration, conditions } = readPolicy(field("policy"));
  if (!(now <= Date.parse(expiration))) throw accessDenied("Invalid according to Policy: Policy expired.");
  const covered = new Set<string>();
  const values = new Map([...fields, ["bucket", bucket]]);
  const fails = (condition: unknown) =>
    accessDenied(`Invalid according to Policy: Policy Condition failed: ${JSON.stringify(condition)}`);
  for (const condition of conditions.flatMap(asTriples)) {
    const [operator, name, value] = condition;
    if (operator === "content-length-range") {
      if (file.length < Number(name))
        throw tooSmall({ ProposedSize: String(file.length), MinSizeAllowed: String(name) });
      if (file.length > Number(value))
        throw tooLarge({ ProposedSize: String(file.length), MaxSizeAllowed: String(value) });
      continue;
    }
    const found = String(name).replace(/^\$/, "").toLowerCase();
    const given = values.get(found) ?? "";
    covered.add(found);
    const holds = operator === "eq" ? given === value : operator === "starts-with" && given.startsWith(String(value));
    if (!holds) throw fails(condition);
  }
  for (const name of fields.keys())
    if (!covered.has(name) && !FREE.has(name) && !name.startsWith("x-ignore-"))
      throw accessDenied(`Invalid according to Policy: Extra input fields: ${name}`);
}

function readPolicy(text: string): { expiration: string; conditions: Condition[] } {
  try {
    const policy = JSON.parse(Buffer.from(text, "base64").toString());
    if (typeof policy.expiration === "string" && Array.isArray(policy.conditions)) return policy;
  } catch {
    // Reported below.
  }
  throw awsFailure("InvalidPolicyDocument", "Invalid Policy: Invalid JSON.");
}

const asTriples = (condition: Condition): [string, unknown, unknown][] =>
  Array.isArray(condition)
    ? [[String(condition[0]).toLowerCase(), condition[1], condition[2]]]
    : Object.entries(condition).map(([name, value]) => ["eq", name, value]);

/** The object of the form, and the requested status. */
export function readUpload(form: Form, bucket: string, keys: Keys, now: number): { input: Wire; status: number } {
  checkPolicy(form, bucket, keys, now);
  const { fields, file, fileName } = form;
  const key = fields.get("key")?.replace(/\$\{filename\}/g, () => fileName);
  if (!key) throw malformed();
  if (fields.has("success_action_redirect") || fields.has("redirect")) throw notImplemented("redirects after a POST");
  const input: Wire = { Bucket: bucket, Key: key, Body: file };
  const Metadata: Record<string, string> = {};
  for (const [name, value] of fields) {
    const member = keptHeaders[name];
    if (member) input[member] = value;
    if (name.startsWith("x-amz-meta-")) Metadata[name.slice("x-amz-meta-".length)] = value;
    if (name.startsWith("x-amz-checksum-") && name !== "x-amz-checksum-algorithm")
      input[`Checksum${name.slice("x-amz-checksum-".length).toUpperCase()}`] = value;
  }
  const status = Number(fields.get("success_action_status") ?? 204);
  return { input: { ...input, Metadata }, status: [200, 201].includes(status) ? status : 204 };
}
