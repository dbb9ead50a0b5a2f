// What begins a journey: an event, or a segment that a person enters or leaves.
import type { JourneyTrigger } from "../../../sdk/src/types.gen.ts";
import { SelectField, TextField } from "../../components/field.tsx";
import { SegmentSelect } from "../../components/pickers.tsx";

interface TriggerProps {
  trigger: JourneyTrigger;
  onInput: (trigger: JourneyTrigger) => void;
  /** What the server says is wrong, by path. */
  faults: Record<string, string>;
}

export function TriggerForm({ trigger, onInput, faults }: TriggerProps) {
  return (
    <div class="row">
      <SelectField
        label="Trigger"
        value={trigger.type}
        options={[
          { value: "event", label: "An event happens" },
          { value: "segment_entered", label: "A person enters a segment" },
          { value: "segment_exited", label: "A person leaves a segment" },
        ]}
        onInput={(type) => onInput({ type } as JourneyTrigger)}
      />
      {trigger.type === "event" ? (
        <TextField
          label="Event"
          value={trigger.event_name ?? ""}
          fault={faults["trigger.event_name"]}
          onInput={(event_name) => onInput({ type: "event", event_name })}
        />
      ) : (
        <SegmentSelect
          value={trigger.segment_id ?? ""}
          onInput={(segment_id) => onInput({ type: trigger.type, segment_id })}
          fault={faults["trigger.segment_id"]}
        />
      )}
    </div>
  );
}
