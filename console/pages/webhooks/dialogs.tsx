// The forms for a test of an endpoint and for a replay of its deliveries.
import { useState } from "preact/hooks";
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { fromLocalInput, now, plural, toLocalInput } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { FormDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";

const DAY_MS = 86_400_000;

export function Test({ endpoint: { id, events }, close }: { endpoint: Webhook; close: () => void }) {
  const test = useAction("webhooks.test");
  const [event, setEvent] = useState(events[0] ?? "subscriber.created");
  const send = async () => {
    if (!(await test.run(id, { event }))) return;
    say("The sample event is on its way.");
    close();
  };
  return (
    <FormDialog title="Send a test" action={test} placed={[]} submit="Send it" close={close} onSubmit={send}>
      <SelectField
        label="Event"
        value={event}
        options={events.map((value) => ({ value, label: value }))}
        onInput={setEvent}
        hint="A sample, marked as a test, signed as a real one."
      />
    </FormDialog>
  );
}

const WHICH = { failed: "Those that failed", delivered: "Those that were delivered", "": "All" };

export function Replay({ id, close }: { id: string; close: () => void }) {
  const replay = useAction("webhooks.replay");
  const [from, setFrom] = useState(toLocalInput(now() - DAY_MS));
  const [outcome, setOutcome] = useState<keyof typeof WHICH>("failed");
  const submit = async () => {
    const body = { from: fromLocalInput(from), to: new Date(now()).toISOString(), ...(outcome && { outcome }) };
    const done = await replay.run(id, body);
    if (!done) return;
    say(`${plural(done.answer.queued, "delivery", "deliveries")} sent again, in order.`);
    close();
  };
  return (
    <FormDialog
      title="Replay deliveries"
      action={replay}
      placed={["from"]}
      submit="Replay"
      close={close}
      onSubmit={submit}
    >
      <TextField
        label="Since"
        type="datetime-local"
        value={from}
        onInput={setFrom}
        fault={replay.error?.fields?.from}
        hint="All deliveries since then, each with its original ID and body."
      />
      <SelectField label="Which" value={outcome} options={WHICH} onInput={setOutcome} />
    </FormDialog>
  );
}
