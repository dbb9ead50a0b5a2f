// Keys by which a workspace's backend signs the ids of its users (ACC-8): derived from a root secret, so that none is
// stored, and two may be valid at once.
import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { conflict, invalid, notFound } from "../../kernel/errors.ts";
import { hmacUnder } from "../../kernel/hmac.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { all, asRead, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { changeItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { orRefuse } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { WorkspaceItem } from "./items.ts";

/** One that is used, and the one that takes its place. */
const MAX_KEYS = 2;

export const IdentityKey = v.object({ id: v.string(), created_at: Timestamp });
export type IdentityKey = v.InferOutput<typeof IdentityKey>;

type IdKey = Pick<RootSecrets, "idKey">;

/** The key itself as text, which a backend stores. */
const keyOf = ({ idKey }: IdKey, tenant: TenantId, id: string): string =>
  hmacUnder(idKey).update(`identity-key:v1:${tenant}:${id}`).digest("base64url");

const hashOfUser = (key: string, user: string): Buffer => createHmac("sha256", key).update(user).digest();

const identityKeysOf = (row: Pick<RowOf<typeof WorkspaceItem>, "identity_keys"> | undefined): IdentityKey[] =>
  row?.identity_keys ? fromJson(row.identity_keys) : [];

export async function listIdentityKeys(platform: PlatformReader, tenant: TenantId): Promise<IdentityKey[]> {
  return identityKeysOf(await platform.get(WorkspaceItem, { tenant }));
}

/** Requires a key for signed ids. @throws 422 if signed ids are to be required and no key can sign them */
export async function requireIdentityKey(platform: PlatformReader, tenant: TenantId): Promise<void> {
  if ((await listIdentityKeys(platform, tenant)).length === 0)
    throw invalid({ identity_required: "needs an identity key: create one, and let your backend sign ids first" });
}

/** Only this response contains the key itself. @throws 409 for a third one. */
export async function createIdentityKey(
  platform: Platform,
  secrets: IdKey,
  tenant: TenantId,
): Promise<IdentityKey & { key: string }> {
  const made = { id: platform.ids.uuid(), created_at: timestamp(platform.clock.now()) };
  await changeKeys(platform, tenant, (keys) => {
    if (keys.length >= MAX_KEYS) throw conflict("There are two keys. Delete the one that is not used any more.");
    return [...keys, made];
  });
  return { ...made, key: keyOf(secrets, tenant, made.id) };
}

/**
 * Deletes a key: its signatures are refused from now on. @throws 404, 409 for the last key of a workspace that requires
 * hashes
 */
export async function deleteIdentityKey(platform: Platform, tenant: TenantId, id: string): Promise<void> {
  await changeKeys(platform, tenant, (keys, isDemanded) => {
    const rest = keys.filter((key) => key.id !== id);
    if (rest.length === keys.length) throw notFound("identity key");
    if (rest.length === 0 && isDemanded)
      throw conflict("It is the last key, and the workspace demands signed ids: without a key no app could call.");
    return rest;
  });
}

async function changeKeys(
  platform: Platform,
  tenant: TenantId,
  change: (keys: IdentityKey[], isDemanded: boolean) => IdentityKey[],
): Promise<void> {
  const row = await platform.get(WorkspaceItem, { tenant });
  const { identity_keys: before, identity_required: demanded } = row ?? {};
  const keys = toJson(change(identityKeysOf(row), demanded === true));
  const isAsRead = all(asRead("identity_keys", before), asRead("identity_required", demanded));
  await platform
    .transact([changeItem(WorkspaceItem, { tenant }, { set: { identity_keys: keys } }, all(present(), isAsRead))])
    .catch(orRefuse(() => conflict("The keys are changing at the moment. Try again.")));
}

/** The signature that a backend computes: HMAC-SHA256 of the id, in hex. */
export const userHash = (secrets: IdKey, tenant: TenantId, key: string, user: string): string =>
  hashOfUser(keyOf(secrets, tenant, key), user).toString("hex");

const HASH = /^[0-9a-f]{64}$/;

/** Whether each of the ids has one of the presented hashes, under one of the keys. */
export function areSigned(
  secrets: IdKey,
  { tenant, keys }: { tenant: TenantId; keys: readonly string[] },
  users: readonly string[],
  presented: readonly string[],
): boolean {
  const hashes = presented.filter((hash) => HASH.test(hash)).map((hash) => Buffer.from(hash, "hex"));
  const secretKeys = keys.map((id) => keyOf(secrets, tenant, id));
  return users.every((user) =>
    secretKeys.some((key) => {
      const expected = hashOfUser(key, user);
      return hashes.some((hash) => timingSafeEqual(hash, expected));
    }),
  );
}
