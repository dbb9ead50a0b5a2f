// Blocks of events that were just stored: later they must have their seal.
import type { Context } from "../../../shared/kernel/deps.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { completeEventsQueue } from "../../../shared/runtime/resources.ts";
import { blockText } from "../../../shared/store/events/block-keys.ts";
import { blockKeyOf } from "../../../shared/store/events/blocks.ts";
import { EventBlock } from "../../../shared/store/events/items.ts";
import { type Changes, isNew, ofTenants } from "./change.ts";

export const eventUses = [completeEventsQueue] as const;

/** The request has ended by then, and the second pass of an erasure that began in the meantime is still to come. */
const ENDED_SECONDS = 45;
const PER_MESSAGE = 50;

export async function queueCompletions(
  changes: Changes,
  { completeEventsQueue: queue }: Context<typeof eventUses>,
): Promise<void> {
  const messages = [...ofTenants(changes.of(EventBlock, "block").filter(isNew))].flatMap(([tenant, blocks]) => {
    const names = blocks.map(({ after }) => blockText(blockKeyOf(after)));
    return chunksOf(names, PER_MESSAGE).map((some) => ({ tenant, blocks: some }));
  });
  await queue.send(messages, { delaySeconds: ENDED_SECONDS });
}
