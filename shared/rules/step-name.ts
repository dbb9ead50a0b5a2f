// What a step of a journey is called in a sentence: by what it does, for it has no name of its own.
import { span } from "./clause-words.ts";
import { parseDuration } from "./durations.ts";
import type { JourneyNode } from "./journey-graph.ts";
import { inPlain } from "./placeholders.ts";

const SECOND = 1_000;

/** @param template the name of the template of a send, if it has one that exists */
export function stepName(node: JourneyNode, template?: string): string {
  switch (node.type) {
    case "send": {
      const title = node.send.content ? inPlain(node.send.content.title) : template;
      return title ? `the message “${title}”` : "a message of a template";
    }
    case "delay":
      return `the wait of ${span((parseDuration(node.delay.duration) ?? 0) / SECOND)}`;
    case "branch":
      return "the branch";
    case "wait_for_event":
      return `the wait for ${node.wait_for_event.event_name}`;
    default:
      return "the end";
  }
}
