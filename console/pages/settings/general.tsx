// The workspace: name, time zone, consent for mails, quiet hours, frequency caps.
import { useState } from "preact/hooks";
import type { AccountUpdateWorkspaceBody, WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Check, Choices, SelectField, TextField } from "../../components/field.tsx";
import { FormFault, useFaultFocus } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

const zones: readonly string[] = Intl.supportedValuesOf("timeZone");
type Caps = WorkspacePage["frequency_caps"];
type Quiet = NonNullable<WorkspacePage["quiet_hours"]>;

const NIGHT: Quiet = { start: "22:00", end: "08:00", timezone_mode: "subscriber" };

export function General() {
  const workspace = useQuery("account.getWorkspace", []);
  return (
    <Loaded query={workspace} skeleton={<Skeleton rows={8} />}>
      {(found) => <Form found={found} />}
    </Loaded>
  );
}

function Form({ found }: { found: WorkspacePage }) {
  const update = useAction("account.updateWorkspace", { stale: ["account."] });
  const [name, setName] = useState(found.name);
  const [timezone, setTimezone] = useState(found.timezone);
  const [consent, setConsent] = useState(found.email_consent_mode);
  const [quiet, setQuiet] = useState<Quiet | null>(found.quiet_hours);
  const [caps, setCaps] = useState<Caps>(found.frequency_caps);
  const form = useFaultFocus(update.error);
  const fields = update.error?.fields ?? {};
  const body: AccountUpdateWorkspaceBody = {
    name,
    timezone,
    email_consent_mode: consent,
    quiet_hours: quiet,
    frequency_caps: caps,
  };
  return (
    <form
      ref={form}
      class="stack"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await update.run(body)) say("Saved.");
      }}
    >
      <Card title="Workspace">
        <TextField label="Name" value={name} onInput={setName} fault={fields.name} required />
        <SelectField
          label="Time zone"
          value={timezone}
          options={[...new Set([timezone, "UTC", ...zones])].map((value) => ({ value, label: value }))}
          onInput={setTimezone}
          fault={fields.timezone}
          hint="For subscribers whose own zone is not known."
        />
        <Choices
          legend="Marketing by e-mail goes to"
          name="consent"
          value={consent}
          onInput={(value) => setConsent(value as typeof consent)}
          fault={fields.email_consent_mode}
          options={[
            { value: "opt_out", label: "everyone who has not opted out" },
            { value: "opt_in", label: "only those who opted in" },
          ]}
        />
      </Card>
      <QuietHours quiet={quiet} fields={fields} onQuiet={setQuiet} />
      <FrequencyCaps caps={caps} onCaps={setCaps} />
      <FormFault
        error={update.error}
        placed={["name", "timezone", "email_consent_mode", "quiet_hours.start", "quiet_hours.end"]}
      />
      <div class="actions">
        <Button kind="primary" type="submit" needs="account.updateWorkspace" isBusy={update.isBusy}>
          Save
        </Button>
      </div>
    </form>
  );
}

interface QuietProps {
  quiet: Quiet | null;
  fields: Record<string, string>;
  onQuiet: (quiet: Quiet | null) => void;
}

function QuietHours({ quiet, fields, onQuiet }: QuietProps) {
  return (
    <Card title="Quiet hours">
      <Check
        label="Marketing waits during the night"
        note="It is deferred to the end of the quiet hours, and never dropped."
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
            legend="By the clock of"
            name="timezone_mode"
            value={quiet.timezone_mode}
            onInput={(mode) => onQuiet({ ...quiet, timezone_mode: mode as Quiet["timezone_mode"] })}
            options={[
              { value: "subscriber", label: "each subscriber" },
              { value: "workspace", label: "the workspace" },
            ]}
          />
        </>
      )}
    </Card>
  );
}

const classes = [
  { value: "", label: "all channels" },
  { value: "push", label: "push" },
  { value: "web_push", label: "web push" },
  { value: "email", label: "e-mail" },
  { value: "in_app", label: "in-app" },
  { value: "sms", label: "SMS" },
  { value: "chat_app", label: "chat app" },
];

function FrequencyCaps({ caps, onCaps }: { caps: Caps; onCaps: (caps: Caps) => void }) {
  const replace = (n: number, cap: Caps[number]) => onCaps(caps.map((old, i) => (i === n ? cap : old)));
  return (
    <Card
      title="Frequency caps"
      actions={
        <Button icon="plus" onClick={() => onCaps([...caps, { category: "marketing", max: 3, per: "week" }])}>
          Add a cap
        </Button>
      }
    >
      {caps.length === 0 && <p class="dim">A person may get any number of messages.</p>}
      {caps.map((cap, n) => (
        <div class="row" key={n}>
          <TextField
            label="At most"
            type="number"
            min={1}
            value={String(cap.max)}
            onInput={(text) => replace(n, { ...cap, max: Number(text) })}
          />
          <SelectField
            label="Messages of"
            value={cap.category}
            options={[
              { value: "marketing", label: "marketing" },
              { value: "transactional", label: "transactional" },
            ]}
            onInput={(value) => replace(n, { ...cap, category: value as Caps[number]["category"] })}
          />
          <SelectField
            label="By"
            value={cap.channel_class ?? ""}
            options={classes}
            onInput={(value) => {
              const { channel_class: _, ...rest } = cap;
              replace(
                n,
                value ? { ...rest, channel_class: value as NonNullable<Caps[number]["channel_class"]> } : rest,
              );
            }}
          />
          <SelectField
            label="Each"
            value={cap.per}
            options={[
              { value: "day", label: "day" },
              { value: "week", label: "week" },
            ]}
            onInput={(value) => replace(n, { ...cap, per: value as Caps[number]["per"] })}
          />
          <Button
            kind="quiet"
            icon="cross"
            label={`Remove cap ${n + 1}`}
            onClick={() => onCaps(caps.filter((_, i) => i !== n))}
          />
        </div>
      ))}
    </Card>
  );
}
