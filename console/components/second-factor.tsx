// The second factor of the user: its state, the QR code of a new key, and the recovery codes.
import { useState } from "preact/hooks";
import { useAction } from "../app/action.ts";
import { useFields } from "../app/fields.ts";
import { qrCode } from "../app/qr-code.ts";
import { useQuery } from "../app/query.ts";
import { readMe } from "../app/session.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { Form, FormEnd } from "./form.tsx";
import { Card } from "./page.tsx";
import { Loaded, Skeleton } from "./states.tsx";

export function SecondFactor() {
  const found = useQuery("auth.getSecondFactor", []);
  const [codes, setCodes] = useState<readonly string[]>();
  const [offered, setOffered] = useState<{ key: string; uri: string }>();
  if (codes) return <Recovery codes={codes} onDone={() => setCodes(undefined)} />;
  if (offered)
    return (
      <Proof
        offered={offered}
        onProven={(given) => {
          setOffered(undefined);
          setCodes(given);
        }}
      />
    );
  return (
    <Card title="Second factor">
      <Loaded query={found} skeleton={<Skeleton rows={2} />}>
        {({ enabled, recovery_codes_left }) =>
          enabled ? <InForce left={recovery_codes_left} onCodes={setCodes} /> : <Offer onOffered={setOffered} />
        }
      </Loaded>
    </Card>
  );
}

function Offer({ onOffered }: { onOffered: (offered: { key: string; uri: string }) => void }) {
  const begin = useAction("auth.beginSecondFactor");
  const { values, field, placed } = useFields({ current_password: "" }, begin);
  const start = async () => {
    const done = await begin.run(values);
    if (done) onOffered(done.answer);
  };
  return (
    <>
      <p class="dim">A code of an authenticator app, beside your password. All your other sessions end.</p>
      <Form error={begin.error} onSubmit={start}>
        <TextField
          label="Your password"
          type="password"
          autocomplete="current-password"
          required
          {...field("current_password")}
        />
        <FormEnd action={begin} placed={placed} submit="Set up a second factor" isMinor />
      </Form>
    </>
  );
}

interface ProofProps {
  offered: { key: string; uri: string };
  onProven: (codes: readonly string[]) => void;
}

function Proof({ offered: { key, uri }, onProven }: ProofProps) {
  const confirm = useAction("auth.confirmSecondFactor");
  const { values, field, placed } = useFields({ code: "" }, confirm);
  const prove = async () => {
    const done = await confirm.run(values);
    if (done) onProven(done.answer.recovery_codes);
  };
  return (
    <Card title="Second factor">
      <p>Scan this with your authenticator app, then type the code that it shows.</p>
      <Drawn text={uri} />
      <p class="dim">
        Or type the key: <code>{key}</code>
      </p>
      <Form error={confirm.error} onSubmit={prove}>
        <TextField label="Code" autocomplete="one-time-code" required {...field("code")} />
        <FormEnd action={confirm} placed={placed} submit="Confirm the code" />
      </Form>
    </Card>
  );
}

/** With the quiet zone of four modules that readers need. Dark on light in every theme. */
function Drawn({ text }: { text: string }) {
  const rows = qrCode(text);
  if (!rows) return null;
  const size = rows.length + 8;
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
  return (
    <svg width="220" height="220" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the key">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  );
}

function Recovery({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const finish = async () => {
    onDone();
    await readMe();
  };
  return (
    <Card title="Recovery codes">
      <p>Each signs you in once, if you lose the authenticator. They are shown only now: keep them somewhere safe.</p>
      <pre>{codes.join("\n")}</pre>
      <Button kind="primary" onClick={() => void finish()}>
        I have saved them
      </Button>
    </Card>
  );
}

function InForce({ left, onCodes }: { left: number; onCodes: (codes: readonly string[]) => void }) {
  const renew = useAction("auth.renewRecoveryCodes");
  const remove = useAction("auth.removeSecondFactor");
  const { values, set, field, placed } = useFields({ code: "" }, renew.error ? renew : remove);
  const take = async () => {
    const done = await renew.run(values);
    if (done) onCodes(done.answer.recovery_codes);
  };
  const end = async () => {
    const done = await remove.run(values);
    if (!done) return;
    set({ code: "" });
    say("The second factor is removed. Your other sessions have ended.");
    await readMe();
  };
  return (
    <>
      <p class="dim">In force. Recovery codes left: {left}.</p>
      <Form error={renew.error ?? remove.error} onSubmit={take}>
        <TextField
          label="Code"
          autocomplete="one-time-code"
          required
          {...field("code")}
          hint="From your authenticator, or a recovery code."
        />
        <FormEnd action={renew.error ? renew : remove} placed={placed} submit="Get new recovery codes" isMinor />
        <Button kind="quiet" isBusy={remove.isBusy} onClick={() => void end()}>
          Remove the second factor
        </Button>
      </Form>
    </>
  );
}
