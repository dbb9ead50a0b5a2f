// Chooses between sign-in and the shell with the page of the address.
import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { Button } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import { Empty, Failure, Skeleton } from "../components/states.tsx";
import { type LoadedPage, pages } from "../pages/index.ts";
import { Again, SignIn } from "../pages/sign-in/index.tsx";
import { ProviderMissing } from "../pages/sign-in/provider.tsx";
import { pathTo, place } from "./router.ts";
import { ended, session } from "./session.ts";
import { Shell } from "./shell.tsx";

export function App() {
  const state = session.value;
  if (state.kind === "closed") return <SignIn reason={state.reason} />;
  if (state.kind === "opening")
    return (
      <main class="opening" aria-busy="true">
        <h1 class="unseen">Opening the workspace</h1>
        <Skeleton rows={3} />
      </main>
    );
  if (state.me.sign_in_missing) return <Shell>{elsewhere}</Shell>;
  return (
    <>
      <Shell>{state.me.second_factor_missing ? <FactorMissing /> : <Routed />}</Shell>
      {ended.value && <Again goOn={ended.value} />}
    </>
  );
}

const elsewhere = (
  <Page title="Sign in with your company" about="This workspace is opened by its identity provider alone.">
    <ProviderMissing />
  </Page>
);

const unloaded = (cause: unknown): ServiceError =>
  new ServiceError("A part of the console could not be loaded.", { status: 0, code: "", cause });

/** Seldom seen, so that its QR code is loaded when it is. */
function FactorMissing() {
  const [Factor, setFactor] = useState<ComponentType>();
  const [failed, setFailed] = useState<ServiceError>();
  useEffect(() => {
    import("../components/second-factor.tsx").then(
      ({ SecondFactor }) => setFactor(() => SecondFactor),
      (cause) => setFailed(unloaded(cause)),
    );
  }, []);
  return (
    <Page title="Set up your second factor" about="This workspace opens to members with a second factor only.">
      {Factor ? <Factor /> : <Skeleton rows={4} />}
      {failed && <Failure error={failed} retry={() => location.reload()} />}
    </Page>
  );
}

const loaded = new Map<string, LoadedPage>();

const entryOf = (page: string) => pages.find(({ name }) => name === page);

async function load(page: string): Promise<void> {
  const module = await entryOf(page)?.load();
  if (module) loaded.set(page, module);
}

/** While the workspace opens. What cannot be loaded is said where it is shown, which asks again. */
export const loadAhead = (page: string): Promise<void> => load(page).catch(() => undefined);

/** What the page of the address shows first, while the workspace opens. */
export async function askAhead(): Promise<void> {
  const { page } = place.value;
  await loadAhead(page);
  loaded.get(page)?.ahead?.(place.value);
}

function Routed() {
  const { page, parts } = place.value;
  const entry = entryOf(page);
  const [failed, setFailed] = useState<ServiceError>();
  const [, setLoaded] = useState("");
  const { View, ahead } = loaded.get(page) ?? {};
  // Before its views ask, which they do once they are drawn.
  useLayoutEffect(() => ahead?.(place.value), [ahead, parts.join("/")]);
  useEffect(() => {
    setFailed(undefined);
    // What was loaded since the page was drawn is drawn as well.
    if (!entry || View) return;
    load(page).then(
      () => setLoaded(page),
      (cause) => setFailed(unloaded(cause)),
    );
  }, [page]);
  if (!entry)
    return (
      <Page title="Not found">
        <Empty title="There is no such page." action={<a href={pathTo("home")}>Go to Home</a>} />
      </Page>
    );
  if (failed)
    return (
      <Page title={entry.title}>
        <Failure error={failed} retry={() => location.reload()} />
      </Page>
    );
  if (!View)
    return (
      <Page title={entry.title}>
        <Skeleton rows={8} table />
      </Page>
    );
  return (
    <Boundary key={page} title={entry.title}>
      <View />
    </Boundary>
  );
}

/** A fault of the console itself: the rest of it goes on. */
class Boundary extends Component<{ title: string; children: ComponentChildren }, { fault?: Error }> {
  override state: { fault?: Error } = {};
  override componentDidCatch(fault: Error) {
    this.setState({ fault });
  }
  render() {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <Page title={this.props.title}>
        <p class="banner bad" role="alert">
          <span>
            <b>This page has an error.</b> {fault.message}
          </span>
          <Button onClick={() => location.reload()}>Reload</Button>
        </p>
      </Page>
    );
  }
}
