// What a session's device is called: by the browser and the system that the client's own header names.

const MAX_CHARACTERS = 80;
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\bChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const nameIn = (names: readonly [RegExp, string][], text: string) => names.find(([sign]) => sign.test(text))?.[1];

/** `Firefox on Windows`; for other clients what they call themselves. */
export function deviceOf(userAgent: string): string {
  const plain = userAgent.replaceAll(/[^ -~]/g, "").trim();
  const browser = nameIn(browsers, plain);
  const system = nameIn(systems, plain);
  if (browser && system) return `${browser} on ${system}`;
  return plain.slice(0, MAX_CHARACTERS) || "unknown";
}
