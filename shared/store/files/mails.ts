// The HTML and the design of large mails, as objects of S3 named by the workspace and the hash of both. They are stored
// before the row that names them, never change, and are deleted with the workspace (docs/decisions/0104).
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SECOND } from "../../kernel/clock.ts";
import { type Capability, type Deps, setting } from "../../kernel/deps.ts";
import { namedError } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { errorFields } from "../../kernel/log.ts";
import { onAbort, withTimeLimit } from "../../kernel/time-limit.ts";
import { hashesIn, joined, type SaysByChannel, split } from "../sends/content/apart.ts";
import { removeSomeOf } from "./removal.ts";

/** A folder in the bucket of assets, beside the public one. */
export const MAILS_FOLDER = "mails/";
const folder = (tenant: TenantId): string => `${MAILS_FOLDER}${tenant}/`;
const keyOf = (tenant: TenantId, hash: string): string => `${folder(tenant)}${hash}.json`;

export interface MailReading {
  /**
   * Contents with the HTML and the design of their mails; each stored mail is read once. A mail without its object says
   * so in `apart`. @throws if S3 fails
   */
  whole<T extends SaysByChannel>(said: readonly T[]): Promise<T[]>;
  /** The same for the answer of a finished request: if S3 fails, contents stay as they are. */
  asRead<T extends SaysByChannel>(said: readonly T[]): Promise<T[]>;
}

export interface MailKeeping extends MailReading {
  /** Contents in the form for one row. Mails that are too large for it are stored first. */
  keep<T extends SaysByChannel>(said: readonly T[]): Promise<T[]>;
}

/** The last texts that were read: a text never changes under its hash. */
const MAX_CACHED = 8;

/** An object has at most 310 KB. A longer read means a dead connection. */
const TIMEOUT_MS = 5 * SECOND;
const LATE = Symbol("late");

/** An object by its key; undefined if there is none. */
type Read = (key: string) => Promise<string | undefined>;

function bucketOf(deps: Deps) {
  const client = deps.aws(S3Client);
  const Bucket = setting(deps, "ASSETS_BUCKET");
  const inTime = async <T>(work: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> => {
    const answer = await withTimeLimit(deps.clock, TIMEOUT_MS, (abortSignal) =>
      Promise.race([onAbort(abortSignal, LATE), work({ abortSignal })]),
    );
    if (answer === LATE) throw namedError("TimeoutError", "S3 did not answer in time.");
    return answer as T;
  };
  const read: Read = (Key) =>
    inTime(async (options) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }), options);
        if (!Body) throw new Error(`The object ${Key} has no body.`);
        return await Body.transformToString();
      } catch (error) {
        if (error instanceof Error && error.name === "NoSuchKey") return undefined;
        throw error;
      }
    });
  const put = async (Key: string, Body: string): Promise<void> => {
    const object = { Bucket, Key, Body, ContentType: "application/json" };
    await inTime((options) => client.send(new PutObjectCommand(object), options));
  };
  return { client, Bucket, read, put };
}

function textsFrom(read: Read) {
  const cache = new Map<string, ReturnType<Read>>();
  const note = (key: string, text: ReturnType<Read>): void => {
    const [oldest] = cache.keys();
    if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest);
    cache.set(key, text);
  };
  const get: Read = async (key) => {
    const known = cache.get(key);
    if (known) return known;
    const found = read(key);
    note(key, found);
    // A failed or missing object is read again.
    const text = await found.catch((error: unknown) => {
      cache.delete(key);
      throw error;
    });
    if (text === undefined) cache.delete(key);
    return text;
  };
  return { get, note: (key: string, text: string) => note(key, Promise.resolve(text)) };
}

const readingOf =
  (get: Read, log: Deps["log"]) =>
  (tenant: TenantId): MailReading => {
    const whole: MailReading["whole"] = async (said) => {
      const hashes = hashesIn(said);
      if (hashes.length === 0) return [...said];
      const texts = await Promise.all(hashes.map(async (hash) => [hash, await get(keyOf(tenant, hash))] as const));
      return said.map((one) => joined(one, new Map(texts)));
    };
    return {
      whole,
      asRead: (said) =>
        whole(said).catch((error: unknown) => {
          log({ level: "warn", message: "an answer leaves out mails", tenant, ...errorFields(error) });
          return [...said];
        }),
    };
  };

const READING_GRANTS = [
  { actions: ["s3:GetObject"], on: "mails" },
  // Without this right, S3 denies access to a missing object.
  { actions: ["s3:ListBucket"], on: "assets-bucket" },
] as const;

/** For functions that show or send mails. */
export const mailReading: Capability<"mails", MailReading> = {
  as: "mails",
  env: ["ASSETS_BUCKET"],
  grants: READING_GRANTS,
  open: (deps) => readingOf(textsFrom(bucketOf(deps).read).get, deps.log),
};

/** For functions that store contents. */
export const mailKeeping: Capability<"mails", MailKeeping> = {
  as: "mails",
  env: ["ASSETS_BUCKET"],
  grants: [...READING_GRANTS, { actions: ["s3:PutObject"], on: "mails" }],
  open: (deps) => {
    const { read, put } = bucketOf(deps);
    const texts = textsFrom(read);
    const reading = readingOf(texts.get, deps.log);
    return (tenant) => ({
      ...reading(tenant),
      keep: async (said) => {
        const { kept, texts: apart } = split(said);
        const puts = [...apart].map(async ([hash, text]) => {
          await put(keyOf(tenant, hash), text);
          texts.note(keyOf(tenant, hash), text);
        });
        await Promise.all(puts);
        return kept;
      },
    });
  },
};

/** For the purge of a workspace. */
export const mailRemoval: Capability<"mailFiles", { removeSome(): Promise<number> }> = {
  as: "mailFiles",
  env: ["ASSETS_BUCKET"],
  grants: [
    { actions: ["s3:DeleteObject"], on: "mails" },
    { actions: ["s3:ListBucket"], on: "assets-bucket" },
  ],
  open: (deps) => {
    const bucket = bucketOf(deps);
    return (tenant) => ({ removeSome: () => removeSomeOf(bucket, folder(tenant)) });
  },
};
