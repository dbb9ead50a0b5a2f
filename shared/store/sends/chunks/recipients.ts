// The text form of recipients in a chunk. Ids are packed, so that a hundred recipients with their devices are a few KB.
import { packId, unpackId } from "../../../kernel/ids.ts";
import type { RankSource } from "../../../rules/arbitration.ts";
import { type ChannelType, channelTypes } from "../../../rules/channel-types.ts";
import { channels } from "../../../rules/channels.ts";
import type { Target } from "../../../rules/reach.ts";

export interface Recipient {
  /** The subscriber; the pseudonym of one that was erased. */
  subscriber: string;
  arm?: "a" | "b" | undefined;
  targets: readonly Target[];
  /** A smart send: where the choice of the first class comes from. */
  source?: RankSource | undefined;
  rankFailed?: true | undefined;
}

const byLetter = new Map(channelTypes.map((channel): [string, ChannelType] => [channels[channel].letter, channel]));
const sources: Record<string, Pick<Recipient, "source" | "rankFailed">> = {
  p: { source: "personal" },
  t: { source: "tenant" },
  d: { source: "default" },
  x: { source: "default", rankFailed: true },
};

export const isInAppOnly = (targets: readonly Target[]) => targets.length === 1 && targets[0]?.channel === "in_app";
const IN_APP: readonly Target[] = [{ channel: "in_app" }];

/** `id:arm:targets:source`, without empty fields at the end. In-app alone is the default for the targets. */
function packRecipient({ subscriber, arm, targets, source, rankFailed }: Recipient): string {
  const packed = targets.map(
    ({ channel, device }) => channels[channel].letter + (device === undefined ? "" : packId(device)),
  );
  const fields = [
    packId(subscriber),
    arm ?? "",
    isInAppOnly(targets) ? "" : packed.join(","),
    rankFailed ? "x" : (source?.charAt(0) ?? ""),
  ];
  return fields.join(":").replace(/:+$/, "");
}

function unpackRecipient(word: string): Recipient {
  const [id = "", arm, targets, source] = word.split(":");
  return {
    subscriber: unpackId(id),
    ...((arm === "a" || arm === "b") && { arm }),
    targets: targets ? targets.split(",").map(targetOf) : IN_APP,
    ...(source && sources[source]),
  };
}

/** Recipients in one text, separated by spaces. */
export const packRecipients = (recipients: readonly Recipient[]): string => recipients.map(packRecipient).join(" ");

export const unpackRecipients = (text: string): Recipient[] => (text ? text.split(" ").map(unpackRecipient) : []);

function targetOf(text: string): Target {
  const channel = byLetter.get(text.charAt(0));
  if (!channel) throw new Error(`A target of a chunk is of no known channel: ${text}`);
  return text.length > 1 ? { channel, device: unpackId(text.slice(1)) } : { channel };
}
