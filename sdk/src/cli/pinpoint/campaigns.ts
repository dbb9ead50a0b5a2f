// Campaigns of Pinpoint as drafts: one message for each kind of channel.
import { isObject, objectIn, type Resource } from "../resource.ts";
import type { Channels, Medium } from "./channels.ts";
import type { At, Report } from "./report.ts";
import { type Audiences, BOOKKEEPING, free } from "./segments.ts";
import { emailContent, liquidBy, pushContent, reportTemplateVersion, type Templates } from "./templates.ts";

interface Context {
  report: Report;
  audiences: Audiences;
  templates: Templates;
  channels: Channels;
  /** Milliseconds. */
  now: number;
}

const KNOWN = [
  "Id",
  "Name",
  "SegmentId",
  "SegmentVersion",
  "Schedule",
  "HoldoutPercent",
  "MessageConfiguration",
  "TemplateConfiguration",
  "State",
  "DefaultState",
  "IsPaused",
  ...BOOKKEEPING,
];
const MAX_HOLDOUT = 99;

export function convertCampaigns(found: readonly Resource[], context: Context): Map<string, Resource> {
  const { report, audiences } = context;
  const files = new Map<string, Resource>();
  for (const campaign of found) {
    const at = { kind: "campaigns", name: String(campaign.Name ?? campaign.Id) };
    report.rest(at, campaign, KNOWN);
    audiences.reportVersion(at, "SegmentVersion", campaign.SegmentId, campaign.SegmentVersion);
    const audience = audiences.byId.get(String(campaign.SegmentId));
    const messages = messagesOf(campaign, at, context);
    if (!audience || messages.length === 0) {
      const reason = audience ? "has no message that can be sent" : "has a segment that was not converted";
      report.unmapped(at, audience ? "MessageConfiguration" : "SegmentId", `${reason}: the campaign was not converted`);
      continue;
    }
    const scheduled_at = timeOf(campaign.Schedule, at, context);
    const name = free(at.name, files);
    const { HoldoutPercent: holdout = 0 } = campaign;
    const holdout_percentage = Math.min(MAX_HOLDOUT, Math.round(Number(holdout)));
    if (holdout_percentage !== Number(holdout))
      report.unmapped(at, "HoldoutPercent", `is ${String(holdout)}: ${holdout_percentage}% are held out`);
    files.set(name, {
      name,
      target: audience,
      holdout_percentage,
      messages: messages.map((message) => ({ ...message, ...(scheduled_at !== undefined && { scheduled_at }) })),
    });
    report.count("campaigns written");
  }
  return files;
}

/** The time of the send, if it is in the future. */
function timeOf(schedule: unknown, at: At, { report, now }: Context): string | undefined {
  if (!isObject(schedule)) return undefined;
  report.rest(at, schedule, ["StartTime", "Frequency", "Timezone", "IsLocalTime"], "Schedule.");
  const { StartTime, Frequency = "ONCE", IsLocalTime } = schedule;
  if (Frequency !== "ONCE")
    report.unmapped(at, "Schedule.Frequency", `is ${String(Frequency)}: make a schedule or a journey of it`);
  if (IsLocalTime === true) report.unmapped(at, "Schedule.IsLocalTime", "is the time of each recipient");
  const time = Date.parse(String(StartTime));
  if (Frequency !== "ONCE" || Number.isNaN(time)) return undefined;
  if (time > now) return new Date(time).toISOString();
  report.unmapped(at, "Schedule.StartTime", "has passed");
  return undefined;
}

const templateFields: readonly [field: string, type: "EMAIL" | "PUSH" | "SMS" | "INAPP", medium: Medium][] = [
  ["EmailTemplate", "EMAIL", "email"],
  ["PushTemplate", "PUSH", "push"],
  ["SMSTemplate", "SMS", "sms"],
  ["InAppTemplate", "INAPP", "in_app"],
];

function messagesOf(campaign: Resource, at: At, context: Context): Resource[] {
  const { report, templates, channels } = context;
  const configured = objectIn(campaign.TemplateConfiguration);
  report.rest(
    at,
    configured,
    templateFields.map(([field]) => field),
    "TemplateConfiguration.",
  );
  const messages = ownMessages(campaign, at, context);
  const templated = templateFields.flatMap(([field, type, medium]) => {
    const named = configured[field];
    if (!isObject(named)) return [];
    const path = `TemplateConfiguration.${field}`;
    if (messages.some((message) => message.medium === medium)) {
      report.unmapped(at, path, "names a template beside a text of its own, which is sent");
      return [];
    }
    reportTemplateVersion(report, at, `${path}.Version`, named.Version);
    const template = templates.nameOf(type, named.Name);
    if (template !== undefined) return [{ template, channels: channels.of(medium) }];
    report.unmapped(at, path, `names ${String(named.Name)}, which is not in the folder`);
    return [];
  });
  return [...messages.map(({ medium, content }) => ({ content, channels: channels.of(medium) })), ...templated];
}

/** The messages with their own texts, without a template. */
function ownMessages(campaign: Resource, at: At, { report }: Context): { medium: Medium; content: Resource }[] {
  const configuration = objectIn(campaign.MessageConfiguration);
  const of = (field: string) => (isObject(configuration[field]) ? configuration[field] : undefined);
  const liquid = liquidBy(report, at, undefined);
  const found: { medium: Medium; content: Resource }[] = [];
  const [email, sms] = [of("EmailMessage"), of("SMSMessage")];

  if (email) {
    report.rest(at, email, ["Title", "HtmlBody", "Body"], "MessageConfiguration.EmailMessage.");
    const content = emailContent({ subject: email.Title, html: email.HtmlBody, text: email.Body }, liquid, at.name);
    found.push({ medium: "email", content });
  }
  if (sms) {
    report.rest(at, sms, ["Body", "MessageType"], "MessageConfiguration.SMSMessage.");
    if (sms.MessageType === "TRANSACTIONAL")
      report.unmapped(at, "MessageConfiguration.SMSMessage.MessageType", "is TRANSACTIONAL: campaigns are marketing");
    found.push({ medium: "sms", content: { title: at.name, body: liquid(sms.Body, "SMSMessage.Body") ?? at.name } });
  }

  const push = { Default: of("DefaultMessage"), APNS: of("APNSMessage"), GCM: of("GCMMessage"), ADM: of("ADMMessage") };
  if (push.APNS ?? push.GCM ?? push.Default)
    found.push({ medium: "push", content: pushContent(push, liquid, at, report) });

  report.rest(
    at,
    configuration,
    ["EmailMessage", "SMSMessage", "DefaultMessage", "APNSMessage", "GCMMessage", "ADMMessage"],
    "MessageConfiguration.",
  );
  return found;
}
