// Worked examples of the grammar of journeys. A test creates and activates each of the graphs.
import { EXAMPLE_ID } from "./examples.ts";

/** Stand for ids of the workspace. */
const ids = { segment: EXAMPLE_ID, channel: EXAMPLE_ID, template: EXAMPLE_ID };

const send = (id: string, title: string, body: string, next?: string) => ({
  id,
  type: "send",
  send: { channel_ids: [ids.channel], content: { title, body }, ...(next && { next }) },
});
const branch = (id: string, condition: object, then: string, otherwise?: string) => ({
  id,
  type: "branch",
  branch: { condition, then, ...(otherwise && { else: otherwise }) },
});
const exit = { id: "end", type: "exit" };

export const stepExamples = {
  send: [
    send("welcome", "Welcome", "Hello {{ subscriber.first_name }}", "pause"),
    {
      id: "receipt",
      type: "send",
      send: { channel_ids: [ids.channel], template_id: ids.template, category: "transactional" },
    },
    send("goodbye", "See you", "It was nice to have you."),
  ],
  delay: [
    { id: "pause", type: "delay", delay: { duration: "3d", next: "reminder" } },
    { id: "pause", type: "delay", delay: { duration: "90m", next: "end" } },
    { id: "pause", type: "delay", delay: { duration: "24h", next: "reminder" } },
  ],
  branch: [
    branch("is_paying", { attribute: { plan: { $in: ["pro", "team"] } } }, "thanks", "offer"),
    branch("is_active", { event: { name: "app_opened", within: "7d", frequency: { min: 3 } } }, "thanks"),
    branch("is_adult", { attribute: { key: "age", operator: "gte", value: 18 } }, "offer", "end"),
  ],
  wait_for_event: [
    {
      id: "paid",
      type: "wait_for_event",
      wait_for_event: { event_name: "order_paid", within: "24h", on_event: "thanks", on_timeout: "reminder" },
    },
    {
      id: "paid",
      type: "wait_for_event",
      wait_for_event: {
        event_name: "order_paid",
        where: { order_id: { $eq: "{{trigger.order_id}}" } },
        within: "2h",
        on_event: "end",
        on_timeout: "reminder",
      },
    },
    { id: "opened", type: "wait_for_event", wait_for_event: { event_name: "app_opened", on_event: "thanks" } },
  ],
  exit: [exit, { id: "done", type: "exit" }, { id: "stop", type: "exit" }],
} as const;

const welcome = {
  start: "welcome",
  steps: {
    welcome: send("welcome", "Welcome", "Hello {{ subscriber.first_name }}", "pause"),
    pause: { id: "pause", type: "delay", delay: { duration: "3d", next: "reminder" } },
    reminder: send("reminder", "Still there?", "Here is what you can do next."),
  },
};

const abandonedCart = {
  start: "paid",
  steps: {
    paid: stepExamples.wait_for_event[1],
    reminder: send("reminder", "Your cart is waiting", "{{ event.items }} items are reserved for you.", "end"),
    end: exit,
  },
  exit_conditions: [{ event: { name: "account_closed" } }],
};

const threeWays = {
  start: "is_paying",
  steps: {
    is_paying: stepExamples.branch[0],
    offer: branch("offer", { event: { name: "app_opened", within: "7d" } }, "discount", "comeback"),
    thanks: send("thanks", "Thank you", "You are on our best plan.", "end"),
    discount: send("discount", "20% off", "For the next 24 hours.", "wait"),
    wait: {
      id: "wait",
      type: "wait_for_event",
      wait_for_event: { event_name: "order_paid", within: "24h", on_event: "thanks", on_timeout: "end" },
    },
    comeback: send("comeback", "We miss you", "See what is new."),
    end: exit,
  },
  exit_conditions: [{ rule: { attribute: { blocked: { $eq: true } } } }],
};

export const graphExamples = [welcome, abandonedCart, threeWays];
