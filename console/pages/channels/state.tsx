// Whether a channel can send: disabled, verified, refused by its provider, or neither yet.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { Badge } from "../../components/badge.tsx";

export function ChannelState({ status, active }: Pick<Channel, "status" | "active">) {
  if (!active) return <Badge state="paused" word="disabled" />;
  const word = status === "active" ? "can send" : status === "invalid" ? "cannot send" : "not verified";
  return <Badge state={status} word={word} />;
}
