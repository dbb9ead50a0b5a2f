// Channels: can we send, and if not, why? Credentials by a form that says where to find each value.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { plans } from "../../app/access.gen.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { useRows } from "../../app/rows.ts";
import { channelName } from "../../app/sentences.ts";
import { me } from "../../app/session.ts";
import { Collection } from "../../components/collection.tsx";
import { ActionDialog } from "../../components/dialog.tsx";
import { Choices, TextField } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";
import { ChannelView } from "./channel.tsx";
import { kinds } from "./kinds.ts";
import { ChannelState } from "./state.tsx";

const EVERY_MS = 5_000;

export function View() {
  const [id] = place.value.parts;
  return id ? <ChannelView key={id} id={id} /> : <All />;
}

function All() {
  const rows = useRows("channels.list", [], ({ channels }) => channels, { every: EVERY_MS });
  return (
    <Collection
      noun="channel"
      page={{
        title: "Channels",
        about: "The ways to reach people, each with credentials of your own provider account.",
      }}
      rows={rows}
      usual={3}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("channels", id)}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Type", isMinor: true, cell: ({ type }) => <span class="one-line">{channelName(type)}</span> },
        { title: "State", cell: ChannelState },
        {
          title: "Provider response",
          has: ({ verification_error }) => Boolean(verification_error),
          cell: ({ verification_error }) => verification_error ?? "–",
        },
        { title: "Verified", isMinor: true, cell: ({ verified_at }) => <Time at={verified_at} /> },
      ]}
      add={{ operation: "channels.create", label: "Connect a channel", by: (close) => <Connect close={close} /> }}
    />
  );
}

function Connect({ close }: { close: () => void }) {
  const create = useAction("channels.create");
  const form = useFields({ type: "email" as Channel["type"], name: "" }, create);
  const { values, field } = form;
  const { type, name } = values;
  const plan = me.value?.tenant.plan ?? "";
  const permitted = plans[plan]?.channelTypes ?? [];
  const optionOf = (value: Channel["type"]) => ({
    value,
    label: channelName(value),
    ...(!permitted.includes(value) && { disabled: true, note: `not in the plan ${plan}` }),
  });
  return (
    <ActionDialog
      title="Connect a channel"
      form={form}
      submit="Continue to credentials"
      close={close}
      run={() => create.run({ type, name: name || channelName(type) })}
      then={({ id }) => go(pathTo("channels", id))}
    >
      <Choices
        legend="Type"
        name="type"
        {...field("type")}
        options={(Object.keys(kinds) as Channel["type"][]).map(optionOf)}
      />
      <p class="hint">{kinds[type]?.about}</p>
      <TextField label="Name (optional)" {...field("name")} placeholder={channelName(type)} />
    </ActionDialog>
  );
}
