// The steps as a chart: people on each step, how many went along each edge, a form for the step that is chosen.
import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../../app/query.ts";
import { number, plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Time } from "../../components/page.tsx";
import { PersonLink } from "../../components/person.tsx";
import { Loaded } from "../../components/states.tsx";
import { layoutOf, NODE, type PlacedEdge, type PlacedNode } from "./layout.ts";
import { BrakeFigures } from "./step-brake.tsx";
import { StepEditor } from "./step-form.tsx";
import { icons, StepIcon } from "./step-icon.tsx";
import type { StepsProps } from "./step-list.tsx";
import { faultsOf, insertStep, nameOf, type StepType, stepNames, stepText, typeOf } from "./steps.ts";

interface ChartProps extends StepsProps {
  /** What begins it, in words. */
  begin: string;
  entered: number;
  /** A simulated walk: `step` or `step outcome`. */
  walked: ReadonlySet<string>;
}

type Selection = { kind: "step"; id: string } | { kind: "edge"; id: string; field: string } | undefined;

export function Chart({ journey, halted, graph, stats, faults, change, begin, entered, walked }: ChartProps) {
  const [chosen, setChosen] = useState<Selection>();
  const { nodes, edges, width, height } = useMemo(() => layoutOf(graph), [graph]);
  const stepId = chosen?.kind === "step" ? chosen.id : "";
  const step = graph.steps?.[stepId];
  const countOf = ({ from, way }: PlacedEdge) =>
    way ? (stats?.steps[from]?.outcomes[way.outcome] ?? 0) : from === "" ? entered : 0;
  const isWalked = ({ from, to, way }: PlacedEdge) => (way ? walked.has(`${from} ${way.outcome}`) : walked.has(to));
  const insert = (type: StepType) => {
    if (chosen?.kind !== "edge") return;
    const made = insertStep(graph, chosen, type);
    change?.(made.graph);
    setChosen({ kind: "step", id: made.id });
  };
  return (
    <div class={chosen ? "chart-view has-panel" : "chart-view"}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a chart that is too large is scrolled by keyboard */}
      <figure class="chart-frame" tabIndex={0} aria-label="Steps as a chart">
        <div class="canvas" style={boxOf({ width, height })}>
          <svg width={width} height={height} aria-hidden="true">
            <Arrow />
            {edges.map((edge) => (
              <path
                key={`${edge.from}.${edge.field}`}
                class={isWalked(edge) ? "edge is-walked" : "edge"}
                d={pathOf(edge)}
                marker-end="url(#arrow)"
              />
            ))}
          </svg>
          {nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              begin={begin}
              here={stats?.steps[node.id]?.active ?? 0}
              isHalted={halted.has(node.id)}
              hasFault={faultsOf(faults, node.id).length > 0}
              isWalked={walked.has(node.id)}
              isChosen={chosen?.kind === "step" && chosen.id === node.id}
              choose={() => setChosen({ kind: "step", id: node.id })}
            />
          ))}
          {edges.map((edge) => (
            <EdgeLabel
              key={`${edge.from}.${edge.field}`}
              edge={edge}
              count={countOf(edge)}
              after={edge.from === "" ? begin : nameOf(graph.steps![edge.from]!)}
              isChosen={chosen?.kind === "edge" && chosen.id === edge.from && chosen.field === edge.field}
              choose={change && (() => setChosen({ kind: "edge", id: edge.from, field: edge.field }))}
            />
          ))}
        </div>
      </figure>
      {chosen && (step || chosen.kind === "edge") && (
        <section class="chart-panel" aria-label={step ? nameOf(step) : "Insert a step"}>
          <header>
            <h3>{step ? stepNames[typeOf(step) ?? "exit"] : "Insert a step"}</h3>
            <Button kind="quiet" icon="cross" label="Close" onClick={() => setChosen(undefined)} />
          </header>
          {step ? (
            <Chosen journey={journey} graph={graph} id={stepId} stats={stats} faults={faults} change={change} />
          ) : (
            <Kinds insert={insert} />
          )}
        </section>
      )}
    </div>
  );
}

const Arrow = () => (
  <defs>
    <marker
      id="arrow"
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerUnits="userSpaceOnUse"
      markerWidth="10"
      markerHeight="10"
      orient="auto"
    >
      <path d="M0 0 8 4 0 8z" />
    </marker>
  </defs>
);

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
            {active > SHOWN && <li class="dim">and {plural(active - SHOWN, "other")}</li>}
          </ul>
        )}
      </Loaded>
    </div>
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

interface NodeProps {
  node: PlacedNode;
  begin: string;
  here: number;
  isHalted: boolean;
  hasFault: boolean;
  isWalked: boolean;
  isChosen: boolean;
  choose: () => void;
}

function Node({ node, begin, here, isHalted, hasFault, isWalked, isChosen, choose }: NodeProps) {
  const { kind, step, x, y } = node;
  const at = boxOf({ left: x - NODE.width / 2, top: y, ...NODE });
  if (kind !== "step" || !step)
    return (
      <div class="chart-node is-mark" style={at}>
        <span class="chart-mark">{kind === "start" ? begin : "Completed"}</span>
      </div>
    );
  const type = typeOf(step) ?? "exit";
  const state = [isChosen && "is-chosen", isWalked && "is-walked", hasFault && "has-fault"].filter(Boolean).join(" ");
  return (
    <button type="button" class={`chart-node ${state}`} style={at} aria-pressed={isChosen} onClick={choose}>
      <StepIcon type={type} hasFault={hasFault} />
      <span class="chart-text">
        <b>{stepNames[type]}</b>
        <span class="dim" title={stepText(step)}>
          {stepText(step)}
        </span>
      </span>
      {hasFault && <span class="unseen">has a problem</span>}
      {(here > 0 || isHalted) && (
        <span class={isHalted ? "chart-here is-halted" : "chart-here"}>
          {isHalted && "halted, "}
          {plural(here, "person", "people")} here
        </span>
      )}
    </button>
  );
}

interface EdgeProps {
  edge: PlacedEdge;
  count: number;
  /** The name of the step that it leaves. */
  after: string;
  isChosen: boolean;
  choose: (() => void) | undefined;
}

function EdgeLabel({ edge, count, after, isChosen, choose }: EdgeProps) {
  const { way, points } = edge;
  const [first, second] = [points[0]!, points[1]!];
  const text = [way?.short, (count > 0 || way?.short) && number(count)].filter(Boolean).join(": ");
  if (!text && !choose) return null;
  return (
    <div class="chart-label" style={boxOf({ left: (first.x + second.x) / 2, top: (first.y + second.y) / 2 })}>
      {text && <span>{text}</span>}
      {choose && (
        <Button
          kind="quiet"
          icon="plus"
          label={`Insert a step after ${after}${way?.label ? `, ${way.label.toLowerCase()}` : ""}`}
          pressed={isChosen}
          onClick={choose}
        />
      )}
    </div>
  );
}

/** Lengths as styles. */
const boxOf = (lengths: Record<string, number>): Record<string, string> =>
  Object.fromEntries(Object.entries(lengths).map(([name, length]) => [name, `${Math.round(length)}px`]));

/** Upright where it leaves and where it arrives. */
function pathOf({ points }: PlacedEdge): string {
  const [first, ...rest] = points;
  let { x, y } = first!;
  let path = `M${x} ${y}`;
  for (const next of rest) {
    const middle = (y + next.y) / 2;
    path += ` C${x} ${middle} ${next.x} ${middle} ${next.x} ${next.y}`;
    ({ x, y } = next);
  }
  return path;
}
