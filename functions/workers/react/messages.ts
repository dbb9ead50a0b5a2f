// Messages that follow from a write: the row that changed, how it changed, and the message for a queue.
import type { Context } from "../../../shared/kernel/deps.ts";
import { throwFailures } from "../../../shared/kernel/failures.ts";
import {
  askConfirmationQueue,
  deleteMembershipsQueue,
  discardAssetQueue,
  eraseQueue,
  importRowsQueue,
  mailAccountQueue,
  moveClockQueue,
  verifyChannelQueue,
} from "../../../shared/runtime/resources.ts";
import { becomes, type Change, type Changes, isNew, type ReactOf } from "../../../shared/store/changes.ts";
import { ChannelItem } from "../../../shared/store/channels/items.ts";
import { AssetItem } from "../../../shared/store/experiences/asset-items.ts";
import { ExportItem } from "../../../shared/store/exports/items.ts";
import { familyOf } from "../../../shared/store/families.ts";
import type { AnyItem } from "../../../shared/store/item.ts";
import { SimulationItem } from "../../../shared/store/journeys/simulation-items.ts";
import { DeletedMemberships } from "../../../shared/store/lists/items.ts";
import { ClockMove } from "../../../shared/store/sandbox/items.ts";
import { ImportItem } from "../../../shared/store/subscribers/import-items.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { AccountMail } from "../../../shared/store/workspaces/session-items.ts";

export const messageUses = [
  askConfirmationQueue,
  deleteMembershipsQueue,
  discardAssetQueue,
  eraseQueue,
  importRowsQueue,
  mailAccountQueue,
  moveClockQueue,
  verifyChannelQueue,
] as const;

type Queues = Context<typeof messageUses>;
type MessageOf<Q extends keyof Queues> = Parameters<Queues[Q]["send"]>[0][number];

interface Rule {
  queue: keyof Queues;
  messagesOf(changes: Changes): object[];
}

const rule = <Q extends keyof Queues, D extends AnyItem>(
  queue: Q,
  item: D,
  react: ReactOf<D>,
  when: (change: Change<D>) => boolean,
  message: (change: Change<D>) => MessageOf<Q>,
): Rule => ({ queue, messagesOf: (changes) => changes.of(item, react).filter(when).map(message) });

/** The channels whose consent is pending by a new statement, which may have the time of the one before. */
function newlyPending({ before, after }: Change<typeof Profile>): string[] {
  const pending = familyOf(after, "c:").flatMap(([channel, status]) => (status === "pending" ? [channel] : []));
  return pending.filter(
    (channel) => before?.[`c:${channel}`] !== "pending" || before[`ct:${channel}`] !== after[`ct:${channel}`],
  );
}

const rules: readonly Rule[] = [
  rule(
    "askConfirmationQueue",
    Profile,
    "subscriber",
    (change) => newlyPending(change).length > 0,
    (change) => ({ tenant: change.tenant, subscriber: change.after.id, channels: newlyPending(change) }),
  ),
  rule(
    "eraseQueue",
    Profile,
    "erasure",
    ({ before }) => before?.erased_at === undefined,
    ({ tenant, after }) => ({
      tenant,
      subscriber: after.id,
      pass: 1,
    }),
  ),
  rule("deleteMembershipsQueue", DeletedMemberships, "disband", isNew, ({ tenant, after }) => ({
    tenant,
    kind: after.kind,
    id: after.id,
  })),
  rule(
    "importRowsQueue",
    ImportItem,
    "import",
    // The file of a canceled import is deleted.
    (change) => isNew(change) || becomes("canceled")(change),
    ({ tenant, after }) => ({ tenant, kind: "import", id: after.id }),
  ),
  rule("importRowsQueue", ExportItem, "export", isNew, ({ tenant, after }) => ({
    tenant,
    kind: "export",
    id: after.id,
  })),
  rule("importRowsQueue", SimulationItem, "simulation", isNew, ({ tenant, after }) => ({
    tenant,
    kind: "simulation",
    id: after.id,
  })),
  rule(
    "verifyChannelQueue",
    ChannelItem,
    "channel",
    ({ before, after }) => after.verification !== undefined && after.verification !== before?.verification,
    ({ tenant, after }) => ({ tenant, channel: after.id, verification: after.verification }),
  ),
  rule("discardAssetQueue", AssetItem, "asset", becomes("removed"), ({ tenant, after }) => ({
    tenant,
    asset: after.id,
  })),
  rule("mailAccountQueue", AccountMail, "account-mail", isNew, ({ after }) => ({ mail: after.id })),
  rule(
    "moveClockQueue",
    ClockMove,
    "clock-move",
    ({ before, after }) => before?.id !== after.id,
    ({ after }) => ({ kind: "move", tenant: after.tenant, move: after.id }),
  ),
];

/** Queues the messages of all rules. A queue that refuses does not stop the messages of others. */
export async function queueMessages(changes: Changes, context: Queues): Promise<void> {
  const byQueue = Map.groupBy(rules, ({ queue }) => queue);
  const sends = [...byQueue].map(([queue, messageKinds]) => {
    const send: (messages: never[]) => Promise<void> = context[queue].send;
    return send(messageKinds.flatMap(({ messagesOf }) => messagesOf(changes)) as never[]);
  });
  throwFailures(await Promise.allSettled(sends));
}
