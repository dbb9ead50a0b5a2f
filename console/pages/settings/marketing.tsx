// What holds for marketing messages: the hours in which they wait, and what the links of mails say of where their
// readers come from (CHC-6).
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { Check, Choices, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";

type Quiet = NonNullable<WorkspacePage["quiet_hours"]>;

const NIGHT: Quiet = { start: "22:00", end: "08:00", timezone_mode: "subscriber" };

interface QuietProps {
  quiet: Quiet | null;
  fields: Record<string, string>;
  onQuiet: (quiet: Quiet | null) => void;
}

export function QuietHours({ quiet, fields, onQuiet }: QuietProps) {
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
            options={{ subscriber: "Each subscriber", workspace: "The workspace" }}
          />
        </>
      )}
    </Card>
  );
}

type UtmDefaults = WorkspacePage["utm_defaults"];

interface UtmProps {
  utm: UtmDefaults;
  onUtm: (utm: UtmDefaults) => void;
  faultAt: (name: string) => string | undefined;
}

export function Utm({ utm, onUtm, faultAt }: UtmProps) {
  return (
    <Card title="Links of marketing emails">
      <Check
        label="Add UTM parameters to links"
        note="Tells the analytics of your site which visits come from emails. A link with its own parameters keeps them."
        checked={utm !== null}
        onInput={(is) => onUtm(is ? { source: "", medium: "email" } : null)}
      />
      {utm && (
        <>
          <TextField
            label="Source"
            value={utm.source}
            onInput={(source) => onUtm({ ...utm, source })}
            fault={faultAt("source")}
            hint="The value of utm_source, such as the name of your shop."
            required
          />
          <TextField
            label="Medium"
            value={utm.medium}
            onInput={(medium) => onUtm({ ...utm, medium })}
            fault={faultAt("medium")}
            hint="The value of utm_medium."
            required
          />
          <TextField
            label="Campaign (optional)"
            value={utm.campaign ?? ""}
            onInput={(campaign) => onUtm({ ...utm, ...(campaign ? { campaign } : { campaign: undefined }) })}
            fault={faultAt("campaign")}
            hint="The value of utm_campaign. Empty: the name of the campaign."
          />
        </>
      )}
    </Card>
  );
}
