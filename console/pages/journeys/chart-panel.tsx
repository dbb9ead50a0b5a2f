// The panel beside the chart: the step that is chosen, the trigger, or the kinds of a step to insert.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useQuery } from "../../app/query.ts";
import { plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Time } from "../../components/page.tsx";
import { PersonLink } from "../../components/person.tsx";
import { Loaded } from "../../components/states.tsx";
import { nameOf, type StepType, stepNames, typeOf } from "../../components/step-words.ts";
import { BrakeFigures } from "./step-brake.tsx";
import { StepEditor } from "./step-form.tsx";
import { icons } from "./step-icon.tsx";
import type { StepsProps } from "./step-list.tsx";
import { faultsOf } from "./steps.ts";

export type Selection =
  | { kind: "trigger" }
  | { kind: "step"; id: string }
  | { kind: "edge"; id: string; field: string };

interface PanelProps extends Omit<StepsProps, "halted"> {
  chosen: Selection;
  trigger: ComponentChildren;
  insert: (type: StepType) => void;
  close: () => void;
}

const titles = { trigger: "Trigger", edge: "Insert a step", step: "" };

export function ChartPanel({ chosen, trigger, insert, close, ...steps }: PanelProps) {
  const step = chosen.kind === "step" ? steps.graph.steps?.[chosen.id] : undefined;
  const heading = useRef<HTMLHeadingElement>(null);
  // By keyboard the panel would stand behind all that follows the step in the chart.
  useEffect(() => heading.current?.focus(), [chosen]);
  return (
    <section
      class="chart-panel"
      aria-label={step ? nameOf(step) : titles[chosen.kind]}
      onKeyDown={({ key, isComposing }) => {
        if (key === "Escape" && !isComposing) close();
      }}
    >
      <header>
        <h2 ref={heading} tabIndex={-1}>
          {step ? stepNames[typeOf(step) ?? "exit"] : titles[chosen.kind]}
        </h2>
        <Button kind="quiet" icon="cross" label="Close" onClick={close} />
      </header>
      {chosen.kind === "step" && <Chosen {...steps} id={chosen.id} />}
      {chosen.kind === "trigger" && trigger}
      {chosen.kind === "edge" && <Kinds insert={insert} />}
    </section>
  );
}

type ChosenProps = Omit<StepsProps, "halted"> & { id: string };

/** The step that is chosen: what is wrong with it, its form, its brake, and who is on it. */
function Chosen({ journey, graph, id, stats, faults, change }: ChosenProps) {
  return (
    <>
      {faultsOf(faults, id).map(([path, reason]) => (
        <p key={path} class="fault">
          {reason}
        </p>
      ))}
      <StepEditor key={id} graph={graph} id={id} faults={faults} change={change} />
      {journey && <BrakeFigures journey={journey} step={id} />}
      {journey && <People journey={journey} step={id} active={stats?.steps[id]?.active ?? 0} />}
    </>
  );
}

function Kinds({ insert }: { insert: (type: StepType) => void }) {
  return (
    <div class="stack tight">
      {(Object.keys(stepNames) as StepType[]).map((type) => (
        <Button key={type} icon={icons[type]} onClick={() => insert(type)}>
          {stepNames[type]}
        </Button>
      ))}
    </div>
  );
}

const SHOWN = 5;

interface PeopleProps {
  journey: string;
  step: string;
  active: number;
}

function People({ journey, step, active }: PeopleProps) {
  const runs = useQuery("journeys.listRuns", [journey, { step, status: "active" }], { when: active > 0 });
  if (active === 0) return null;
  return (
    <div class="stack tight">
      <h3>{plural(active, "person", "people")} here</h3>
      <Loaded query={runs}>
        {({ items }) => (
          <ul class="stack tight">
            {items.slice(0, SHOWN).map((run) => (
              <li key={run.id}>
                <PersonLink id={run.subscriber_id} /> <span class="dim">entered</span> <Time at={run.entered_at} />
              </li>
            ))}
            {/* A page may have fewer of them than there are, and none. */}
            {items.length > 0 && active > Math.min(SHOWN, items.length) && (
              <li class="dim">and {plural(active - Math.min(SHOWN, items.length), "other")}</li>
            )}
          </ul>
        )}
      </Loaded>
    </div>
  );
}
