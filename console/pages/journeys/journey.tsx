// One journey: its steps as an indented list with the people on each, its editor, and its moves.
import { useState } from "preact/hooks";
import type { Journey, JourneyGraph, JourneyTrigger } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { invalidate, useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { isLocal, local, readMe } from "../../app/session.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Card, Confirm, Figure, Page, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Simulate } from "./simulate.tsx";
import { Steps } from "./step-list.tsx";
import { triggerText } from "./steps.ts";

const STALE = ["journeys."];
const EVERY_MS = 5_000;

export function JourneyView({ id }: { id: string }) {
  const journey = useQuery("journeys.get", [id]);
  return (
    <Loaded
      query={journey}
      skeleton={
        <Page title="Journey">
          <Skeleton rows={8} />
        </Page>
      }
    >
      {(found) => <Opened key={found.version} journey={found} />}
    </Loaded>
  );
}

function Opened({ journey }: { journey: Journey }) {
  const { id, status } = journey;
  const stats = useQuery("journeys.getStats", [id], { every: EVERY_MS });
  const [graph, setGraph] = useState<JourneyGraph>(journey.steps);
  const [trigger, setTrigger] = useState<JourneyTrigger>(journey.trigger);
  const [past, setPast] = useState<readonly JourneyGraph[]>([]);
  const [asking, setAsking] = useState<"activate" | "delete">();
  const save = useAction("journeys.replace", { stale: STALE });
  const activate = useAction("journeys.activate", { stale: STALE });
  const pause = useAction("journeys.pause", { stale: STALE });
  const archive = useAction("journeys.archive", { stale: STALE });
  const duplicate = useAction("journeys.duplicate", { stale: STALE });
  const remove = useAction("journeys.delete", { stale: STALE });
  const error = [save, activate, pause, archive, duplicate, remove].find((action) => action.error)?.error;
  const mayEdit = status === "draft" || status === "paused";
  const isChanged = graph !== journey.steps || trigger !== journey.trigger;
  const running = stats.data?.runs.active ?? 0;
  const change = (next: JourneyGraph) => {
    setPast([...past, graph]);
    setGraph(next);
  };
  const keep = async () => {
    const { name, entry_rules } = journey;
    const done = await save.run(id, { name, trigger, entry_rules, steps: graph });
    if (done)
      say(
        running > 0 ? `Saved. ${plural(running, "run")} stay on version ${journey.version}.` : "The journey is saved.",
      );
  };
  const last = past.at(-1);
  return (
    <Page
      title={journey.name}
      back={{ href: pathTo("journeys"), label: "Journeys" }}
      about={
        <>
          <Badge state={status} /> version {journey.version}, changed <Time at={journey.updated_at} />
        </>
      }
      actions={
        <>
          {isLocal && status === "active" && <Play />}
          <Button
            needs="journeys.duplicate"
            onClick={async () => {
              const copy = await duplicate.run(id);
              if (copy) go(pathTo("journeys", copy.answer.id));
            }}
          >
            Duplicate
          </Button>
          {status !== "archived" && (
            <Button needs="journeys.archive" onClick={() => void archive.run(id)}>
              Archive
            </Button>
          )}
          <Button kind="danger" needs="journeys.delete" onClick={() => setAsking("delete")}>
            Delete
          </Button>
          {status === "active" && (
            <Button needs="journeys.pause" isBusy={pause.isBusy} onClick={() => void pause.run(id)}>
              Pause
            </Button>
          )}
          {mayEdit && (
            <Button
              kind="primary"
              icon="play"
              needs="journeys.activate"
              refusal={isChanged ? "Save the changes first." : undefined}
              onClick={() => setAsking("activate")}
            >
              Activate
            </Button>
          )}
        </>
      }
    >
      {error && (
        <div class="banner bad" role="alert">
          <span>
            <b>{error.message}</b>{" "}
            {Object.entries(error.fields ?? {})
              .map(([path, reason]) => `${path}: ${reason}`)
              .join("; ")}
          </span>
        </div>
      )}
      <Loaded query={stats} skeleton={<Skeleton rows={2} />}>
        {({ runs }) => (
          <Card>
            <div class="figures">
              <Figure value={runs.active ?? 0} label="in the journey now" />
              <Figure value={runs.completed ?? 0} label="completed" />
              <Figure value={runs.exited ?? 0} label="left early" />
              <Figure value={runs.canceled ?? 0} label="canceled" />
            </div>
          </Card>
        )}
      </Loaded>
      {mayEdit && isChanged && (
        <div class="banner">
          <span>Not saved yet.</span>
          <Button kind="primary" needs="journeys.replace" isBusy={save.isBusy} onClick={() => void keep()}>
            Save
          </Button>
          {last && (
            <Button
              onClick={() => {
                setPast(past.slice(0, -1));
                setGraph(last);
              }}
            >
              Undo
            </Button>
          )}
        </div>
      )}
      <Card title={mayEdit ? "Begins when" : `Begins when ${triggerText(journey.trigger)}`}>
        {mayEdit && <TriggerForm trigger={trigger} onInput={setTrigger} />}
        <Steps graph={graph} stats={stats.data} faults={error?.fields ?? {}} change={mayEdit ? change : undefined} />
      </Card>
      <Simulate id={id} />
      {asking === "activate" && (
        <Confirm
          title={`Activate ${journey.name}?`}
          act="Activate it"
          isBusy={activate.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={async () => {
            const done = await activate.run(id);
            setAsking(undefined);
            if (done) say("The journey is active.");
          }}
        >
          From now on, a run begins whenever {triggerText(trigger)}. Its messages are sent without asking again.
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm
          title={`Delete ${journey.name}?`}
          name={journey.name}
          act="Delete the journey"
          isBusy={remove.isBusy}
          close={() => setAsking(undefined)}
          onConfirm={async () => {
            const done = await remove.run(id);
            setAsking(undefined);
            if (!done) return;
            say(`${journey.name} is deleted.`);
            go(pathTo("journeys"));
          }}
        >
          All its runs are deleted as well: {plural(running, "person", "people")} would leave it now.
        </Confirm>
      )}
    </Page>
  );
}

/** Moves the test clock of a local service, so that a journey of days is seen at once. */
function Play() {
  const [isBusy, setBusy] = useState(false);
  const play = async () => {
    setBusy(true);
    try {
      await local("clock", { advance: "72h" });
      await readMe();
      invalidate("");
      say("72 hours have passed.");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <Button icon="clock" isBusy={isBusy} onClick={() => void play()}>
      Play 72 h
    </Button>
  );
}

function TriggerForm({ trigger, onInput }: { trigger: JourneyTrigger; onInput: (trigger: JourneyTrigger) => void }) {
  const segments = useQuery("segments.list", []);
  return (
    <div class="row">
      <SelectField
        label="Trigger"
        value={trigger.type}
        options={[
          { value: "event", label: "An event happens" },
          { value: "segment_entered", label: "A person enters a segment" },
          { value: "segment_exited", label: "A person leaves a segment" },
        ]}
        onInput={(type) => onInput({ type } as JourneyTrigger)}
      />
      {trigger.type === "event" ? (
        <TextField
          label="Event"
          value={trigger.event_name ?? ""}
          onInput={(event_name) => onInput({ type: "event", event_name })}
        />
      ) : (
        <SelectField
          label="Segment"
          value={trigger.segment_id ?? ""}
          options={[
            { value: "", label: "Choose…" },
            ...(segments.data?.segments ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onInput={(segment_id) => onInput({ type: trigger.type, segment_id })}
        />
      )}
    </div>
  );
}
