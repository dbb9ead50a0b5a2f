// Sentences for the fields of the brake of a send (F21).
export const safetySentences: Record<string, string> = {
  "Campaign.halted": "The sends that their brake stopped",
  canary: "The share that gets the send first, and the subscriber's place; `null` without one",
  canary_percent: "The share of the audience that gets it first, in percent. Left out: nobody gets it first",
  canary_wait_minutes: "How long the others wait after that. Default: 30",
  "halted.at": "When it halted",
  "halted.channel": "The type of the channel that it is about",
  "halted.count": "Errors, bounces, complaints or opt-outs",
  "halted.limit": "The share at which it halts, from 0 to 1",
  "halted.reason": "Which limit was exceeded",
  halted: "Why its brake stopped it, until it is resumed",
  max_bounce_rate: "The share of mails that may bounce, from 0.0001 to 1",
  max_complaint_rate: "The share of mails that may lead to a complaint, from 0.0001 to 1",
  max_error_rate:
    "The share of messages of a channel that its provider may refuse or leave without an answer, from 0.0001 to 1, which is never exceeded",
  max_opt_out_rate: "The share of mails that may lead to an opt-out, from 0.0001 to 1",
  min_audience: "Only sends to more subscribers than this have the brake",
  rate: "`count` over `tried`",
  safety: "The limits at which it halts by itself. Left out: the workspace's. `null`: none",
  tried: "The messages that the rate is of",
};
