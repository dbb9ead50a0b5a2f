// Journeys to begin with: their triggers and steps, with texts to be changed.
import type { JourneyGraph, JourneyStep } from "../../../sdk/src/types.gen.ts";
import { ways } from "../../components/step-words.ts";

interface Starter {
  name: string;
  about: string;
  /** The event that begins it. */
  event: string;
  steps: readonly Part[];
}

/** A step by its settings; what it leads to is the next one, unless it says otherwise. */
type Part = { id: string } & (
  | { type: "send"; title: string; body: string; next?: string }
  | { type: "delay"; duration: string }
  | { type: "wait_for_event"; event_name: string; within: string; on_event: string }
  | { type: "branch"; condition: object; otherwise: string }
);

const END = "exit";
const wait = (id: string, duration: string): Part => ({ id, type: "delay", duration });
const say = (id: string, title: string, body: string, next?: string): Part => ({
  id,
  type: "send",
  title,
  body,
  ...(next && { next }),
});
const HELLO = "{{ subscriber.first_name | default: 'there' }}";

export const starters: readonly Starter[] = [
  {
    name: "Welcome",
    about: "Three messages in the first week",
    event: "signed_up",
    steps: [
      say("hello", `Welcome, ${HELLO}`, "Here is how to begin, in three steps."),
      wait("a_day", "1d"),
      { id: "began", type: "wait_for_event", event_name: "first_project", within: "2d", on_event: END },
      say("help", "May we help?", "Most people begin with a template. Here is one."),
      wait("four_days", "4d"),
      say("next", "What comes next", "Three things that people do in their first week."),
    ],
  },
  {
    name: "Abandoned cart",
    about: "Two reminders, unless they buy",
    event: "cart_updated",
    steps: [
      { id: "bought", type: "wait_for_event", event_name: "order_placed", within: "4h", on_event: END },
      say("reminder", "Still thinking about it?", "We kept your cart."),
      { id: "bought_later", type: "wait_for_event", event_name: "order_placed", within: "1d", on_event: END },
      say("last", "Your cart is about to go", "We keep it until tomorrow."),
    ],
  },
  {
    name: "Trial ends",
    about: "Before and after the end of a trial",
    event: "trial_started",
    steps: [
      wait("eleven_days", "11d"),
      { id: "paid", type: "wait_for_event", event_name: "subscribed", within: "1h", on_event: END },
      say("soon", "Three days left", "Keep what you made: choose a plan."),
      { id: "paid_later", type: "wait_for_event", event_name: "subscribed", within: "4d", on_event: END },
      say("over", "Your trial has ended", "Everything is kept for 30 days."),
    ],
  },
  {
    name: "After a purchase",
    about: "Thanks, a tip and a question",
    event: "order_placed",
    steps: [
      say("thanks", `Thank you, ${HELLO}`, "We have your order."),
      wait("a_week", "7d"),
      say("tip", "Make the most of it", "Three things to try first."),
      wait("two_weeks", "14d"),
      say("question", "How is it?", "One tap is enough."),
    ],
  },
  {
    name: "Win-back",
    about: "When somebody was gone for long",
    event: "became_inactive",
    steps: [
      say("missed", `We miss you, ${HELLO}`, "A lot has changed since you were here."),
      { id: "back", type: "wait_for_event", event_name: "session_started", within: "5d", on_event: END },
      say("offer", "A month on us", "Come back and have a look."),
    ],
  },
  {
    name: "Plan by plan",
    about: "One message for each kind of customer",
    event: "feature_launched",
    steps: [
      {
        id: "is_paying",
        type: "branch",
        condition: { attribute: { plan: { $eq: "pro" } } },
        otherwise: "to_free",
      },
      say("to_paying", "It is yours already", "What is new is part of your plan.", END),
      say("to_free", "There is more", "What is new comes with the plan Pro."),
    ],
  },
];

/** The graph of a starter, whose messages go by these channels; an empty one without. */
export function graphOf(starter: Starter | undefined, channel_ids: readonly string[]): JourneyGraph {
  const parts = starter?.steps ?? [];
  const steps = parts.map((part, n) => stepOf(part, parts[n + 1]?.id ?? END, channel_ids));
  const all = [...steps, { id: END, type: "exit" } as JourneyStep];
  return { start: all[0]!.id, steps: Object.fromEntries(all.map((step) => [step.id, step])) };
}

function stepOf(part: Part, next: string, channel_ids: readonly string[]): JourneyStep {
  const { id, type } = part;
  const [first] = ways[type];
  const to = { [first!.field]: next };
  switch (part.type) {
    case "send": {
      const { title, body, next: own = next } = part;
      return { id, type, send: { content: { title, body }, channel_ids, next: own } } as JourneyStep;
    }
    case "delay":
      return { id, type, delay: { duration: part.duration, ...to } } as JourneyStep;
    case "branch":
      return { id, type, branch: { condition: part.condition, ...to, else: part.otherwise } } as JourneyStep;
    case "wait_for_event": {
      const { event_name, within, on_event } = part;
      return { id, type, wait_for_event: { event_name, within, on_event, on_timeout: next } } as JourneyStep;
    }
  }
}
