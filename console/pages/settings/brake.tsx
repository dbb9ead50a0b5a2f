// The limits at which large sends halt.
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { Check, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { SafetyFields } from "../../components/safety.tsx";

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
export function Brake({ safety, onSafety, fields }: BrakeProps) {
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
