// An identity provider (OpenID Connect) in the process: a test signs its user in, and may make it misbehave.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { LocalService } from "../../local/local-service.ts";
import type { Sink } from "../../local/providers/sink.ts";

export const ISSUER = "https://login.example.com";
export const CLIENT = { id: "engagement", secret: "s3cret: of the client" };
export const KEY_ID = "k1";

export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
  name?: string;
  groups?: string[];
  amr?: string[];
}

interface GivenCode {
  challenge: string;
  redirect_uri: string;
  claims: Record<string, unknown>;
}

export interface OpenIdProvider {
  /** What its tokens say instead, for one that is wrong. */
  changes: Record<string, unknown>;
  /** Published beside its own. */
  otherKeys: object[];
  /** Changes its description of itself. */
  description: Record<string, unknown>;
  /** Makes a token of the header and the claims; by default signed with its key. */
  issue(header: object, claims: object): string;
  /** The person signs in at the address that a browser was sent to. @returns what the browser comes back with */
  signIn(url: string, person: Person): { code: string; state: string; iss: string };
  /** How the client proved itself at the token endpoint. */
  proofs: string[];
  /** Its user information says this, and its ID tokens then nothing of the person. */
  beside: Person | undefined;
  down: boolean;
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
export const signedBy = (key: KeyObject, header: object, claims: object): string => {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
};

/** The provider of a service, at the host of its issuer. */
export function openIdProvider({ clock, providers }: Pick<LocalService, "clock" | "providers">): OpenIdProvider {
  const codes = new Map<string, GivenCode>();
  const own: OpenIdProvider = {
    changes: {},
    description: {},
    otherKeys: [],
    proofs: [],
    beside: undefined,
    down: false,
    issue: (header, claims) => signedBy(privateKey, header, claims),
    signIn: (url, person) => {
      const { searchParams: asked } = new URL(url);
      const code = `code ${codes.size}`;
      const iat = Math.floor(clock.now() / 1_000);
      const claims = { iss: ISSUER, aud: CLIENT.id, iat, exp: iat + 300, nonce: asked.get("nonce"), ...person };
      const challenge = String(asked.get("code_challenge"));
      codes.set(code, { challenge, redirect_uri: String(asked.get("redirect_uri")), claims });
      return { code, state: String(asked.get("state")), iss: ISSUER };
    },
  };

  const token = (form: URLSearchParams) => {
    const code = form.get("code") ?? "";
    const given = codes.get(code);
    codes.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (given?.challenge !== challenge || given.redirect_uri !== form.get("redirect_uri"))
      return { status: 400, body: { error: "invalid_grant" } };
    const unsaid = own.beside && { email: undefined, email_verified: undefined, name: undefined };
    const claims = { ...given.claims, ...unsaid, ...own.changes };
    const token_type = "Bearer";
    return {
      status: 200,
      body: { token_type, access_token: "t0ken", id_token: own.issue({ alg: "RS256", kid: KEY_ID }, claims) },
    };
  };
  const sink: Sink = ({ path, headers, body }) => {
    if (own.down) return { status: 502, body: {} };
    if (path.endsWith("/openid-configuration"))
      return {
        status: 200,
        body: {
          issuer: ISSUER,
          authorization_endpoint: `${ISSUER}/authorize?tenant=1`,
          token_endpoint: `${ISSUER}/token`,
          jwks_uri: `${ISSUER}/keys`,
          userinfo_endpoint: `${ISSUER}/me`,
          ...own.description,
        },
      };
    if (path === "/keys")
      return {
        status: 200,
        body: {
          keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "RS256" }, ...own.otherKeys],
        },
      };
    if (path === "/me" && own.beside && headers.authorization === "Bearer t0ken")
      return { status: 200, body: own.beside };
    if (path !== "/token") return { status: 404, body: {} };
    const form = new URLSearchParams(body.toString());
    own.proofs.push(headers.authorization ?? form.get("client_secret") ?? "");
    return token(form);
  };
  providers.hosts.set(new URL(ISSUER).host, sink);
  return own;
}
