// Schemas of webhooks that two groups share: the target and its events.
import * as v from "valibot";
import { webhookEvents } from "../rules/webhook-events.ts";
import { OneOf } from "./schemas.ts";

const LowerCase = v.startsWith<string, "https://", string>("https://", "must be an https URL");
/** The pattern is published as `^https://`; capitals are accepted, as in every URL (RFC 3986, 3.1). */
const Https: typeof LowerCase = {
  ...LowerCase,
  "~run": (dataset, config) =>
    dataset.typed && /^https:\/\//i.test(dataset.value) ? dataset : LowerCase["~run"](dataset, config),
};

/** The target of a webhook (HOK-1). The egress client checks its address, now and at every attempt. */
export const TargetUrl = v.pipe(
  v.string("must be an https URL"),
  Https,
  v.maxLength(2_048, "must be at most 2048 characters"),
  v.url("must be a valid URL"),
  v.transform((text) => URL.parse(text)?.href ?? text),
);

export const Events = v.pipe(
  v.array(OneOf(webhookEvents), "must be an array of event types"),
  v.minLength(1, "must name at least one event type"),
  v.maxLength(webhookEvents.length * 4, "names too many event types"),
);
