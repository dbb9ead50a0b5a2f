// Whether a channel can send: disabled, verified, refused by its provider, or neither yet.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { Badge } from "../../components/badge.tsx";

const words: Readonly<Record<string, string>> = { active: "can send", invalid: "cannot send" };

export function ChannelState({ status, active }: Pick<Channel, "status" | "active">) {
  if (!active) return <Badge state="paused" word="disabled" />;
  return <Badge state={status} word={words[status] ?? "not verified"} />;
}
