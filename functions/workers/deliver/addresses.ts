// The recipient and the target that a unit of the progress stands for.
import { elementAt } from "../../../shared/rules/element-at.ts";
import type { Unit } from "../../../shared/rules/progress.ts";
import type { Target } from "../../../shared/rules/reach.ts";
import type { Chunk } from "../../../shared/store/sends/chunks/chunks.ts";
import type { Recipient } from "../../../shared/store/sends/chunks/recipients.ts";

type Recipients = Pick<Chunk, "recipients">;

export const recipientOf = ({ recipients }: Recipients, { recipient }: Pick<Unit, "recipient">): Recipient =>
  elementAt(recipients, recipient);

export const targetOf = (chunk: Recipients, unit: Pick<Unit, "recipient" | "target">): Target =>
  elementAt(recipientOf(chunk, unit).targets, unit.target);
