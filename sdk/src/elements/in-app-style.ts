// The looks of in-app messages: custom properties for colours and sizes, parts for everything else.
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
