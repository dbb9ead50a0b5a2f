// The edges of a journey's graph, by outcome: statistics, simulations and comparisons of versions count and name them.
import type { Graph, JourneyNode } from "./journey-graph.ts";

export interface Edge {
  from: string;
  /** `next`, `branch:then`, `branch:else`, `wait:event` or `wait:timeout`. */
  by: string;
  /** The target step; null if the run completes. */
  to: string | null;
}

/** The edges out of a step; an exit has none. */
export function edgesFrom(node: JourneyNode): Edge[] {
  const edge = (by: string, to: string | undefined): Edge => ({ from: node.id, by, to: to || null });
  if (node.type === "exit") return [];
  if (node.type === "send") return [edge("next", node.send.next)];
  if (node.type === "delay") return [edge("next", node.delay.next)];
  if (node.type === "branch") return [edge("branch:then", node.branch.then), edge("branch:else", node.branch.else)];
  const { within, on_event, on_timeout } = node.wait_for_event;
  return [edge("wait:event", on_event), ...(within === undefined ? [] : [edge("wait:timeout", on_timeout)])];
}

export const edgesOf = ({ steps }: Graph): Edge[] => Object.values(steps).flatMap(edgesFrom);

/** How many runs took an edge, by the outcomes of its step. */
export function takenOf({ by }: Edge, outcomes: Readonly<Record<string, number>> = {}): number {
  if (by !== "next") return outcomes[by] ?? 0;
  return Object.values(outcomes).reduce((sum, n) => sum + n, 0);
}
