// Journeys: the list, and behind each name its steps with the people in them.
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { ask } from "../../app/query.ts";
import { type Address, go, pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Choices, TextField } from "../../components/field.tsx";
import { EventField } from "../../components/known.tsx";
import { Time } from "../../components/page.tsx";
import { useUsableChannels } from "../../components/pickers.tsx";
import { JourneyView } from "./journey.tsx";
import { graphOf, starters } from "./starters.ts";
import { triggerText } from "./steps.ts";

const EVERY_MS = 10_000;

/** Of one its chart, with the people and the brakes on it; of all, their list. */
export function ahead({ parts: [id] }: Address): void {
  if (!id) {
    ask("journeys.list", {});
    return;
  }
  ask("journeys.get", id);
  ask("journeys.getStats", id);
  ask("brakes.list", id);
  ask("channels.list");
}

export function View() {
  const [id] = place.value.parts;
  return id ? <JourneyView key={id} id={id} /> : <All />;
}

function All() {
  const rows = usePages("journeys.list", [{}], ({ journeys }) => journeys, { every: EVERY_MS });
  return (
    <Collection
      noun="journey"
      page={{ title: "Journeys", about: "The steps that each person goes through after a trigger." }}
      rows={rows}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("journeys", id)}
      empty={{
        about: "A journey begins when a person enters or leaves a segment, or when an event of theirs happens.",
      }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Status", cell: ({ status }) => <Badge state={status} /> },
        { title: "Trigger", isMinor: true, cell: ({ trigger }) => <span class="dim">{triggerText(trigger)}</span> },
        { title: "Entered", isNumber: true, cell: ({ entered }) => number(entered) },
        { title: "Completed", isNumber: true, cell: ({ completed }) => number(completed) },
        { title: "Version", isMinor: true, isNumber: true, cell: ({ version }) => version },
        { title: "Updated", isMinor: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      add={{ operation: "journeys.create", label: "New journey", by: (close) => <Add close={close} /> }}
    />
  );
}

const EMPTY = "An empty journey";

function Add({ close }: { close: () => void }) {
  const create = useAction("journeys.create");
  const channel_ids = useUsableChannels().map(({ id }) => id);
  const form = useFields({ name: "", event: "", begin: EMPTY }, create);
  const { values, set, field } = form;
  const starter = starters.find(({ name }) => name === values.begin);
  const begin = (name: string) => {
    const { event = "" } = starters.find((one) => one.name === name) ?? {};
    set({
      begin: name,
      event: values.event === (starter?.event ?? "") ? event : values.event,
      name: values.name === "" || values.name === values.begin ? name : values.name,
    });
  };
  return (
    <ActionDialog
      title="New journey"
      form={form}
      submit="Create the draft"
      close={close}
      run={() => {
        const trigger = { type: "event" as const, event_name: values.event };
        return create.run({ name: values.name, trigger, steps: graphOf(starter, channel_ids) });
      }}
      then={({ id }) => go(pathTo("journeys", id))}
    >
      <TextField label="Name" required {...field("name")} />
      <EventField
        label="Trigger event"
        {...field("event", "trigger.event_name")}
        hint="You can change this later, to a segment for example."
      />
      <Choices
        legend="Begin with"
        name="begin"
        isListed
        value={values.begin}
        options={[
          { value: EMPTY, label: EMPTY },
          ...starters.map(({ name, about }) => ({ value: name, label: name, note: about })),
        ]}
        onInput={begin}
      />
    </ActionDialog>
  );
}
