// The console: signs in, then shows the page of the address inside the shell.
import { effect } from "@preact/signals";
import { render } from "preact";
import { calls } from "./api.ts";
import { App, askAhead, loadAhead } from "./app.tsx";
import { keepFocus } from "./focus.ts";
import { startKeys } from "./keys.ts";
import { forgetAll } from "./query.ts";
import { go, place, workspacePath } from "./router.ts";
import { lastWorkspace, me, open, session } from "./session.ts";

startKeys();
keepFocus();

const root = document.getElementById("app")!;
/** The operator page of a deployment has no session. */
const isOperate = place.value.tenant === "" && place.value.page === "operate";
const start = place.value.tenant || (place.value.page === "" ? lastWorkspace() : "");
if (start) {
  void loadAhead(place.value.page || "home");
  void open(start, askAhead);
} else session.value = { kind: "closed" };

/** Whose data the cache and the call log hold. */
let holder = "";
effect(() => {
  if (session.value.kind === "opening") return;
  const next = me.value ? `${me.value.user.id} ${me.value.tenant.id}` : "";
  if (holder && next !== holder) {
    forgetAll();
    calls.value = [];
  }
  holder = next;
});

effect(() => {
  const user = me.value;
  const { tenant, page } = place.value;
  if (!user) return;
  if (!tenant && page !== "invitation" && page !== "reset")
    go(workspacePath(user.tenant.id, "home"), { replace: true });
  else if (tenant && tenant !== user.tenant.id) {
    forgetAll();
    void open(tenant);
  } else if (tenant && !page) go(workspacePath(tenant, "home"), { replace: true });
});

if (isOperate) void import("../pages/operator/alone.tsx").then(({ Alone }) => render(<Alone />, root));
else render(<App />, root);
