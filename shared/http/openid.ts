// OpenID Connect with a provider that a workspace names: discovery, the exchange of a code, and the check of the ID token.
import {
  JwtInvalidAudienceError,
  JwtInvalidIssuerError,
  JwtInvalidSignatureError,
  KidNotFoundInJwksError,
} from "aws-jwt-verify/error";
import { isJwks, type Jwks } from "aws-jwt-verify/jwk";
import { decomposeUnverifiedJwt } from "aws-jwt-verify/jwt";
import { verifyJwtSync } from "aws-jwt-verify/jwt-verifier";
import * as v from "valibot";
import type { Egress } from "../egress/egress.ts";
import { SECOND } from "../kernel/clock.ts";
import { isEmailAddress, withAsciiDomain } from "../rules/contacts.ts";
import type { AssertedUser } from "../store/workspaces/federated-users.ts";

export type Result<T> = { kind: "found"; value: T } | { kind: "failed"; reason: string };

/** The end of a sign-in makes up to four requests, and its own request has 29 s. */
const PATIENCE_MS = 6 * SECOND;
const LEEWAY_SECONDS = 60;
/** aws-jwt-verify reads the real clock, so times are checked here (docs/decisions/0021#service-clock). */
const GRACE_SECONDS = 100 * 366 * 86_400;
const MAX_TOKEN = 16_384;
/** The user proved more than one factor (RFC 8176). */
const MULTIPLE_FACTORS = "mfa";

/** A page for the browser: no script, file or text of an address. */
const Page = v.pipe(
  v.string(),
  v.check((text) => URL.parse(text)?.protocol === "https:"),
);
const Metadata = v.object({
  issuer: v.string(),
  authorization_endpoint: Page,
  token_endpoint: v.string(),
  jwks_uri: v.string(),
  userinfo_endpoint: v.optional(v.string()),
  token_endpoint_auth_methods_supported: v.optional(v.array(v.string()), ["client_secret_basic"]),
});
type Metadata = v.InferOutput<typeof Metadata>;

const Keys = v.custom<Jwks>((value) => isJwks(Object(value)));
const Token = v.pipe(v.string(), v.maxLength(MAX_TOKEN));
const TokenAnswer = v.object({ id_token: Token, access_token: v.optional(Token) });
type Tokens = v.InferOutput<typeof TokenAnswer>;

const Text = v.pipe(v.string(), v.nonEmpty(), v.maxLength(255));
/** The user of a token, in the ID token or beside it. */
const person = {
  email: v.optional(v.string()),
  email_verified: v.optional(v.union([v.boolean(), v.picklist(["true", "false"])])),
  name: v.optional(v.string()),
};
const UserInfo = v.looseObject({ sub: Text, ...person });
const Claims = v.looseObject({
  ...person,
  iss: v.string(),
  sub: Text,
  aud: v.union([v.string(), v.array(v.string())]),
  azp: v.optional(v.string()),
  exp: v.number(),
  iat: v.number(),
  nonce: v.string(),
  amr: v.optional(v.array(v.string())),
});

/** The provider's own description, which must name the same issuer. */
export async function discover(egress: Egress, issuer: string): Promise<Result<Metadata>> {
  const document = await asked(egress, Metadata, {
    url: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
  });
  if (document.kind === "failed") return document;
  if (document.value.issuer !== issuer) return failed(`it calls itself ${document.value.issuer}`);
  return document;
}

/** The URL where a browser signs in. */
export function authorizationUrl(
  { authorization_endpoint }: Metadata,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(authorization_endpoint);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  url.searchParams.set("response_type", "code");
  url.searchParams.set("code_challenge_method", "S256");
  return url.href;
}

interface Client {
  id: string;
  secret: string | undefined;
}

/** Exchanges a code for tokens, which are not checked yet. */
export async function exchange(
  egress: Egress,
  { token_endpoint: url, token_endpoint_auth_methods_supported: methods }: Metadata,
  { id, secret }: Client,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<Result<Tokens>> {
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  });
  const isBasic = secret !== undefined && methods.includes("client_secret_basic");
  if (!isBasic) form.set("client_id", id);
  if (!isBasic && secret !== undefined) form.set("client_secret", secret);
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret ?? "")}`).toString("base64");
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    ...(isBasic && { authorization: `Basic ${basic}` }),
  };
  return asked(egress, TokenAnswer, { url, method: "POST", headers, body: form.toString() });
}

interface ExpectedClaims {
  clientId: string;
  nonce: string;
  /** The claim of the groups, if there are any. */
  groupsClaim: string | undefined;
  /** Real time in milliseconds. */
  now: number;
}

/**
 * Checks an ID token: its signature by the provider's keys, issuer, audience, times and nonce. Missing data about the
 * person is requested by the access token (OpenID Connect Core 5.4).
 */
export async function verify(
  egress: Egress,
  { issuer, jwks_uri: jwksUri, userinfo_endpoint }: Metadata,
  { id_token: idToken, access_token }: Tokens,
  { clientId, nonce, groupsClaim, now }: ExpectedClaims,
): Promise<Result<AssertedUser & { hasManyFactors: boolean }>> {
  const published = await asked(egress, Keys, { url: jwksUri });
  if (published.kind === "failed") return published;
  const checked = signedClaims(published.value, idToken, { issuer, audience: clientId });
  if (checked.kind === "failed") return checked;

  const { azp, aud, exp, iat, nonce: returned, sub, amr = [] } = checked.value;
  const seconds = now / 1_000;
  if (exp <= seconds - LEEWAY_SECONDS || iat > seconds + LEEWAY_SECONDS)
    return failed("the ID token is not of this time");
  if (returned !== nonce) return failed("the ID token is of another sign-in");
  if (azp !== undefined ? azp !== clientId : Array.isArray(aud) && aud.length > 1)
    return failed("the ID token is for another client");

  const { email_verified, ...claims } = checked.value;
  const hasAddress = claims.email !== undefined && email_verified !== undefined;
  const isWhole = hasAddress && (groupsClaim === undefined || claims[groupsClaim] !== undefined);
  const isAsked = !isWhole && userinfo_endpoint !== undefined && access_token !== undefined;
  const beside = isAsked ? await userInfo(egress, userinfo_endpoint, access_token, sub) : undefined;
  if (beside?.kind === "failed") return beside;

  const { name, ...more } = { ...beside?.value, ...claims };
  // A verification is valid only for the address beside it.
  const { email = "", email_verified: verified } = (hasAddress ? undefined : beside?.value) ?? checked.value;
  const address = withAsciiDomain(email);
  const isVerified = verified === true || verified === "true";
  const groups = groupsClaim === undefined ? [] : more[groupsClaim];
  return {
    kind: "found",
    value: {
      subject: sub,
      email: isVerified && address.length <= 254 && isEmailAddress(address) ? address : undefined,
      name: v.is(Text, name) ? name : undefined,
      groups: v.is(v.array(v.string()), groups) ? groups : [],
      hasManyFactors: amr.includes(MULTIPLE_FACTORS),
    },
  };
}

/** The provider's data about the person of an access token, who must be the one of the ID token. */
async function userInfo(
  egress: Egress,
  url: string,
  token: string,
  subject: string,
): Promise<Result<v.InferOutput<typeof UserInfo>>> {
  const answer = await asked(egress, UserInfo, { url, headers: { authorization: `Bearer ${token}` } });
  if (answer.kind === "found" && answer.value.sub !== subject)
    return failed("its user information is of another person");
  return answer;
}

function signedClaims(
  keys: Jwks,
  token: string,
  expected: { issuer: string; audience: string },
): Result<v.InferOutput<typeof Claims>> {
  try {
    const { header } = decomposeUnverifiedJwt(token);
    const [only, ...others] = keys.keys.filter(({ use = "sig" }) => use === "sig");
    // A provider with one key need not name it (OpenID Connect Core 10.1).
    const key = header.kid === undefined && only && others.length === 0 ? only : keys;
    const claims = v.safeParse(Claims, verifyJwtSync(token, key, { ...expected, graceSeconds: GRACE_SECONDS }));
    return claims.success ? { kind: "found", value: claims.output } : failed("the ID token lacks a claim");
  } catch (error) {
    return failed(`the ID token ${faultOf(error)}`);
  }
}

const faults: [is: abstract new (...args: never[]) => Error, what: string][] = [
  [JwtInvalidIssuerError, "is of another issuer"],
  [JwtInvalidAudienceError, "is for another client"],
  [KidNotFoundInJwksError, "names a key that the provider does not publish"],
  [JwtInvalidSignatureError, "has a wrong signature"],
];

const faultOf = (error: unknown): string =>
  faults.find(([kind]) => error instanceof kind)?.[1] ?? "is not one that can be verified";

/** Sends a request to the provider, and reads its answer as JSON of a shape. */
async function asked<S extends v.GenericSchema>(
  egress: Egress,
  schema: S,
  request: { url: string; method?: string; headers?: Record<string, string>; body?: string },
): Promise<Result<v.InferOutput<S>>> {
  const { method = "GET", headers, ...rest } = request;
  const answer = await egress.request({
    ...rest,
    method,
    purpose: "sign_in",
    headers: { accept: "application/json", ...headers },
    timeoutMs: PATIENCE_MS,
  });
  if (answer.kind !== "answered") return failed(answer.reason);
  if (answer.status !== 200) return failed(`it answered ${answer.status}`);
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), answer.body);
  return read.success ? { kind: "found", value: read.output } : failed("its answer is not that of OpenID Connect");
}

const failed = (reason: string): { kind: "failed"; reason: string } => ({ kind: "failed", reason });
