// The parts of the composer: audience, content, delivery.
import { useMemo, useState } from "preact/hooks";
import type { ChannelsListAnswer } from "../../../sdk/src/types.gen.ts";
import { may } from "../../app/may.ts";
import { type Query, useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { now, toLocalInput, zone } from "../../app/time.ts";
import { ContentEditor } from "../../components/content-editor.tsx";
import { faultsUnder, type Own } from "../../components/content-model.ts";
import { Check, Choices, SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { HoldoutSlider, ListSelect, SegmentSelect, Slider, TopicPicker } from "../../components/pickers.tsx";
import { SafetyPicker } from "../../components/safety.tsx";
import { Loaded } from "../../components/states.tsx";
import type { Draft, DraftEditor } from "./draft.ts";

interface PartProps {
  editor: DraftEditor;
  fields: Record<string, string>;
}

export function Audience({ editor: { draft, change }, fields }: PartProps) {
  return (
    <Card title="Recipients">
      <Choices
        legend="Audience"
        name="audience"
        value={draft.audience}
        options={[
          { value: "all", label: "Everyone" },
          { value: "list", label: "A list" },
          { value: "segment", label: "A segment" },
          { value: "people", label: "Specific people" },
        ]}
        onInput={(audience) => change({ audience: audience as Draft["audience"] })}
        fault={fields.target}
      />
      {draft.audience === "list" && (
        <ListSelect value={draft.list_id} onInput={(list_id) => change({ list_id })} fault={fields["target.list_id"]} />
      )}
      {draft.audience === "segment" && (
        <SegmentSelect
          value={draft.segment_id}
          onInput={(segment_id) => change({ segment_id })}
          fault={fields["target.segment_id"]}
        />
      )}
      {draft.audience === "people" && (
        <TextField
          label="Their external IDs"
          rows={2}
          value={draft.people}
          onInput={(people) => change({ people })}
          fault={fields.external_ids}
          hint="Separated by commas or line breaks."
        />
      )}
    </Card>
  );
}

const LIQUID = "{{ subscriber.first_name | default: 'there' }}";

/** Those of a message in the short form of the API. */
const shortFaults = ({ title, body }: Record<string, string>) => ({ ...(title && { title }), ...(body && { body }) });

interface MessageProps extends PartProps {
  shown: Own | "";
  show: (channel: Own | "") => void;
}

export function Message({ editor: { draft, change }, fields, shown, show }: MessageProps) {
  const faults = useMemo(
    () => ({ ...shortFaults(fields), ...faultsUnder(fields, "content.") }),
    [JSON.stringify(fields)],
  );
  const variantFaults = useMemo(() => faultsUnder(fields, "variant_b."), [JSON.stringify(fields)]);
  const [shownB, setShownB] = useState<Own | "">("");
  const templates = useQuery("templates.list", [{ per_page: 100 }], { when: draft.source === "template" });
  return (
    <Card title="Message">
      <Choices
        legend="Content"
        name="source"
        value={draft.source}
        options={[
          { value: "inline", label: "Write it here" },
          { value: "template", label: "Use a template" },
        ]}
        onInput={(source) => change({ source: source as Draft["source"] })}
      />
      {draft.source === "template" ? (
        <Loaded query={templates}>
          {({ data }) => (
            <SelectField
              label="Template"
              value={draft.template_id}
              fault={fields.template_id}
              options={[{ value: "", label: "Choose…" }, ...data.map(({ id, name }) => ({ value: id, label: name }))]}
              onInput={(template_id) => change({ template_id })}
            />
          )}
        </Loaded>
      ) : (
        <ContentEditor
          content={draft}
          onInput={({ title, body, by_channel }) => change({ title, body, by_channel })}
          faults={faults}
          shown={shown}
          show={show}
          hint={
            <>
              Say a person's name with <code>{LIQUID}</code>.
            </>
          }
        />
      )}
      <Check
        label="Compare with a variant B"
        note="Each person gets one of the two; the report shows which did better."
        checked={draft.ab}
        onInput={(ab) => change({ ab })}
      />
      {draft.ab && (
        <>
          <ContentEditor
            content={{ title: draft.b_title, body: draft.b_body, by_channel: draft.b_by_channel }}
            original={draft}
            onInput={({ title, body, by_channel }) =>
              change({ b_title: title, b_body: body, b_by_channel: by_channel })
            }
            faults={variantFaults}
            shown={shownB}
            show={setShownB}
          />
          <Slider
            label="Share that gets A"
            value={draft.split}
            min={1}
            max={99}
            onInput={(split) => change({ split })}
          />
        </>
      )}
    </Card>
  );
}

interface DeliveryProps extends PartProps {
  channels: Query<ChannelsListAnswer>;
  chosen: readonly string[];
}

export function Delivery({ editor: { draft, change }, fields, channels, chosen }: DeliveryProps) {
  const smart = may("notifications.create");
  const toggle = (id: string) =>
    change({ channel_ids: chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id] });
  return (
    <Card title="Delivery">
      <Loaded query={channels}>
        {({ channels: all }) => (
          <Choices
            legend="Channels"
            name="channels"
            value={chosen}
            fault={fields.channel_ids}
            options={all.map(({ id, name, type, active, status }) => ({
              value: id,
              label: name.toLowerCase() === channelName(type).toLowerCase() ? name : `${channelName(type)}: ${name}`,
              disabled: !active || status !== "active",
              ...(status !== "active" && { note: status === "pending" ? "not verified yet" : "cannot send" }),
              ...(!active && { note: "turned off" }),
            }))}
            onInput={toggle}
          />
        )}
      </Loaded>
      <p class="hint">
        <a href={pathTo("channels")}>Connect another channel</a>
      </p>
      {chosen.length > 1 && smart.allowed && (
        <Check
          label="Smart channel: one channel for each person"
          note="The channel to which the person responds most."
          checked={draft.smart}
          onInput={(is) => change({ smart: is })}
        />
      )}
      <Choices
        legend="Category"
        name="category"
        value={draft.category}
        options={[
          { value: "marketing", label: "Marketing" },
          { value: "transactional", label: "Transactional" },
        ]}
        onInput={(category) => change({ category: category as Draft["category"] })}
      />
      <p class="hint">
        {draft.category === "marketing"
          ? "Marketing needs consent, waits for quiet hours and counts towards frequency caps."
          : "Transactional messages, such as receipts, go at once. They do not need marketing consent."}
      </p>
      <TopicPicker value={draft.topic} onInput={(topic) => change({ topic })} fault={fields.topic} />
      <Choices
        legend="Time"
        name="when"
        value={draft.when}
        options={[
          { value: "now", label: "Now" },
          { value: "later", label: "Later" },
        ]}
        onInput={(when) => change({ when: when as Draft["when"], at: draft.at || toLocalInput(now() + 3_600_000) })}
      />
      {draft.when === "later" && (
        <TextField
          label={`At (${zone})`}
          type="datetime-local"
          value={draft.at}
          onInput={(at) => change({ at })}
          fault={fields.scheduled_at}
        />
      )}
      <details open={draft.holdout > 0 || draft.name !== "" || draft.safety !== undefined}>
        <summary>Name, control group and brake</summary>
        <div class="stack">
          <TextField
            label="Name for reports (optional)"
            value={draft.name}
            onInput={(name) => change({ name })}
            fault={fields.name}
          />
          <HoldoutSlider value={draft.holdout} onInput={(holdout) => change({ holdout })} />
          <SafetyPicker
            safety={draft.safety}
            onInput={(safety) => change({ safety })}
            faultAt={(path) => fields[`safety${path}`]}
          />
        </div>
      </details>
    </Card>
  );
}
