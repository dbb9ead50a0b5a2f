// The trigger and the steps of a journey: as it is now and may be edited, of an activated version, or of a simulation.
import type {
  EntryRules,
  HistorySimulation,
  Journey,
  JourneysGetStatsAnswer,
  JourneyTrigger,
  JourneyVersion,
} from "../../../sdk/src/types.gen.ts";
import { useHistory } from "../../app/history.ts";
import { useKept } from "../../app/kept.ts";
import { isSame, unsavedOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { place, setQuery } from "../../app/router.ts";
import { dateTime, momentText } from "../../app/time.ts";
import { Button, Discard, Undo } from "../../components/button.tsx";
import { DurationField } from "../../components/duration.tsx";
import { Check, SelectField, TextField } from "../../components/field.tsx";
import { NotSaved } from "../../components/form.tsx";
import { EventField } from "../../components/known.tsx";
import { SegmentSelect } from "../../components/pickers.tsx";
import { Chart } from "./chart.tsx";
import type { WalkAnswer } from "./simulate.tsx";
import { Steps } from "./step-list.tsx";
import { DEFAULT_MAX_AGE, triggerText } from "./steps.ts";

/** A chart needs room: without a choice, narrow windows show the list. */
const NARROW = "(max-width: 800px)";

export interface JourneyDraft extends Pick<Journey, "name" | "trigger" | "entry_rules"> {
  graph: Journey["steps"];
}

export const draftOf = ({
  name,
  trigger,
  entry_rules,
  steps,
}: Omit<JourneyDraft, "graph"> & Pick<Journey, "steps">) => ({
  name,
  trigger,
  entry_rules,
  graph: steps,
});

const WORDS = { entry_rules: "who enters", graph: "steps" };

/** The journey as it is edited, with what it was before and after. */
export function useEdit(journey: Journey) {
  const { id, status } = journey;
  const mayEdit = status === "draft" || status === "paused";
  const saved: JourneyDraft = draftOf(journey);
  const kept = useKept(`journey.${id}`, () => saved);
  const history = useHistory(kept.value, kept.set);
  // What was written before somebody activated it waits for a pause.
  const shown = mayEdit ? kept.value : saved;
  const unsaved = unsavedOf({ value: shown, begun: saved }, WORDS);
  const change = (part: Partial<JourneyDraft>) => history.change({ ...kept.value, ...part });
  return { ...kept, ...shown, ...history, change, unsaved, isChanged: unsaved.length > 0, mayEdit };
}

export type Shown =
  | { kind: "now" }
  | { kind: "version"; version: JourneyVersion }
  | { kind: "simulation"; simulation: HistorySimulation };

interface GraphProps {
  journey: Journey;
  edit: ReturnType<typeof useEdit>;
  /** The statistics of the journey as it is now. */
  stats: JourneysGetStatsAnswer | undefined;
  /** The steps that their brake stopped. */
  halted: ReadonlySet<string>;
  faults: Record<string, string>;
  every: number;
  shown: Shown;
  show: (shown: Shown) => void;
  walk: WalkAnswer | undefined;
  saving: { isBusy: boolean; run: () => void };
}

export function Graph(props: GraphProps) {
  const { journey, edit, stats, halted, faults, every, shown, show, walk } = props;
  const version = shown.kind === "version" ? shown.version : undefined;
  const ofVersion = useQuery("journeys.getStats", [journey.id, { version: String(version?.version) }], {
    when: version !== undefined,
    every,
  }).data;
  const simulation = shown.kind === "simulation" ? shown.simulation : undefined;
  const counted = simulation?.result ?? (version ? ofVersion : stats);
  const change = edit.mayEdit && shown.kind === "now" ? (graph: Journey["steps"]) => edit.change({ graph }) : undefined;
  const view = place.value.query.get("view");
  const isList = view ? view === "list" : matchMedia(NARROW).matches;
  const trigger = change && (
    <SettingsForm draft={edit} before={edit.begun.entry_rules} onInput={edit.change} faults={faults} />
  );
  const steps = {
    journey: simulation ? undefined : journey.id,
    halted: simulation ? new Set<string>() : halted,
    graph: version?.steps ?? (simulation ? journey.steps : edit.graph),
    stats: counted,
    faults,
    change,
  };
  return (
    <section class="stage" aria-label="Steps">
      <div class="stage-bar">
        <Edited {...props} />
        <div class="actions">
          <Views isList={isList} />
        </div>
      </div>
      {shown.kind !== "now" && (
        <div class="banner">
          <span>{aboutOf(shown, ofVersion?.exact === false)}</span>
          <Button onClick={() => show({ kind: "now" })}>Show the journey as it is now</Button>
        </div>
      )}
      {isList ? (
        <div class="stage-list">
          {trigger ?? <p>Trigger: {triggerText((version ?? journey).trigger)}</p>}
          <Steps {...steps} />
        </div>
      ) : (
        <Chart
          {...steps}
          begin={triggerText(version?.trigger ?? edit.trigger)}
          trigger={trigger}
          triggerFaults={Object.entries(faults).flatMap(([path, text]) => (path.startsWith("trigger.") ? [text] : []))}
          entered={Object.values(counted?.runs ?? {}).reduce((sum, one) => sum + one, 0)}
          walked={new Set(walk?.steps.flatMap(({ step, outcome }) => [step, `${step} ${outcome}`]))}
        />
      )}
    </section>
  );
}

/** What was changed and is not saved yet. */
function Edited({ edit, saving, shown }: GraphProps) {
  if (!edit.mayEdit) return <p class="dim">Pause the journey to change it.</p>;
  return (
    <div class="actions">
      {edit.isChanged && (
        <Button kind="primary" needs="journeys.replace" isBusy={saving.isBusy} onClick={saving.run}>
          Save
        </Button>
      )}
      <Undo undo={edit.undo} redo={edit.redo} />
      {edit.isChanged && <Discard onClick={edit.discard} />}
      <NotSaved of={edit.unsaved} />
      {!edit.isChanged && !edit.undo && shown.kind === "now" && (
        <span class="dim">Press a step to change it, a plus to insert one.</span>
      )}
    </div>
  );
}

function aboutOf(shown: Exclude<Shown, { kind: "now" }>, isSample: boolean): string {
  if (shown.kind === "version")
    return `Version ${shown.version.version} with its numbers${isSample ? ", estimated from a sample" : ""}.`;
  const { from, to } = shown.simulation;
  return `Counts of the simulation from ${dateTime(from)} to ${momentText(to)}.`;
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

interface SettingsProps {
  draft: JourneyDraft;
  /** Who enters the journey that was opened. */
  before: JourneyDraft["entry_rules"];
  onInput: (part: Partial<JourneyDraft>) => void;
  faults: Record<string, string>;
}

/** What is left out says the same as its default. */
const againOf = (rules: SettingsProps["before"]) => [rules?.allow_reentry ?? false, rules?.reentry_window ?? null];

function SettingsForm({ draft: { name, trigger, entry_rules }, before, onInput, faults }: SettingsProps) {
  const { allow_reentry = false, reentry_window } = entry_rules ?? {};
  const enter = (part: EntryRules) => {
    const rules = { ...entry_rules, ...part };
    onInput({ entry_rules: isSame(againOf(rules), againOf(before)) ? before : rules });
  };
  const window = before?.allow_reentry ? before.reentry_window : "1d";
  return (
    <div class="stack">
      <TextField
        label="Name of the journey"
        value={name}
        fault={faults.name}
        onInput={(next) => onInput({ name: next })}
        required
      />
      <TriggerForm trigger={trigger} onInput={(next) => onInput({ trigger: next })} faults={faults} />
      <Check
        label="A person may enter again"
        checked={allow_reentry}
        onInput={(again) => enter({ allow_reentry: again, reentry_window: again ? window : null })}
      />
      {allow_reentry && (
        <DurationField
          label="At most once in"
          value={reentry_window ?? ""}
          fault={faults["entry_rules.reentry_window"]}
          onInput={(least) => enter({ reentry_window: least || null })}
        />
      )}
    </div>
  );
}

function TriggerForm({ trigger, onInput, faults }: TriggerProps) {
  return (
    <div class="stack">
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
      <EventField
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
          onInput={(age) => change({ max_age: age })}
        />
      )}
    </>
  );
}
