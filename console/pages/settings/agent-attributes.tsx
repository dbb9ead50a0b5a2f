// The attributes that agents may filter by without the right to personal data, chosen among those that people have.
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { useAttributeKeys } from "../../components/known.tsx";

interface AgentAttributesProps {
  value: readonly string[];
  onInput: (names: string[]) => void;
  fault?: string | undefined;
}

export function AgentAttributes({ value, onInput, fault }: AgentAttributesProps) {
  const others = useAttributeKeys().filter((name) => !value.includes(name));
  return (
    <>
      <SelectField
        label="Attributes that agents may filter by"
        value=""
        options={[
          { value: "", label: others.length > 0 ? "Add one…" : "There are no others" },
          ...others.map((name) => ({ value: name, label: name })),
        ]}
        onInput={(name, select) => {
          select.value = "";
          if (name !== "") onInput([...value, name]);
        }}
        fault={fault}
        hint="Agents without the right to personal data see no others."
      />
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
