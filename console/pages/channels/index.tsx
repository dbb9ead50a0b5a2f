// Channels: can we send, and if not, why? Credentials by a form that says where to find each value.
import { useState } from "preact/hooks";
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { plans } from "../../app/access.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { me } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { Choices, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Dialog, Page, Time } from "../../components/page.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { ChannelView } from "./channel.tsx";
import { kinds } from "./kinds.ts";
import { ChannelState } from "./state.tsx";

const EVERY_MS = 5_000;

export function View() {
  const [id] = place.value.parts;
  return id ? <ChannelView key={id} id={id} /> : <All />;
}

function All() {
  const channels = useQuery("channels.list", [], { every: EVERY_MS });
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title="Channels"
      about="The ways to reach people, each with credentials of your own provider account."
      actions={
        <Button kind="primary" icon="plus" needs="channels.create" onClick={() => setAdding(true)}>
          Connect a channel
        </Button>
      }
    >
      <Loaded query={channels} skeleton={<Skeleton table rows={3} />}>
        {({ channels: found }) => (
          <Table
            caption="Channels"
            rows={found}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => pathTo("channels", id)}
            columns={[
              { title: "Name", cell: ({ name }: Channel) => <span class="one-line">{name}</span> },
              { title: "Type", cell: ({ type }: Channel) => <span class="one-line">{channelName(type)}</span> },
              {
                title: "State",
                cell: ChannelState,
              },
              {
                title: "Provider response",
                cell: ({ verification_error }: Channel) => <span class="clip">{verification_error ?? "–"}</span>,
              },
              { title: "Verified", cell: ({ verified_at }: Channel) => <Time at={verified_at} /> },
            ]}
          />
        )}
      </Loaded>
      {isAdding && <Connect close={() => setAdding(false)} />}
    </Page>
  );
}

function Connect({ close }: { close: () => void }) {
  const create = useAction("channels.create", { stale: ["channels."] });
  const [type, setType] = useState("email");
  const [name, setName] = useState("");
  const plan = me.value?.tenant.plan ?? "";
  const permitted = plans[plan]?.channelTypes ?? [];
  const submit = async () => {
    const done = await create.run({ type: type as Channel["type"], name: name || channelName(type) });
    if (!done) return;
    close();
    go(pathTo("channels", done.answer.id));
  };
  return (
    <Dialog title="Connect a channel" close={close}>
      <Form
        error={create.error}
        onSubmit={() => {
          void submit();
        }}
      >
        <Choices
          legend="Type"
          name="type"
          value={type}
          onInput={setType}
          fault={create.error?.fields?.type}
          options={Object.keys(kinds).map((value) => ({
            value,
            label: channelName(value),
            disabled: !permitted.includes(value),
            ...(!permitted.includes(value) && { note: `not in the plan ${plan}` }),
          }))}
        />
        <p class="hint">{kinds[type]?.about}</p>
        <TextField
          label="Name (optional)"
          value={name}
          onInput={setName}
          fault={create.error?.fields?.name}
          placeholder={channelName(type)}
        />
        <FormFault error={create.error} placed={["type", "name"]} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={create.isBusy}>
            Continue to credentials
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
