// The buttons of a message: their texts and where they lead.
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";

export interface MessageButton {
  id: string;
  title: string;
  url: string;
}

interface ButtonListProps {
  buttons: readonly MessageButton[];
  max: number;
  onInput: (buttons: readonly MessageButton[]) => void;
  faultAt: (path: string) => string | undefined;
}

export function ButtonList({ buttons, max, onInput, faultAt }: ButtonListProps) {
  const change = (at: number, part: Partial<MessageButton>) =>
    onInput(buttons.map((button, n) => (n === at ? { ...button, ...part } : button)));
  const freeId = () => ["a", "b", "c", "d"].find((id) => !buttons.some((button) => button.id === id)) ?? "a";
  return (
    <>
      {buttons.map((button, n) => (
        <div class="row" key={button.id}>
          <TextField
            label={`Button ${n + 1}`}
            value={button.title}
            onInput={(value) => change(n, { title: value })}
            fault={faultAt(`[${n}].title`)}
          />
          <TextField
            label={`URL of button ${n + 1}`}
            value={button.url}
            onInput={(url) => change(n, { url })}
            fault={faultAt(`[${n}].url`)}
          />
          <Button
            kind="quiet"
            icon="trash"
            label={`Remove button ${n + 1}`}
            onClick={() => onInput(buttons.filter((_, at) => at !== n))}
          />
        </div>
      ))}
      {faultAt("") && <span class="fault">{faultAt("")}</span>}
      {buttons.length < max && (
        <div class="actions">
          <Button icon="plus" adds onClick={() => onInput([...buttons, { id: freeId(), title: "", url: "" }])}>
            Add a button
          </Button>
        </div>
      )}
    </>
  );
}
