// What a page sends and saves, noted inside it: Firefox tells neither bodies nor files over WebDriver BiDi.
import type { Page, Request } from "playwright-core";
import { expect } from "vitest";

interface ToastCounts {
  sent: { method: string; url: string; body: string }[];
  /** The texts of the files, oldest first. */
  saved: Promise<string>[];
}

/** Runs in the page before its own scripts. */
export function noteTold(): void {
  const told: ToastCounts = { sent: [], saved: [] };
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const { method = "GET", body } = init ?? {};
    if (typeof body === "string") told.sent.push({ method, url: new Request(input).url, body });
    return fetch(input, init);
  };
  const create = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (object) => {
    if (object instanceof Blob) told.saved.push(object.text());
    return create(object);
  };
  Object.assign(globalThis, { told });
}

/** The body of a request of this page, which is JSON. */
export async function bodyOf(page: Page, request: Request) {
  const asked = JSON.stringify([request.method(), request.url()]);
  return JSON.parse(
    await page.evaluate(`(([method, url]) =>
      told.sent.findLast((one) => one.method === method && one.url === url).body)(${asked})`),
  );
}

/** The text of the file that the page saves when this is done. */
export async function savedBy(page: Page, press: () => Promise<void>, timeout: number): Promise<string> {
  const count = () => page.evaluate("told.saved.length");
  const before = Number(await count());
  await press();
  await expect.poll(count, { timeout }).toBeGreaterThan(before);
  return page.evaluate("told.saved.at(-1)");
}
