// The workspace: name, time zone, consent for mails, sender, quiet hours, and what limits its sends.
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { type Fields, useFields } from "../../app/fields.ts";
import { isSame } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { me } from "../../app/session.ts";
import { fullTime } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { Check, Choices, SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { SafetyFields } from "../../components/safety.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { FrequencyCaps } from "./caps.tsx";
import { Testers } from "./testers.tsx";
import { Utm } from "./utm.tsx";

const zones: readonly string[] = Intl.supportedValuesOf("timeZone");
type Quiet = NonNullable<WorkspacePage["quiet_hours"]>;

const EVERY_MS = 10_000;
const NIGHT: Quiet = { start: "22:00", end: "08:00", timezone_mode: "subscriber" };

export function General() {
  const workspace = useQuery("account.getWorkspace", []);
  return (
    <Loaded query={workspace} skeleton={<Skeleton rows={8} />}>
      {(found) => (
        <>
          {me.value?.tenant.kind === "sandbox" && <SandboxTime />}
          <GeneralForm found={found} />
        </>
      )}
    </Loaded>
  );
}

function SandboxTime() {
  const clock = useQuery("tests.getClock", [], { every: EVERY_MS });
  return (
    <Card title="Time of the sandbox">
      <Loaded query={clock} skeleton={<Skeleton rows={1} />}>
        {({ now }) => <p>{fullTime(now)}. What is sent here is recorded, and reaches nobody.</p>}
      </Loaded>
    </Card>
  );
}

function GeneralForm({ found }: { found: WorkspacePage }) {
  const update = useAction("account.updateWorkspace");
  const form = useFields(() => draftOf(found), update);
  const { values, set } = form;
  const fields = update.error?.fields ?? {};
  const saved = draftOf(found);
  const changed = names(saved).flatMap((name) => (isSame(saved[name], values[name]) ? [] : WORDS[name]));
  const guard = useGuard(saved, () => seenBy((options) => call("account.getWorkspace", [options]), draftOf));
  const save = async () => {
    const mine = await guard.settle(values);
    if (!mine) return;
    const { sender_name, postal_address, region, agent_attributes, ...rest } = mine.body;
    const body = {
      ...rest,
      sender_name: sender_name || null,
      postal_address: postal_address || null,
      region: region.toUpperCase() || null,
      agent_attributes: agent_attributes.split(/[\s,]+/).filter(Boolean),
    };
    const done = await update.run(body, mine.over);
    if (!done) return;
    guard.saved(draftOf(done.answer));
    set(draftOf(done.answer));
    say("Saved.");
  };
  return (
    <Form error={update.error} kind="settings" onSubmit={save}>
      <Workspace form={form} />
      <Utm
        utm={values.utm_defaults}
        onUtm={(utm_defaults) => set({ utm_defaults })}
        faultAt={(name) => fields[`utm_defaults.${name}`]}
      />
      <QuietHours quiet={values.quiet_hours} fields={fields} onQuiet={(quiet_hours) => set({ quiet_hours })} />
      <FrequencyCaps
        caps={values.frequency_caps}
        onCaps={(frequency_caps) => set({ frequency_caps })}
        fields={fields}
      />
      <Brake safety={values.safety} onSafety={(safety) => set({ safety })} fields={fields} />
      <Testers
        ids={values.test_subscriber_ids}
        onIds={(test_subscriber_ids) => set({ test_subscriber_ids })}
        fields={fields}
      />
      <div class="save-bar">
        <FormEnd action={update} placed={Object.keys(fields).filter(hasInput)} submit="Save">
          {changed.length > 0 && (
            <>
              <Button kind="quiet" onClick={() => set(saved)}>
                Discard
              </Button>
              <span class="dim">Not saved: {changed.join(", ")}</span>
            </>
          )}
        </FormEnd>
      </div>
      {guard.question}
    </Form>
  );
}

/** What the form asks for; empty texts are none. */
const draftOf = (found: WorkspacePage) => ({
  name: found.name,
  timezone: found.timezone,
  email_consent_mode: found.email_consent_mode,
  double_opt_in: found.double_opt_in,
  second_factor_required: found.second_factor_required,
  region: found.region ?? "",
  agent_attributes: found.agent_attributes.join(", "),
  quiet_hours: found.quiet_hours,
  frequency_caps: found.frequency_caps,
  safety: found.safety,
  test_subscriber_ids: found.test_subscriber_ids,
  sender_name: found.sender_name ?? "",
  postal_address: found.postal_address ?? "",
  utm_defaults: found.utm_defaults,
});

type Draft = ReturnType<typeof draftOf>;

/** What the bar below calls what is not saved yet. */
const WORDS: Record<keyof Draft, string> = {
  name: "name",
  timezone: "time zone",
  email_consent_mode: "marketing by email",
  double_opt_in: "confirmed opt-ins",
  second_factor_required: "second factor",
  region: "region",
  agent_attributes: "attributes of agents",
  quiet_hours: "quiet hours",
  frequency_caps: "frequency caps",
  safety: "brake",
  test_subscriber_ids: "test sends",
  sender_name: "sender",
  postal_address: "postal address",
  utm_defaults: "links of emails",
};

// An object literal has the names of its type and no others, hence the cast.
const names = (draft: Draft) => Object.keys(draft) as (keyof Draft)[];

function Workspace({ form: { values, set, field } }: { form: Fields<Draft> }) {
  const options = [...new Set([values.timezone, "UTC", ...zones])].map((value) => ({ value, label: value }));
  return (
    <Card title="Workspace">
      <TextField label="Name" {...field("name")} required />
      <SelectField
        label="Time zone"
        {...field("timezone")}
        options={options}
        hint="For subscribers without a time zone of their own."
      />
      <Choices
        legend="Marketing by email goes to"
        name="consent"
        {...field("email_consent_mode")}
        options={{ opt_out: "everyone who has not opted out", opt_in: "only those who opted in" }}
      />
      <Check
        label="Opt-ins by email are confirmed"
        note="Whoever opts in gets an email with a link, and no other until they press the button there."
        checked={values.double_opt_in}
        onInput={(double_opt_in) => set({ double_opt_in })}
      />
      <Check
        label="Members need a second factor"
        note="Whoever has none sets it up before anything else. You need your own first."
        checked={values.second_factor_required}
        onInput={(second_factor_required) => set({ second_factor_required })}
      />
      <TextField
        label="Region of phone numbers (optional)"
        {...field("region")}
        hint="Two letters, such as DE: where numbers without a country code are from."
      />
      <TextField
        label="Sender (optional)"
        {...field("sender_name")}
        hint="In the footer of marketing emails, and on the unsubscribe page."
      />
      <TextField label="Postal address (optional)" rows={2} {...field("postal_address")} />
      <TextField
        label="Attributes that agents may filter by (optional)"
        {...field("agent_attributes")}
        hint="Names with commas between them. Agents without the right to personal data see no others."
      />
    </Card>
  );
}

/** A field with an input of its own; only days of the week have none. */
const hasInput = (path: string) =>
  !path.startsWith("quiet_hours.days") && path !== "frequency_caps" && path !== "second_factor_required";

interface QuietProps {
  quiet: Quiet | null;
  fields: Record<string, string>;
  onQuiet: (quiet: Quiet | null) => void;
}

function QuietHours({ quiet, fields, onQuiet }: QuietProps) {
  return (
    <Card title="Quiet hours">
      <Check
        label="Hold marketing messages during quiet hours"
        note="They are sent at the end of the quiet hours."
        checked={quiet !== null}
        onInput={(is) => onQuiet(is ? NIGHT : null)}
      />
      {quiet && (
        <>
          <div class="row">
            <TextField
              label="From"
              type="time"
              value={quiet.start}
              onInput={(start) => onQuiet({ ...quiet, start })}
              fault={fields["quiet_hours.start"]}
            />
            <TextField
              label="Until"
              type="time"
              value={quiet.end}
              onInput={(end) => onQuiet({ ...quiet, end })}
              fault={fields["quiet_hours.end"]}
            />
          </div>
          <Choices
            legend="In the time zone of"
            name="timezone_mode"
            value={quiet.timezone_mode}
            onInput={(timezone_mode) => onQuiet({ ...quiet, timezone_mode })}
            options={{ subscriber: "each subscriber", workspace: "the workspace" }}
          />
        </>
      )}
    </Card>
  );
}

type Safety = WorkspacePage["safety"];

interface BrakeProps {
  safety: Safety;
  onSafety: (safety: Safety) => void;
  fields: Record<string, string>;
}

/** The brake that is offered first. */
const START: NonNullable<Safety> = {
  min_audience: 1_000,
  max_error_rate: 0.2,
  max_bounce_rate: 0.05,
  max_complaint_rate: 0.003,
};

/** The brake of sends without limits of their own (F21). */
function Brake({ safety, onSafety, fields }: BrakeProps) {
  return (
    <Card title="Brake">
      <Check
        label="Large sends halt by themselves"
        note="A send that goes wrong stops before everyone has got it."
        checked={safety !== null}
        onInput={(is) => onSafety(is ? START : null)}
      />
      {safety && (
        <>
          <TextField
            label="For sends to more people than"
            type="number"
            value={String(safety.min_audience)}
            onInput={(text) => onSafety({ ...safety, min_audience: Number(text) })}
            fault={fields["safety.min_audience"]}
          />
          <SafetyFields
            safety={safety}
            onInput={onSafety}
            faultAt={(name) => fields[`safety.${name}`]}
            empty="An empty field sets no limit."
          />
        </>
      )}
    </Card>
  );
}
