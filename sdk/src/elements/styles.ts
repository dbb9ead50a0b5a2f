// The looks of the elements: custom properties for colours and sizes, parts for everything else.
export const inAppStyle = `
:host { all: initial; }
.box { font: var(--engagement-font, 15px/1.45 system-ui, sans-serif); color: var(--engagement-text, #1a1a1a);
  background: var(--engagement-background, #fff); border: 1px solid var(--engagement-border, #d0d0d0);
  border-radius: var(--engagement-radius, 10px); box-shadow: 0 8px 28px rgb(0 0 0 / .22); box-sizing: border-box;
  padding: 1.25em; overflow-wrap: anywhere; }
.banner { position: fixed; z-index: var(--engagement-z, 1000); top: 0; left: 0; right: 0; border-radius: 0; padding: .75em 3em .75em 1em; }
.card { position: fixed; z-index: var(--engagement-z, 1000); bottom: 1em; right: 1em; width: 22em; max-width: calc(100vw - 2em); }
dialog.box { width: 28em; max-width: calc(100vw - 2em); max-height: calc(100vh - 2em); margin: auto; }
dialog.fullscreen { width: 100vw; height: 100vh; max-width: none; max-height: none; border: 0; border-radius: 0; }
dialog.box::backdrop { background: rgb(0 0 0 / .5); }
h2 { margin: 0 1.5em .35em 0; font-size: 1.15em; }
.banner h2 { font-size: 1em; margin-bottom: 0; }
p { margin: 0; white-space: pre-line; }
img { display: block; max-width: 100%; max-height: 40vh; margin: 0 0 .9em; border-radius: 6px; }
.banner img { float: left; max-height: 3em; margin: 0 .75em 0 0; }
.actions { display: flex; flex-wrap: wrap; gap: .6em; margin-top: 1em; }
.banner .actions { margin-top: .5em; }
.actions:empty { display: none; }
button { font: inherit; cursor: pointer; border-radius: 6px; padding: .45em .9em; color: inherit;
  background: none; border: 1px solid var(--engagement-border, #b0b0b0); }
button.first { color: var(--engagement-accent-text, #fff); background: var(--engagement-accent, #0a58ca); border-color: transparent; }
button.close { position: absolute; top: .5em; right: .5em; border: 0; padding: .2em .6em; font-size: 1.2em; line-height: 1; }
button:focus-visible { outline: 2px solid var(--engagement-accent, #0a58ca); outline-offset: 2px; }
@media (prefers-reduced-motion: no-preference) { .box { animation: in .18s ease-out; } @keyframes in { from { opacity: 0; } } }
`;

export const inboxStyle = `
:host { display: inline-block; position: relative; font: var(--engagement-font, 14px/1.4 system-ui, sans-serif);
  color: var(--engagement-text, #1a1a1a); }
:host([hidden]) { display: none; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
button:focus-visible { outline: 2px solid var(--engagement-accent, #0a58ca); outline-offset: 2px; }
.bell { position: relative; width: 2.5em; height: 2.5em; border-radius: 50%; }
.bell svg { width: 1.5em; height: 1.5em; fill: none; stroke: currentColor; stroke-width: 1.8; }
.badge { position: absolute; top: 0; right: 0; min-width: 1.5em; padding: 0 .3em; border-radius: 1em; font-size: .75em;
  box-sizing: border-box; color: var(--engagement-badge-text, #fff); background: var(--engagement-badge, #c5221f); }
.badge[hidden] { display: none; }
.panel { position: absolute; z-index: var(--engagement-z, 1000); top: 100%; right: 0;
  width: var(--engagement-width, 22em); max-width: min(90vw, calc(100vw - 16px)); box-sizing: border-box; max-height: var(--engagement-height, 28em);
  display: flex; flex-direction: column; overflow: hidden; background: var(--engagement-background, #fff);
  border: 1px solid var(--engagement-border, #d0d0d0); border-radius: var(--engagement-radius, 8px);
  box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
:host([align="start"]) .panel { right: auto; left: 0; }
.panel[hidden] { display: none; }
.head { display: flex; justify-content: space-between; align-items: baseline; gap: 1em; padding: .75em 1em;
  border-bottom: 1px solid var(--engagement-border, #d0d0d0); }
.head h2 { font-size: 1em; margin: 0; }
.all { color: var(--engagement-accent, #0a58ca); }
.all:disabled { visibility: hidden; }
.list { list-style: none; margin: 0; padding: 0; overflow-y: auto; }
.item { display: flex; gap: .5em; padding: .75em 1em; border-bottom: 1px solid var(--engagement-border, #e4e4e4); }
.item.unread { background: var(--engagement-unread, #eef4ff); }
.open { flex: 1; min-width: 0; text-align: start; }
.title { display: block; font-weight: 600; overflow-wrap: anywhere; }
.text { display: block; overflow-wrap: anywhere; white-space: pre-line; }
.time, .empty { color: var(--engagement-dim, #5f6368); font-size: .85em; }
.empty { padding: 2em 1em; margin: 0; text-align: center; }
.dismiss { align-self: start; width: 1.75em; height: 1.75em; border-radius: 50%; color: var(--engagement-dim, #5f6368); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
