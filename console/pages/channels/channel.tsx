// One channel: its state in the provider's words, then ours; its credentials; turning it off, deleting it.
import { useState } from "preact/hooks";
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { isPriced } from "../../../shared/rules/cost.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { isLocal } from "../../app/session.ts";
import { now, price } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Act } from "../../components/button.tsx";
import { AskButton } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd, SchemaForm } from "../../components/form.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Code, Facts, Page, Time } from "../../components/page.tsx";
import { SendingDomain } from "../../components/sending-domain.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { ChatTemplates } from "./chat-templates.tsx";
import { Health } from "./health.tsx";
import { adviceFor, type ChannelKind, kinds } from "./kinds.ts";
import { ChannelState } from "./state.tsx";

const EVERY_MS = 2_000;
const LONG_MS = 30_000;
const HEALTH_MS = 10_000;

export function ChannelView({ id }: { id: string }) {
  const channel = useQuery("channels.get", [id], {
    every: (known) => (known?.status === "pending" ? EVERY_MS : undefined),
  });
  const health = useQuery("channels.getHealth", [id], { every: HEALTH_MS });
  const update = useAction("channels.update");
  const verify = useAction("channels.verify");
  const { data } = channel;
  const error = update.error ?? verify.error;
  return (
    <Page
      title={data?.name ?? "Channel"}
      back={{ href: pathTo("channels"), label: "Channels" }}
      about={data && channelName(data.type) !== data.name && channelName(data.type)}
      actions={
        data && (
          <>
            {data.settings && (
              <Act action={verify} given={[id]}>
                Verify again
              </Act>
            )}
            <Menu>
              <Act action={update} given={[id, { active: !data.active }]}>
                {data.active ? "Disable" : "Enable"}
              </Act>
              <Delete channel={data} />
            </Menu>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={channel} skeleton={<Skeleton rows={6} />}>
        {(found) => (
          <div class="grid wide">
            <div class="stack">
              <State channel={found} />
              {/* Until it can send, its credentials are what is missing. */}
              {found.status !== "active" && <Credentials channel={found} kind={kinds[found.type]} />}
              <SendingDomain channel={id} health={health} />
              {found.type === "chat_app" && <ChatTemplates channel={found} />}
              {found.status === "active" && <Credentials channel={found} kind={kinds[found.type]} />}
            </div>
            <div class="stack">
              <Health query={health} isInApp={found.type === "in_app"} />
              {isPriced(found.type) && <Price channel={found} />}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Delete({ channel: { id, name } }: { channel: Channel }) {
  return (
    <AskButton
      label="Delete"
      operation="channels.delete"
      // The query of the API says that it may be forced, hence the cast.
      given={[id, { force: "true" } as never]}
      title={`Delete ${name}?`}
      name={name}
      act="Delete the channel"
      said={`${name} is deleted.`}
      then={() => go(pathTo("channels"))}
    >
      Its credentials are deleted as well. Messages that name this channel are no longer sent by it.
    </AskButton>
  );
}

function State({ channel }: { channel: Channel }) {
  const { status, active, verified_at, verification_error, created_at, type } = channel;
  const advice = verification_error && adviceFor(verification_error);
  const isLong = status === "pending" && now() - Date.parse(created_at) > LONG_MS;
  return (
    <Card title="Status">
      <p class="verdict">
        <ChannelState status={status} active={active} />{" "}
        {status === "active" && type !== "in_app" && (
          <span class="dim">
            verified <Time at={verified_at} />
          </span>
        )}{" "}
        {status === "active" && active && <a href={pathTo("send")}>Write a message</a>}
      </p>
      {status === "pending" && (
        <p>
          {isLong
            ? "It waits for credentials, or for the provider to answer. Give the credentials below, or verify again."
            : "Waits for its credentials, which are then tried with the provider."}
        </p>
      )}
      {verification_error && (
        <Facts of={[["The provider says", verification_error], advice ? ["What to do", advice] : undefined]} />
      )}
    </Card>
  );
}

function Credentials({ channel, kind }: { channel: Channel; kind: ChannelKind | undefined }) {
  if (!kind || kind.credentials.kind === "none")
    return (
      <Card title="Credentials">
        <p>{kind?.about}</p>
      </Card>
    );
  return (
    <Card title="Credentials">
      <p class="dim">
        {kind.about} Secrets are stored encrypted and never shown again: give them with every change. New credentials
        replace the old ones and are verified at once.
        {isLocal && " This machine asks no provider: it keeps messages in its outbox, whatever the account."}
      </p>
      {kind.credentials.kind === "form" && <FormCredentials channel={channel} given={kind.credentials} />}
      {kind.credentials.kind === "file" && <FileCredentials channel={channel} given={kind.credentials} />}
      {kind.credentials.kind === "generated" && <GeneratedCredentials channel={channel} />}
    </Card>
  );
}

type CredentialInput<K> = Extract<ChannelKind["credentials"], { kind: K }>;
const SAVED = "Saved. Verification has started.";

function FormCredentials({ channel, given }: { channel: Channel; given: CredentialInput<"form"> }) {
  const upload = useAction(given.operation);
  return (
    <SchemaForm
      schema={given.schema}
      texts={given.texts}
      initial={channel.settings ?? {}}
      submit="Save and verify"
      action={upload}
      isLong
      onSubmit={async (values) => {
        const done = await upload.run(channel.id, values);
        if (done) say(SAVED);
        return done !== undefined;
      }}
    />
  );
}

function FileCredentials({ channel, given }: { channel: Channel; given: CredentialInput<"file"> }) {
  const upload = useAction(given.operation);
  const { key_id, team_id, bundle_id, environment = "production" } = channel.settings ?? {};
  const known = { ...(key_id && { key_id }), ...(team_id && { team_id }), ...(bundle_id && { bundle_id }) };
  const [values, setValues] = useState<Record<string, string>>({ environment, ...known });
  const [file, setFile] = useState<File>();
  const fields = upload.error?.fields;
  const submit = async () => {
    const body = new FormData();
    for (const name of Object.keys(given.texts)) body.set(name, values[name] ?? "");
    if (file) body.set("key_file", file);
    const done = await upload.run(channel.id, body);
    if (done) say(SAVED);
  };
  return (
    <Form error={upload.error} onSubmit={submit}>
      <label class="field">
        <span class="label">Key file ({given.accept})</span>
        <input type="file" accept={given.accept} onInput={(event) => setFile(event.currentTarget.files?.[0])} />
        {fields?.key_file && <span class="fault">{fields.key_file}</span>}
      </label>
      {Object.entries(given.texts).map(([name, { label = name, hint, options }]) => {
        const field = { label, hint, value: values[name] ?? "", fault: fields?.[name] };
        const set = (value: string) => setValues((old) => ({ ...old, [name]: value }));
        return options ? (
          <SelectField key={name} {...field} options={options} onInput={set} />
        ) : (
          <TextField key={name} {...field} onInput={set} />
        );
      })}
      <FormEnd
        action={upload}
        placed={["key_file", ...Object.keys(given.texts)]}
        submit="Save and verify"
        refusal={file ? undefined : "Choose the key file first."}
      />
    </Form>
  );
}

function GeneratedCredentials({ channel }: { channel: Channel }) {
  const make = useAction("channels.vapidCredentials");
  const [made, setMade] = useState("");
  const key = made || channel.settings?.vapid_public_key;
  return (
    <>
      {key && (
        <>
          <p>Browsers subscribe with this public key:</p>
          <Code text={key} />
        </>
      )}
      {make.error && <Failure error={make.error} />}
      <div class="actions">
        <Act
          kind="primary"
          action={make}
          given={[channel.id]}
          then={({ vapid_public_key }) => setMade(vapid_public_key ?? "")}
        >
          Generate a key pair
        </Act>
      </div>
    </>
  );
}

/** What the provider charges for a message, from which the cost of sends is computed. */
function Price({ channel: { id, price_per_message: known, settings } }: { channel: Channel }) {
  const update = useAction("channels.update");
  const [text, setText] = useState(String(known ?? ""));
  const submit = async () => {
    const wanted = text === "" ? null : Number(text);
    const done = await update.run(id, { price_per_message: wanted });
    if (done) say(wanted === null ? "The price is removed." : `A message costs ${price(wanted)}.`);
  };
  const without =
    settings?.provider === "ses"
      ? "If empty, costs use the list price of SES."
      : "If empty, costs do not include its messages.";
  return (
    <Card title="Price">
      <Form error={update.error} onSubmit={submit}>
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
        <FormEnd action={update} placed={["price_per_message"]} submit="Save the price" isMinor />
      </Form>
    </Card>
  );
}
