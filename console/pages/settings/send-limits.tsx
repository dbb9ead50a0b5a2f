// What limits sends: how many messages a person gets at most, and when a large send halts.
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { type ChannelClass, channelTypes, classOf } from "../../../shared/rules/channel-types.ts";
import { channelName } from "../../app/sentences.ts";
import { Button } from "../../components/button.tsx";
import { Check, SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { SafetyFields } from "../../components/safety.tsx";

type Caps = WorkspacePage["frequency_caps"];

// Every class has its name.
const CLASSES = {
  "": "all channels",
  ...Object.fromEntries(channelTypes.map(classOf).map((name) => [name, channelName(name)])),
} as Record<ChannelClass | "", string>;
const CATEGORIES = { marketing: "marketing", transactional: "transactional" };
const PERIODS = { day: "day", week: "week" };

interface CapsProps {
  caps: Caps;
  onCaps: (caps: Caps) => void;
  fields: Record<string, string>;
}

/** How many messages a person gets at most. */
export function FrequencyCaps({ caps, onCaps, fields }: CapsProps) {
  return (
    <Card
      title="Frequency caps"
      actions={
        <Button icon="plus" adds onClick={() => onCaps([...caps, { category: "marketing", max: 3, per: "week" }])}>
          Add a cap
        </Button>
      }
    >
      {caps.length === 0 && <p class="dim">A person may get any number of messages.</p>}
      {caps.map((cap, n) => (
        <OneCap
          key={n}
          cap={cap}
          n={n}
          fault={fields[`frequency_caps[${n}].max`]}
          onCap={(next) => onCaps(caps.map((old, i) => (i === n ? next : old)))}
          remove={() => onCaps(caps.filter((_, i) => i !== n))}
        />
      ))}
    </Card>
  );
}

interface CapProps {
  cap: Caps[number];
  n: number;
  fault: string | undefined;
  onCap: (cap: Caps[number]) => void;
  remove: () => void;
}

function OneCap({ cap, n, fault, onCap, remove }: CapProps) {
  const { channel_class = "", ...all } = cap;
  return (
    <div class="row">
      <TextField
        label="At most"
        type="number"
        min={1}
        value={String(cap.max)}
        fault={fault}
        onInput={(max) => onCap({ ...cap, max: Number(max) })}
      />
      <SelectField
        label="Messages of"
        value={cap.category}
        options={CATEGORIES}
        onInput={(category) => onCap({ ...cap, category })}
      />
      <SelectField
        label="By"
        value={channel_class}
        options={CLASSES}
        onInput={(one) => onCap(one ? { ...all, channel_class: one } : all)}
      />
      <SelectField label="Each" value={cap.per} options={PERIODS} onInput={(per) => onCap({ ...cap, per })} />
      <Button kind="quiet" icon="trash" label={`Remove cap ${n + 1}`} onClick={remove} />
    </div>
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
