// The workspace: name, time zone, consent for mails, sender, quiet hours, and what limits its sends.
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { type Fields, useFields } from "../../app/fields.ts";
import { changesOf, unsavedOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { regionOptions } from "../../app/regions.ts";
import { me, readMe } from "../../app/session.ts";
import { currencyName, fullTime } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Discard } from "../../components/button.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { Check, Choices, SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { AgentAttributes } from "./agent-attributes.tsx";
import { QuietHours, Utm } from "./marketing.tsx";
import { Brake, FrequencyCaps } from "./send-limits.tsx";
import { Testers } from "./testers.tsx";

const zones: readonly string[] = Intl.supportedValuesOf("timeZone");
const currencies = [
  { value: "", label: "None: plain numbers" },
  ...Intl.supportedValuesOf("currency").map((code) => ({ value: code, label: `${code}: ${currencyName(code)}` })),
];

const EVERY_MS = 10_000;

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
  const unsaved = unsavedOf({ value: values, begun: saved }, WORDS);
  const guard = useGuard(saved, () => seenBy((options) => call("account.getWorkspace", [options]), draftOf));
  const save = async () => {
    const mine = await guard.settle(values);
    if (!mine) return;
    const { sender_name, postal_address, region, currency, ...rest } = mine.body;
    const body = {
      ...rest,
      sender_name: sender_name || null,
      postal_address: postal_address || null,
      region: region || null,
      currency: currency || null,
    };
    const done = await update.run(body, mine.over);
    if (!done) return;
    guard.saved(draftOf(done.answer));
    // What was written meanwhile stays: a change of a draft is a part of one, hence the cast.
    set(changesOf(values, draftOf(done.answer)) as Partial<Draft>);
    // The name and the currency are shown on every page.
    await readMe();
    say("Saved.");
  };
  return (
    <Form error={update.error} kind="settings" onSubmit={save}>
      <div class="grid">
        <div class="stack">
          <Workspace form={form} />
          <Utm
            utm={values.utm_defaults}
            onUtm={(utm_defaults) => set({ utm_defaults })}
            faultAt={(name) => fields[`utm_defaults.${name}`]}
          />
        </div>
        <div class="stack">
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
        </div>
      </div>
      <FormEnd action={update} placed={Object.keys(fields).filter(hasInput)} submit="Save" unsaved={unsaved}>
        {unsaved.length > 0 && <Discard onClick={() => set(saved)} />}
      </FormEnd>
      {guard.question}
    </Form>
  );
}

const APPROVAL =
  "A campaign goes out once another member approves it. One-off sends to an audience, or to more than 100 people, become " +
  "campaigns here; server keys and agents get an error for them. Journeys, schedules and experiences are not covered. " +
  "When you switch this off, what waits stays a draft.";

/** What the form asks for; empty texts are none. */
const draftOf = (found: WorkspacePage) => ({
  name: found.name,
  timezone: found.timezone,
  email_consent_mode: found.email_consent_mode,
  double_opt_in: found.double_opt_in,
  second_factor_required: found.second_factor_required,
  approval_required: found.approval_required,
  region: found.region ?? "",
  currency: found.currency ?? "",
  agent_attributes: found.agent_attributes,
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
  double_opt_in: "double opt-in",
  second_factor_required: "second factor",
  approval_required: "second person",
  region: "region",
  currency: "currency",
  agent_attributes: "attributes of agents",
  quiet_hours: "quiet hours",
  frequency_caps: "frequency caps",
  safety: "brake",
  test_subscriber_ids: "test sends",
  sender_name: "sender",
  postal_address: "postal address",
  utm_defaults: "links of emails",
};

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
      <SelectField
        label="Currency of revenue"
        {...field("currency")}
        options={currencies}
        hint="Of the revenue in your events, which is in cents. Amounts are not converted."
      />
      <Choices
        legend="Marketing by email goes to"
        name="consent"
        {...field("email_consent_mode")}
        options={{ opt_out: "Everyone who has not opted out", opt_in: "Only those who opted in" }}
      />
      <Check
        label="Double opt-in by email"
        note="People who opt in get an email with a link, and nothing else until they confirm there."
        checked={values.double_opt_in}
        onInput={(double_opt_in) => set({ double_opt_in })}
      />
      <Check
        label="Members need a second factor"
        note="Members without one must set it up before anything else. You need your own first."
        checked={values.second_factor_required}
        onInput={(second_factor_required) => set({ second_factor_required })}
      />
      <Check
        label="Releases need a second person"
        note={APPROVAL}
        checked={values.approval_required}
        onInput={(approval_required) => set({ approval_required })}
      />
      <SelectField
        label="Region of phone numbers"
        {...field("region")}
        options={regionOptions(values.region, "None: only numbers with a country code")}
        hint="The country of numbers without a country code."
      />
      <TextField
        label="Sender (optional)"
        {...field("sender_name")}
        hint="In the footer of marketing emails, and on the unsubscribe page."
      />
      <TextField label="Postal address (optional)" rows={2} {...field("postal_address")} />
      <AgentAttributes {...field("agent_attributes")} />
    </Card>
  );
}

/** A field with an input of its own; only days of the week have none. */
const hasInput = (path: string) =>
  !path.startsWith("quiet_hours.days") && path !== "frequency_caps" && path !== "second_factor_required";
