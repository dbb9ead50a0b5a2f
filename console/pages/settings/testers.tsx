// The subscribers that test sends go to.
import { pathTo } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/page.tsx";
import { usePersonName } from "../../components/person.tsx";
import { PersonField, usePicked } from "../../components/person-picker.tsx";

const MAX = 20;

interface TestersProps {
  ids: readonly string[];
  onIds: (ids: string[]) => void;
  fields: Record<string, string>;
}

export function Testers({ ids, onIds, fields }: TestersProps) {
  const picked = usePicked();
  const { person, reason, setText } = picked;
  const refusal = () => {
    if (ids.length >= MAX) return `At most ${MAX}.`;
    if (!person) return reason ?? "Choose a person first.";
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
        <PersonField label="Test subscriber" picked={picked} hasButton fault={fields.test_subscriber_ids} />
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
  const name = usePersonName(id);
  return (
    <li class="actions">
      <a href={pathTo("people", id)}>{name}</a>
      <Button kind="quiet" icon="trash" label={`Remove ${name}`} onClick={remove} />
      {fault && <span class="fault">{fault}</span>}
    </li>
  );
}
