// The form of one step, and what the step says where it cannot be edited.
import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JourneyGraph, JourneyStep, SegmentRule } from "../../../sdk/src/types.gen.ts";
import { Button } from "../../components/button.tsx";
import { type Content, contentOf, faultsUnder, type Own } from "../../components/content-model.ts";
import { ContentSeen, TemplateSeen } from "../../components/content-seen.tsx";
import { DurationField } from "../../components/duration.tsx";
import { SelectField } from "../../components/field.tsx";
import { EventField } from "../../components/known.tsx";
import { type Message, MessageEditor } from "../../components/message-editor.tsx";
import { MessagePreview } from "../../components/message-preview.tsx";
import { CategorySelect, ChannelPicker, TopicPicker } from "../../components/pickers.tsx";
import { MeansOf } from "../../components/release-facts.tsx";
import { RuleBuilder, type RuleDraft, wholeOf } from "../../components/rule-builder.tsx";
import type { Safety } from "../../components/safety.tsx";
import { nameOf, type StepType, settingsOf, stepNames, stepText, typeOf, ways } from "../../components/step-words.ts";
import { TestSend } from "../../components/test-send.tsx";
import { BrakeForm } from "./step-brake.tsx";
import { changeStep, nextOf, relink, removeStep, type SendSettings } from "./steps.ts";

interface EditorProps {
  graph: JourneyGraph;
  id: string;
  /** What the server says is wrong, by path. */
  faults: Record<string, string>;
  /** Undefined: the journey cannot be edited now. */
  change: ((graph: JourneyGraph) => void) | undefined;
}

/** Everything about one step: its settings, where it leads, and its removal. */
export function StepEditor({ graph, id, faults, change }: EditorProps) {
  const contentFaults = useMemo(() => faultsUnder(faults, `steps.steps.${id}.send.content.`), [JSON.stringify(faults)]);
  const step = graph.steps?.[id];
  const type = step && typeOf(step);
  if (!step || !type) return null;
  if (!change) return <StepFacts type={type} step={step} />;
  const Form = forms[type];
  const faultAt = (field: string) =>
    Object.entries(faults).find(([path]) => path.endsWith(`${id}.${type}.${field}`))?.[1];
  return (
    <>
      <Form
        settings={settingsOf(step)}
        faultAt={faultAt}
        contentFaults={contentFaults}
        change={(settings) => change(changeStep(graph, id, settings))}
      />
      <Targets graph={graph} id={id} step={step} type={type} change={change} />
      <div class="actions">
        <Button kind="danger" onClick={() => change(removeStep(graph, id))}>
          Remove the step
        </Button>
      </div>
    </>
  );
}

const StepFacts = ({ type, step }: { type: StepType; step: JourneyStep }) =>
  type === "send" ? (
    <MessageFacts settings={settingsOf(step) as SendSettings} />
  ) : (
    <p class="initial">{stepText(step) || stepNames[type]}</p>
  );

/** What it says, on each channel, and by which it goes out. */
function MessageFacts({ settings }: { settings: SendSettings }) {
  const { content, template_id, channel_ids = [], category = "marketing", topic } = settings;
  return (
    <>
      {content && <ContentSeen content={contentOf(content)} />}
      {!content && template_id && <TemplateSeen id={template_id} />}
      <p class="dim">
        By <MeansOf channel_ids={channel_ids} category={category} topic={topic} />
      </p>
    </>
  );
}

interface TargetsProps {
  graph: JourneyGraph;
  id: string;
  step: JourneyStep;
  type: StepType;
  change: (graph: JourneyGraph) => void;
}

/** Each way out leads to another step. */
function Targets({ graph, id, step, type, change }: TargetsProps) {
  const others = Object.entries(graph.steps ?? {}).flatMap(([value, other]) =>
    value === id ? [] : [{ value, label: nameOf(other) }],
  );
  return (
    <div class="row pairs">
      {ways[type].map(({ field, label }) => (
        <SelectField
          key={field}
          label={label || "Then"}
          value={nextOf(step, field)}
          options={nextOf(step, field) ? others : [{ value: "", label: "Completed" }, ...others]}
          onInput={(to) => change(relink(graph, { id, field }, to))}
        />
      ))}
    </div>
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

interface SettingsProps {
  settings: Record<string, unknown>;
  faultAt: (field: string) => string | undefined;
  contentFaults: Record<string, string>;
  change: (settings: Record<string, unknown>) => void;
}

const forms: Record<StepType, (props: SettingsProps) => JSX.Element> = {
  delay: ({ settings, faultAt, change }) => (
    <DurationField
      label="How long"
      value={text(settings.duration)}
      fault={faultAt("duration")}
      onInput={(duration) => change({ duration })}
    />
  ),
  branch: ({ settings, change }) => (
    <RuleBuilder
      written={
        (settings.unfinished as RuleDraft | undefined) ?? {
          rule: settings.condition as SegmentRule | undefined,
          isWhole: true,
        }
      }
      onInput={(written) => change({ condition: wholeOf(written), unfinished: written.isWhole ? undefined : written })}
    />
  ),
  wait_for_event: ({ settings, faultAt, change }) => (
    <div class="row">
      <EventField
        label="Event"
        value={text(settings.event_name)}
        fault={faultAt("event_name")}
        onInput={(event_name) => change({ event_name })}
      />
      <DurationField
        label="At most"
        value={text(settings.within)}
        fault={faultAt("within")}
        onInput={(within) => change({ within: within || undefined })}
        placeholder="no limit"
      />
    </div>
  ),
  exit: () => <p class="dim">The person leaves the journey here.</p>,
  send: SendForm,
};

function SendForm({ settings, faultAt, contentFaults, change }: SettingsProps) {
  return (
    <StepMessage settings={settings} faultAt={faultAt} contentFaults={contentFaults} change={change}>
      <ChannelPicker
        chosen={(settings.channel_ids as string[] | undefined) ?? []}
        fault={faultAt("channel_ids")}
        onInput={(channel_ids) => change({ channel_ids })}
      />
      <CategorySelect
        value={settings.category === "transactional" ? "transactional" : "marketing"}
        onInput={(category) => change({ category })}
      />
      <TopicPicker value={text(settings.topic)} onInput={(topic) => change({ topic: topic || undefined })} />
      <BrakeForm
        safety={settings.safety as Safety | undefined}
        onInput={(safety) => change({ safety })}
        faultAt={faultAt}
      />
    </StepMessage>
  );
}

/** Written here, or of a template: the step has one of the two. */
function StepMessage({
  settings,
  faultAt,
  contentFaults,
  change,
  children,
}: SettingsProps & { children: ComponentChildren }) {
  const [channel, setChannel] = useState<Own | "">("");
  const message: Message = {
    content: { title: "", body: "", ...(settings.content as Partial<Content> | undefined) },
    template_id: settings.template_id as string | undefined,
  };
  return (
    <>
      <MessageEditor
        message={message}
        onInput={({ content, template_id }) =>
          change(template_id === undefined ? { content, template_id: undefined } : { template_id, content: undefined })
        }
        templateFault={faultAt("template_id")}
        faults={contentFaults}
        shown={channel}
        show={setChannel}
      />
      {children}
      <StepPreview message={message} channel={channel} settings={settings} />
    </>
  );
}

interface StepPreviewProps {
  message: Message;
  channel: Own | "";
  settings: Record<string, unknown>;
}

function StepPreview({ message, channel, settings }: StepPreviewProps) {
  const { content, template_id, channel_ids = [], category = "marketing", topic } = settings as SendSettings;
  return (
    <>
      <MessagePreview message={message} channel={channel} send={{ category, ...(topic && { topic }) }} />
      <TestSend
        bodyOf={() => ({
          ...(template_id === undefined ? { content: content && contentOf(content) } : { template_id }),
          channel_ids,
          category,
          ...(topic && { topic }),
        })}
        missing={channel_ids.length > 0 ? undefined : "Choose a channel."}
      />
    </>
  );
}
