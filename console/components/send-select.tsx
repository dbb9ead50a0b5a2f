// One send among those that stand for themselves: each run of a journey has sends of its own.
import { findSend } from "../app/named.ts";
import { sendName } from "../app/send-name.ts";
import { selectOf } from "./one-of.tsx";

interface Send {
  id: string;
  name: string | null;
  title: string | null;
}

const asNamed = (send: Send) => ({ id: send.id, name: sendName(send) });

export const SendSelect = selectOf({
  noun: "send",
  list: "notifications.list",
  given: [{ limit: 100, exclude_source_type: "journey" }],
  itemsOf: ({ items }) => items.map(asNamed),
  get: "notifications.get",
  asNamed,
  find: findSend(),
});
