// The steps as a chart: people on each step, how many went along each edge, a form for the step that is chosen.
import type { ComponentChildren, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { usePlace } from "../../app/places.ts";
import { number, plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { useUsableChannels } from "../../components/pickers.tsx";
import { nameOf, type StepType, stepNames, stepText, typeOf } from "../../components/step-words.ts";
import { ChartPanel, type Selection } from "./chart-panel.tsx";
import { layoutOf, NODE, type PlacedEdge, type PlacedNode } from "./layout.ts";
import { StepIcon } from "./step-icon.tsx";
import type { StepsProps } from "./step-list.tsx";
import { faultsOf, insertStep, stepAt } from "./steps.ts";

interface ChartProps extends StepsProps {
  /** What begins it, in words. */
  begin: string;
  /** Its form, where it may be edited. */
  trigger: ComponentChildren;
  triggerFaults: readonly string[];
  entered: number;
  /** A simulated walk: `step` or `step outcome`. */
  walked: ReadonlySet<string>;
}

export function Chart(props: ChartProps) {
  const { journey, halted, graph, stats, faults, change, begin, trigger, triggerFaults, entered, walked } = props;
  const frame = useRef<HTMLElement>(null);
  const [chosen, setChosen] = useState<Selection>();
  const { nodes, edges, width, height } = useMemo(() => layoutOf(graph), [graph]);
  const isOpen = chosen !== undefined && (chosen.kind !== "step" || graph.steps?.[chosen.id] !== undefined);
  // A step that was removed is not chosen any more, also once that is undone. What was chosen since stays.
  useEffect(() => {
    if (isOpen || !chosen) return;
    setChosen((newest) => (newest === chosen ? undefined : newest));
    // Who removed it by keyboard goes on among the steps.
    if (frame.current?.parentElement?.contains(document.activeElement)) frame.current.focus();
  }, [isOpen]);
  const countOf = ({ from, way }: PlacedEdge) => {
    if (way) return stats?.steps[from]?.outcomes[way.outcome] ?? 0;
    return from === "" ? entered : 0;
  };
  const isWalked = ({ from, to, way }: PlacedEdge) => (way ? walked.has(`${from} ${way.outcome}`) : walked.has(to));
  const usable = useUsableChannels().map(({ id }) => id);
  const insert = (type: StepType) => {
    if (chosen?.kind !== "edge") return;
    const made = insertStep(graph, chosen, type, usable);
    change?.(made.graph);
    setChosen({ kind: "step", id: made.id });
  };
  const close = () => {
    frame.current?.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
    setChosen(undefined);
  };
  usePlace({
    has: (path) => stepAt(graph, path) !== undefined || (trigger !== undefined && path.startsWith("trigger.")),
    show: (path) => {
      const id = stepAt(graph, path);
      setChosen(id === undefined ? { kind: "trigger" } : { kind: "step", id });
    },
  });
  // The panel takes room from the chart.
  useEffect(() => {
    frame.current
      ?.querySelector(".chart-node[aria-pressed=true]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [chosen]);
  const [zoom, setZoom] = useState(1);
  const fit = () => {
    const { clientWidth = width, clientHeight = height } = frame.current ?? {};
    setZoom(Math.max(SMALLEST, Math.min(1, clientWidth / width, clientHeight / height)));
  };
  return (
    <div class={isOpen ? "chart-view has-panel" : "chart-view"}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a chart that is too large is scrolled by keyboard */}
      <figure class="chart-frame" ref={frame} tabIndex={0} aria-label="Steps as a chart" {...panning}>
        <div class="canvas" style={{ ...boxOf({ width, height }), zoom }}>
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
              figures={figuresOf(stats?.steps[node.id]?.outcomes)}
              isChosen={
                node.kind === "start" ? chosen?.kind === "trigger" : chosen?.kind === "step" && chosen.id === node.id
              }
              choose={() => setChosen(node.kind === "start" ? { kind: "trigger" } : { kind: "step", id: node.id })}
              trigger={trigger ? triggerFaults : undefined}
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
      <Zoom zoom={zoom} set={setZoom} fit={fit} />
      {isOpen && (
        <ChartPanel
          chosen={chosen}
          journey={journey}
          graph={graph}
          stats={stats}
          faults={faults}
          change={change}
          trigger={trigger}
          insert={insert}
          close={close}
        />
      )}
    </div>
  );
}

/** What became of those who left a step that sends, where not all of them got it. */
function figuresOf(outcomes: Record<string, number> = {}): string {
  const { sent = 0, ...others } = outcomes;
  const lost = Object.entries(others).reduce(
    (sum, [outcome, count]) => (/^(skipped|failed|bounced)/.test(outcome) ? sum + count : sum),
    0,
  );
  return sent + lost === 0 ? "" : `${number(sent)} sent${lost > 0 ? `, ${number(lost)} not` : ""}`;
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

interface NodeProps {
  node: PlacedNode;
  begin: string;
  here: number;
  isHalted: boolean;
  hasFault: boolean;
  isWalked: boolean;
  figures: string;
  isChosen: boolean;
  choose: () => void;
  /** What is wrong with the trigger; undefined where it cannot be edited. */
  trigger: readonly string[] | undefined;
}

function Node({ node, begin, here, isHalted, hasFault, isWalked, figures, isChosen, choose, trigger }: NodeProps) {
  const { kind, step, x, y } = node;
  const at = boxOf({ left: x - NODE.width / 2, top: y, ...NODE });
  if (kind === "start" && trigger)
    return (
      <div class="chart-node is-mark is-start" style={at}>
        <button
          type="button"
          class={trigger.length > 0 ? "chart-mark has-fault" : "chart-mark"}
          aria-pressed={isChosen}
          onClick={choose}
        >
          {begin}
        </button>
      </div>
    );
  if (kind !== "step" || !step)
    return (
      <div class={kind === "start" ? "chart-node is-mark is-start" : "chart-node is-mark"} style={at}>
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
        <span class="dim" dir="auto" title={stepText(step)}>
          {stepText(step)}
        </span>
      </span>
      {figures && <span class="chart-figures">{figures}</span>}
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

const SMALLEST = 0.4;
const LARGEST = 1.6;
const STEP = 0.2;

interface ZoomProps {
  zoom: number;
  set: (zoom: number) => void;
  fit: () => void;
}

const Zoom = ({ zoom, set, fit }: ZoomProps) => (
  <fieldset class="chart-zoom" aria-label="Zoom">
    <Button kind="quiet" icon="dash" label="Smaller" onClick={() => set(Math.max(SMALLEST, zoom - STEP))} />
    <Button kind="quiet" onClick={fit}>
      {Math.round(zoom * 100)}%
    </Button>
    <Button kind="quiet" icon="plus" label="Larger" onClick={() => set(Math.min(LARGEST, zoom + STEP))} />
  </fieldset>
);

/** The chart is moved by its background. */
const panning = {
  onPointerDown: ({ target, currentTarget, pointerId, button }: TargetedPointerEvent<HTMLElement>) => {
    const isFree = target instanceof Element && !target.closest("button");
    if (isFree && button === 0) currentTarget.setPointerCapture(pointerId);
  },
  onPointerMove: ({ currentTarget, pointerId, movementX, movementY }: TargetedPointerEvent<HTMLElement>) => {
    if (currentTarget.hasPointerCapture(pointerId)) currentTarget.scrollBy(-movementX, -movementY);
  },
};

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
