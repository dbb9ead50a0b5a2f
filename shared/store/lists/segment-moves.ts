// The subscribers who entered or left a segment by a change of its members.
import type { Change } from "../changes.ts";
import type { MemberLeaf, SegmentMembership } from "./items.ts";
import { movesIn, segmentOfLeaf } from "./leaves.ts";

interface SegmentMove {
  subscriber: string;
  segment: string;
  entered: boolean;
  /** RFC 3339. */
  at: string;
  /** It comes of historical events or an import that starts no journeys: it starts none (AMB-133, AMB-134). */
  isHistorical: boolean;
}

type MemberChange = Change<typeof SegmentMembership> | Change<typeof MemberLeaf>;

const isOfLeaf = (change: MemberChange): change is Change<typeof MemberLeaf> => change.after.react === "leaf";

export function segmentMovesOf(change: MemberChange): SegmentMove[] {
  if (!isOfLeaf(change)) return moveOf(change);
  const segment = segmentOfLeaf(change.after);
  const { entered, left, at } = movesIn(change.before, change.after);
  const moved = (subscribers: typeof entered, hasEntered: boolean) =>
    subscribers.map(({ subscriber, historical: isHistorical = false }) => {
      return { subscriber, segment, entered: hasEntered, at, isHistorical };
    });
  return [...moved(entered, true), ...moved(left, false)];
}

function moveOf({ before, after }: Change<typeof SegmentMembership>): SegmentMove[] {
  const { member: entered, segment_id: segment, subscriber_id: subscriber, historical = false } = after;
  const at = entered ? after.entered_at : after.exited_at;
  if (entered === (before?.member ?? false) || at === undefined) return [];
  return [{ subscriber, segment, entered, at, isHistorical: historical }];
}
