// The steps as an indented list: people on each step, how many went each way, and a form for the step that is open.
import { useState } from "preact/hooks";
import type { JourneyGraph, JourneyStep, JourneysGetStatsAnswer, SegmentRule } from "../../../sdk/src/types.gen.ts";
import { plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { ChannelPicker, TopicPicker } from "../../components/pickers.tsx";
import { RuleBuilder } from "../../components/rule-builder.tsx";
import {
  changeStep,
  insertStep,
  type Line,
  linesOf,
  removeStep,
  type StepType,
  settingsOf,
  stepNames,
  stepText,
  typeOf,
  ways,
} from "./steps.ts";

interface StepsProps {
  graph: JourneyGraph;
  stats: JourneysGetStatsAnswer | undefined;
  /** What the server says is wrong, by path. */
  faults: Record<string, string>;
  /** Undefined: the journey cannot be edited now. */
  change: ((graph: JourneyGraph) => void) | undefined;
}

const icons: Record<StepType, IconName> = {
  send: "send",
  delay: "clock",
  branch: "journey",
  wait_for_event: "activity",
  exit: "leave",
};

export function Steps({ graph, stats, faults, change }: StepsProps) {
  const [open, setOpen] = useState("");
  const lines = linesOf(graph);
  const insert = (from: { id: string; field: string }, type: StepType) => {
    const made = insertStep(graph, from, type);
    change?.(made.graph);
    setOpen(made.id);
  };
  return (
    <ol class="step-list">
      {lines.map((line, n) => (
        <li key={n} class={`depth-${Math.min(line.depth, 6)}`}>
          {change && line.kind !== "way" && line.from && <Insert insert={(type) => insert(line.from!, type)} />}
          {line.kind === "way" && <p class="way">{wayText(line, stats)}</p>}
          {line.kind === "end" && <p class="way">The journey is completed.</p>}
          {line.kind === "again" && (
            <p class="way">
              Goes on with <b>{line.step && nameOf(line.step)}</b> above.
            </p>
          )}
          {line.kind === "step" && line.step && (
            <Step
              line={line}
              step={line.step}
              stats={stats}
              faults={Object.entries(faults).filter(([path]) => path.split(".").includes(line.id))}
              isOpen={open === line.id}
              toggle={() => setOpen(open === line.id ? "" : line.id)}
              change={change && ((settings) => change(changeStep(graph, line.id, settings)))}
              remove={change && (() => change(removeStep(graph, line.id)))}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

const nameOf = (step: JourneyStep): string => `${stepNames[typeOf(step) ?? "exit"]} ${stepText(step)}`.trim();

const wayText = ({ id, way }: Line, stats: JourneysGetStatsAnswer | undefined): string => {
  const count = stats?.steps[id]?.outcomes[way?.outcome ?? ""] ?? 0;
  return `${way?.label}: ${plural(count, "person", "people")}`;
};

function Insert({ insert }: { insert: (type: StepType) => void }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) return <Button kind="quiet" icon="plus" label="Insert a step here" onClick={() => setOpen(true)} />;
  return (
    <div class="actions">
      {(Object.keys(stepNames) as StepType[]).map((type) => (
        <Button
          key={type}
          icon={icons[type]}
          onClick={() => {
            setOpen(false);
            insert(type);
          }}
        >
          {stepNames[type]}
        </Button>
      ))}
      <Button kind="quiet" icon="cross" label="Insert none" onClick={() => setOpen(false)} />
    </div>
  );
}

interface StepProps {
  line: Line;
  step: JourneyStep;
  stats: JourneysGetStatsAnswer | undefined;
  faults: [string, string][];
  isOpen: boolean;
  toggle: () => void;
  change: ((settings: Record<string, unknown>) => void) | undefined;
  remove: (() => void) | undefined;
}

function Step({ line, step, stats, faults, isOpen, toggle, change, remove }: StepProps) {
  const type = typeOf(step) ?? "exit";
  const found = stats?.steps[line.id];
  const [only, second] = ways[type];
  const passed = only && !second ? (found?.outcomes[only.outcome] ?? 0) : 0;
  return (
    <div class={faults.length > 0 ? "step has-fault" : "step"}>
      <button type="button" class="step-head" aria-expanded={isOpen} data-row onClick={toggle}>
        <span class={`step-icon ${type}`}>
          <Icon name={icons[type]} />
        </span>
        <span>
          <b>{stepNames[type]}</b> <span class="dim">{stepText(step)}</span>
        </span>
        <span class="step-counts">
          {found && found.active > 0 && (
            <span class="badge accent">{plural(found.active, "person", "people")} here</span>
          )}
          {passed > 0 && <span class="dim">{plural(passed, "person", "people")} passed</span>}
        </span>
      </button>
      {faults.map(([path, reason]) => (
        <p key={path} class="fault">
          {reason}
        </p>
      ))}
      {isOpen && (
        <div class="step-body">
          {change ? (
            <StepForm type={type} step={step} change={change} />
          ) : (
            <p class="dim">Pause the journey to change its steps.</p>
          )}
          {remove && (
            <div class="actions">
              <Button kind="danger" onClick={remove}>
                Take the step out
              </Button>
            </div>
          )}
        </div>
      )}
    </div>
  );
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

function StepForm({
  type,
  step,
  change,
}: {
  type: StepType;
  step: JourneyStep;
  change: (settings: Record<string, unknown>) => void;
}) {
  const settings = settingsOf(step);
  if (type === "delay")
    return (
      <TextField
        label="How long"
        value={text(settings.duration)}
        onInput={(duration) => change({ duration })}
        hint="30m, 24h or 7d."
      />
    );
  if (type === "branch")
    return (
      <RuleBuilder
        rule={settings.condition as SegmentRule | undefined}
        onInput={(condition) => condition && change({ condition })}
      />
    );
  if (type === "wait_for_event")
    return (
      <div class="row">
        <TextField label="Event" value={text(settings.event_name)} onInput={(event_name) => change({ event_name })} />
        <TextField
          label="At most"
          value={text(settings.within)}
          onInput={(within) => change({ within: within || undefined })}
          hint="30m, 24h or 7d; empty: without limit."
        />
      </div>
    );
  if (type === "exit") return <p class="dim">The person leaves the journey here.</p>;
  const content = (settings.content ?? {}) as { title?: string; body?: string };
  return (
    <>
      {settings.template_id ? (
        <p class="dim">The content is a template.</p>
      ) : (
        <>
          <TextField
            label="Title"
            value={content.title ?? ""}
            onInput={(title) => change({ content: { ...content, title } })}
          />
          <TextField
            label="Text"
            rows={3}
            value={content.body ?? ""}
            onInput={(body) => change({ content: { ...content, body } })}
          />
        </>
      )}
      <ChannelPicker
        chosen={(settings.channel_ids as string[] | undefined) ?? []}
        onInput={(channel_ids) => change({ channel_ids })}
      />
      <SelectField
        label="Category"
        value={text(settings.category) || "marketing"}
        options={[
          { value: "marketing", label: "Marketing" },
          { value: "transactional", label: "Transactional" },
        ]}
        onInput={(category) => change({ category })}
      />
      <TopicPicker value={text(settings.topic)} onInput={(topic) => change({ topic: topic || undefined })} />
    </>
  );
}
