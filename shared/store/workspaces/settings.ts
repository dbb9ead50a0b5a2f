// The settings that a workspace may change itself (AMB-85): the shapes of the API, and the types of the stored ones.
import * as v from "valibot";
import { MAX_TEST_SUBSCRIBERS } from "../../contract/notification-input.ts";
import { DefaultSafety } from "../../contract/safety.ts";
import {
  Currency,
  OwnName,
  Region,
  said,
  TimeZone,
  TrimmedTextUpTo,
  Uuid,
  WholeNumber,
} from "../../contract/schemas.ts";
import { channelTypes, classOf } from "../../rules/channel-types.ts";

const LocalTime = v.pipe(
  v.string("must be a time such as 22:00"),
  v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, "must be a time such as 22:00"),
);

const QuietHours = v.pipe(
  v.strictObject({
    start: LocalTime,
    end: LocalTime,
    timezone_mode: v.picklist(["subscriber", "workspace"], "must be subscriber or workspace"),
    days: v.optional(
      v.pipe(
        v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(6)), "must be an array of days 0 to 6"),
        v.minLength(1),
      ),
      [0, 1, 2, 3, 4, 5, 6],
    ),
  }),
  v.forward(
    v.check(({ start, end }) => start !== end, "must differ from start: no hour would be left"),
    ["end"],
  ),
);
export type QuietSettings = v.InferOutput<typeof QuietHours>;

const FrequencyCap = v.strictObject({
  category: v.picklist(["marketing", "transactional"], "must be marketing or transactional"),
  channel_class: v.optional(v.picklist([...new Set(channelTypes.map(classOf))])),
  max: WholeNumber(1, 1_000_000),
  per: v.picklist(["day", "week"], "must be day or week"),
});

const IdentityRequired = said("Calls with the publishable key that name a user carry `X-User-Hash`", v.boolean());

const DOUBLE_OPT_IN =
  "An opt-in to email is `pending` until its owner confirms it by the link of a mail. Default: false";

const SECOND_FACTOR =
  "Members reach the workspace only in sessions with a second factor. Whoever sets it has one. Default: false";

const APPROVAL =
  "A release of a campaign waits for a second person who may send, and one-off sends to an audience or to more than 100 named " +
  "people are refused. Journeys, schedules and experiences are not covered. Default: false";

const REGION = "Where phone numbers without a country code are from, as ISO 3166, such as `DE`";

const CURRENCY = "What revenue is in, as ISO 4217, such as `EUR`. Nothing is converted. Default: `null`, not said";

const MAX_AGENT_ATTRIBUTES = 50;
const AGENT_ATTRIBUTES =
  "The attributes of subscribers and properties of events that agents without the scope `read:pii` may have in conditions. Default: none";

const WorkspaceSafety = said(
  "The limits at which sends without limits of their own halt; `null`: none",
  v.nullable(DefaultSafety),
);

const UTM =
  "What the http and https links of marketing mail get as `utm_source`, `utm_medium` and `utm_campaign`, without a `campaign` the " +
  "name of the send. A link with a UTM parameter of its own stays as it is. Default: `null`, links stay as they are";

export const WorkspaceSettings = v.object({
  name: v.string(),
  timezone: v.string(),
  region: said(REGION, v.nullable(v.string())),
  currency: said(CURRENCY, v.nullable(v.string())),
  email_consent_mode: v.picklist(["opt_out", "opt_in"]),
  quiet_hours: v.nullable(QuietHours),
  frequency_caps: v.array(FrequencyCap),
  safety: WorkspaceSafety,
  identity_required: IdentityRequired,
  double_opt_in: said(DOUBLE_OPT_IN, v.boolean()),
  second_factor_required: said(SECOND_FACTOR, v.boolean()),
  approval_required: said(APPROVAL, v.boolean()),
  sender_name: v.nullable(v.string()),
  postal_address: v.nullable(v.string()),
  utm_defaults: said(
    UTM,
    v.nullable(v.object({ source: v.string(), medium: v.string(), campaign: v.optional(v.string()) })),
  ),
  test_subscriber_ids: v.array(v.string()),
  agent_attributes: said(AGENT_ATTRIBUTES, v.array(v.string())),
});
export type WorkspaceSettings = v.InferOutput<typeof WorkspaceSettings>;

/** The settings for the sends of a workspace: quiet hours, caps, consent. */
export type SendingSettings = Pick<
  WorkspaceSettings,
  "timezone" | "email_consent_mode" | "quiet_hours" | "frequency_caps"
>;

const UtmDefaults = v.strictObject({
  source: TrimmedTextUpTo(100),
  medium: v.optional(TrimmedTextUpTo(100), "email"),
  campaign: v.optional(TrimmedTextUpTo(100)),
});

export const SettingsChange = v.strictObject({
  name: v.optional(OwnName),
  timezone: v.optional(TimeZone),
  region: said(REGION, v.optional(v.nullable(Region))),
  currency: said(CURRENCY, v.optional(v.nullable(Currency))),
  email_consent_mode: v.optional(v.picklist(["opt_out", "opt_in"], "must be opt_out or opt_in")),
  quiet_hours: v.optional(v.nullable(QuietHours)),
  frequency_caps: v.optional(v.pipe(v.array(FrequencyCap), v.maxLength(20, "must have at most 20 caps"))),
  safety: v.optional(WorkspaceSafety),
  identity_required: v.optional(IdentityRequired),
  double_opt_in: said(DOUBLE_OPT_IN, v.optional(v.boolean())),
  second_factor_required: said(SECOND_FACTOR, v.optional(v.boolean())),
  approval_required: said(APPROVAL, v.optional(v.boolean())),
  sender_name: v.optional(v.nullable(TrimmedTextUpTo(200))),
  postal_address: v.optional(v.nullable(TrimmedTextUpTo(500))),
  utm_defaults: said(UTM, v.optional(v.nullable(UtmDefaults))),
  test_subscriber_ids: v.optional(
    v.pipe(
      v.array(Uuid),
      v.maxLength(MAX_TEST_SUBSCRIBERS, `must have at most ${MAX_TEST_SUBSCRIBERS} ids`),
      v.transform((ids) => [...new Set(ids)]),
    ),
  ),
  agent_attributes: said(
    AGENT_ATTRIBUTES,
    v.optional(
      v.pipe(
        v.array(TrimmedTextUpTo(128)),
        v.maxLength(MAX_AGENT_ATTRIBUTES, `must have at most ${MAX_AGENT_ATTRIBUTES} keys`),
        v.transform((keys) => [...new Set(keys)]),
      ),
    ),
  ),
});
