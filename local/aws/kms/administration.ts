// What concerns keys rather than texts: creating, describing, aliases, rotation, deletion.
import { type Clock, DAY } from "../../../shared/clock.ts";
import { type Operations, readers } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";
import { aliasArnOf, arnOf, type Key, type KeySpec, type KeyStore, metadataOf, notFound, usages } from "./keys.ts";

const ALIAS = /^alias\/[A-Za-z0-9/_-]{1,250}$/;
export const read = readers("ValidationException", "ValidationException");
export const keyIn = (input: Wire): string => read.needed(input, "KeyId");

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
  const isTaken = (name: string) => keys.aliases().some((alias) => alias.name === name);

  return {
    CreateKey: (input) => {
      const specs = Object.keys(usages);
      const spec = (read.word(input, "KeySpec", specs) ??
        read.word(input, "CustomerMasterKeySpec", specs) ??
        "SYMMETRIC_DEFAULT") as KeySpec;
      const usage =
        read.word(input, "KeyUsage", ["ENCRYPT_DECRYPT", "SIGN_VERIFY", "GENERATE_VERIFY_MAC"]) ?? "ENCRYPT_DECRYPT";
      const fitting = usages[spec].find((known) => known === usage);
      if (!fitting || (spec === "RSA_2048" && fitting === "ENCRYPT_DECRYPT"))
        throw read.refuse(`KeyUsage ${usage} is not compatible with KeySpec ${spec}`);
      return { KeyMetadata: metadataOf(keys.create(spec, fitting, read.text(input, "Description") ?? "")) };
    },
    DescribeKey: (input) => ({ KeyMetadata: metadataOf(keys.find(keyIn(input))) }),
    ListKeys: () => ({ Keys: keys.all().map(({ id }) => ({ KeyId: id, KeyArn: arnOf(id) })), Truncated: false }),
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
      return {
        Aliases: listed.map(({ name, key }) => ({ AliasName: name, AliasArn: aliasArnOf(name), TargetKeyId: key })),
        Truncated: false,
      };
    },
    EnableKey: (input) => {
      change(input, { state: "Enabled" });
      return {};
    },
    DisableKey: (input) => {
      change(input, { state: "Disabled" });
      return {};
    },
    EnableKeyRotation: (input) => {
      if (keys.find(keyIn(input)).spec !== "SYMMETRIC_DEFAULT")
        throw awsFailure("UnsupportedOperationException", "Rotation is for symmetric encryption keys.");
      change(input, { rotation: true });
      return {};
    },
    DisableKeyRotation: (input) => {
      change(input, { rotation: false });
      return {};
    },
    GetKeyRotationStatus: (input) => ({ KeyRotationEnabled: keys.find(keyIn(input)).rotation }),
    ScheduleKeyDeletion: (input) => {
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
