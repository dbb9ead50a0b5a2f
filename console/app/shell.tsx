// The frame of every page: navigation, workspace, theme, developer drawer, palette, messages.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Select } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { type Fact, Facts } from "../components/page.tsx";
import { Toasts } from "../components/toasts.tsx";
import { pages } from "../pages/index.ts";
import { Drawer } from "./drawer.tsx";
import { panel } from "./keys.ts";
import { Palette } from "./palette.tsx";
import { initialsOf } from "./person-name.ts";
import { pathTo, place, workspacePath } from "./router.ts";
import { agencyOf, leave, me, sentenceOf, session, switchTo } from "./session.ts";
import { store, stored } from "./stored.ts";
import { say } from "./toast.ts";

const isOnline = signal(navigator.onLine);
for (const name of ["online", "offline"] as const)
  addEventListener(name, () => {
    isOnline.value = name === "online";
  });

export function Shell({ children }: { children: ComponentChildren }) {
  const user = me.value;
  return (
    <div class={panel.value === "drawer" ? "shell with-drawer" : "shell"}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Navigation />
      <main class="main" id="main" tabIndex={-1}>
        {!isOnline.value && (
          <p class="banner bad">
            <Icon name="warning" />
            <span>This machine is offline. You see what was loaded before.</span>
          </p>
        )}
        {user?.tenant.status === "suspended" && (
          <p class="banner bad">
            <Icon name="warning" />
            <span>This workspace is suspended. Only its plan and bill can be changed.</span>
          </p>
        )}
        {children}
      </main>
      {panel.value === "drawer" && <Drawer />}
      {panel.value === "palette" && <Palette />}
      {panel.value === "keys" && <KeyHelp />}
      <Toasts />
    </div>
  );
}

const SECTIONS = [...new Set(pages.map(({ section }) => section))];

function Navigation() {
  const [isOpen, setOpen] = useState(false);
  const [isNarrow, setNarrow] = useState(stored("localStorage", "nav") !== "");
  const { page } = place.value;
  useEffect(() => setOpen(false), [page]);
  const fold = () => {
    store("localStorage", "nav", isNarrow ? "" : "narrow");
    setNarrow(!isNarrow);
  };
  return (
    <nav class={`nav${isOpen ? " is-open" : ""}${isNarrow ? " narrow" : ""}`} aria-label="Console">
      <div class="nav-top">
        <img class="nav-mark" src="/console/icon.svg" alt="" />
        <Initials />
        <Workspaces />
        <span class="menu-button">
          <Button kind="quiet" icon="menu" label="Menu" pressed={isOpen} onClick={() => setOpen(!isOpen)} />
        </span>
      </div>
      <div class="nav-body">
        {SECTIONS.map((section) => (
          <div key={section}>
            {section && <h2>{section}</h2>}
            {pages
              .filter((entry) => entry.section === section)
              .map(({ name, title, icon }) => (
                <a
                  key={name}
                  href={pathTo(name)}
                  title={isNarrow ? title : undefined}
                  aria-current={name === page ? "page" : undefined}
                >
                  <Icon name={icon} />
                  {title}
                </a>
              ))}
          </div>
        ))}
      </div>
      <NavigationEnd>
        <span class="fold">
          <Button kind="quiet" icon="menu" label="Icons only" pressed={isNarrow} onClick={fold} />
        </span>
      </NavigationEnd>
    </nav>
  );
}

function NavigationEnd({ children }: { children: ComponentChildren }) {
  const user = me.value;
  const theme = useTheme();
  return (
    <div class="nav-end">
      <div class="who">
        <b dir="auto">{user?.user.name}</b>
        <span>
          {user?.role}
          {user?.read_only && ", may only read"}
        </span>
      </div>
      <div class="nav-tools">
        {children}
        <Button
          kind="quiet"
          icon="search"
          label="Find pages, people and more (Ctrl K)"
          onClick={() => (panel.value = "palette")}
        />
        <Button
          kind="quiet"
          icon="code"
          label="API calls (d)"
          pressed={panel.value === "drawer"}
          onClick={() => (panel.value = panel.value === "drawer" ? "" : "drawer")}
        />
        <Button
          kind="quiet"
          icon={theme.isDark ? "sun" : "moon"}
          label={theme.isDark ? "Light theme" : "Dark theme"}
          onClick={theme.toggle}
        />
        <Button kind="quiet" icon="leave" label="Sign out" onClick={leave} />
      </div>
    </div>
  );
}

function useTheme() {
  const { dataset } = document.documentElement;
  const [isDark, setDark] = useState(
    dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches,
  );
  const toggle = () => {
    const theme = isDark ? "light" : "dark";
    dataset.theme = theme;
    if (!store("localStorage", "theme", theme)) say("This browser does not keep the theme.");
    setDark(!isDark);
  };
  return { isDark, toggle };
}

/** Of the workspace, where only icons are shown. */
function Initials() {
  const { name = "", kind } = me.value?.tenant ?? {};
  const label = `Workspace: ${name}${kind === "sandbox" ? ", sandbox" : ""}`;
  return (
    <span class={`nav-initials ${kind}`} role="img" aria-label={label} title={label}>
      {initialsOf(name)}
    </span>
  );
}

/** Names where the API tells them, else the beginning of the id. */
function Workspaces() {
  const [chosen, setChosen] = useState<string>();
  const user = me.value;
  if (!user) return null;
  const { workspaces, tenant } = user;
  const agency = agencyOf(tenant.id);
  if (agency || workspaces.length < 2)
    return (
      <div class="workspace">
        <b dir="auto">{tenant.name}</b>
        {agency && (
          // Another document: this one has the token of the client.
          <Button kind="quiet" icon="left" onClick={() => location.assign(workspacePath(agency, "settings/clients"))}>
            Clients
          </Button>
        )}
        <Kind kind={tenant.kind} />
      </div>
    );
  const nameOf = (one: (typeof workspaces)[number]) =>
    one.tenant_id === tenant.id ? tenant.name : ((one as { name?: string }).name ?? one.tenant_id.slice(0, 8));
  const choose = async (id: string) => {
    const before = session.value;
    session.value = { kind: "opening" };
    try {
      location.assign(workspacePath(await switchTo(id), "home"));
    } catch (error) {
      // Its own session goes on, unless that is what has ended.
      if (session.value.kind === "opening") session.value = before;
      setChosen(undefined);
      say(sentenceOf(error));
    }
  };
  return (
    <div class="workspace">
      <Select
        label="Workspace"
        value={chosen ?? tenant.id}
        options={workspaces.map((one) => ({ value: one.tenant_id, label: nameOf(one) }))}
        onInput={setChosen}
      />
      {/* Arrow keys pass others on their way to the one that is meant. */}
      {chosen !== undefined && chosen !== tenant.id && <Button onClick={() => choose(chosen)}>Open it</Button>}
      <Kind kind={tenant.kind} />
    </div>
  );
}

function Kind({ kind }: { kind: string }) {
  return kind === "sandbox" ? <Badge state="sandbox" word="Sandbox" /> : null;
}

const KEYS = [
  ["Ctrl K", "Find pages, people, campaigns and more"],
  ["Ctrl Z", "Undo; with Shift, do it again"],
  ["d", "API calls, as curl and SDK code"],
  ["/", "Go to the filter"],
  ["j  k", "Next and previous row"],
  ["Enter", "Open the row; in a mail, the settings of the block"],
  ["Esc", "Close; in a mail, back to the block"],
] as const;

function KeyHelp() {
  const close = () => (panel.value = "");
  return (
    <Dialog title="Keyboard" close={close}>
      <Facts
        of={[
          ...KEYS.map(([key, does]): Fact => [<kbd key={key}>{key}</kbd>, does]),
          ...pages.map(({ key, title }): Fact => [[<kbd key="g">g</kbd>, " ", <kbd key={key}>{key}</kbd>], title]),
        ]}
      />
    </Dialog>
  );
}
