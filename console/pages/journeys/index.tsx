// Journeys: the list, and behind each name its steps with the people in them.
import { useState } from "preact/hooks";
import type { Journey } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Dialog, Page, Time } from "../../components/page.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { JourneyView } from "./journey.tsx";
import { triggerText } from "./steps.ts";

const EVERY_MS = 10_000;

export function View() {
  const [id] = place.value.parts;
  return id ? <JourneyView key={id} id={id} /> : <All />;
}

function All() {
  const journeys = usePages("journeys.list", (cursor): ArgumentsOf<"journeys.list"> => [cursor ? { cursor } : {}], {
    every: EVERY_MS,
  });
  const rows = journeys.pages.flatMap((page) => page.journeys);
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button kind="primary" icon="plus" needs="journeys.create" onClick={() => setAdding(true)}>
      New journey
    </Button>
  );
  return (
    <Page title="Journeys" about="The steps that each person goes through after a trigger." actions={add}>
      <Loaded query={journeys.first} skeleton={<Skeleton table rows={5} />}>
        {() =>
          rows.length === 0 ? (
            <Empty title="There are no journeys yet." action={add}>
              A journey begins when a person enters a segment, leaves it or has an event.
            </Empty>
          ) : (
            <>
              <Table
                caption="Journeys"
                rows={rows}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => pathTo("journeys", id)}
                columns={[
                  { title: "Name", cell: ({ name }: Journey) => name },
                  { title: "Status", cell: ({ status }: Journey) => <Badge state={status} /> },
                  {
                    title: "Trigger",
                    cell: ({ trigger }: Journey) => <span class="dim">{triggerText(trigger)}</span>,
                  },
                  { title: "Entered", isNumber: true, cell: ({ entered }: Journey) => number(entered) },
                  { title: "Completed", isNumber: true, cell: ({ completed }: Journey) => number(completed) },
                  { title: "Version", isNumber: true, cell: ({ version }: Journey) => version },
                  { title: "Updated", cell: ({ updated_at }: Journey) => <Time at={updated_at} /> },
                ]}
              />
              <More
                cursor={journeys.pages.at(-1)?.next_cursor ?? ""}
                isLoading={journeys.isLoading}
                load={journeys.load}
              />
            </>
          )
        }
      </Loaded>
      {isAdding && <Add close={() => setAdding(false)} />}
    </Page>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("journeys.create", { stale: ["journeys."] });
  const [name, setName] = useState("");
  const [event, setEvent] = useState("");
  const submit = async () => {
    const steps = { start: "exit", steps: { exit: { id: "exit", type: "exit" as const } } };
    const done = await create.run({ name, trigger: { type: "event", event_name: event }, steps });
    if (!done) return;
    close();
    go(pathTo("journeys", done.answer.id));
  };
  return (
    <Dialog title="New journey" close={close}>
      <Form
        error={create.error}
        onSubmit={() => {
          void submit();
        }}
      >
        <TextField label="Name" required value={name} onInput={setName} fault={create.error?.fields?.name} />
        <TextField
          label="Trigger event"
          value={event}
          onInput={setEvent}
          fault={create.error?.fields?.["trigger.event_name"]}
          hint="You can change this later, to a segment for example."
        />
        <FormFault error={create.error} placed={["name", "trigger.event_name"]} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={create.isBusy}>
            Create the draft
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
