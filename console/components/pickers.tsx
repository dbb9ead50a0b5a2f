// Choices that several pages offer: an audience, channels, a topic, a control group.
import type { Target } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { channelName } from "../app/sentences.ts";
import { number } from "../app/time.ts";
import { Choices, SelectField } from "./field.tsx";
import { Loaded } from "./states.tsx";

type Faults = Record<string, string>;
const NONE = { value: "", label: "Choose…" };

export function TargetPicker({
  target,
  onInput,
  fields,
}: {
  target: Target;
  onInput: (target: Target) => void;
  fields: Faults;
}) {
  return (
    <>
      <Choices
        legend="Audience"
        name="target"
        value={target.type}
        options={[
          { value: "all", label: "Everyone" },
          { value: "list", label: "A list" },
          { value: "segment", label: "A segment" },
        ]}
        onInput={(type) =>
          onInput(
            type === "list" ? { type, list_id: "" } : type === "segment" ? { type, segment_id: "" } : { type: "all" },
          )
        }
        fault={fields.target}
      />
      {target.type === "list" && (
        <ListSelect
          value={target.list_id}
          onInput={(list_id) => onInput({ type: "list", list_id })}
          fault={fields["target.list_id"]}
        />
      )}
      {target.type === "segment" && (
        <SegmentSelect
          value={target.segment_id}
          onInput={(segment_id) => onInput({ type: "segment", segment_id })}
          fault={fields["target.segment_id"]}
        />
      )}
    </>
  );
}

interface OneOfProps {
  /** Empty until one is chosen. */
  value: string;
  onInput: (id: string) => void;
  fault: string | undefined;
}

export function ListSelect(props: OneOfProps) {
  const lists = useQuery("lists.list", [{ page_size: 100 }]);
  const sized = ({ id, name, subscriber_count }: { id: string; name: string; subscriber_count: number }) => ({
    value: id,
    label: `${name} (${number(subscriber_count)})`,
  });
  return (
    <Loaded query={lists}>
      {({ items }) => <SelectField label="List" options={[NONE, ...items.map(sized)]} {...props} />}
    </Loaded>
  );
}

export function SegmentSelect(props: OneOfProps) {
  const segments = useQuery("segments.list", []);
  const sized = ({ id, name, count }: { id: string; name: string; count: number }) => ({
    value: id,
    label: `${name} (${number(count)})`,
  });
  return (
    <Loaded query={segments}>
      {({ segments: found }) => <SelectField label="Segment" options={[NONE, ...found.map(sized)]} {...props} />}
    </Loaded>
  );
}

interface ChannelPickerProps {
  /** Undefined: every channel that can send. */
  chosen: readonly string[] | undefined;
  onInput: (ids: string[]) => void;
  fault?: string | undefined;
}

export function ChannelPicker({ chosen, onInput, fault }: ChannelPickerProps) {
  const channels = useQuery("channels.list", []);
  return (
    <Loaded query={channels}>
      {({ channels: all }) => {
        const usable = all.filter(({ active, status }) => active && status === "active").map(({ id }) => id);
        const value = chosen ?? usable;
        return (
          <Choices
            legend="Channels"
            name="channels"
            value={value}
            fault={fault}
            options={all.map(({ id, name, type }) => ({
              value: id,
              label: name.toLowerCase() === channelName(type).toLowerCase() ? name : `${channelName(type)}: ${name}`,
              disabled: !usable.includes(id),
              ...(!usable.includes(id) && { note: "cannot send" }),
            }))}
            onInput={(id) => onInput(value.includes(id) ? value.filter((one) => one !== id) : [...value, id])}
          />
        );
      }}
    </Loaded>
  );
}

interface TopicPickerProps {
  /** Its key; empty without one. */
  value: string;
  onInput: (key: string) => void;
  fault?: string | undefined;
}

/** Nothing is asked where the workspace has no topics. */
export function TopicPicker({ value, onInput, fault }: TopicPickerProps) {
  const items = useQuery("topics.list", []).data?.items ?? [];
  if (items.length === 0 && value === "") return null;
  const known = items.some(({ key }) => key === value);
  return (
    <SelectField
      label="Topic"
      value={value}
      fault={fault}
      options={[
        { value: "", label: "None: it concerns everyone" },
        ...items.map(({ key, name }) => ({ value: key, label: name })),
        ...(value === "" || known ? [] : [{ value, label: `${value} (deleted)` }]),
      ]}
      onInput={onInput}
    />
  );
}

interface SliderProps {
  label: string;
  /** In percent. */
  value: number;
  min: number;
  max: number;
  onInput: (value: number) => void;
  hint?: string;
}

export function Slider({ label, value, min, max, onInput, hint }: SliderProps) {
  return (
    <label class="field">
      <span class="label">
        {label}: {value}%
      </span>
      <input
        type="range"
        min={min}
        max={max}
        value={value}
        onInput={(event) => onInput(Number(event.currentTarget.value))}
      />
      {hint && <span class="hint">{hint}</span>}
    </label>
  );
}

export const HoldoutSlider = (props: Pick<SliderProps, "value" | "onInput">) => (
  <Slider
    {...props}
    label="Held out as control group"
    min={0}
    max={50}
    hint="People who are held out get nothing. The report compares them with the others."
  />
);
