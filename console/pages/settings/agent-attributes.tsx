// The attributes that agents may filter by without the right to personal data, chosen among those that people have.
import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { useAttributeKeys } from "../../components/known.tsx";

interface AgentAttributesProps {
  value: readonly string[];
  onInput: (names: string[]) => void;
  fault?: string | undefined;
}

export function AgentAttributes({ value, onInput, fault }: AgentAttributesProps) {
  const [chosen, setChosen] = useState("");
  const others = useAttributeKeys().filter((name) => !value.includes(name));
  return (
    <>
      <div class="row">
        <SelectField
          label="Attributes that agents may filter by"
          value={others.includes(chosen) ? chosen : ""}
          options={[
            { value: "", label: others.length > 0 ? "Choose one" : "There are no others" },
            ...others.map((name) => ({ value: name, label: name })),
          ]}
          onInput={setChosen}
          fault={fault}
          hint="Agents without the right to personal data see no others."
        />
        <Button
          icon="plus"
          label="Add the attribute"
          refusal={others.includes(chosen) ? undefined : "Choose an attribute first."}
          onClick={() => onInput([...value, chosen])}
        >
          Add
        </Button>
      </div>
      {value.length > 0 && (
        <ul class="actions" aria-label="Attributes of agents">
          {value.map((name) => (
            <li key={name}>
              <Button
                icon="cross"
                label={`Remove ${name}`}
                onClick={() => onInput(value.filter((one) => one !== name))}
              >
                {name}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
