// The parts of the composer: audience, content, delivery.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { HOUR } from "../../../shared/kernel/clock.ts";
import type { Fields } from "../../app/fields.ts";
import { may } from "../../app/may.ts";
import { now, toLocalInput, zone } from "../../app/time.ts";
import { ArmedMessage } from "../../components/arms.tsx";
import type { Own } from "../../components/content-model.ts";
import { Check, Choices, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { PeopleField } from "../../components/person-picker.tsx";
import {
  CategoryChoices,
  ChannelPicker,
  HoldoutSlider,
  ListSelect,
  SegmentSelect,
  TopicPicker,
} from "../../components/pickers.tsx";
import { SafetyPicker } from "../../components/safety.tsx";
import { ChatTemplate } from "./chat-template.tsx";
import type { Draft } from "./draft.ts";

interface PartProps {
  form: Fields<Draft>;
}

const AUDIENCES = { all: "Everyone", list: "A list", segment: "A segment", people: "Specific people" };

export function Audience({ form: { values, field } }: PartProps) {
  return (
    <Card title="Recipients">
      <Choices legend="Audience" name="audience" {...field("audience", "target")} options={AUDIENCES} />
      {values.audience === "list" && <ListSelect {...field("list_id", "target.list_id")} />}
      {values.audience === "segment" && <SegmentSelect {...field("segment_id", "target.segment_id")} />}
      {values.audience === "people" && <PeopleField label="Their external IDs" {...field("people", "external_ids")} />}
    </Card>
  );
}

type Faults = Record<string, string>;

/** Those of a message in the short form of the API. */
const shortFaults = ({ title, body }: Faults) => ({ ...(title && { title }), ...(body && { body }) });

interface MessageProps extends PartProps {
  faults: Faults;
  shown: Own | "";
  show: (channel: Own | "") => void;
}

export function MessagePart({ form: { values, set }, faults, shown, show }: MessageProps) {
  return (
    <ArmedMessage
      message={{ content: values, template_id: values.source === "template" ? values.template_id : undefined }}
      onMessage={({ content: { title, body, by_channel }, template_id }) =>
        set({
          title,
          body,
          by_channel,
          source: template_id === undefined ? "inline" : "template",
          template_id: template_id ?? values.template_id,
        })
      }
      arms={values}
      onArms={set}
      faults={faults}
      own={shortFaults(faults)}
      shown={shown}
      show={show}
    />
  );
}

interface DeliveryProps extends PartProps {
  via: readonly Channel[];
}

export function Delivery({ form, via }: DeliveryProps) {
  const { values, set, field } = form;
  return (
    <Card title="Delivery">
      <ChannelPicker {...field("channel_ids")} chosen={via.map(({ id }) => id)} />
      <ChatTemplate form={form} channel={via.find(({ type }) => type === "chat_app")} />
      {via.length > 1 && may("notifications.create").allowed && (
        <Check
          label="Smart channel: one channel for each person"
          note="The channel to which the person responds most."
          checked={values.smart}
          onInput={(smart) => set({ smart })}
        />
      )}
      <CategoryChoices {...field("category")} />
      <p class="hint">
        {values.category === "marketing"
          ? "Marketing needs consent, waits for quiet hours and counts towards frequency caps."
          : "Transactional messages, such as receipts, go at once. They do not need marketing consent."}
      </p>
      <TopicPicker {...field("topic")} />
      <Choices
        legend="Time"
        name="when"
        value={values.when}
        options={{ now: "Now", later: "Later" }}
        onInput={(when) => set({ when, at: values.at || toLocalInput(now() + HOUR) })}
      />
      {values.when === "later" && (
        <TextField label={`At (${zone})`} type="datetime-local" {...field("at", "scheduled_at")} />
      )}
      <Further form={form} />
    </Card>
  );
}

/** What a send may have, and seldom has. */
function Further({ form: { values, field, set, faultAt } }: PartProps) {
  return (
    <details open={values.holdout > 0 || values.name !== "" || values.safety !== undefined}>
      <summary>Name, control group and brake</summary>
      <div class="stack">
        <TextField label="Name for reports (optional)" {...field("name")} />
        <HoldoutSlider {...field("holdout", "holdout_percentage")} />
        <SafetyPicker
          safety={values.safety}
          onInput={(safety) => set({ safety })}
          faultAt={(part) => faultAt(`safety${part}`)}
        />
      </div>
    </details>
  );
}
