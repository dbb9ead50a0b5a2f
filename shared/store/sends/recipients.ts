// How recipients are written in a chunk: ids packed, so that a hundred of them with their devices are a few KB.
import { Buffer } from "node:buffer";
import type { RankSource } from "../../rules/arbitration.ts";
import type { ReachChannel, Target } from "../../rules/reach.ts";

export interface Recipient {
  /** The subscriber; the anonymous mark of one who was erased. */
  subscriber: string;
  arm?: "a" | "b" | undefined;
  targets: readonly Target[];
  /** A smart send: where the choice of the first class comes from. */
  source?: RankSource | undefined;
  rankFailed?: true | undefined;
}

/** Where an erased subscriber was: it names nobody, and differs from every id. */
export const MARK = "~";
export const isPseudonym = (id: string): boolean => id.startsWith(MARK);

const letters: Record<ReachChannel, string> = {
  ios: "i",
  android: "n",
  web_push: "w",
  email: "e",
  in_app: "a",
  sms: "s",
  chat_app: "c",
};
const channels = Object.fromEntries(Object.entries(letters).map(([channel, letter]) => [letter, channel])) as Record<
  string,
  ReachChannel
>;
const sources: Record<string, Pick<Recipient, "source" | "rankFailed">> = {
  p: { source: "personal" },
  t: { source: "tenant" },
  d: { source: "default" },
  x: { source: "default", rankFailed: true },
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PLAIN = "=";

/** An id as its 16 bytes in base64url; one that is no UUID as it is. */
export function packId(id: string): string {
  if (isPseudonym(id)) return MARK + packId(id.slice(MARK.length));
  return UUID.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url") : PLAIN + id;
}

export function unpackId(text: string): string {
  if (isPseudonym(text)) return MARK + unpackId(text.slice(MARK.length));
  if (text.startsWith(PLAIN)) return text.slice(PLAIN.length);
  const hex = Buffer.from(text, "base64url").toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export const isInAppOnly = (targets: readonly Target[]) => targets.length === 1 && targets[0]!.channel === "in_app";
const IN_APP: readonly Target[] = [{ channel: "in_app" }];

/** `id`, or `id:arm:targets:source` up to the last that is there; in-app alone goes without saying. */
export function packRecipient({ subscriber, arm, targets, source, rankFailed }: Recipient): string {
  const packed = targets.map(({ channel, device }) => letters[channel] + (device === undefined ? "" : packId(device)));
  const fields = [
    packId(subscriber),
    arm ?? "",
    isInAppOnly(targets) ? "" : packed.join(","),
    source ? (rankFailed ? "x" : source[0]!) : "",
  ];
  return fields.join(":").replace(/:+$/, "");
}

export function unpackRecipient(word: string): Recipient {
  const [id = "", arm, targets, source] = word.split(":");
  return {
    subscriber: unpackId(id),
    ...((arm === "a" || arm === "b") && { arm }),
    targets: targets ? targets.split(",").map(targetOf) : IN_APP,
    ...(source && sources[source]),
  };
}

function targetOf(text: string): Target {
  const channel = channels[text[0]!]!;
  return text.length > 1 ? { channel, device: unpackId(text.slice(1)) } : { channel };
}
