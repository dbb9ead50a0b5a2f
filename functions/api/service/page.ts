// The documentation: one HTML file with its style, its script, the guides and the reference. It loads nothing else.
import { createHash } from "node:crypto";
import { SCRIPT } from "./page-script.ts";
import { STYLE } from "./page-style.ts";

/** A guide as the documentation shows it. */
export interface Guide {
  /** The name of its file in docs/guides. */
  name: string;
  title: string;
  /** Markdown. */
  text: string;
}

const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The content security policy: only the page's own style and script, and requests to the service itself. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src ${digest(STYLE)}`,
  `script-src ${digest(SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page of an OpenAPI document and of guides. `<` is escaped, so no text in them can become a tag. */
export const pageOf = (openApi: string, guides: readonly Guide[] = []): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Guides and API reference</title>
<style>${STYLE}</style>
<nav aria-label="Operations"></nav>
<main></main>
<script type="application/json" id="document">${`{"doc":${openApi},"guides":${JSON.stringify(guides)}}`.replaceAll("<", "\\u003c")}</script>
<script>${SCRIPT}</script>
</html>
`;
