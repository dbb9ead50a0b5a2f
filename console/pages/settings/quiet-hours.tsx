// The hours in which marketing waits.
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
