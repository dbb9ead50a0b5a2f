// Worked examples of the grammars, by their component: a test gives each to the schema and to the check.
import { EXAMPLE_ID } from "./examples.ts";
import { graphExamples, stepExamples } from "./journey-examples.ts";

const { send, delay, branch, wait_for_event, exit } = stepExamples;

const onPlan = { attribute: { plan: { $in: ["pro", "team"] } } };
const oftenPaid = { event: { name: "order_paid", within: "30d", frequency: { min: 2 } } };
const leftCart = {
  group: {
    op: "and",
    nodes: [
      { attribute: { country: { $eq: "DE" } } },
      { event: { name: "cart_left", within: "24h", where: { total: { $gte: 50 } } } },
      { group: { op: "or", nodes: [{ attribute: { vip: { $eq: true } } }, { event: { name: "app_opened" } }] } },
    ],
  },
};

const sale = {
  email: {
    subject: "20% off for {{ subscriber.first_name }}",
    preheader: "Until Sunday",
    html: "<h1>The sale has begun</h1>",
  },
  push: {
    title: "The sale has begun",
    image_url: "https://shop.example.com/sale.jpg",
    url: "https://shop.example.com/sale",
  },
  in_app: { actions: [{ id: "shop", title: "To the shop", url: "https://shop.example.com" }] },
};
const booking = {
  body: "Your table is booked.",
  buttons: [
    { id: "route", title: "Route", url: "https://maps.example.com/4711" },
    { id: "cancel", title: "Cancel", url: "myapp://bookings/4711/cancel" },
  ],
  collapse_key: "booking-4711",
};
const question = { body: "Anything missing?", actions: [{ id: "no", title: "No", url: "" }] };
const quiet = { sound: "chime.caf", badge: 1, ttl_seconds: 3600 };
const byTemplate = { template_id: EXAMPLE_ID, parameters: ["{{ subscriber.first_name }}"] };

export const grammarExamples: Readonly<Record<string, unknown[]>> = {
  Operators: [{ $eq: "pro" }, { $gte: 18, $lt: 30 }, { $in: ["de", "at", "ch"] }],
  AttributePredicate: [
    { plan: { $in: ["pro", "team"] } },
    { age: { $gte: 18 }, country: { $ne: "US" } },
    { last_login: { $gt: "2026-11-01T00:00:00Z" }, phone: { $exists: true } },
  ],
  Version: [{ major: 17 }, { major: 17, minor: 4 }, { major: 2, minor: 0, patch: 1 }],
  VersionOperators: [
    { $gte: { major: 17 } },
    { $lt: { major: 2, minor: 4 } },
    { $in: [{ major: 16 }, { major: 17, minor: 1 }] },
  ],
  DevicePredicate: [
    { platform: { $eq: "ios" }, os_version: { $gte: { major: 17, minor: 4 } } },
    { app_version: { $lt: { major: 2 } } },
    { locale: { $in: ["de-DE", "de-AT"] }, model: { $exists: true } },
  ],
  SegmentRule: [onPlan, oftenPaid, leftCart],
  RuleNode: [onPlan, oftenPaid, leftCart],
  AttributeRule: [
    onPlan,
    { attribute: { country: { $eq: "DE" }, age: { $gte: 18 } } },
    { attribute: { phone: { $exists: false } } },
  ],
  EventRule: [
    { event: { name: "app_opened" } },
    oftenPaid,
    { event: { name: "app_opened", within: "14d", frequency: { max: 0 } } },
  ],
  EventCondition: [
    { name: "app_opened" },
    { name: "order_paid", within: "30d", frequency: { min: 2, max: 5 } },
    { name: "order_paid", where: { total: { $gte: 100 }, currency: { $eq: "EUR" } } },
  ],
  GroupRule: [leftCart, { group: { op: "or", nodes: [onPlan, oftenPaid] } }, { group: { op: "and", nodes: [onPlan] } }],
  FlatRule: [
    { attribute: { key: "plan", value: "pro" } },
    { event: { name: "order_paid", operator: "gte", count: 3, within_days: 30 } },
    { attribute: { key: "age", operator: "gte", value: 18 }, event: { name: "app_opened", within_days: 7 } },
  ],
  JourneyTrigger: [
    { type: "event", event_name: "signed_up" },
    { type: "segment_entered", segment_id: EXAMPLE_ID },
    { type: "segment_exited", segment_id: EXAMPLE_ID },
  ],
  SegmentTrigger: [
    { type: "segment_entered", segment_id: EXAMPLE_ID },
    { type: "segment_exited", segment_id: EXAMPLE_ID },
    { type: "segment_entered" },
  ],
  EventTrigger: [
    { type: "event", event_name: "signed_up" },
    { type: "event", event_name: "cart_left" },
    { type: "event", event_name: "order_paid" },
  ],
  EntryRules: [
    { allow_reentry: true, reentry_window: "30d" },
    { eligibility: { attribute: { country: { $eq: "DE" } } } },
    { eligibility: { event: { name: "order_paid", frequency: { max: 0 } } }, allow_reentry: false },
  ],
  UntypedStep: [{ id: "later" }, { id: "new_step" }, {}],
  ExitCondition: [
    { attribute: { plan: { $eq: "pro" } } },
    { event: { name: "order_paid" } },
    { rule: { event: { name: "app_opened", within: "7d", frequency: { min: 3 } } } },
  ],
  EventExit: [
    { event: { name: "order_paid" } },
    { event: { name: "order_paid", where: { total: { $gte: 50 } } } },
    { event: { name: "unsubscribed" } },
  ],
  RuleExit: [
    { rule: { attribute: { plan: { $eq: "pro" } } } },
    { rule: { event: { name: "order_paid", within: "30d" } } },
    { rule: { attribute: { key: "age", operator: "lt", value: 18 } } },
  ],
  Target: [{ type: "all" }, { type: "list", list_id: EXAMPLE_ID }, { type: "segment", segment_id: EXAMPLE_ID }],
  EmailContent: [
    sale.email,
    { subject: "Your receipt", text: "Thank you. Your order: https://shop.example.com/orders/4711" },
    { html: "<p>Hello</p>", text: "Hello" },
  ],
  SmsContent: [
    { body: "Your code is {{ data.code }}." },
    { body: "The sale has begun." },
    { body: "Your parcel arrives today." },
  ],
  PushContent: [sale.push, booking, quiet],
  InAppContent: [{ title: "Welcome", image_url: "https://shop.example.com/hello.png" }, sale.in_app, question],
  ChatAppContent: [byTemplate, { template_id: EXAMPLE_ID }, { template_id: EXAMPLE_ID, parameters: [] }],
  JourneyGraph: graphExamples,
  JourneyStep: [send[0], branch[0], wait_for_event[0]],
  SendStep: [...send],
  DelayStep: [...delay],
  BranchStep: [...branch],
  WaitForEventStep: [...wait_for_event],
  ExitStep: [...exit],
  ContentByChannel: [
    { email: sale.email, sms: { body: "The sale has begun." } },
    { push: booking, web_push: sale.push, in_app: sale.in_app },
    { chat_app: byTemplate, in_app: question, push: quiet },
  ],
};
