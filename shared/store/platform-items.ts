// The stored form of what belongs to the service as a whole: timers, secrets, published keys.
import * as v from "valibot";
import { dueKindNames } from "../contract/due-kinds.ts";
import { MINUTE } from "../kernel/clock.ts";
import { hashOf } from "./hash.ts";
import { platformItem } from "./item.ts";
import type { Key } from "./model.ts";
import { WorkspaceId } from "./workspaces/items.ts";

/**
 * Due rows of one minute are stored in 16 shards, so that many delays together are not one hot partition
 * (docs/decisions/0021#timers).
 */
export const DUE_SHARDS = 16;
export const minuteOf = (at: number): number => Math.floor(at / MINUTE);
const shardOfTimer = (timer: string): number => Number.parseInt(hashOf(timer).slice(0, 8), 16) % DUE_SHARDS;

const AT_DIGITS = 15;

export const DueItem = platformItem({
  about: "Something that happens later, put just before the state it belongs to.",
  pk: ({ minute, shard }: { minute: number; shard: number }) => `DUE#${minute}#${shard}`,
  sk: ({ at, timer }: { at: number; timer: string }) => `${String(at).padStart(AT_DIGITS, "0")}#${timer}`,
  row: {
    react: v.literal("due"),
    tenant: WorkspaceId,
    kind: v.picklist(dueKindNames),
    id: v.string(),
    at: v.number(),
    since: v.number(),
    expires: v.number(),
  },
  // The functions with `timers`, and the one that forwards the row.
  writers: [
    "api-notifications",
    "api-schedules",
    "api-campaigns",
    "api-journeys",
    "api-segments",
    "api-channels",
    "api-experiences",
    "api-assets",
    "api-imports",
    "api-lists",
    "operator",
    "fan-out",
    "deliver",
    "import-rows",
    "run-schedule",
    "run-campaign",
    "step-journey",
    "verify-channel",
    "segment",
    "recompute-segment",
    "react",
    "post-webhook",
    "purge",
    "due",
  ],
  lifetime: "until it is forwarded, 7 days at most",
  purge: "by-tenant-attribute",
});

/** The key of a timer. @param timer `<kind>#<workspace>#<id>` */
export const dueKey = (at: number, timer: string) => ({
  minute: minuteOf(at),
  shard: shardOfTimer(timer),
  at,
  timer,
});

/** The same from a stored key. */
export function dueKeyOf({ pk, sk }: Key) {
  const [, minute, shard] = pk.split("#");
  return {
    minute: Number(minute),
    shard: Number(shard),
    at: Number(sk.slice(0, AT_DIGITS)),
    timer: sk.slice(AT_DIGITS + 1),
  };
}

export const SweepItem = platformItem({
  about: "The last minute that a sweep has searched for overdue timers.",
  pk: () => "SWEEP",
  row: { minute: v.number() },
  writers: ["due"],
  purge: "kept",
});

export const SecretsItem = platformItem({
  about: "Root secrets (SDK-key roots, id key, cursor key), encrypted by KMS, made on first use.",
  pk: () => "SECRETS",
  row: { sealed: v.string() },
  writers: ["api-auth"],
  purge: "kept",
});

const PublishedKey = v.object({
  kty: v.literal("RSA"),
  alg: v.literal("RS256"),
  use: v.literal("sig"),
  kid: v.string(),
  n: v.string(),
  e: v.string(),
});
/** A public key as a JWKS document lists it. */
export type PublishedKey = v.InferOutput<typeof PublishedKey>;

export const SigningKeyItem = platformItem({
  about: "A public key that verifies dashboard tokens.",
  pk: () => "JWK",
  sk: ({ kid }: { kid: string }) => kid,
  row: { jwk: PublishedKey },
  writers: ["api-auth"],
  purge: "kept",
});

export const CallbackItem = platformItem({
  about: "The workspace of a channel whose provider calls back, found by the channel's id.",
  pk: ({ channel }: { channel: string }) => `CALLBACK#${channel}`,
  row: { tenant: WorkspaceId },
  writers: ["api-channels"],
  purge: "by-tenant-attribute",
});
