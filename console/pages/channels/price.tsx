// What the provider of a channel charges for a message, from which the cost of sends is computed.
import { useState } from "preact/hooks";
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { channelName } from "../../app/sentences.ts";
import { money } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";

export function Price({ channel: { id, type, price_per_message: price, settings } }: { channel: Channel }) {
  const update = useAction("channels.update", { stale: ["channels."] });
  const [text, setText] = useState(String(price ?? ""));
  const submit = async () => {
    const wanted = text === "" ? null : Number(text);
    if (await update.run(id, { price_per_message: wanted }))
      say(wanted === null ? "The price is removed." : `A message costs ${money(wanted)}.`);
  };
  const without =
    settings?.provider === "ses"
      ? "If empty, costs use the list price of SES."
      : `If empty, costs do not include ${channelName(type)} messages.`;
  return (
    <Card title="Price">
      <Form
        error={update.error}
        onSubmit={() => {
          void submit();
        }}
      >
        <TextField
          label="Price per message, in US dollars"
          type="number"
          min={0}
          step="any"
          value={text}
          onInput={setText}
          fault={update.error?.fields?.price_per_message}
          hint={`What the provider charges. It applies to sends that start from now on. ${without}`}
        />
        <FormFault error={update.error} placed={["price_per_message"]} />
        <div class="actions">
          <Button type="submit" needs="channels.update" isBusy={update.isBusy}>
            Save the price
          </Button>
        </div>
      </Form>
    </Card>
  );
}
