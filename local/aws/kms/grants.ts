// Tags and grants of keys. They are kept and shown, and allow or deny nothing: there are no callers to tell apart.
import type { Ids } from "../../../shared/kernel/ids.ts";
import type { Operations } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { keyIn, pageOf, read, refuseDryRun } from "./input.ts";
import { arnOf, type Grant, type Key, type KeyStore } from "./keys.ts";

const MAX_TAGS = 50;
const grantable = [
  ...["Decrypt", "Encrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext", "ReEncryptFrom", "ReEncryptTo"],
  ...["Sign", "Verify", "GetPublicKey", "CreateGrant", "RetireGrant", "DescribeKey", "GenerateDataKeyPair"],
  ...["GenerateDataKeyPairWithoutPlaintext", "GenerateMac", "VerifyMac", "DeriveSharedSecret"],
];

/** @throws TagException */
export function tagsIn(input: Wire, before: Record<string, string> = {}): Record<string, string> {
  const given = read
    .records(input, "Tags")
    .map((tag) => [read.needed(tag, "TagKey"), read.text(tag, "TagValue") ?? ""]);
  const own: Record<string, string> = Object.fromEntries(given);
  if (Object.keys(own).length < given.length) throw awsFailure("TagException", "Duplicate tag keys");
  const reserved = Object.keys(own).find((key) => key.startsWith("aws:"));
  if (reserved) throw awsFailure("TagException", `The tag key ${reserved} begins with aws:, which is reserved.`);
  const tags = { ...before, ...own };
  if (Object.keys(tags).length > MAX_TAGS) throw awsFailure("TagException", "Too many tags");
  return tags;
}

export function tagsAndGrants(keys: KeyStore, { clock, ids }: { clock: { now(): number }; ids: Ids }): Operations {
  const grantsOf = ({ grants = [] }: Key) => grants;
  const listed = (found: { key: Key; grant: Grant }[], input: Wire): Wire => {
    const { shown, ...more } = pageOf(input, found, ({ grant }) => grant.id);
    return {
      Grants: shown.map(({ key, grant: { id, createdAt, given } }) => describe(key, id, createdAt, given)),
      ...more,
    };
  };
  const describe = (key: Key, GrantId: string, createdAt: number, given: Wire): Wire => ({
    ...given,
    KeyId: arnOf(key.id),
    GrantId,
    IssuingAccount: "arn:aws:iam::000000000000:root",
    CreationDate: createdAt / 1_000,
  });
  const remove = (key: Key, id: string, input: Wire): Wire => {
    const left = grantsOf(key).filter((grant) => grant.id !== id);
    if (left.length === grantsOf(key).length)
      throw awsFailure("InvalidGrantIdException", `Grant ID ${id} is not found`);
    refuseDryRun(input);
    keys.save({ ...key, grants: left });
    return {};
  };

  return {
    TagResource: (input) => {
      const key = keys.find(keyIn(input));
      keys.save({ ...key, tags: tagsIn(input, key.tags) });
      return {};
    },
    UntagResource: (input) => {
      const key = keys.find(keyIn(input));
      const removed = new Set(read.texts(input, "TagKeys"));
      keys.save({
        ...key,
        tags: Object.fromEntries(Object.entries(key.tags ?? {}).filter(([name]) => !removed.has(name))),
      });
      return {};
    },
    ListResourceTags: (input) => {
      const tags = Object.entries(keys.find(keyIn(input)).tags ?? {});
      const { shown, ...more } = pageOf(input, tags, ([name]) => name);
      return { Tags: shown.map(([TagKey, TagValue]) => ({ TagKey, TagValue })), ...more };
    },
    CreateGrant: (input) => {
      const key = keys.find(keyIn(input));
      const operations = read.texts(input, "Operations");
      const unknown = operations.find((name) => !grantable.includes(name));
      if (operations.length === 0 || unknown) throw read.refuse(`Operations is not valid: ${unknown ?? "it is empty"}`);
      const constraints = read.record(input, "Constraints");
      const given: Wire = {
        GranteePrincipal: read.needed(input, "GranteePrincipal"),
        RetiringPrincipal: read.text(input, "RetiringPrincipal"),
        Operations: operations,
        Constraints: constraints,
        Name: read.text(input, "Name"),
      };
      refuseDryRun(input);
      // With a name, the same request is the same grant.
      const same = grantsOf(key).find(
        (one) => given.Name !== undefined && JSON.stringify(one.given) === JSON.stringify(given),
      );
      const grant = same ?? {
        id: ids.bytes(32).toString("hex"),
        token: ids.bytes(48).toString("base64"),
        createdAt: clock.now(),
        given,
      };
      if (!same) keys.save({ ...key, grants: [...grantsOf(key), grant] });
      return { GrantId: grant.id, GrantToken: grant.token };
    },
    ListGrants: (input) => {
      const key = keys.find(keyIn(input));
      const [id, grantee] = [read.text(input, "GrantId"), read.text(input, "GranteePrincipal")];
      const found = grantsOf(key)
        .filter((grant) => id === undefined || grant.id === id)
        .filter((grant) => grantee === undefined || grant.given.GranteePrincipal === grantee);
      return listed(
        found.map((grant) => ({ key, grant })),
        input,
      );
    },
    ListRetirableGrants: (input) => {
      const principal = read.needed(input, "RetiringPrincipal");
      const all = keys.all().flatMap((key) => grantsOf(key).map((grant) => ({ key, grant })));
      return listed(
        all.filter(({ grant }) => grant.given.RetiringPrincipal === principal),
        input,
      );
    },
    RevokeGrant: (input) => remove(keys.find(keyIn(input)), read.needed(input, "GrantId"), input),
    RetireGrant: (input) => {
      const token = read.text(input, "GrantToken");
      if (token === undefined) return remove(keys.find(keyIn(input)), read.needed(input, "GrantId"), input);
      const all = keys.all().flatMap((key) => grantsOf(key).map((grant) => ({ key, grant })));
      const found = all.find(({ grant }) => grant.token === token);
      if (!found) throw awsFailure("InvalidGrantTokenException", "The grant token is not valid.");
      return remove(found.key, found.grant.id, input);
    },
  };
}
