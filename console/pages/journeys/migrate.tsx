// Moves waiting runs from one version to another, by a map of steps.
import { useState } from "preact/hooks";
import type { JourneyStep, JourneyVersion } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { plural, share } from "../../app/time.ts";
import { Confirm } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { nameOf, typeOf } from "../../components/step-words.ts";

const EVERY_MS = 2_000;

interface MigrateProps {
  id: string;
  from: JourneyVersion;
  to: JourneyVersion;
}

export function Migrate({ id, from, to }: MigrateProps) {
  const [map, setMap] = useState<Record<string, string>>({});
  const [isAsking, setAsking] = useState(false);
  const [migration, setMigration] = useState<string>();
  const migrate = useAction("journeys.createMigration");
  // Steps of one id and type correspond without being named. Runs do not wait at an end.
  const open = Object.entries(from.steps.steps ?? {}).filter(([step, { type }]) => {
    const same = to.steps.steps?.[step];
    return type !== "exit" && (!same || typeOf(same) !== type);
  });
  const fields = migrate.error?.fields ?? {};
  const move = async () => {
    const steps = Object.fromEntries(Object.entries(map).filter(([, target]) => target));
    const done = await migrate.run(id, { from: from.version, to: to.version, steps });
    setAsking(false);
    if (done) setMigration(done.answer.id);
  };
  return (
    <>
      <h3>
        Move runs from version {from.version} to version {to.version}
      </h3>
      <p class="dim">A run that waits goes on at its step, with its times. Nothing that was sent is sent again.</p>
      {/* While the question is open, nothing behind it takes the focus. */}
      <Form error={isAsking ? undefined : migrate.error} onSubmit={() => setAsking(true)}>
        {open.map(([step, one]) => (
          <SelectField
            key={step}
            label={`Runs at: ${nameOf(one)}`}
            value={map[step] ?? ""}
            fault={fields[`steps.${step}`]}
            options={[{ value: "", label: `stay on version ${from.version}` }, ...targetsOf(to, one)]}
            onInput={(target) => setMap({ ...map, [step]: target })}
          />
        ))}
        <FormEnd action={migrate} placed={open.map(([step]) => `steps.${step}`)} submit="Move the runs" isMinor />
      </Form>
      {migration && <Progress id={id} migration={migration} />}
      {isAsking && (
        <Confirm
          title={`Move runs to version ${to.version}?`}
          act="Move them"
          kind="primary"
          isBusy={migrate.isBusy}
          close={() => setAsking(false)}
          onConfirm={() => void move()}
        >
          Their next steps and messages are those of version {to.version}.
        </Confirm>
      )}
    </>
  );
}

/** Where runs at a step may go on. */
const targetsOf = (to: JourneyVersion, step: JourneyStep) =>
  Object.entries(to.steps.steps ?? {}).flatMap(([value, other]) =>
    typeOf(other) === typeOf(step) ? [{ value, label: `go on at: ${nameOf(other)}` }] : [],
  );

function Progress({ id, migration }: { id: string; migration: string }) {
  const found = useQuery("journeys.getMigration", [id, migration], {
    every: (known) => (known?.status === "completed" ? undefined : EVERY_MS),
  });
  return (
    <Loaded query={found}>
      {({ status, moved, progress }) => (
        <p role="status">
          {status === "completed"
            ? `${plural(moved, "run")} moved.`
            : `${plural(moved, "run")} moved, ${share(progress, 1)} looked at.`}
        </p>
      )}
    </Loaded>
  );
}
