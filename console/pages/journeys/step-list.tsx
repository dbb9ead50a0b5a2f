// The steps as an indented list: people on each step, how many went each way, and a form for the step that is open.
import { useEffect, useRef, useState } from "preact/hooks";
import type { JourneyGraph, JourneyStep, JourneysGetStatsAnswer } from "../../../sdk/src/types.gen.ts";
import { usePlace } from "../../app/places.ts";
import { plural } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { useUsableChannels } from "../../components/pickers.tsx";
import { nameOf, type StepType, stepNames, stepText, typeOf, ways } from "../../components/step-words.ts";
import { BrakeFigures } from "./step-brake.tsx";
import { StepEditor } from "./step-form.tsx";
import { icons, StepIcon } from "./step-icon.tsx";
import { type Edge, faultsOf, insertStep, type Line, linesOf, stepAt } from "./steps.ts";

export interface StepsProps {
  /** Whose people and brakes are shown; undefined where the counts are of a simulation. */
  journey: string | undefined;
  /** The steps that their brake stopped. */
  halted: ReadonlySet<string>;
  graph: JourneyGraph;
  stats: JourneysGetStatsAnswer | undefined;
  /** What the server says is wrong, by path. */
  faults: Record<string, string>;
  /** Undefined: the journey cannot be edited now. */
  change: ((graph: JourneyGraph) => void) | undefined;
}

export function Steps({ journey, halted, graph, stats, faults, change }: StepsProps) {
  const [open, setOpen] = useState("");
  const list = useRef<HTMLOListElement>(null);
  const [entered, enter] = useState({ path: "" });
  usePlace({
    has: (path) => stepAt(graph, path) !== undefined,
    show: (path) => {
      setOpen(stepAt(graph, path) ?? "");
      enter({ path });
    },
  });
  useEffect(() => {
    if (entered.path) list.current?.querySelector<HTMLElement>(".step-head[aria-expanded=true]")?.focus();
  }, [entered]);
  const lines = linesOf(graph);
  const usable = useUsableChannels().map(({ id }) => id);
  const insert = (from: Edge, type: StepType) => {
    const made = insertStep(graph, from, type, usable);
    change?.(made.graph);
    setOpen(made.id);
  };
  return (
    <ol class="step-list" ref={list}>
      {lines.map((line, n) => (
        <li key={n} class={`depth-${Math.min(line.depth, 6)}`}>
          {change && line.kind !== "way" && <Insert insert={(type) => insert(line.from, type)} />}
          {line.kind === "way" && <p class="way">{wayText(line, stats)}</p>}
          {line.kind === "end" && <p class="way">The journey is completed.</p>}
          {line.kind === "again" && (
            <p class="way">
              Goes on with <b>{nameOf(line.step)}</b> above.
            </p>
          )}
          {line.kind === "step" && (
            <Step
              id={line.id}
              step={line.step}
              stats={stats}
              faults={faultsOf(faults, line.id)}
              isOpen={open === line.id}
              journey={journey}
              isHalted={halted.has(line.id)}
              toggle={() => setOpen(open === line.id ? "" : line.id)}
              graph={graph}
              change={change}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

type WayLine = Extract<Line, { kind: "way" }>;

const wayText = ({ id, way }: WayLine, stats: JourneysGetStatsAnswer | undefined): string => {
  const count = stats?.steps[id]?.outcomes[way.outcome] ?? 0;
  return `${way.label}: ${plural(count, "person", "people")}`;
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
      <Button kind="quiet" icon="cross" label="Cancel" onClick={() => setOpen(false)} />
    </div>
  );
}

interface StepProps {
  id: string;
  step: JourneyStep;
  stats: JourneysGetStatsAnswer | undefined;
  faults: [string, string][];
  isOpen: boolean;
  journey: string | undefined;
  isHalted: boolean;
  toggle: () => void;
  graph: JourneyGraph;
  change: ((graph: JourneyGraph) => void) | undefined;
}

function Step({ id, step, stats, faults, isOpen, journey, isHalted, toggle, graph, change }: StepProps) {
  const type = typeOf(step) ?? "exit";
  const found = stats?.steps[id];
  const [only, second] = ways[type];
  const passed = only && !second ? (found?.outcomes[only.outcome] ?? 0) : 0;
  return (
    <div class={faults.length > 0 ? "step has-fault" : "step"}>
      <button type="button" class="step-head" aria-expanded={isOpen} data-row onClick={toggle}>
        <StepIcon type={type} />
        <span>
          <b>{stepNames[type]}</b> <span class="dim">{stepText(step)}</span>
        </span>
        <span class="step-counts">
          {isHalted && <Badge state="halted" />}
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
          <StepEditor graph={graph} id={id} faults={Object.fromEntries(faults)} change={change} />
          {journey && <BrakeFigures journey={journey} step={id} />}
        </div>
      )}
    </div>
  );
}
