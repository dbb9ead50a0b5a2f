// Operations on keys rather than texts: create, describe, aliases, rotation, deletion.
import { type Clock, DAY } from "../../../shared/kernel/clock.ts";
import type { Operations } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { tagsIn } from "./grants.ts";
import { keyIn, pageOf, read } from "./input.ts";
import { aliasArnOf, arnOf, type Key, type KeySpec, type KeyStore, metadataOf, notFound, usages } from "./keys.ts";

const ALIAS = /^alias\/[A-Za-z0-9/_-]{1,250}$/;
export function administration(keys: KeyStore, clock: Clock): Operations {
  const change = (input: Wire, changed: Partial<Key>): Key => {
    const key = { ...keys.find(keyIn(input)), ...changed };
    keys.save(key);
    return key;
  };

  const aliasIn = (input: Wire): string => {
    const name = read.needed(input, "AliasName");
    if (!ALIAS.test(name) || name.startsWith("alias/aws/"))
      throw awsFailure("InvalidAliasNameException", `Invalid alias name: ${name}`);
    return name;
  };
  const refusePending = (input: Wire): void => {
    const { id, state } = keys.find(keyIn(input));
    if (state === "PendingDeletion") throw awsFailure("KMSInvalidStateException", `${arnOf(id)} is pending deletion.`);
  };

  const isTaken = (name: string) => keys.aliases().some((alias) => alias.name === name);

  return {
    CreateKey: (input) => {
      read.word(input, "Origin", ["AWS_KMS"]);
      if (read.flag(input, "MultiRegion"))
        throw awsFailure("UnsupportedOperationException", "The embedded KMS knows one region.");
      const specs = Object.keys(usages);
      const spec = (read.word(input, "KeySpec", specs) ??
        read.word(input, "CustomerMasterKeySpec", specs) ??
        "SYMMETRIC_DEFAULT") as KeySpec;
      const usage =
        read.word(input, "KeyUsage", ["ENCRYPT_DECRYPT", "SIGN_VERIFY", "GENERATE_VERIFY_MAC"]) ?? "ENCRYPT_DECRYPT";
      const fitting = usages[spec].find((found) => found === usage);
      if (!fitting || (spec === "RSA_2048" && fitting === "ENCRYPT_DECRYPT"))
        throw read.refuse(`KeyUsage ${usage} is not compatible with KeySpec ${spec}`);
      const more = { description: read.text(input, "Description") ?? "", tags: tagsIn(input) };
      return { KeyMetadata: metadataOf(keys.create(spec, fitting, more)) };
    },
    DescribeKey: (input) => ({ KeyMetadata: metadataOf(keys.find(keyIn(input))) }),
    ListKeys: (input) => {
      const { shown, ...more } = pageOf(input, keys.all(), ({ id }) => id);
      return { Keys: shown.map(({ id }) => ({ KeyId: id, KeyArn: arnOf(id) })), ...more };
    },
    CreateAlias: (input) => {
      const name = aliasIn(input);
      const { id } = keys.find(read.needed(input, "TargetKeyId"));
      if (isTaken(name))
        throw awsFailure("AlreadyExistsException", `An alias with the name ${aliasArnOf(name)} already exists`);
      keys.saveAlias(name, id);
      return {};
    },
    UpdateAlias: (input) => {
      const name = aliasIn(input);
      const { id } = keys.find(read.needed(input, "TargetKeyId"));
      if (!isTaken(name)) throw notFound(name);
      keys.saveAlias(name, id);
      return {};
    },
    DeleteAlias: (input) => {
      const name = aliasIn(input);
      if (!isTaken(name)) throw notFound(name);
      keys.saveAlias(name, undefined);
      return {};
    },
    ListAliases: (input) => {
      const of = read.text(input, "KeyId");
      const wanted = of === undefined ? undefined : keys.find(of).id;
      const listed = keys.aliases().filter(({ key }) => wanted === undefined || key === wanted);
      const { shown, ...more } = pageOf(input, listed, ({ name }) => name);
      return {
        Aliases: shown.map(({ name, key }) => ({ AliasName: name, AliasArn: aliasArnOf(name), TargetKeyId: key })),
        ...more,
      };
    },
    EnableKey: (input) => {
      refusePending(input);
      change(input, { state: "Enabled" });
      return {};
    },
    DisableKey: (input) => {
      refusePending(input);
      change(input, { state: "Disabled" });
      return {};
    },
    EnableKeyRotation: (input) => {
      if (keys.find(keyIn(input)).spec !== "SYMMETRIC_DEFAULT")
        throw awsFailure("UnsupportedOperationException", "Rotation is for symmetric encryption keys.");
      const days = read.integer(input, "RotationPeriodInDays", 90, 2_560) ?? 365;
      refusePending(input);
      change(input, { rotation: days });
      return {};
    },
    DisableKeyRotation: (input) => {
      change(input, { rotation: null });
      return {};
    },
    GetKeyRotationStatus: (input) => {
      const { id, rotation } = keys.find(keyIn(input));
      return {
        KeyId: arnOf(id),
        KeyRotationEnabled: Boolean(rotation),
        ...(rotation && { RotationPeriodInDays: rotation }),
      };
    },
    ScheduleKeyDeletion: (input) => {
      refusePending(input);
      const days = read.integer(input, "PendingWindowInDays", 7, 30) ?? 30;
      const key = change(input, { state: "PendingDeletion", deleteAt: clock.now() + days * DAY });
      return {
        KeyId: arnOf(key.id),
        DeletionDate: Number(key.deleteAt) / 1_000,
        KeyState: key.state,
        PendingWindowInDays: days,
      };
    },
    CancelKeyDeletion: (input) => {
      if (keys.find(keyIn(input)).state !== "PendingDeletion")
        throw awsFailure("KMSInvalidStateException", `${keyIn(input)} is not pending deletion.`);
      return { KeyId: arnOf(change(input, { state: "Disabled", deleteAt: null }).id) };
    },
  };
}
