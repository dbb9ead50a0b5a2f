// What only a local service has: its clock, injected faults, and the meter of the embedded AWS services.
import { useState } from "preact/hooks";
import { providedChannels } from "../../../shared/rules/channel-types.ts";
import { useLocal, useLocalCall } from "../../app/local.ts";
import { invalidate } from "../../app/query.ts";
import { readMe } from "../../app/session.ts";
import { fullTime, number } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { asOptions, inWords, SelectField, TextField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const EVERY_MS = 5_000;
const jumps = { "1h": "1 hour", "1d": "1 day", "3d": "3 days", "7d": "7 days" };

export function Clock() {
  const clock = useLocal<{ now: string }>("clock", EVERY_MS);
  const move = useLocalCall();
  const error = move.error ?? clock.error;
  return (
    <Card title="Service time">
      <p class="big">{clock.data ? fullTime(clock.data.now) : "…"}</p>
      {error && <p class="banner bad">{error}</p>}
      <p class="hint">The clock only moves forward. Everything that falls due on the way happens, in order.</p>
      <div class="actions">
        {Object.entries(jumps).map(([advance, label]) => (
          <Button
            key={advance}
            icon="clock"
            isBusy={move.isBusy}
            onClick={async () => {
              const done = await move.run("clock", { advance });
              if (!done) return;
              await readMe();
              invalidate("");
              clock.refresh();
              say(`${label} passed.`);
            }}
          >
            {label}
          </Button>
        ))}
      </div>
    </Card>
  );
}

const targets = [
  ...providedChannels,
  "stream",
  ...providedChannels.map((type) => `verify:${type}`),
  ...["dynamodb", "sqs", "s3", "kms", "scheduler"].map((service) => `aws:${service}`),
];
const outcomes = ["transient", "permanent", "invalid_token", "rate_limited", "timeout"];

export function Faults() {
  const fault = useLocalCall();
  const [channel, setChannel] = useState("email");
  const [outcome, setOutcome] = useState("transient");
  const [times, setTimes] = useState("");
  return (
    <Card title="Fault injection">
      <Form
        onSubmit={async () => {
          const done = await fault.run("faults", { channel, outcome, ...(times && { times: Number(times) }) });
          if (done) say(`${channel} now answers ${inWords(outcome)}.`);
        }}
      >
        <div class="row">
          <SelectField label="Target" value={channel} options={asOptions(targets)} onInput={setChannel} />
          <SelectField label="Outcome" value={outcome} options={asOptions(outcomes)} onInput={setOutcome} />
          <TextField label="Times" type="number" placeholder="always" value={times} onInput={setTimes} />
        </div>
        {fault.error && (
          <p class="banner bad" role="alert">
            {fault.error}
          </p>
        )}
        <div class="actions">
          <Button type="submit" isBusy={fault.isBusy}>
            Inject the fault
          </Button>
          <Button
            kind="quiet"
            onClick={async () => {
              const done = await fault.run("faults", undefined, "DELETE");
              if (done) say("There are no faults now.");
            }}
          >
            Remove all
          </Button>
        </div>
      </Form>
    </Card>
  );
}

const services = [
  ["dynamodb", "DynamoDB"],
  ["sqs", "SQS"],
  ["scheduler", "EventBridge Scheduler"],
  ["s3", "S3"],
  ["kms", "KMS"],
  ["providers", "Message providers"],
] as const;

const units: Record<string, string> = { wcu: "write units", rcu: "read units", index_wcu: "of them for indexes" };

export function Meter() {
  const meter = useLocal<Record<string, object>>("meter", EVERY_MS);
  const reset = useLocalCall();
  const textOf = ([service]: (typeof services)[number]) =>
    Object.entries(meter.data?.[service] ?? {})
      .flatMap(([name, value]) => (typeof value === "number" ? [`${number(value)} ${units[name] ?? name}`] : []))
      .join(", ");
  return (
    <Card
      title="AWS usage"
      flush
      actions={
        <Button
          isBusy={reset.isBusy}
          onClick={async () => {
            const done = await reset.run("meter", undefined, "DELETE");
            if (done) meter.refresh();
          }}
        >
          Reset
        </Button>
      }
    >
      {(meter.error ?? reset.error) && <p class="banner bad">{meter.error ?? reset.error}</p>}
      {!meter.data && !meter.error && <Skeleton table rows={6} />}
      {meter.data && (
        <Table
          caption="Requests by service"
          rows={services}
          keyOf={([service]) => service}
          columns={[
            { title: "Service", isWord: true, cell: ([, name]) => name },
            { title: "Since the start, or the last reset", cell: textOf },
          ]}
        />
      )}
    </Card>
  );
}
