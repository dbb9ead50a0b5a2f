// A new schedule: what it sends and when, then its audience before it begins.
import { useState } from "preact/hooks";
import type { NotificationsCreateBody, Schedule, SchedulesCreateBody } from "../../../sdk/src/types.gen.ts";
import { nextRun, parseCron } from "../../../shared/rules/cron.ts";
import type { RunningAction } from "../../app/action.ts";
import { type Fields, useFields } from "../../app/fields.ts";
import { PAGE } from "../../app/lookup.ts";
import { type LostRequest, useOnce } from "../../app/once.ts";
import { useQuery } from "../../app/query.ts";
import { now, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { ChannelPicker, TemplateSelect, TopicPicker, useUsableChannels } from "../../components/pickers.tsx";
import { meansOf } from "../../components/release-facts.tsx";
import { Moments } from "../../components/release-moments.tsx";
import { ReleaseSheet } from "../../components/release-sheet.tsx";
import { ScheduleTimes, START_CRON } from "./schedule-time.tsx";

const zones = Intl.supportedValuesOf("timeZone");

/** Times that are shown before it begins. */
const SHOWN = 3;

interface Draft {
  /** Undefined until one is chosen. */
  template_id: string | undefined;
  channel_ids: string[] | undefined;
  topic: string;
  cron_expression: string;
  timezone: string;
}

type CompleteDraft = Draft & { template_id: string; channel_ids: string[] };

export function ScheduleEditor({ close }: { close: () => void }) {
  const [lost, keep] = useState<LostRequest<SchedulesCreateBody>>();
  const create = useOnce("schedules.create", lost, keep);
  const [isReleasing, setReleasing] = useState(false);
  const start: Draft = {
    template_id: undefined,
    channel_ids: undefined,
    topic: "",
    cron_expression: START_CRON,
    timezone: zone,
  };
  const form = useFields(start, create);
  const usual = useUsualChannel();
  const templates = useQuery("templates.list", [{ per_page: PAGE }]).data?.data ?? [];
  // The templates and the channels may arrive after the dialog has opened.
  const draft = {
    ...form.values,
    template_id: form.values.template_id ?? templates[0]?.id ?? "",
    channel_ids: form.values.channel_ids ?? usual,
  };
  const save = async () => {
    const { topic, ...given } = draft;
    const done = await create.run({ ...given, ...(topic && { topic }), target: { type: "all" } });
    // What is refused is marked in the form, before the sheet.
    setReleasing(false);
    if (!done) return;
    say("The schedule is created.");
    close();
  };
  if (isReleasing) {
    return <Release draft={draft} verb="Schedule" action={create} save={save} close={() => setReleasing(false)} />;
  }
  const noChannel = form.values.channel_ids ? "Choose at least one channel." : "Connect a channel that can send first.";
  const missing = draft.template_id ? noChannel : "Choose a template.";
  return (
    <FormDialog
      title="New schedule"
      form={form}
      submit="Review the schedule"
      refusal={draft.template_id && draft.channel_ids.length > 0 ? undefined : missing}
      close={close}
      onSubmit={() => setReleasing(true)}
    >
      <Inputs form={form} draft={draft} />
    </FormDialog>
  );
}

/** The first that reaches people who are elsewhere, else the in-app one. */
function useUsualChannel(): string[] {
  const usable = useUsableChannels();
  const usual = usable.find(({ type }) => type !== "in_app") ?? usable[0];
  return usual ? [usual.id] : [];
}

interface InputsProps {
  form: Fields<Draft>;
  draft: CompleteDraft;
}

function Inputs({ form: { field }, draft }: InputsProps) {
  const times = timesOf(draft);
  return (
    <>
      <TemplateSelect {...field("template_id")} value={draft.template_id} />
      <ScheduleTimes {...field("cron_expression")} />
      <TextField label="Time zone" {...field("timezone")} known={zones} required />
      {times.length > 0 && <Moments all={times.slice(0, 1).map((one) => ({ ...one, name: "Next" }))} />}
      <ChannelPicker {...field("channel_ids")} chosen={draft.channel_ids} />
      <TopicPicker {...field("topic")} />
      <p class="hint">It goes to everyone who may get marketing.</p>
    </>
  );
}

/** The next times of its expression; none while it is not understood. */
function timesOf({ cron_expression, timezone }: Pick<Schedule, "cron_expression" | "timezone">) {
  const parsed = parseCron(cron_expression.trim());
  if (parsed.kind === "refused" || !isZone(timezone)) return [];
  const times: number[] = [];
  for (let after = now(); times.length < SHOWN; after = times.at(-1) ?? after) {
    const next = nextRun(parsed.cron, timezone, after);
    if (next === undefined) break;
    times.push(next);
  }
  return times.map((at) => ({ at: new Date(at).toISOString(), zone: timezone }));
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

interface ReleaseProps {
  draft: Pick<Schedule, "template_id" | "channel_ids" | "topic" | "cron_expression" | "timezone">;
  verb: "Schedule" | "Resume";
  action: RunningAction;
  save: () => Promise<void>;
  close: () => void;
}

export function Release({ draft, verb, action, save, close }: ReleaseProps) {
  const { template_id, channel_ids, topic } = draft;
  const name = useQuery("templates.get", [template_id]).data?.name ?? "the template";
  const body: NotificationsCreateBody = {
    target: { type: "all" },
    template_id,
    channel_ids,
    category: "marketing",
    ...(topic && { topic }),
  };
  const preview = useQuery("recipients.previewNotifications", [body]);
  return (
    <ReleaseSheet
      title={`${verb} ${name}?`}
      act={`${verb} for`}
      action={action}
      preview={preview}
      body={body}
      when={timesOf(draft)}
      by={[["Template", name], ...meansOf({ channel_ids, category: "marketing", topic })]}
      onRelease={save}
      close={close}
    />
  );
}
