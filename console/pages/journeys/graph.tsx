// The trigger and the steps of a journey: as it is now and may be edited, of an activated version, or of a simulation.
import { useState } from "preact/hooks";
import type {
  HistorySimulation,
  Journey,
  JourneyGraph,
  JourneysGetStatsAnswer,
  JourneyTrigger,
  JourneyVersion,
} from "../../../sdk/src/types.gen.ts";
import { useKept } from "../../app/kept.ts";
import { useQuery } from "../../app/query.ts";
import { place, setQuery } from "../../app/router.ts";
import { dateTime } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { DurationField } from "../../components/duration.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { SegmentSelect } from "../../components/pickers.tsx";
import { Chart } from "./chart.tsx";
import type { WalkAnswer } from "./simulate.tsx";
import { Steps } from "./step-list.tsx";
import { DEFAULT_MAX_AGE, triggerText } from "./steps.ts";

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
/** A chart needs room: without a choice, narrow windows show the list. */
const NARROW = "(max-width: 800px)";

/** The graph and the trigger as they are edited, with the graphs before each change. */
export function useEdit({ id, steps, trigger, updated_at }: Journey) {
  const kept = useKept(`journey.${id}.${updated_at}`, () => ({ graph: steps, trigger }));
  const [past, setPast] = useState<readonly JourneyGraph[]>([]);
  const { graph } = kept.value;
  const last = past.at(-1);
  const change = (next: JourneyGraph) => {
    setPast([...past, graph]);
    kept.set({ graph: next });
  };
  const undo = () => {
    setPast(past.slice(0, -1));
    if (last) kept.set({ graph: last });
  };
  const isChanged = !isSame(graph, steps) || !isSame(kept.value.trigger, trigger);
  return { ...kept, ...kept.value, isChanged, change, undo: last && undo };
}

/** What the chart shows. */
export type Shown =
  | { kind: "now" }
  | { kind: "version"; version: JourneyVersion }
  | { kind: "simulation"; simulation: HistorySimulation };

interface GraphProps {
  journey: Journey;
  edit: ReturnType<typeof useEdit>;
  mayEdit: boolean;
  /** Of the journey as it is now. */
  stats: JourneysGetStatsAnswer | undefined;
  /** The steps that their brake stopped. */
  halted: ReadonlySet<string>;
  faults: Record<string, string>;
  every: number;
  shown: Shown;
  show: (shown: Shown) => void;
  walk: WalkAnswer | undefined;
}

export function Graph({ journey, edit, mayEdit, stats, halted, faults, every, shown, show, walk }: GraphProps) {
  const version = shown.kind === "version" ? shown.version : undefined;
  const ofVersion = useQuery("journeys.getStats", [journey.id, { version: String(version?.version) }], {
    when: version !== undefined,
    every,
  }).data;
  const simulation = shown.kind === "simulation" ? shown.simulation : undefined;
  const counted = simulation?.result ?? (version ? ofVersion : stats);
  const change = mayEdit && shown.kind === "now" ? edit.change : undefined;
  const view = place.value.query.get("view");
  const isList = view ? view === "list" : matchMedia(NARROW).matches;
  const steps = {
    journey: simulation ? undefined : journey.id,
    halted: simulation ? new Set<string>() : halted,
    graph: version?.steps ?? (simulation ? journey.steps : edit.graph),
    stats: counted,
    faults,
    change,
  };
  return (
    <Card
      title={change ? "Trigger and steps" : `Trigger: ${triggerText((version ?? journey).trigger)}`}
      actions={<Views isList={isList} />}
    >
      {shown.kind !== "now" && (
        <div class="banner">
          <span>{aboutOf(shown, ofVersion?.exact === false)}</span>
          <Button onClick={() => show({ kind: "now" })}>Show the journey as it is now</Button>
        </div>
      )}
      {change && <TriggerForm trigger={edit.trigger} onInput={(trigger) => edit.set({ trigger })} faults={faults} />}
      {isList ? (
        <Steps {...steps} />
      ) : (
        <Chart
          {...steps}
          begin={triggerText(version?.trigger ?? edit.trigger)}
          entered={Object.values(counted?.runs ?? {}).reduce((sum, one) => sum + one, 0)}
          walked={new Set(walk?.steps.flatMap(({ step, outcome }) => [step, `${step} ${outcome}`]))}
        />
      )}
    </Card>
  );
}

function aboutOf(shown: Exclude<Shown, { kind: "now" }>, isSample: boolean): string {
  if (shown.kind === "version")
    return `Version ${shown.version.version} with its numbers${isSample ? ", estimated from a sample" : ""}.`;
  const { from, to } = shown.simulation;
  return `Counts of the simulation from ${dateTime(from)} to ${dateTime(to)}.`;
}

function Views({ isList }: { isList: boolean }) {
  return (
    <>
      <Button kind="quiet" pressed={!isList} onClick={() => setQuery({ view: "chart" })}>
        Chart
      </Button>
      <Button kind="quiet" pressed={isList} onClick={() => setQuery({ view: "list" })}>
        List
      </Button>
    </>
  );
}

interface TriggerProps {
  trigger: JourneyTrigger;
  onInput: (trigger: JourneyTrigger) => void;
  /** What the server says is wrong, by path. */
  faults: Record<string, string>;
}

const TRIGGERS = {
  event: "An event happens",
  segment_entered: "A person enters a segment",
  segment_exited: "A person leaves a segment",
};

function TriggerForm({ trigger, onInput, faults }: TriggerProps) {
  return (
    <div class="row">
      <SelectField
        label="Trigger"
        value={trigger.type}
        options={TRIGGERS}
        onInput={(type) => onInput({ type } as JourneyTrigger)}
      />
      {trigger.type === "event" ? (
        <EventTrigger trigger={trigger} onInput={onInput} faults={faults} />
      ) : (
        <SegmentSelect
          value={trigger.segment_id ?? ""}
          onInput={(segment_id) => onInput({ type: trigger.type, segment_id })}
          fault={faults["trigger.segment_id"]}
        />
      )}
    </div>
  );
}

/** Its event, and how late it may arrive (AMB-134). */
function EventTrigger({
  trigger,
  onInput,
  faults,
}: TriggerProps & { trigger: Extract<JourneyTrigger, { type: "event" }> }) {
  const { max_age = DEFAULT_MAX_AGE } = trigger;
  const isAny = max_age === "none";
  const change = (part: Partial<typeof trigger>) => onInput({ ...trigger, ...part });
  return (
    <>
      <TextField
        label="Event"
        value={trigger.event_name ?? ""}
        fault={faults["trigger.event_name"]}
        onInput={(event_name) => change({ event_name })}
      />
      <SelectField
        label="Late events"
        value={isAny ? "any" : "some"}
        options={{ some: "begin a run up to a limit", any: "always begin a run" }}
        onInput={(which) => change({ max_age: which === "any" ? "none" : DEFAULT_MAX_AGE })}
      />
      {!isAny && (
        <DurationField
          label="At most this late"
          value={max_age}
          fault={faults["trigger.max_age"]}
          onInput={(age) => change({ max_age: age || undefined })}
        />
      )}
    </>
  );
}
