// Choices that several pages offer: an audience, channels, a topic, a control group.
import type { Channel, Target } from "../../sdk/src/types.gen.ts";
import { PAGE } from "../app/lookup.ts";
import { asList, findCampaign, findJourney, findList, findSegment, findTemplate } from "../app/named.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { channelName } from "../app/sentences.ts";
import { Choices, SelectField } from "./field.tsx";
import { selectOf } from "./one-of.tsx";
import { Loaded } from "./states.tsx";

interface TargetProps {
  target: Target;
  onInput: (target: Target) => void;
  /** Of the whole, or of `.list_id` and `.segment_id`. */
  faultAt: (part: string) => string | undefined;
}

const unchosen = {
  all: { type: "all" },
  list: { type: "list", list_id: "" },
  segment: { type: "segment", segment_id: "" },
} as const satisfies Record<string, Target>;

export function TargetPicker({ target, onInput, faultAt }: TargetProps) {
  return (
    <>
      <Choices
        legend="Audience"
        name="target"
        value={target.type}
        options={{ all: "Everyone", list: "A list", segment: "A segment" }}
        onInput={(type) => onInput(unchosen[type])}
        fault={faultAt("")}
      />
      {target.type === "list" && (
        <ListSelect
          value={target.list_id}
          onInput={(list_id) => onInput({ type: "list", list_id })}
          fault={faultAt(".list_id")}
        />
      )}
      {target.type === "segment" && (
        <SegmentSelect
          value={target.segment_id}
          onInput={(segment_id) => onInput({ type: "segment", segment_id })}
          fault={faultAt(".segment_id")}
        />
      )}
    </>
  );
}

export const ListSelect = selectOf({
  noun: "list",
  list: "lists.list",
  given: [{ page_size: 100 }],
  itemsOf: ({ items }) => items.map(asList),
  get: "lists.get",
  asNamed: asList,
  find: findList,
});

export const SegmentSelect = selectOf({
  noun: "segment",
  list: "segments.list",
  given: [],
  itemsOf: ({ segments }) => segments,
  get: "segments.get",
  asNamed: (segment) => segment,
  find: findSegment,
});

export const TemplateSelect = selectOf({
  noun: "template",
  list: "templates.list",
  given: [{ per_page: PAGE }],
  itemsOf: ({ data }) => data,
  get: "templates.get",
  asNamed: (template) => template,
  find: findTemplate,
  empty: () => (
    <p>
      There are no templates yet. <a href={pathTo("content", "templates/new")}>Write one</a>
    </p>
  ),
});

export const CampaignSelect = selectOf({
  noun: "campaign",
  list: "campaigns.list",
  given: [{ page_size: PAGE }],
  itemsOf: ({ items }) => items,
  get: "campaigns.get",
  asNamed: (campaign) => campaign,
  find: findCampaign,
});

export const JourneySelect = selectOf({
  noun: "journey",
  list: "journeys.list",
  given: [{}],
  itemsOf: ({ journeys }) => journeys,
  get: "journeys.get",
  asNamed: (journey) => journey,
  find: findJourney,
});

type Usable = Pick<Channel, "active" | "status">;
const isUsable = ({ active, status }: Usable): boolean => active && status === "active";

export const useUsableChannels = (): readonly Channel[] =>
  useQuery("channels.list", []).data?.channels.filter(isUsable) ?? [];

/** Why a channel cannot send. */
function noteOf({ active, status }: Usable): string {
  if (!active) return "turned off";
  return status === "pending" ? "not verified yet" : "cannot send";
}

/** A new workspace has in-app alone, and does not say that there is more. */
const ToConnect = () => (
  <>
    Email, push, SMS and chat apps need an account of yours: <a href={pathTo("channels")}>Connect a channel</a>
  </>
);

interface ChannelPickerProps {
  /** Undefined: every channel that can send. */
  chosen: readonly string[] | undefined;
  onInput: (ids: string[]) => void;
  fault?: string | undefined;
}

export function ChannelPicker({ chosen, onInput, fault }: ChannelPickerProps) {
  const channels = useQuery("channels.list", []);
  const usable = useUsableChannels().map(({ id }) => id);
  const value = chosen ?? usable;
  return (
    <Loaded query={channels}>
      {({ channels: all }) => (
        <Choices
          legend="Channels"
          name="channels"
          value={value}
          fault={fault}
          options={[
            ...all.map(({ id, name, type, ...state }) => ({
              value: id,
              label: name.toLowerCase() === channelName(type).toLowerCase() ? name : `${channelName(type)}: ${name}`,
              // What was chosen before can be taken out.
              ...(!isUsable(state) && { disabled: !value.includes(id), note: noteOf(state) }),
            })),
            ...value
              .filter((id) => all.every((one) => one.id !== id))
              .map((id) => ({ value: id, label: "A deleted channel" })),
          ]}
          onInput={(id) => onInput(value.includes(id) ? value.filter((one) => one !== id) : [...value, id])}
          hint={all.every(({ type }) => type === "in_app") && <ToConnect />}
        />
      )}
    </Loaded>
  );
}

const CATEGORIES = { marketing: "Marketing", transactional: "Transactional" };
export type Category = keyof typeof CATEGORIES;

interface CategoryProps {
  value: Category;
  onInput: (category: Category) => void;
  fault?: string | undefined;
  hint?: string;
}

export const CategoryChoices = (props: CategoryProps) => (
  <Choices legend="Category" name="category" options={CATEGORIES} {...props} />
);

export const CategorySelect = (props: CategoryProps) => (
  <SelectField label="Category" options={CATEGORIES} {...props} />
);

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

export interface SliderProps {
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
