// Cron schedules: a template that is sent to all subscribers repeatedly, in a time zone of its own.
import * as v from "valibot";
import { pageFields } from "../../../shared/contract/paging.ts";
import { SomeOf, said, TemplateId, TrueOrFalse, Uuid } from "../../../shared/contract/schemas.ts";
import { TopicKey } from "../../../shared/contract/topic-key.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import type { PlanName } from "../../../shared/rules/plans.ts";
import { findCampaign } from "../../../shared/store/campaigns/campaigns.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { requireChannels } from "../../../shared/store/channels/channels.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import {
  changeSchedule,
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  noSuchCampaign,
  readCron,
  Schedule,
} from "../../../shared/store/schedules/schedules.ts";
import { requireTemplate } from "../../../shared/store/templates/templates.ts";
import { requireTopic } from "../../../shared/store/topics/topics.ts";

const MAX_CHANNELS = 20;

const fields = {
  cron_expression: v.pipe(
    v.string("must be a cron expression of five fields"),
    v.maxLength(256, "must be a cron expression of five fields"),
  ),
  timezone: v.pipe(v.string("must be an IANA time zone"), v.maxLength(64, "must be an IANA time zone")),
  template_id: TemplateId,
  channel_ids: SomeOf(Uuid, "channel", MAX_CHANNELS, "must be an array of channel ids"),
  topic: said("The key of a topic: who is not in it is skipped. `null` removes it", v.nullish(TopicKey)),
  active: v.boolean(),
};

const NewSchedule = v.strictObject({
  ...fields,
  target: v.strictObject({ type: v.literal("all", "must be all") }),
  active: v.optional(fields.active, true),
  campaign_id: v.optional(Uuid),
});

const ScheduleChange = v.pipe(
  v.partial(v.strictObject(fields)),
  v.check((change) => Object.keys(change).length > 0, "at least one field is required"),
);

interface References {
  template_id?: string | undefined;
  channel_ids?: readonly string[] | undefined;
  topic?: string | null | undefined;
}

/** Checks the references of a schedule. @throws 422 for a template, channel or topic of another workspace */
async function requireReferences(
  store: StoreReader,
  plan: PlanName,
  { template_id, channel_ids, topic }: References,
): Promise<void> {
  await requireTopic(store, topic);
  if (template_id !== undefined) await requireTemplate(store, template_id);
  if (channel_ids) await requireChannels(store, plan, channel_ids);
}

/**
 * How often the campaign of a schedule was paused or archived. The setting of the schedule holds until the next time.
 * @throws 422 for a campaign of another workspace
 */
async function holdOf(store: StoreReader, campaign: string | null | undefined): Promise<number | undefined> {
  if (campaign === undefined || campaign === null) return undefined;
  const found = await findCampaign(store, campaign);
  if (!found) throw noSuchCampaign();
  return found.holds ?? 0;
}

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const schedules = group("schedules", "Cron schedules.", [
  endpoint(
    "POST /api/v1/schedules",
    { permission: "content:write", isForConfirmed: true, feature: "schedules", uses: [storeWrite, timers] },
    {
      summary: "Create a schedule",
      description:
        "Five numeric cron fields, evaluated in `timezone`. A time that a change of clocks skips fires right after the " +
        "change, and a time that it repeats fires once. If the hour is `*`, the schedule follows elapsed time.",
      body: NewSchedule,
      returns: Schedule,
      status: 201,
      example: {
        body: {
          cron_expression: "0 9 * * 1-5",
          timezone: "Europe/Berlin",
          template_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60",
          channel_ids: ["5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b61"],
          target: { type: "all" },
        },
      },
      errors: ["TEMPLATE_NOT_FOUND", "QUOTA_EXCEEDED"],
    },
    async ({ store, timers, caller, body }) => {
      readCron(body);
      await requireReferences(store, workspaceOf(caller).plan, body);
      const hold = await holdOf(store, body.campaign_id);
      const { target, ...spec } = body;
      return createSchedule(store, timers, { ...spec, hold });
    },
  ),

  endpoint(
    "GET /api/v1/schedules",
    { agents: "read", uses: [storeRead] },
    {
      summary: "List schedules, newest first",
      query: v.object({
        ...pageFields("per_page"),
        active: v.optional(TrueOrFalse),
      }),
      returns: v.object({ data: v.array(Schedule), total: v.number(), page: v.number() }),
    },
    ({ store, query: { page, per_page: size, active } }) => listSchedules(store, { page, size, active }),
  ),

  endpoint(
    "GET /api/v1/schedules/:id",
    { uses: [storeRead] },
    { summary: "Get a schedule", returns: Schedule },
    ({ store, params }) => getSchedule(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/schedules/:id",
    { permission: "content:write", isForConfirmed: true, feature: "schedules", uses: [storeWrite, timers] },
    {
      summary: "Change a schedule, switch it off or on",
      description:
        "A pause of its campaign switches a schedule off. One that is switched on afterwards fires, though the campaign stays " +
        "paused, until that is paused or archived again.",
      body: ScheduleChange,
      returns: Schedule,
      example: { body: { active: false } },
      errors: ["TEMPLATE_NOT_FOUND"],
    },
    async ({ store, timers, caller, params, body }) => {
      const schedule = await getSchedule(store, params.id);
      const { cron_expression = schedule.cron_expression, timezone = schedule.timezone } = body;
      readCron({ cron_expression, timezone });
      // A forced deletion of its template or channel switches a schedule off.
      const needed = body.active ? { ...schedule, ...body } : body;
      await requireReferences(store, workspaceOf(caller).plan, needed);
      const hold = body.active === undefined ? undefined : await holdOf(store, schedule.campaign_id);
      return changeSchedule(store, timers, params.id, { ...body, ...(hold !== undefined && { hold }) });
    },
  ),

  endpoint(
    "DELETE /api/v1/schedules/:id",
    { permission: "content:write", uses: [storeWrite, timers] },
    { summary: "Delete a schedule: it does not fire any more" },
    ({ store, timers, params }) => deleteSchedule(store, timers, params.id),
  ),
]);
