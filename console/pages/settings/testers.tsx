// The subscribers that test sends go to.
import { useState } from "preact/hooks";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";

const MAX = 20;

interface TestersProps {
  ids: readonly string[];
  onIds: (ids: string[]) => void;
  fields: Record<string, string>;
}

export function Testers({ ids, onIds, fields }: TestersProps) {
  const [text, setText] = useState("");
  const asked = text.trim();
  const found = useQuery("subscribers.list", [{ external_id: asked, limit: 1 }], { when: asked !== "" });
  const person = found.data?.items[0];
  const refusal = () => {
    if (!asked) return "Name a person first.";
    if (ids.length >= MAX) return `At most ${MAX}.`;
    if (found.isLoading) return "Looking for the person.";
    if (!person) return "There is no such person.";
    return ids.includes(person.id) ? "The person is in the list." : undefined;
  };
  return (
    <Card title="Test sends">
      <p class="dim">A test message goes to these subscribers, and by email to the user who sends it.</p>
      {ids.length > 0 && (
        <ul class="stack tight">
          {ids.map((id, n) => (
            <Tester
              key={id}
              id={id}
              fault={fields[`test_subscriber_ids[${n}]`]}
              remove={() => onIds(ids.filter((one) => one !== id))}
            />
          ))}
        </ul>
      )}
      <div class="row">
        <TextField
          label="External ID of a test subscriber"
          value={text}
          onInput={setText}
          fault={fields.test_subscriber_ids}
        />
        <Button
          icon="plus"
          refusal={refusal()}
          onClick={() => {
            if (person) onIds([...ids, person.id]);
            setText("");
          }}
        >
          Add
        </Button>
      </div>
    </Card>
  );
}

function Tester({ id, fault, remove }: { id: string; fault: string | undefined; remove: () => void }) {
  const person = useQuery("subscribers.get", [id]);
  const name = person.data?.external_id ?? (person.error ? `${id} (deleted)` : "…");
  return (
    <li class="actions">
      <a href={pathTo("people", id)}>{name}</a>
      <Button kind="quiet" icon="trash" label={`Remove ${name}`} onClick={remove} />
      {fault && <span class="fault">{fault}</span>}
    </li>
  );
}
