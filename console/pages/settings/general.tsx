// The workspace: name, time zone, consent for mails, sender, quiet hours, and what limits its sends.
import { useState } from "preact/hooks";
import type { AccountUpdateWorkspaceBody, WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { me } from "../../app/session.ts";
import { fullTime } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Check, Choices, SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Brake } from "./brake.tsx";
import { FrequencyCaps } from "./caps.tsx";
import { Testers } from "./testers.tsx";

const zones: readonly string[] = Intl.supportedValuesOf("timeZone");
type Caps = WorkspacePage["frequency_caps"];
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
  const update = useAction("account.updateWorkspace", { stale: ["account."] });
  const [name, setName] = useState(found.name);
  const [timezone, setTimezone] = useState(found.timezone);
  const [consent, setConsent] = useState(found.email_consent_mode);
  const [quiet, setQuiet] = useState<Quiet | null>(found.quiet_hours);
  const [caps, setCaps] = useState<Caps>(found.frequency_caps);
  const [safety, setSafety] = useState(found.safety);
  const [testers, setTesters] = useState<readonly string[]>(found.test_subscriber_ids);
  const [sender, setSender] = useState(found.sender_name ?? "");
  const [address, setAddress] = useState(found.postal_address ?? "");
  const fields = update.error?.fields ?? {};
  const body: AccountUpdateWorkspaceBody = {
    name,
    timezone,
    email_consent_mode: consent,
    quiet_hours: quiet,
    frequency_caps: caps,
    safety,
    test_subscriber_ids: [...testers],
    sender_name: sender || null,
    postal_address: address || null,
  };
  return (
    <Form
      error={update.error}
      kind="stack"
      onSubmit={async () => {
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
          hint="For subscribers without a time zone of their own."
        />
        <Choices
          legend="Marketing by email goes to"
          name="consent"
          value={consent}
          onInput={(value) => setConsent(value as typeof consent)}
          fault={fields.email_consent_mode}
          options={[
            { value: "opt_out", label: "everyone who has not opted out" },
            { value: "opt_in", label: "only those who opted in" },
          ]}
        />
        <TextField
          label="Sender (optional)"
          value={sender}
          onInput={setSender}
          fault={fields.sender_name}
          hint="In the footer of marketing emails, and on the unsubscribe page."
        />
        <TextField
          label="Postal address (optional)"
          rows={2}
          value={address}
          onInput={setAddress}
          fault={fields.postal_address}
        />
      </Card>
      <QuietHours quiet={quiet} fields={fields} onQuiet={setQuiet} />
      <FrequencyCaps caps={caps} onCaps={setCaps} fields={fields} />
      <Brake safety={safety} onSafety={setSafety} fields={fields} />
      <Testers ids={testers} onIds={setTesters} fields={fields} />
      <FormFault error={update.error} placed={Object.keys(fields).filter(hasInput)} />
      <div class="actions">
        <Button kind="primary" type="submit" needs="account.updateWorkspace" isBusy={update.isBusy}>
          Save
        </Button>
      </div>
    </Form>
  );
}

/** A field with an input of its own; only days of the week have none. */
const hasInput = (path: string) => !path.startsWith("quiet_hours.days") && path !== "frequency_caps";

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
