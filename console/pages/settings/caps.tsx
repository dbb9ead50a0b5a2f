// Frequency caps: how many messages a person gets at most.
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";

type Caps = WorkspacePage["frequency_caps"];

const classes = [
  { value: "", label: "all channels" },
  { value: "push", label: "push" },
  { value: "web_push", label: "web push" },
  { value: "email", label: "email" },
  { value: "in_app", label: "in-app" },
  { value: "sms", label: "SMS" },
  { value: "chat_app", label: "chat app" },
];

interface CapsProps {
  caps: Caps;
  onCaps: (caps: Caps) => void;
  fields: Record<string, string>;
}

export function FrequencyCaps({ caps, onCaps, fields }: CapsProps) {
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
            fault={fields[`frequency_caps[${n}].max`]}
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
            icon="trash"
            label={`Remove cap ${n + 1}`}
            onClick={() => onCaps(caps.filter((_, i) => i !== n))}
          />
        </div>
      ))}
    </Card>
  );
}
