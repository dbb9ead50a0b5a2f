// What is known of a person, and its editor.
import { useId, useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { changesOf } from "../../app/merge.ts";
import { attributeText, attributeValue, readAttributes } from "../../app/person-name.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Known } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { useAttributeKeys } from "../../components/known.tsx";
import { Card, Facts } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";

export function Attributes({ profile }: { profile: SubscriberProfile }) {
  const [isEditing, setEditing] = useState(false);
  const known = Object.entries(readAttributes(profile.attributes)).map(
    ([key, value]) => [key, attributeText(value)] as const,
  );
  return (
    <Card
      title="Attributes"
      actions={
        !isEditing && (
          <Button kind="quiet" icon="pencil" needs="subscribers.update" onClick={() => setEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      {isEditing && <AttributesForm id={profile.id} known={known} close={() => setEditing(false)} />}
      {!isEditing && (known.length > 0 ? <Facts of={known} /> : <p class="dim">None yet.</p>)}
    </Card>
  );
}

interface AttributesProps {
  id: string;
  known: readonly (readonly [key: string, text: string])[];
  close: () => void;
}

function AttributesForm({ id, known, close }: AttributesProps) {
  const update = useAction("subscribers.update");
  const [begun] = useState(known);
  const [rows, setRows] = useState(known);
  const list = useId();
  const save = async () => {
    const valuesOf = (of: AttributesProps["known"]) =>
      Object.fromEntries(of.filter(([key]) => key).map(([key, text]) => [key, attributeValue(text)]));
    const done = await update.run(id, { attributes: changesOf(valuesOf(begun), valuesOf(rows)) });
    if (!done) return;
    close();
    say("The attributes are saved.");
  };
  const set = (at: number, row: readonly [string, string]) => setRows(rows.map((old, n) => (n === at ? row : old)));
  return (
    <Form onSubmit={save}>
      <Known id={list} values={useAttributeKeys()} />
      {rows.map(([key, text], at) => (
        <div key={at} class="pair">
          <input
            aria-label={`Name of attribute ${at + 1}`}
            list={list}
            value={key}
            onInput={(event) => set(at, [event.currentTarget.value, text])}
          />
          <input
            aria-label={`Value of ${key || `attribute ${at + 1}`}`}
            value={text}
            onInput={(event) => set(at, [key, event.currentTarget.value])}
          />
          <Button
            kind="quiet"
            icon="trash"
            label={`Remove ${key}`}
            onClick={() => setRows(rows.filter((_, n) => n !== at))}
          />
        </div>
      ))}
      {update.error && <Failure error={update.error} />}
      <div class="actions">
        <Button icon="plus" adds onClick={() => setRows([...rows, ["", ""]])}>
          Add
        </Button>
        <Button kind="primary" type="submit" isBusy={update.isBusy}>
          Save
        </Button>
        <Button kind="quiet" onClick={close}>
          Cancel
        </Button>
      </div>
    </Form>
  );
}
