// The receipt of an erasure (F14): what was removed, counted by the passes of the erase worker and kept on the tombstone.
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto";
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { tokenPart } from "../../kernel/hmac.ts";
import { present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { type ChangeOf, changeItem } from "../item.ts";
import { transacted } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { Profile, type ProfileRow } from "./items.ts";

const removedStores = [
  "events",
  "devices",
  "webhook_payloads",
  "memberships",
  "journey_runs",
  "sends",
  "consents",
  "import_files",
  "export_files",
  "other",
] as const;
export type RemovedStore = (typeof removedStores)[number];
/** Rows and files removed or anonymized. */
export type RemovedCounts = Partial<Record<RemovedStore, number>>;

export const ErasureReceipt = v.object({
  subscriber_id: said("The id of the erased subscriber", v.string()),
  state: said(
    "`completed` once no trace is left; about two minutes after the request",
    v.picklist(["running", "completed"]),
  ),
  requested_at: said("When the erasure was requested; from then on no call finds the data", Timestamp),
  completed_at: said("When the last trace was removed", v.nullable(Timestamp)),
  properties_erased: said("Whether the properties of events were erased as well", v.boolean()),
  removed: said(
    "Counts above zero",
    v.array(
      v.object({
        store: said(
          "What was stored. `events` and `sends` keep their counts without the subscriber",
          v.picklist(removedStores),
        ),
        count: said("Rows or files removed or anonymized", v.number()),
      }),
    ),
  ),
  exact: said(
    "False where a pass was interrupted or ran twice: the traces are gone, the counts are estimates",
    v.boolean(),
  ),
});
export type ErasureReceipt = v.InferOutput<typeof ErasureReceipt>;

const OF_RECEIPT = new Set(["passes_begun", "passes_ended", "is_estimated", "traces_gone_at"]);

/** Whether an attribute of a tombstone belongs to the receipt. */
export const isOfReceipt = (name: string): boolean => name.startsWith("er:") || OF_RECEIPT.has(name);

export function addRemoved(sum: RemovedCounts, removed: RemovedCounts): void {
  for (const name of removedStores) {
    const count = removed[name] ?? 0;
    if (count > 0) sum[name] = (sum[name] ?? 0) + count;
  }
}

/** Notes that a pass begins. A pass that began before and has not ended makes the counts estimates. */
export async function beginPass(store: Store, subscriber: string): Promise<void> {
  const isNoted = await notePass(store, subscriber, { add: { passes_begun: 1 } });
  const row = isNoted ? await store.get(Profile, { id: subscriber }) : undefined;
  if (!row || (row.passes_begun ?? 0) - (row.passes_ended ?? 0) <= 1 || row.is_estimated) return;
  await store.change(Profile, { id: subscriber }, { set: { is_estimated: true } }, present("erased_at"));
}

/** Adds what a pass has removed to the receipt. @param isLast no pass follows. */
export async function endPass(
  store: Store,
  subscriber: string,
  removed: RemovedCounts,
  isLast: boolean,
): Promise<void> {
  const counts = Object.fromEntries(
    removedStores.flatMap((name) => (removed[name] ? [[`er:${name}`, removed[name]]] : [])),
  );
  const initial = isLast ? { traces_gone_at: timestamp(store.clock.now()) } : {};
  await notePass(store, subscriber, { add: { ...counts, passes_ended: 1 }, initial });
}

/** As a transaction, whose repeat after a lost reply counts nothing twice (docs/decisions/0028). */
const notePass = (store: Store, subscriber: string, change: ChangeOf<typeof Profile>): Promise<boolean> =>
  transacted(store, [changeItem(Profile, { id: subscriber }, change, present("erased_at"))]);

/** The receipt of an erasure; undefined for a subscriber that exists, or never did. */
export async function receiptOf(store: StoreReader, subscriber: string): Promise<ErasureReceipt | undefined> {
  const tombstone = await store.get(Profile, { id: subscriber });
  return tombstone?.erased_at === undefined ? undefined : receiptIn(tombstone, tombstone.erased_at);
}

function receiptIn(tombstone: ProfileRow, requestedAt: string): ErasureReceipt {
  const { id, traces_gone_at, erase_properties, is_estimated } = tombstone;
  const counts = new Map<string, number>(familyOf(tombstone, "er:"));
  return {
    subscriber_id: id,
    state: traces_gone_at === undefined ? "running" : "completed",
    requested_at: requestedAt,
    completed_at: traces_gone_at ?? null,
    properties_erased: erase_properties === true,
    removed: removedStores.flatMap((store) => {
      const count = counts.get(store) ?? 0;
      return count > 0 ? [{ store, count }] : [];
    }),
    exact: is_estimated !== true,
  };
}

// Signs receipts: statements of the service that anyone can verify by a published key. The key derives from a root
// secret that never rotates, so that old receipts stay valid; it signs nothing that a route takes as a credential.

/** An Ed25519 private key in PKCS #8 is this, followed by its 32 bytes. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const SEED_BYTES = 32;

function signingKey({ idKey }: RootSecrets): KeyObject {
  const seed = Buffer.from(hkdfSync("sha256", idKey, "", "receipts", SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" });
}

/** The public key as a JWK of a key set (RFC 8037). */
export function receiptKey(secrets: RootSecrets) {
  const { x } = createPublicKey(signingKey(secrets)).export({ format: "jwk" });
  const kid = createHash("sha256").update(String(x)).digest("base64url").slice(0, 16);
  return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid, x: String(x) };
}

/** A JWT (EdDSA) of the claims. */
export function signReceipt(secrets: RootSecrets, claims: object): string {
  const { kid } = receiptKey(secrets);
  const text = `${tokenPart({ alg: "EdDSA", typ: "receipt+jwt", kid })}.${tokenPart(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), signingKey(secrets)).toString("base64url")}`;
}
