// One channel: its state in the provider's words, then ours; its credentials; turning it off, deleting it.
import { useState } from "preact/hooks";
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { isPriced } from "../../../shared/rules/cost.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { now } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault, SchemaForm } from "../../components/form.tsx";
import { Card, Code, Confirm, Page, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Health } from "./health.tsx";
import { adviceFor, type ChannelKind, kinds } from "./kinds.ts";
import { Price } from "./price.tsx";
import { ChannelState } from "./state.tsx";

const EVERY_MS = 2_000;
const LONG_MS = 30_000;
const STALE = ["channels."];

export function ChannelView({ id }: { id: string }) {
  const [every, setEvery] = useState<number | undefined>(EVERY_MS);
  const channel = useQuery("channels.get", [id], { every });
  const update = useAction("channels.update", { stale: STALE });
  const verify = useAction("channels.verify", { stale: STALE });
  const remove = useAction("channels.delete", { stale: STALE });
  const [isAsking, setAsking] = useState(false);
  const { data } = channel;
  const wanted = data?.status === "pending" ? EVERY_MS : undefined;
  if (data && wanted !== every) setEvery(wanted);
  const error = update.error ?? verify.error ?? remove.error;
  return (
    <Page
      title={data?.name ?? "Channel"}
      back={{ href: pathTo("channels"), label: "Channels" }}
      about={data && channelName(data.type) !== data.name && channelName(data.type)}
      actions={
        data && (
          <>
            {data.type !== "in_app" && (
              <Button needs="channels.verify" isBusy={verify.isBusy} onClick={() => void verify.run(id)}>
                Verify again
              </Button>
            )}
            <Button
              needs="channels.update"
              isBusy={update.isBusy}
              onClick={() => void update.run(id, { active: !data.active })}
            >
              {data.active ? "Disable" : "Enable"}
            </Button>
            <Button kind="danger" needs="channels.delete" onClick={() => setAsking(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={channel} skeleton={<Skeleton rows={6} />}>
        {(found) => (
          <>
            <State channel={found} />
            {/* Until it can send, its credentials are what is missing. */}
            {found.status !== "active" && <Credentials channel={found} kind={kinds[found.type]} />}
            <Health id={id} isInApp={found.type === "in_app"} />
            {isPriced(found.type) && <Price channel={found} />}
            {found.status === "active" && <Credentials channel={found} kind={kinds[found.type]} />}
          </>
        )}
      </Loaded>
      {isAsking && data && (
        <Confirm
          title={`Delete ${data.name}?`}
          name={data.name}
          act="Delete the channel"
          isBusy={remove.isBusy}
          close={() => setAsking(false)}
          onConfirm={async () => {
            const done = await remove.run(id, { force: "true" } as never);
            setAsking(false);
            if (!done) return;
            say(`${data.name} is deleted.`);
            go(pathTo("channels"));
          }}
        >
          Its credentials are deleted as well. Messages that name this channel are no longer sent by it.
        </Confirm>
      )}
    </Page>
  );
}

function State({
  channel: { status, active, verified_at, verification_error, created_at, type },
}: {
  channel: Channel;
}) {
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
        )}
      </p>
      {status === "pending" && (
        <p>
          {isLong
            ? "It waits for credentials, or for the provider to answer. Give the credentials below, or verify again."
            : "Waits for its credentials, which are then tried with the provider."}
        </p>
      )}
      {verification_error && (
        <dl class="facts">
          <dt>The provider says</dt>
          <dd>{verification_error}</dd>
          {advice && [<dt key="dt">What to do</dt>, <dd key="dd">{advice}</dd>]}
        </dl>
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
  const upload = useAction(given.operation, { stale: STALE });
  return (
    <SchemaForm
      schema={given.schema}
      texts={given.texts}
      initial={channel.settings ?? {}}
      submit="Save and verify"
      needs={given.operation}
      action={upload}
      onSubmit={async (values) => {
        // The schema of the API names what the form asks for, hence the cast.
        if (await upload.run(channel.id, values as never)) say(SAVED);
      }}
    />
  );
}

function FileCredentials({ channel, given }: { channel: Channel; given: CredentialInput<"file"> }) {
  const upload = useAction(given.operation, { stale: STALE });
  const { key_id, team_id, bundle_id, environment = "production" } = channel.settings ?? {};
  const known = { ...(key_id && { key_id }), ...(team_id && { team_id }), ...(bundle_id && { bundle_id }) };
  const [values, setValues] = useState<Record<string, string>>({ environment, ...known });
  const [file, setFile] = useState<File>();
  const fields = upload.error?.fields;
  const submit = async () => {
    const body = new FormData();
    for (const name of Object.keys(given.texts)) body.set(name, values[name] ?? "");
    if (file) body.set("key_file", file);
    if (await upload.run(channel.id, body)) say(SAVED);
  };
  return (
    <Form
      error={upload.error}
      onSubmit={() => {
        void submit();
      }}
    >
      <label class="field">
        <span class="label">Key file ({given.accept})</span>
        <input type="file" accept={given.accept} onInput={(event) => setFile(event.currentTarget.files?.[0])} />
        {fields?.key_file && <span class="fault">{fields.key_file}</span>}
      </label>
      {Object.entries(given.texts).map(([name, { label = name, hint }]) =>
        name === "environment" ? (
          <SelectField
            key={name}
            label={label}
            value={values[name] ?? ""}
            options={[
              { value: "production", label: "Production" },
              { value: "sandbox", label: "Sandbox, for builds from the developer tools" },
            ]}
            onInput={(value) => setValues((old) => ({ ...old, [name]: value }))}
          />
        ) : (
          <TextField
            key={name}
            label={label}
            hint={hint}
            value={values[name] ?? ""}
            fault={fields?.[name]}
            onInput={(value) => setValues((old) => ({ ...old, [name]: value }))}
          />
        ),
      )}
      <FormFault error={upload.error} placed={["key_file", ...Object.keys(given.texts)]} />
      <div class="actions">
        <Button
          kind="primary"
          type="submit"
          needs={given.operation}
          isBusy={upload.isBusy}
          refusal={file ? undefined : "Choose the key file first."}
        >
          Save and verify
        </Button>
      </div>
    </Form>
  );
}

function GeneratedCredentials({ channel }: { channel: Channel }) {
  const make = useAction("channels.vapidCredentials", { stale: STALE });
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
        <Button
          kind="primary"
          needs="channels.vapidCredentials"
          isBusy={make.isBusy}
          onClick={async () => setMade((await make.run(channel.id))?.answer.vapid_public_key ?? "")}
        >
          Generate a key pair
        </Button>
      </div>
    </>
  );
}
