// Moves waiting runs from one version to another, by a map of steps.
import { useState } from "preact/hooks";
import type { JourneyVersion } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { plural, share } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { SelectField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Loaded } from "../../components/states.tsx";
import { nameOf, typeOf } from "./steps.ts";

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
  const migrate = useAction("journeys.createMigration", { stale: ["journeys."] });
  const targets = Object.entries(to.steps.steps ?? {});
  // Steps of one id and type correspond without being named. Runs do not wait at an end.
  const open = Object.entries(from.steps.steps ?? {}).filter(([step, { type }]) => {
    const same = to.steps.steps?.[step];
    return type !== "exit" && (!same || typeOf(same) !== type);
  });
  const fields = migrate.error?.fields ?? {};
  // While the question is open, nothing behind it takes the focus.
  return (
    <>
      <h3>
        Move runs from version {from.version} to version {to.version}
      </h3>
      <p class="dim">A run that waits goes on at its step, with its times. Nothing that was sent is sent again.</p>
      <Form
        error={isAsking ? undefined : migrate.error}
        onSubmit={() => {
          setAsking(true);
        }}
      >
        {open.map(([step, one]) => (
          <SelectField
            key={step}
            label={`Runs at: ${nameOf(one)}`}
            value={map[step] ?? ""}
            fault={fields[`steps.${step}`]}
            options={[
              { value: "", label: `stay on version ${from.version}` },
              ...targets.flatMap(([target, other]) =>
                typeOf(other) === typeOf(one) ? [{ value: target, label: `go on at: ${nameOf(other)}` }] : [],
              ),
            ]}
            onInput={(target) => setMap({ ...map, [step]: target })}
          />
        ))}
        <FormFault error={migrate.error} placed={open.map(([step]) => `steps.${step}`)} />
        <div class="actions">
          <Button type="submit" needs="journeys.createMigration" isBusy={migrate.isBusy}>
            Move the runs
          </Button>
        </div>
      </Form>
      {migration && <Progress id={id} migration={migration} />}
      {isAsking && (
        <Confirm
          title={`Move runs to version ${to.version}?`}
          act="Move them"
          kind="primary"
          isBusy={migrate.isBusy}
          close={() => setAsking(false)}
          onConfirm={async () => {
            const steps = Object.fromEntries(Object.entries(map).filter(([, target]) => target));
            const done = await migrate.run(id, { from: from.version, to: to.version, steps });
            setAsking(false);
            if (done) setMigration(done.answer.id);
          }}
        >
          Their next steps and messages are those of version {to.version}.
        </Confirm>
      )}
    </>
  );
}

function Progress({ id, migration }: { id: string; migration: string }) {
  const [every, setEvery] = useState<number | undefined>(EVERY_MS);
  const found = useQuery("journeys.getMigration", [id, migration], { every });
  if (found.data?.status === "completed" && every) setEvery(undefined);
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
